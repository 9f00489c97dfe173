//! A debugging session over the device model: one engine, two faces.
//!
//! The engine ([`Debugger`]) holds a call whose cores stand still. It takes them on until something is met that was asked for,
//! and back again: every instruction has always the same effects, so that a time of the past is a moment kept from before it
//! and the instructions since. The faces say what it does: a terminal ([`terminal`]) and the Debug Adapter Protocol.
//!
//! Unaware of command lines, of how libraries are built, and of how DWARF describes variables.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod dap;
mod device;
mod engine;
mod error;
mod findings;
mod lines;
mod memory;
mod met;
mod program;
mod reverse;
mod stack;
mod steps;
mod stops;
pub mod terminal;
mod track;
mod variables;
mod why;

#[doc(hidden)]
pub mod fuzz {
    //! Entry points for fuzzers: outside bytes in, nothing out, no panic.

    pub use crate::dap::fuzz as fuzz_dap;
}

pub use engine::{Debugger, Pauser, Stopped};
pub use error::DebugError;
pub use program::Images;
pub use stack::Level;
pub use steps::Step;
pub use stops::{Breakpoint, Hits, What};
pub use variables::Framed;
