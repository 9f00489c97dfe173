#![doc = include_str!("../README.md")]
//!
//! # Its parts
//!
//! The engine is [`Debugger`]: it holds a call whose cores stand still, and takes them on until something is met that was
//! asked for, and back again. The faces are [`terminal`] and [`dap`].

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
