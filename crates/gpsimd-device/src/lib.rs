//! Eight simulated cores around xtensa-iss: memory map, windows, SDMA, loading, dispatch, checks.
//!
//! ```no_run
//! use gpsimd_device::{Arg, Config, Control, CoreImage, Machine, Tensor};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let image = CoreImage::new(std::fs::read("build/vector_add.so")?);
//! let mut machine = Machine::boot(vec![image], Config::default())?;
//! let a = Tensor::from_f32(&[1.0, 2.0])?;
//! let spec = a.spec.clone();
//! let args = vec![Arg::tensor("a", a.clone()), Arg::tensor("b", a)];
//! let report = machine.call("vector_add", args, spec, &Control::default(), |_| {})?;
//! assert!(report.is_clean());
//! # Ok(())
//! # }
//! ```
//!
//! [`Machine`] is the way in. The other modules are its parts: one [`core::Core`] per core with its [`memory::Memory`],
//! a [`bus::Bus`] that checks every access, [`shared::SharedMemory`] for the tensors and [`diagnose`] for what it all means.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod call;
pub mod checked;
pub mod cores;
pub mod explain;
pub mod load;
mod machine;
pub mod memory;
pub mod parts;
pub mod report;
pub mod session;

#[doc(hidden)]
pub mod fuzz {
    //! Entry points for fuzzers: outside bytes in, nothing out, no panic.

    /// Reads a call's instruction blocks; what decodes must encode and decode to the same call.
    pub fn fuzz_chain(data: &[u8]) {
        if let Ok(call) = crate::call::wire::Call::decode(data)
            && let Ok(bytes) = call.encode()
        {
            assert_eq!(crate::call::wire::Call::decode(&bytes).as_ref(), Ok(&call));
        }
    }

    /// Loads an image for each kind of core, boots it briefly, and looks up names in it.
    pub fn fuzz_image(data: &[u8]) {
        let config = crate::Config { budget: 20_000, ..crate::Config::default() };
        let _ = crate::Machine::boot(vec![crate::CoreImage::new(data.to_vec())], config);
        let symbols = crate::explain::symbols::Symbols::read(data);
        let _ = symbols.chain(&[0x8400_0000, 0x8400_1000]);
    }
}

pub use call::arg::{Arg, Output, Value};
pub use call::dtype::Dtype;
pub use call::error::CallError;
pub use call::tensor::{ShapeError, Tensor, TensorSpec};
pub use explain::sources::{Sources, token};
pub use load::control::{Config, Control};
pub use load::error::LoadError;
pub use load::program::{CoreImage, Shipment};
pub use load::trace::{Fact, Stage, Trace};
pub use machine::Machine;
pub use report::checks::{CHECKS, Check, Code, Severity};
pub use report::costs::{Costs, CostsError};
pub use report::profile::Profile;
pub use report::{CoreReport, Ending, Finding, RunReport};
pub use session::Session;
