#![doc = include_str!("../README.md")]
//!
//! # Its parts
//!
//! [`split`] makes split images, [`prelink`] UCPL images ([`ucpl`]); [`library`], [`registry`] and [`record`] are the host's
//! side, [`device`] is the device's. What they work on is reached through [`memory::DeviceMemory`] and [`device::Hardware`].
//! Facts: spec `prelink.md`, `load-and-dispatch.md`.

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
