//! Fills in what a request leaves open: its ops' schemas, from shape sources or from the kernels themselves.
//!
//! This is a build's first half where it is needed: the actions are some of the plan's own, in the same work directory
//! under the same lock. Unaware of what comes after.

use std::path::PathBuf;

use gpsimd_toolchain::Toolchain;

use crate::ask::infer::{self, DEFAULT_NAMESPACE};
use crate::ask::registrations;
use crate::plan::{self, Discovery};
use crate::run::log::Begin;
use crate::run::{Event, RunOptions, Site, run_actions};
use crate::words::action::Action;
use crate::words::error::EngineError;
use crate::words::request::{Request, check_sources};
use crate::words::sdk::Sdk;

/// Whether anything is open: [`complete`] would run something.
pub fn is_open(request: &Request) -> bool {
    request.ops.is_empty()
        || request.ops.iter().any(|op| op.schema.is_none())
        || !request.shape_sources.is_empty()
}

/// The actions that [`complete`] runs.
///
/// # Errors
/// [`EngineError::Request`] with what is wrong with the sources.
pub fn discovery(request: &Request, toolchain: &Toolchain, sdk: &Sdk) -> Result<Vec<Action>, EngineError> {
    let job = check_sources(request, toolchain.clone())?;
    Ok(plan::discovery(&job, sdk).actions)
}

/// `request` with a schema for every op and every op named.
///
/// # Errors
/// [`EngineError::Request`] when sources are wrong or no schema can be found, and the failure of any action.
pub fn complete(
    request: Request,
    toolchain: &Toolchain,
    sdk: &Sdk,
    options: &RunOptions,
    observe: &(dyn Fn(Event) + Sync),
) -> Result<Request, EngineError> {
    if !is_open(&request) {
        return Ok(request);
    }
    let job = check_sources(&request, toolchain.clone())?;
    let Discovery { library, actions, objects, listing } = plan::discovery(&job, sdk);
    let site = Site { library: &library, out_dir: &job.out_dir, toolchain, sdk };
    let ops = run_actions(&site, &actions, Begin::New, options, observe, |_| match &listing {
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(EngineError::io("cannot read", path))?;
            registrations::ops(&text, &request.ops)
        }
        None => infer_all(&request, &objects),
    })?;
    Ok(Request { ops, is_logged: true, ..request })
}

fn infer_all(request: &Request, objects: &[PathBuf]) -> Result<Vec<crate::OpRequest>, EngineError> {
    let namespace = request.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE);
    infer::infer(&request.ops, namespace, objects)
}
