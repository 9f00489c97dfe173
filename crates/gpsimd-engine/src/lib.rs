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
mod complete;
mod dependencies;
mod diagnose;
mod error;
mod functions;
mod infer;
mod kernel_error;
mod kernels;
mod lock;
mod log;
mod made;
mod manifest;
mod plan;
mod process;
mod publish;
mod request;
mod run;
mod sdk;
mod shapes;
mod split;

pub use action::{Action, Adapt, Builtin, Image, Work};
pub use builtin::{adapt_alone, keep, registrations_alone};
pub use complete::{complete, discovery, is_open};
pub use dependencies::{dependencies, depfile_rule};
pub use diagnose::{Explained, RULES, Rule};
pub use error::{EngineError, Problem};
pub use infer::{DEFAULT_NAMESPACE, infer};
pub use kernels::match_kernels;
pub use made::Made;
pub use manifest::{FileEntry, FileKind, ImageEntry, Manifest, OpEntry, Versions};
pub use plan::{Plan, plan};
pub use request::{Cores, Job, OpRequest, Packaging, Packer, Request, Source, check, check_ops};
pub use run::{Event, Outcome, RunOptions, run};
pub use sdk::Sdk;
pub use shapes::Shapes;
pub use split::{
    Images, KernelTable, PlannedSplit, SplitEntry, SplitImage, SplitOp, Step, Target, Use, split_step,
};
