//! The formats of checked builds: what instrumented code leaves in memory and passes to its handlers.
//!
//! Unaware of cores and of reports; [`Peek`] reads memory, everything else is text and numbers.

pub mod objects;
mod undefined;
mod values;

pub use undefined::{Peek, Verdict, verdict};
