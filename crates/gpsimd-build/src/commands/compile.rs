//! `compile`: request, plan, run, report.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use gpsimd_engine::{Cores, Packaging, Plan, Request, RunOptions, Sdk};
use gpsimd_toolchain::Home;
use miette::Result;
use serde_json::json;

use super::{Outcome, op_requests, processors, toolchain};
use crate::cli::Compile;
use crate::progress::Progress;
use crate::render::Render;

/// Set by the signal handler.
static STOP: AtomicBool = AtomicBool::new(false);

/// Builds a library.
pub fn run(arguments: &Compile, render: &Render) -> Result<Outcome> {
    let home = Home::from_env()?;
    let request = request(arguments)?;
    let job = gpsimd_engine::check(&request, toolchain(&arguments.compiler, &home)?)?;
    let plan = gpsimd_engine::plan(job, Sdk::locate(home.path())?);
    if arguments.dry_run {
        return dry_run(&plan, render);
    }
    // without a handler Ctrl-C ends the tool at once, which leaves the outputs untouched as well
    let _ = ctrlc::set_handler(|| STOP.store(true, std::sync::atomic::Ordering::SeqCst));
    let progress = Progress::new(render.verbose > 0, render.is_json());
    let options = RunOptions { jobs: arguments.jobs.map_or_else(processors, usize::from), stop: &STOP };
    let result = gpsimd_engine::run(&plan, &options, &|event| progress.event(&event));
    let took = progress.elapsed();
    let warnings = progress.finish();
    let outcome = result?;
    if !render.is_json() {
        for warning in &warnings {
            eprintln!("{warning}");
        }
    }
    let document = json!({
        "manifest": outcome.manifest,
        "directory": outcome.out_dir,
        "changed": outcome.changed,
        "warnings": warnings,
        "checks": outcome.report,
    });
    render.result(&document, || super::report::built(&plan, &outcome, took))?;
    write_depfile(arguments, &plan, &outcome)?;
    Ok(Outcome::Good)
}

/// Tells the build system around us what the build read.
fn write_depfile(arguments: &Compile, plan: &Plan, outcome: &gpsimd_engine::Outcome) -> Result<()> {
    let Some(path) = &arguments.depfile else { return Ok(()) };
    let target = match &arguments.depfile_target {
        Some(target) => target.clone(),
        None => arguments.out_dir.join(outcome.manifest.file_name()),
    };
    let rule = gpsimd_engine::depfile_rule(&target, &gpsimd_engine::dependencies(plan)?)?;
    Ok(super::write(path, &rule)?)
}

fn request(arguments: &Compile) -> Result<Request> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Request {
        // a stem of our own making has no extension to lose, so protect its dots
        name: match (&arguments.name, arguments.sources.first()) {
            (Some(name), _) => name.clone(),
            (None, first) => first.map(|source| stem(source)).unwrap_or_default(),
        },
        sources: arguments.sources.clone(),
        ops: op_requests(&arguments.ops)?,
        out_dir: arguments.out_dir.clone(),
        includes: arguments.includes.clone(),
        cflags: arguments.cflags.clone(),
        ldflags: arguments.ldflags.clone(),
        cores: if arguments.multicore { Cores::Eight } else { Cores::Single },
        packaging: match (arguments.strip, arguments.no_strip) {
            (true, _) => Packaging::Always,
            (_, true) => Packaging::Never,
            (false, false) => Packaging::UnlessDebug,
        },
    })
}

fn dry_run(plan: &Plan, render: &Render) -> Result<Outcome> {
    let actions: Vec<_> = plan
        .actions
        .iter()
        .map(|action| json!({ "label": action.label, "command": action.work.command().to_string() }))
        .collect();
    render.result(&actions, || {
        plan.actions.iter().map(|action| format!("{}\n", action.work.command())).collect()
    })?;
    Ok(Outcome::Good)
}
