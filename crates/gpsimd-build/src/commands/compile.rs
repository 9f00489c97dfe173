//! `compile`: request, plan, run, report.

use std::collections::BTreeSet;
use std::path::Path;

use gpsimd_engine::{Answer, Built, Cache, Draft, Jobserver, Kit, Manifest, Question, RunOptions};
use gpsimd_image::verify::Report;
use gpsimd_toolchain::{Command, Home};
use miette::Result;
use schemars::JsonSchema;
use serde::Serialize;

use super::draft::draft;
use super::{Status, processors, toolchain};
use crate::cli::{Compile, ImageKind};
use crate::compiler::Choice;
use crate::files;
use crate::interrupt;
use crate::output::{print, say};
use crate::progress::Progress;
use crate::render::Render;

/// What a build is, for programs.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Document<'a> {
    /// It was built, or is as it was.
    Library(Box<LibraryDocument<'a>>),
    /// It would be built so.
    Steps(Steps),
}

/// A library.
#[derive(Serialize, JsonSchema)]
pub struct LibraryDocument<'a> {
    /// What was made.
    manifest: &'a Manifest,
    /// Where it is.
    directory: &'a Path,
    /// Whether any output differs from the last build's.
    changed: bool,
    /// How Python calls each op.
    calls: Vec<String>,
    /// Most ops of a library.
    allowed_ops: usize,
    /// Bytes of stack an op has; null where a flag says something that is no number.
    stack_size: Option<u64>,
    /// Every command with its output.
    log: &'a Path,
    /// Which compiler, and why this one.
    toolchain: Chosen<'a>,
    /// What `verify` says of the files.
    checks: &'a Report,
}

/// The compiler of a build.
#[derive(Serialize, JsonSchema)]
pub struct Chosen<'a> {
    /// `open`, `vendor`, …
    name: &'a str,
    /// Its version, in its own words.
    compiler: &'a str,
    /// Why it.
    why: &'a str,
}

/// What `--dry-run` shows.
#[derive(Serialize, JsonSchema)]
pub struct Steps {
    /// Each in an order that works.
    steps: Vec<Planned>,
    /// Whether this is all; else the rest depends on the ops that these steps find.
    is_whole: bool,
}

/// A step of a build.
#[derive(Serialize, JsonSchema)]
pub struct Planned {
    /// What it does, as a person would say it.
    label: String,
    /// To paste into a shell.
    command: String,
}

/// Builds a library.
pub fn run(arguments: &Compile, render: &Render) -> Result<Status> {
    // before this process opens anything: make's pipes are found by their numbers
    let jobserver = Jobserver::from_env();
    let home = Home::from_env()?;
    let draft = draft(arguments)?;
    if arguments.image != ImageKind::Fixed {
        super::warn_never_staged(arguments.generation, render);
    }
    let speed = &arguments.speed;
    let progress = Progress::new(render.verbose > 0, render.is_json(), speed.explain);
    let question = question(arguments, &draft, &home);
    let is_asked_more = arguments.dry_run || speed.timings || speed.trace.is_some();
    let known = question.as_ref().filter(|_| !is_asked_more);
    if let Some(question) = known
        && unchanged(question, &draft.settings.name, &progress, render)?
    {
        return Ok(Status::Good);
    }
    let Choice { toolchain, name, why } = toolchain(&arguments.compiler, &home)?;
    let compiler = toolchain.compiler_version().to_owned();
    if render.verbose > 0 {
        say(&format!("{name} toolchain, {compiler}: {why}\n"));
    }
    let kit = Kit::locate(toolchain, home.path())?;
    if arguments.dry_run {
        return dry_run(draft, &kit, render);
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
        precompiles: !speed.no_precompile,
        jobserver: jobserver.as_ref(),
    };
    let result = gpsimd_engine::build(draft, &kit, &options, &|event| progress.event(&event));
    let took = progress.elapsed();
    let (warnings, timings) = progress.finish();
    if let Some(path) = &speed.trace {
        files::write(path, &timings.trace()?)?;
    }
    if speed.timings {
        say(&timings.tree());
    }
    let built = result?;
    for warning in &warnings {
        render.warn_in_words(warning);
    }
    // as it stands in the answer to the same question asked again
    let lasting = render.warnings();
    for replaced in &built.replaced {
        render.warn(replaced);
    }
    let document = |changed| {
        Document::Library(Box::new(LibraryDocument {
            manifest: &built.manifest,
            directory: &built.out_dir,
            changed,
            calls: built.plan.job.ops.iter().map(|op| op.signature.python_call()).collect(),
            allowed_ops: gpsimd_codegen::MAX_OPS,
            stack_size: built.plan.job.project.stack_size(),
            log: &built.log,
            toolchain: Chosen { name, compiler: &compiler, why: &why },
            checks: &built.report,
        }))
    };
    let text = super::report::built(&built, took);
    // first what can fail: one document is printed, not a result and then an error
    write_depfile(arguments, &built)?;
    render.result(&document(built.changed), || text.clone())?;
    let again = render.answer_with(Some(&document(false)), None, lasting)?;
    if let (Some(question), Some(mut basis)) = (question, built.basis) {
        basis.also(arguments.depfile.iter().cloned());
        // a receipt that cannot be written saves nothing, that is all
        let _ = question.remember(&basis, &Answer { text, warnings }, &again);
    }
    Ok(Status::Good)
}

/// The question that this command line is, if its answer can be remembered.
fn question(arguments: &Compile, draft: &Draft, home: &Home) -> Option<Question> {
    let choice = crate::compiler::unless_vendor(&arguments.compiler)?;
    let surroundings = (choice, &arguments.depfile, &arguments.depfile_target);
    Question::new(draft, arguments.compiler.gnu_prefix.as_deref(), home, &surroundings)
}

/// Says again what the last build said, if that still holds.
fn unchanged(question: &Question, name: &str, progress: &Progress, render: &Render) -> Result<bool> {
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
    print(&format!("{name}: nothing changed ({milliseconds:.1} ms)\n{body}"))?;
    Ok(true)
}

/// Tells the build system around us what the build read.
fn write_depfile(arguments: &Compile, built: &Built) -> Result<()> {
    let Some(path) = &arguments.depfile else { return Ok(()) };
    let target = match &arguments.depfile_target {
        Some(target) => target.clone(),
        None => arguments.out_dir.join(built.manifest.file_name()),
    };
    let rule = gpsimd_engine::depfile_rule(&target, &gpsimd_engine::dependencies(&built.plan)?)?;
    Ok(files::write(path, &rule)?)
}

/// Prints the plan; where the ops must be found first, what finds them, for that is all that is known.
fn dry_run(draft: Draft, kit: &Kit, render: &Render) -> Result<Status> {
    let (actions, is_whole) = match draft.closed() {
        Ok(request) => (gpsimd_engine::plan(gpsimd_engine::check(&request, kit)?, kit).actions, true),
        Err(draft) => (gpsimd_engine::discovery(&draft, kit)?, false),
    };
    // processes make no directories: whoever pastes the text needs them first
    let outputs = actions.iter().flat_map(|action| &action.outputs);
    let parents = outputs.filter_map(|output| output.parent());
    let directories: BTreeSet<&Path> = parents.filter(|parent| !parent.as_os_str().is_empty()).collect();
    let first = Command::new("mkdir").arg("-p").args(directories);
    let first = Planned { label: "make the directories".to_owned(), command: first.to_string() };
    let planned = |action: &gpsimd_engine::Action| Planned {
        label: action.label.clone(),
        command: action.work.command().to_string(),
    };
    let steps: Vec<Planned> = [first].into_iter().chain(actions.iter().map(planned)).collect();
    let text: String = steps.iter().map(|step| format!("{}\n", step.command)).collect();
    render.result(&Document::Steps(Steps { steps, is_whole }), || text)?;
    if !is_whole && !render.is_json() {
        say("the rest depends on the ops that these find; name each by --op KERNEL=SCHEMA to see it all\n");
    }
    Ok(Status::Good)
}
