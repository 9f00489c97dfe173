#![doc = include_str!("../README.md")]
//!
//! # Its parts
//!
//! [`plan`] looks things up but changes nothing, so a dry run, an exported plan and the tests see the very actions that
//! run. [`build`] goes all the way: in parallel, and outputs appear all at once or not at all. Progress is [`Event`]s.

mod ask;
pub mod export;
mod fresh;
mod phases;
mod plan;
mod publish;
mod run;
mod stages;
mod words;

pub use ask::check::{check, check_ops};
pub use ask::infer::DEFAULT_NAMESPACE;
pub use export::dependencies::{dependencies, depfile_rule};
pub use fresh::cache::{Cache, DEFAULT_CACHE_SIZE};
pub use fresh::fingerprint::Reason;
pub use fresh::receipt::{Answer, Basis, Question};
pub use phases::{build, compile_sdk, discovery};
pub use plan::{Plan, plan};
pub use publish::audit::{Damage, ManifestFault};
pub use publish::file::{FileEntry, FileKind};
pub use publish::manifest::{ImageEntry, Manifest, OpEntry, Versions};
pub use publish::origin::{Origin, Replaced, Stale, built_from, stale};
pub use publish::split::{KernelTable, SplitEntry, SplitOp, Use};
pub use run::alone::stage;
pub use run::diagnose::lacking::{LACKING, Lack, Written};
pub use run::diagnose::meaning_of;
pub use run::diagnose::rules::RULES;
pub use run::event::{Event, How, Observer, RunOptions};
pub use run::finish::Built;
pub use run::jobserver::Jobserver;
pub use words::action::{Action, Work};
pub use words::error::{EngineError, Fault, Problem};
pub use words::failed::{Failed, Place, Rule, Verdict};
pub use words::images::{CoreFiles, Images, SplitFiles, Target};
pub use words::kit::Kit;
pub use words::request::{
    Cores, Draft, Job, Linking, NamedOp, OpRequest, Packaging, Packer, Project, Request, Sanitizer, Settings,
};
pub use words::sdk::Sdk;
