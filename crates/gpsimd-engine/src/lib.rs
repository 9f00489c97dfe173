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
mod error;
mod kernels;
mod lock;
mod manifest;
mod plan;
mod process;
mod publish;
mod request;
mod run;
mod sdk;

pub use action::{Action, Builtin, Image, Work};
pub use builtin::keep;
pub use error::{EngineError, Problem};
pub use kernels::check_kernels;
pub use manifest::{FileEntry, FileKind, ImageEntry, Manifest, OpEntry, Versions};
pub use plan::{Plan, plan};
pub use request::{Cores, Job, OpRequest, Packaging, Request, check, check_ops};
pub use run::{Event, Outcome, RunOptions, run};
pub use sdk::Sdk;
