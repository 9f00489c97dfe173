//! A plan in the forms of other programs.
//!
//! The same actions as [`crate::build`] takes, with a last one that publishes. Unaware of who reads them.

mod compile_commands;
pub(crate) mod dependencies;
mod graph;
mod json;
mod ninja;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use miette::Diagnostic;

use crate::plan::Plan;
use crate::stages::publish::Publish;
use crate::words::action::{Action, Stage as _};
use crate::words::error::EngineError;

pub use compile_commands::compile_commands;
pub use graph::graph;
pub use json::json;
pub use ninja::ninja;

/// A name that the form cannot hold.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{form} cannot name {path:?}")]
#[diagnostic(
    code(engine::export_name),
    help("rename it, or export as json; `compile` itself takes every name")
)]
struct Unwritable {
    form: &'static str,
    path: PathBuf,
}

/// A manifest of split images is made from their contents, which an exported plan does not have.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("the plan of a split image cannot be exported")]
#[diagnostic(
    code(engine::export_split),
    help("export it with --image fixed; `compile` makes the split image")
)]
struct SplitPlan;

fn unwritable(form: &'static str, path: &Path) -> EngineError {
    EngineError::request(Unwritable { form, path: path.to_owned() })
}

/// The actions of a plan, and what `publish` needs to end it.
struct Whole<'p> {
    actions: &'p [Action],
    /// Words after `gpsimd-build`.
    publish: Vec<OsString>,
    /// What is published.
    files: Vec<PathBuf>,
    /// What it is made from.
    made: Vec<PathBuf>,
}

impl<'p> Whole<'p> {
    fn of(plan: &'p Plan) -> Result<Whole<'p>, EngineError> {
        if plan.split.is_some() {
            return Err(EngineError::request(SplitPlan));
        }
        let publish = Publish { publication: plan.publication.clone() };
        Ok(Whole {
            actions: &plan.actions,
            publish: publish.words(),
            files: plan.publication.visible().collect(),
            made: plan.publication.finished().chain(plan.report.clone()).collect(),
        })
    }
}
