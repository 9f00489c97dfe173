//! What a run hands back: plain data, serialisable, in a fixed order; and the rows of all checks.
//!
//! Unaware of how anything was found out.

pub mod checks;
pub mod costs;
pub mod counters;
pub mod profile;
mod run;

pub use run::{About, CoreReport, Element, Ending, Finding, HbmStackUse, Life, RunReport, Site, Step};
