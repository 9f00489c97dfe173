//! Watched calls of the runtime's allocators between call and return, and what is kept of those that have returned.
//!
//! Unaware of cores and of what a call means.

use crate::memory::heap::Chain;
use crate::memory::watch::Job;

/// A watched call in progress.
#[derive(Clone)]
pub(crate) struct Pending {
    /// What it is for.
    pub job: Job,
    /// Its return address, as the call made it.
    pub back: u32,
    /// Its first arguments.
    pub arguments: [u32; 5],
    /// Who called.
    pub site: Chain,
}

/// Pairs of call chains: who allocated a block, who gave it back.
pub(crate) type Returns = std::collections::BTreeMap<(Chain, Chain), u32>;
