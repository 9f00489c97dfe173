//! The Python package's extension: a library on the simulated device, called in process.
//!
//! Tensors come and go as bytes with a type and a shape, so neither numpy nor torch is known here. Unaware of the command
//! line. What Python sees is declared in `integrations/python/python/gpsimd_build/_native.pyi`.

mod refusal;
mod session;
mod value;

use pyo3::prelude::*;

/// `gpsimd_build._native`
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<session::Session>()?;
    module.add_class::<session::Report>()?;
    module.add("Refusal", module.py().get_type::<refusal::Refusal>())
}
