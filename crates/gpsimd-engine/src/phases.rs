//! The whole build, phase by phase: what a draft leaves open is found, the request is checked, planned and carried out.
//!
//! Unaware of what the phases do.

use std::fs;
use std::path::{Path, PathBuf};

use gpsimd_toolchain::Toolchain;

use crate::ask::check::{check, check_draft};
use crate::ask::infer::{self, DEFAULT_NAMESPACE};
use crate::ask::registrations;
use crate::plan::{self, Discovery, Evidence, plan};
use crate::run::event::{Observer, RunOptions};
use crate::run::finish::{self, Built};
use crate::run::yard::Yard;
use crate::words::action::Action;
use crate::words::error::EngineError;
use crate::words::kit::Kit;
use crate::words::request::{Draft, Project, Request};

/// Builds the library that `draft` describes.
///
/// # Errors
/// [`EngineError::Request`] with everything that is wrong with the draft, or the first failure of an action; outputs of
/// an earlier build are untouched then.
pub fn build<'k>(
    draft: Draft,
    kit: &'k Kit,
    options: &RunOptions,
    observe: &Observer,
) -> Result<Built<'k>, EngineError> {
    let (job, yard) = match draft.closed() {
        Ok(request) => {
            let job = check(&request, kit)?;
            let yard = Yard::open(&job.project, kit, options, observe)?;
            (job, yard)
        }
        Err(draft) => {
            let project = check_draft(&draft, kit)?;
            let yard = Yard::open(&project, kit, options, observe)?;
            (check(&discover(*draft, &project, kit, &yard)?, kit)?, yard)
        }
    };
    let plan = plan(job, kit);
    let actions = plan.actions.clone();
    let built = yard.run(&actions, |ran| finish::publish(plan, ran))?;
    yard.make_headers();
    Ok(built)
}

/// Compiles the device SDK in the empty directory `scratch`, and gives every archive of it with its name below the directory
/// of a toolchain: one that has them there compiles nothing of the SDK.
///
/// # Errors
/// [`EngineError::Failed`] and its like, of the first action that fails.
pub fn compile_sdk(
    toolchain: Toolchain,
    scratch: &Path,
    options: &RunOptions,
    observe: &Observer,
) -> Result<Vec<(PathBuf, PathBuf)>, EngineError> {
    let kit = Kit::locate(toolchain, scratch)?;
    let project = Project::of_sdk(scratch);
    let yard = Yard::open(&project, &kit, options, observe)?;
    let (actions, archives) = plan::sdk(&project, &kit);
    yard.run(&actions, |_| Ok(()))?;
    let kept = kit.sdk.root().join("lib");
    let named = |archive: PathBuf| {
        let name = archive.strip_prefix(&kept).unwrap_or(&archive);
        (kit.sdk.brought().join(name), archive)
    };
    Ok(archives.into_iter().map(named).collect())
}

/// The actions that find what `draft` leaves open; the rest of its build depends on what they find.
///
/// # Errors
/// [`EngineError::Request`] with what is wrong with the sources.
pub fn discovery(draft: &Draft, kit: &Kit) -> Result<Vec<Action>, EngineError> {
    Ok(plan::discovery(&check_draft(draft, kit)?, kit).actions)
}

/// The kernel sources; one that cannot be read has been told of by its compiler.
fn texts(project: &Project) -> Vec<String> {
    let read = |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    project.sources.iter().filter_map(|source| read(&source.path).ok()).collect()
}

/// The first phase: compiles what tells the ops, and asks it.
fn discover(draft: Draft, project: &Project, kit: &Kit, yard: &Yard) -> Result<Request, EngineError> {
    let _span = tracing::info_span!("discover", library = project.name).entered();
    let Discovery { actions, evidence } = plan::discovery(project, kit);
    let ops = yard.run(&actions, |_| match &evidence {
        Evidence::Registrations(path) => {
            let text = fs::read_to_string(path).map_err(EngineError::io("cannot read", path))?;
            registrations::ops(&text, &draft.ops)
        }
        Evidence::Kernels(objects) => {
            let namespace = draft.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
            infer::infer(&draft.ops, namespace, objects, &texts(project))
        }
    })?;
    for op in &ops {
        tracing::info!("{} is {}", op.kernel.as_deref().unwrap_or("an op"), op.schema);
    }
    Ok(Request { ops, settings: draft.settings })
}
