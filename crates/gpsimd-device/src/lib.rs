#![doc = include_str!("../README.md")]
//!
//! # Its parts
//!
//! [`Machine`] is the way in. The other modules are its parts: `cores` are at work, each with its `memory`; `call` has
//! arguments and their wire form, `load` the two ways of a library onto the cores, `report` what is handed back, and
//! `explain` what it all means to the author.

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
