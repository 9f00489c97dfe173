//! Plans carried out: what must run, in parallel, first failure stops the rest, outputs published at the end.
//!
//! Unaware of terminals, and of how the actions came to be.

pub(crate) mod alone;
pub(crate) mod diagnose;
pub(crate) mod event;
pub(crate) mod finish;
pub(crate) mod graph;
pub(crate) mod headers;
pub(crate) mod jobserver;
pub(crate) mod log;
pub(crate) mod process;
pub(crate) mod schedule;
pub(crate) mod yard;
