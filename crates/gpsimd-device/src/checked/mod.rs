//! The formats of checked builds: what instrumented code leaves in memory and passes to its handlers.
//!
//! Unaware of cores and of reports; [`Peek`] reads memory, everything else is text and numbers.

pub mod objects;
mod peek;
mod undefined;
mod values;

pub use peek::Peek;
pub use undefined::{Verdict, verdict};
