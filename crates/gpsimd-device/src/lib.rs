//! Eight simulated cores around xtensa-iss: memory map, windows, SDMA, loading, dispatch, checks.
//!
//! ```no_run
//! use gpsimd_device::{Arg, Config, Control, CoreImage, Machine, Tensor};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let image = CoreImage::new(std::fs::read("build/vector_add.so")?);
//! let mut machine = Machine::load(vec![image], Config::default())?;
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

pub mod access;
pub mod arg;
pub mod bus;
pub mod catalogue;
pub mod chain;
pub mod copies;
pub mod core;
pub mod counters;
pub mod describe;
pub mod diagnose;
pub mod dma;
pub mod dtype;
pub mod error;
pub mod firmware;
pub mod heap;
pub mod image;
pub mod incident;
pub mod lane;
pub mod machine;
pub mod map;
pub mod memory;
pub mod near;
pub mod placed;
pub mod ram;
pub mod registers;
pub mod report;
pub mod sdma;
mod session;
pub mod shared;
pub mod symbols;
pub mod tensor;
pub mod view;

#[doc(hidden)]
pub mod fuzz {
    //! Entry points for fuzzers: outside bytes in, nothing out, no panic.

    /// Reads a call's instruction blocks; what decodes must encode and decode to the same call.
    pub fn fuzz_chain(data: &[u8]) {
        if let Ok(call) = crate::chain::Call::decode(data)
            && let Ok(bytes) = call.encode()
        {
            assert_eq!(crate::chain::Call::decode(&bytes).as_ref(), Ok(&call));
        }
    }

    /// Loads an image for each kind of core, boots it briefly, and looks up names in it.
    pub fn fuzz_image(data: &[u8]) {
        let config = crate::Config { budget: 20_000, ..crate::Config::default() };
        let _ = crate::Machine::load(vec![crate::CoreImage::new(data.to_vec())], config);
        let symbols = crate::symbols::Symbols::read(data);
        let _ = symbols.chain(&[0x8400_0000, 0x8400_1000]);
    }
}

pub use arg::{Arg, Output, Value};
pub use catalogue::{CATALOGUE, Code, Severity};
pub use dtype::Dtype;
pub use error::{CallError, LoadError};
pub use lane::{Lane, LaneError, Trace};
pub use machine::{Config, Control, CoreImage, Machine};
pub use report::{CoreReport, Finding, Outcome, RunReport};
pub use tensor::{ShapeError, Tensor, TensorSpec};
