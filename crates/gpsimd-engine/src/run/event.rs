//! How a run is asked for, and what is heard of it.
//!
//! Unaware of how it is done.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::fresh::cache::Cache;
use crate::fresh::fingerprint::Reason;
use crate::run::jobserver::Jobserver;
use crate::words::action::Action;

/// How to run a plan.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// Actions at the same time; at least one runs.
    pub jobs: usize,
    /// Set from elsewhere (a signal handler) to end the run.
    pub stop: &'a AtomicBool,
    /// Results of other builds.
    pub cache: Option<&'a Cache>,
    /// Whether the SDK's headers are parsed once for all sources, where objects are the same with that.
    pub precompiles: bool,
    /// Leave to start processes.
    pub jobserver: Option<&'a Jobserver>,
}

/// How an action came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It ran.
    Ran,
    /// The cache had its result.
    Cached,
}

/// What an observer hears.
#[derive(Debug)]
pub enum Event<'a> {
    /// Another build owns the work directory; this one waits for it.
    Waiting,
    /// Something that does not change the result.
    Warning {
        /// What.
        text: &'a str,
    },
    /// How many actions there are.
    Planned {
        /// All of them.
        actions: usize,
    },
    /// An action's outputs are what it would make again.
    Fresh {
        /// The action.
        action: &'a Action,
        /// What a compiler said when it ran.
        output: &'a str,
    },
    /// An action starts.
    Started {
        /// The action.
        action: &'a Action,
        /// Why it must run.
        reason: &'a Reason,
        /// Number of the worker, from 0.
        lane: usize,
        /// The last of the actions it waited for.
        after: Option<&'a Action>,
    },
    /// An action succeeded.
    Finished {
        /// The action.
        action: &'a Action,
        /// What it took.
        took: Duration,
        /// What a compiler said although it succeeded: warnings.
        output: &'a str,
        /// Whether it ran.
        how: How,
    },
}

/// Hears events, from the worker threads.
pub type Observer<'a> = dyn Fn(Event) + Sync + 'a;
