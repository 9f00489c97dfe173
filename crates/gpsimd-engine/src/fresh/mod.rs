//! What need not be done again: fingerprints of actions, the state that remembers them, the cache that shares results,
//! the receipt of a whole build.
//!
//! Unaware of plans, of processes and of when actions run.

pub(crate) mod cache;
pub(crate) mod discovered;
pub(crate) mod files;
pub(crate) mod fingerprint;
pub(crate) mod receipt;
pub(crate) mod stamp;
pub(crate) mod state;
