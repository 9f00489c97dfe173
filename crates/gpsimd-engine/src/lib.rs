//! From a request to outputs: a pure plan and the run of it.
//!
//! ```text
//! Request --check()--> Job --plan()--> Plan { actions } --run()--> Outcome
//! ```
//!
//! [`plan`] looks things up but changes nothing, so a dry run, an exported plan and the tests see the very
//! actions that run. [`run`] executes them in parallel and publishes all outputs at once or none.
//! Unaware of terminals: progress is [`Event`]s, problems are typed errors.

mod ask;
mod discovery;
pub mod export;
mod fresh;
mod plan;
mod publish;
mod run;
mod stages;
mod words;

pub use ask::infer::{DEFAULT_NAMESPACE, infer};
pub use ask::kernels::match_kernels;
pub use ask::registrations::Shapes;
pub use discovery::{complete, discovery, is_open};
pub use export::dependencies::{dependencies, depfile_rule};
pub use fresh::cache::{Cache, DEFAULT_CACHE_SIZE};
pub use fresh::fingerprint::Reason;
pub use fresh::receipt::{Answer, Basis, Question};
pub use plan::{Plan, plan};
pub use publish::manifest::{FileEntry, FileKind, ImageEntry, Manifest, OpEntry, Versions};
pub use publish::publication::{Publication, publish_alone};
pub use run::diagnose::{Explained, RULES, Rule};
pub use run::jobserver::Jobserver;
pub use run::{Event, How, Outcome, RunOptions, run};
pub use stages::split::{
    Images, KernelTable, PlannedSplit, SplitEntry, SplitImage, SplitOp, Step, Target, Use, split_step,
};
pub use stages::{adapt_alone, keep, move_alone, registrations_alone};
pub use words::action::{Action, Adapt, Builtin, Image, Move, Work};
pub use words::error::{EngineError, Fault, Problem};
pub use words::request::{
    Cores, Job, Linking, OpRequest, Packaging, Packer, Request, Source, check, check_ops,
};
pub use words::sdk::Sdk;
