//! `compile`: request, plan, run, report.

use std::path::Path;

use gpsimd_engine::{
    Answer, Cache, Cores, Images, Jobserver, Linking, Packaging, Packer, Plan, Question, Request, RunOptions,
    Sdk, Target,
};
use gpsimd_toolchain::{Home, Toolchain};
use miette::Result;
use serde_json::json;

use super::{Outcome, op_requests, processors, toolchain};
use crate::cli::{self, Compile, ImageKind};
use crate::compiler::Choice;
use crate::files;
use crate::interrupt;
use crate::output::{print, say};
use crate::progress::Progress;
use crate::render::Render;

/// Builds a library.
pub fn run(arguments: &Compile, render: &Render) -> Result<Outcome> {
    // before this process opens anything: make's pipes are found by their numbers
    let jobserver = Jobserver::from_env();
    let home = Home::from_env()?;
    let request = request(arguments)?;
    let speed = &arguments.speed;
    let progress = Progress::new(render.verbose > 0, render.is_json(), speed.explain);
    let question = question(arguments, &request, &home);
    let is_asked_more = arguments.dry_run || speed.timings || speed.trace.is_some();
    let known = question.as_ref().filter(|_| !is_asked_more);
    if let Some(question) = known
        && unchanged(question, &request, &progress, render)?
    {
        return Ok(Outcome::Good);
    }
    let Choice { toolchain, name, why } = toolchain(&arguments.compiler, &home)?;
    let chosen = json!({ "name": name, "compiler": toolchain.compiler_version(), "why": why });
    if render.verbose > 0 {
        say(&format!("{name} toolchain, {}: {why}\n", toolchain.compiler_version()));
    }
    let sdk = Sdk::locate(home.path())?;
    if arguments.dry_run {
        return dry_run(&request, toolchain, sdk, render);
    }
    interrupt::listen();
    let cache = (!speed.no_cache).then(|| {
        let directory = speed.cache_dir.clone().unwrap_or_else(|| home.path().join("cache"));
        Cache::new(directory, speed.cache_size.saturating_mul(1 << 20))
    });
    let options = RunOptions {
        jobs: arguments.jobs.map_or_else(processors, usize::from),
        stop: interrupt::flag(),
        cache: cache.as_ref(),
        jobserver: jobserver.as_ref(),
    };
    let result = build(request, toolchain, sdk, &options, &progress);
    let took = progress.elapsed();
    let (warnings, timings) = progress.finish();
    if let Some(path) = &speed.trace {
        files::write(path, &timings.trace()?)?;
    }
    if speed.timings {
        say(&timings.tree());
    }
    let (plan, outcome) = result?;
    if !render.is_json() {
        for warning in &warnings {
            say(&format!("{warning}\n"));
        }
    }
    let mut document = json!({
        "manifest": outcome.manifest,
        "directory": outcome.out_dir,
        "changed": outcome.changed,
        "calls": plan.job.ops.iter().map(|op| op.signature.python_call()).collect::<Vec<_>>(),
        "allowed_ops": gpsimd_codegen::MAX_OPS,
        "stack_size": plan.job.stack_size(),
        "log": outcome.log,
        "toolchain": chosen,
        "warnings": warnings,
        "checks": outcome.report,
    });
    let text = super::report::built(&plan, &outcome, took);
    // first what can fail: one document is printed, not a result and then an error
    write_depfile(arguments, &plan, &outcome)?;
    render.result(&document, || text.clone())?;
    if let (Some(question), Some(mut basis)) = (question, outcome.basis) {
        document["changed"] = json!(false);
        basis.also(arguments.depfile.iter().cloned());
        let document = document.to_string();
        // a receipt that cannot be written saves nothing, that is all
        let _ = question.remember(&basis, &Answer { text, warnings }, &document);
    }
    Ok(Outcome::Good)
}

/// The question that this command line is, if its answer can be remembered.
fn question(arguments: &Compile, request: &Request, home: &Home) -> Option<Question> {
    let choice = crate::compiler::unless_vendor(&arguments.compiler)?;
    let settings = format!("{choice} {:?} {:?}", arguments.depfile, arguments.depfile_target);
    Question::new(request, arguments.compiler.gnu_prefix.as_deref(), home, &settings)
}

/// Says again what the last build said, if that still holds.
fn unchanged(question: &Question, request: &Request, progress: &Progress, render: &Render) -> Result<bool> {
    let Some(answer) = question.answer() else { return Ok(false) };
    if render.is_json() {
        let Some(document) = question.document() else { return Ok(false) };
        render.document(&document)?;
        return Ok(true);
    }
    for warning in &answer.warnings {
        say(&format!("{warning}\n"));
    }
    progress.explain("nothing runs: every file is as the last build left it");
    let body = answer.text.split_once('\n').map_or("", |(_, body)| body);
    let milliseconds = progress.elapsed().as_secs_f64() * 1000.0;
    print(&format!("{}: nothing changed ({milliseconds:.1} ms)\n{body}", request.name))?;
    Ok(true)
}

fn build(
    request: Request,
    toolchain: Toolchain,
    sdk: Sdk,
    options: &RunOptions,
    progress: &Progress,
) -> Result<(Plan, gpsimd_engine::Outcome)> {
    let observe = |event: gpsimd_engine::Event| progress.event(&event);
    let request = gpsimd_engine::complete(request, &toolchain, &sdk, options, &observe)?;
    let plan = gpsimd_engine::plan(gpsimd_engine::check(&request, toolchain)?, sdk);
    let outcome = gpsimd_engine::run(&plan, options, &observe)?;
    Ok((plan, outcome))
}

/// Tells the build system around us what the build read.
fn write_depfile(arguments: &Compile, plan: &Plan, outcome: &gpsimd_engine::Outcome) -> Result<()> {
    let Some(path) = &arguments.depfile else { return Ok(()) };
    let target = match &arguments.depfile_target {
        Some(target) => target.clone(),
        None => arguments.out_dir.join(outcome.manifest.file_name()),
    };
    let rule = gpsimd_engine::depfile_rule(&target, &gpsimd_engine::dependencies(plan)?)?;
    Ok(files::write(path, &rule)?)
}

fn images(arguments: &Compile) -> Images {
    let target = Target { generation: arguments.generation, first_spec: arguments.spec };
    match arguments.image {
        ImageKind::Fixed => Images::Fixed,
        ImageKind::Split => Images::Split(target),
        ImageKind::Both => Images::Both(target),
    }
}

pub(super) fn request(arguments: &Compile) -> Result<Request> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Request {
        // a stem of our own making has no extension to lose, so protect its dots
        name: match (&arguments.name, arguments.sources.first()) {
            (Some(name), _) => name.clone(),
            (None, first) => first.map(|source| stem(source)).unwrap_or_default(),
        },
        sources: arguments.sources.clone(),
        ops: op_requests(&arguments.ops)?,
        shape_sources: arguments.shape_sources.clone(),
        namespace: arguments.namespace.clone(),
        is_logged: false,
        out_dir: arguments.out_dir.clone(),
        includes: arguments.includes.clone(),
        cflags: arguments.cflags.clone(),
        ldflags: arguments.ldflags.clone(),
        launcher: super::launcher(arguments.speed.launcher.as_deref())?,
        cores: if arguments.multicore { Cores::Eight } else { Cores::Single },
        linking: match arguments.speed.link {
            cli::Link::Auto => Linking::Auto,
            cli::Link::Once => Linking::Once,
            cli::Link::Each => Linking::Each,
        },
        packaging: match (arguments.strip, arguments.no_strip) {
            (true, _) => Packaging::Always,
            (_, true) => Packaging::Never,
            (false, false) => Packaging::UnlessDebug,
        },
        packer: match arguments.packer {
            cli::Packer::Native => Packer::Native,
            cli::Packer::Vendor => Packer::Toolchain,
        },
        images: images(arguments),
    })
}

/// Prints the plan; where the ops must be found first, what finds them, for that is all that is known.
fn dry_run(request: &Request, toolchain: Toolchain, sdk: Sdk, render: &Render) -> Result<Outcome> {
    let actions = match gpsimd_engine::is_open(request) {
        true => gpsimd_engine::discovery(request, &toolchain, &sdk)?,
        false => gpsimd_engine::plan(gpsimd_engine::check(request, toolchain)?, sdk).actions,
    };
    let document: Vec<_> = actions
        .iter()
        .map(|action| json!({ "label": action.label, "command": action.work.command().to_string() }))
        .collect();
    render.result(&document, || {
        actions.iter().map(|action| format!("{}\n", action.work.command())).collect()
    })?;
    if gpsimd_engine::is_open(request) && !render.is_json() {
        say("the rest depends on the ops that these find; name each by --op KERNEL=SCHEMA to see it all\n");
    }
    Ok(Outcome::Good)
}
