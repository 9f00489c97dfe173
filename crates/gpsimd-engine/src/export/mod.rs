//! A plan in the forms of other programs.
//!
//! The same actions as [`crate::run`] takes, with a last one that publishes. Unaware of who reads them.

mod compile_commands;
pub(crate) mod dependencies;
mod graph;
mod json;
mod ninja;

use std::path::{Path, PathBuf};

use miette::Diagnostic;

use crate::plan::Plan;
use crate::publish::publication::Publication;
use crate::words::action::Action;
use crate::words::error::{EngineError, Problem};

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
    EngineError::Request { problems: vec![Problem::new(Unwritable { form, path: path.to_owned() })] }
}

/// The actions of a plan, and what `publish` needs to end it.
struct Whole<'p> {
    actions: &'p [Action],
    /// Words after `gpsimd-build`.
    publish: [String; 3],
    /// What is published.
    files: Vec<PathBuf>,
    /// What it is made from.
    made: Vec<PathBuf>,
}

impl<'p> Whole<'p> {
    fn of(plan: &'p Plan) -> Result<Whole<'p>, EngineError> {
        if plan.split.is_some() {
            return Err(EngineError::Request { problems: vec![Problem::new(SplitPlan)] });
        }
        let publication = Publication::of(plan)?;
        let mut made: Vec<PathBuf> =
            plan.images.iter().flat_map(|image| image.files()).chain(&plan.shapes).cloned().collect();
        // the checks' report stands for the checks: nothing unchecked is published
        made.extend(
            plan.actions.iter().filter(|action| action.label == "verify").flat_map(|a| a.outputs.clone()),
        );
        Ok(Whole {
            actions: &plan.actions,
            files: publication.visible(),
            publish: ["publish".to_owned(), "--publication".to_owned(), publication.text()?],
            made,
        })
    }
}
