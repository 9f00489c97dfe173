//! From a request to outputs: a pure plan and the run of it.
//!
//! ```text
//! Request --check()--> Job --plan()--> Plan { actions } --run()--> Outcome
//! ```
//!
//! [`plan`] looks things up but changes nothing, so a dry run, an exported plan and the tests see the very
//! actions that run. [`run`] executes them in parallel and publishes all outputs at once or none.
//! Unaware of terminals: progress is [`Event`]s, problems are typed errors.

mod action;
mod builtin;
mod cache;
mod complete;
mod dependencies;
mod diagnose;
mod digest;
mod discovered;
mod error;
pub mod export;
mod files;
mod fingerprint;
mod functions;
mod graph;
mod infer;
mod jobserver;
mod kernel_error;
mod kernels;
mod lock;
mod log;
mod manifest;
mod plan;
mod process;
mod publication;
mod publish;
mod receipt;
mod request;
mod run;
mod schedule;
mod sdk;
mod shapes;
mod split;
mod stamp;
mod state;

pub use action::{Action, Adapt, Builtin, Image, Move, Work};
pub use builtin::{adapt_alone, keep, move_alone, registrations_alone};
pub use cache::{Cache, DEFAULT_CACHE_SIZE};
pub use complete::{complete, discovery, is_open};
pub use dependencies::{dependencies, depfile_rule};
pub use diagnose::{Explained, RULES, Rule};
pub use error::{EngineError, Problem};
pub use fingerprint::Reason;
pub use infer::{DEFAULT_NAMESPACE, infer};
pub use jobserver::Jobserver;
pub use kernels::match_kernels;
pub use manifest::{FileEntry, FileKind, ImageEntry, Manifest, OpEntry, Versions};
pub use plan::{Plan, plan};
pub use publication::{Publication, publish_alone};
pub use receipt::{Answer, Basis, Question};
pub use request::{Cores, Job, Linking, OpRequest, Packaging, Packer, Request, Source, check, check_ops};
pub use run::{Event, How, Outcome, RunOptions, run};
pub use sdk::Sdk;
pub use shapes::Shapes;
pub use split::{
    Images, KernelTable, PlannedSplit, SplitEntry, SplitImage, SplitOp, Step, Target, Use, split_step,
};
