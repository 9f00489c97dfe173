//! Everything between a linked split-load library and the moment its kernels can be dispatched: the synthesis of split
//! images, the prelinker that turns them into `UCPL` images, library handles and their staging, load and unload
//! records, and the state machine a device runs on those records.
//!
//! Unaware of files, compilers and simulators: bytes in, bytes out; memory and cores are reached through two small
//! traits ([`memory::DeviceMemory`], [`device::Hardware`]). Facts: spec `prelink.md`, `load-and-dispatch.md`.
//!
//! ```
//! use gpsimd_loader::{Generation, Mode, prelink};
//!
//! let not_an_elf = b"#!/bin/sh";
//! let refused = prelink(not_an_elf, &Generation::Cayman.bounds(), Mode::Strict, &mut |_| {}).unwrap_err();
//! assert_eq!(refused.status(), 1);
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod device;
mod elf;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod generation;
mod instruction;
pub mod kernel_table;
pub mod library;
pub mod memory;
mod mode;
mod placement;
mod prelink;
pub mod record;
pub mod registry;
mod relocate;
mod result;
pub mod selector;
pub mod sequence;
pub mod split;
pub mod ucpl;

pub use error::{Part, PrelinkError, Segment};
pub use generation::{Bounds, Generation, NeverStaged, Region, UnknownGeneration};
pub use mode::Mode;
pub use prelink::{Prelinked, prelink};
pub use relocate::Relocations;
pub use result::ResultCode;
