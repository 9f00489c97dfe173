//! `toolchain`: install the open one, take it along, show the one in force.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gpsimd_engine::{RunOptions, compile_sdk};
use gpsimd_toolchain::install::{self, Event, Step};
use gpsimd_toolchain::{Home, Machine, OpenToolchain, Toolchain, ToolchainError, packages, private, travel};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::Result;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Status, processors, toolchain};
use crate::cli::{Toolchain as Arguments, ToolchainCommand};
use crate::compiler::Choice;
use crate::output::say;
use crate::render::Render;

/// What `install` did, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Installed {
    /// Whether it is new.
    installed: bool,
    /// Whether builds use it; not, if another came with this program.
    in_force: bool,
    /// Where it is.
    directory: PathBuf,
    /// Its version, in its own words.
    compiler: String,
    /// What it is, as manifests say it.
    identity: String,
}

/// What `export` or `wheel` wrote, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Exported {
    /// The archive or the package.
    file: PathBuf,
    /// Its SHA-256; beside an archive, `FILE.sha256` holds it, too.
    sha256: String,
    /// Its size.
    bytes: u64,
    /// Size of what it unpacks to.
    unpacked: u64,
    /// What the toolchain is, as manifests say it.
    identity: String,
}

/// The compiler in force, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Shown {
    /// `open`, `vendor`, …
    name: String,
    /// Why it.
    why: String,
    /// Its version, in its own words.
    compiler: String,
    /// What it is, as manifests say it.
    identity: String,
    /// Where it is, if it has a place of its own.
    directory: Option<PathBuf>,
    /// Names and versions of the distribution packages in that directory; those of the machine are then not needed.
    packages: Vec<String>,
    /// What its images are not good for.
    caveats: Vec<String>,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, render: &Render) -> Result<Status> {
    match &arguments.command {
        ToolchainCommand::Install { from: Some(from), sha256, .. } => {
            in_steps(render, |machine, home, tell| {
                Ok(travel::import(machine, home, from, sha256.as_deref(), tell)?)
            })
        }
        ToolchainCommand::Install { yes, private, jobs, from: None, .. } => {
            let jobs = jobs.map_or_else(processors, usize::from);
            let jobs = NonZeroUsize::new(jobs).unwrap_or(NonZeroUsize::MIN);
            if *private { install_privately(jobs, render) } else { install(*yes, jobs, render) }
        }
        ToolchainCommand::Export { file } => {
            exported(|machine, open, more| travel::export(machine, open, more, file), render)
        }
        ToolchainCommand::Wheel { directory } => {
            exported(|machine, open, more| travel::wheel(machine, open, more, directory), render)
        }
        ToolchainCommand::Show { compiler } => {
            show(&toolchain(compiler, &Home::from_env()?)?, render)?;
            Ok(Status::Good)
        }
    }
}

fn install(yes: bool, jobs: NonZeroUsize, render: &Render) -> Result<Status> {
    let machine = Machine::here();
    if let Err(error) = packages::check(&machine) {
        let ToolchainError::PackagesMissing { missing } = &error else { return Err(error.into()) };
        // one that needs no packages is as good
        match OpenToolchain::discover(&machine, &Home::from_env()?) {
            Ok(open) if open.travels() && open.verify().is_ok() => {
                return installed(install::Outcome::AlreadyThere(open), render);
            }
            _ => {}
        }
        if !yes {
            return Err(error.into());
        }
        if !machine.is_root() {
            return install_privately(jobs, render);
        }
        if let (false, Some(command)) = (render.is_json(), missing.install_command()) {
            say(&format!("{command}\n"));
        }
        missing.install(&mut |line| {
            if !render.is_json() {
                say(&format!("  {line}\n"));
            }
        })?;
    }
    in_steps(render, |machine, home, tell| Ok(install::install(machine, home, jobs, tell)?))
}

fn install_privately(jobs: NonZeroUsize, render: &Render) -> Result<Status> {
    let more = |open: &OpenToolchain, scratch: &Path| compiled_sdk(open, scratch, jobs.get());
    in_steps(render, |machine, home, tell| private::install(machine, home, jobs, &more, tell))
}

/// Shows the steps of an install as it goes, and then what it came to.
fn in_steps(
    render: &Render,
    install: impl FnOnce(&Machine, &Home, &(dyn Fn(Event) + Sync)) -> Result<install::Outcome>,
) -> Result<Status> {
    let steps = Steps::new(render.is_json());
    let outcome = install(&Machine::here(), &Home::from_env()?, &|event| steps.event(&event))?;
    steps.finish();
    installed(outcome, render)
}

fn installed(outcome: install::Outcome, render: &Render) -> Result<Status> {
    let is_new = matches!(outcome, install::Outcome::Installed(_));
    let open = outcome.toolchain();
    let used = OpenToolchain::discover(&Machine::here(), &Home::from_env()?)?;
    let document = Installed {
        installed: is_new,
        in_force: used.dir() == open.dir(),
        directory: open.dir().to_owned(),
        compiler: open.compiler_version().to_owned(),
        identity: open.identity().to_string(),
    };
    render.result(&document, || {
        let state = if is_new { "installed in" } else { "is already in" };
        let mut text =
            format!("the open toolchain {state} {}\n  {}\n", open.dir().display(), open.compiler_version());
        if !document.in_force {
            text += &format!("  but another goes before it: {}\n", used.dir().display());
        }
        text
    })?;
    Ok(Status::Good)
}

fn exported(
    write: impl FnOnce(&Machine, &OpenToolchain, travel::More<'_, miette::Report>) -> Result<travel::Exported>,
    render: &Render,
) -> Result<Status> {
    let machine = Machine::here();
    let open = OpenToolchain::discover(&machine, &Home::from_env()?)?;
    let more = |open: &OpenToolchain, scratch: &Path| compiled_sdk(open, scratch, processors());
    let travel::Exported { file, sha256, bytes, unpacked } = write(&machine, &open, &more)?;
    let document = Exported { file, sha256, bytes, unpacked, identity: open.identity() };
    render.result(&document, || {
        let megabytes = |bytes: u64| format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10);
        format!(
            "{}: {}, {} unpacked\n  sha256 {}\n",
            document.file.display(),
            megabytes(bytes),
            megabytes(unpacked),
            document.sha256
        )
    })?;
    Ok(Status::Good)
}

/// The device SDK's archives, made anew, so that they do not depend on what the data directory holds.
fn compiled_sdk(open: &OpenToolchain, scratch: &Path, jobs: usize) -> Result<Vec<(PathBuf, PathBuf)>> {
    let toolchain = Toolchain::Open(open.clone());
    let stop = false.into();
    let options = RunOptions { jobs, stop: &stop, cache: None, precompiles: false, jobserver: None };
    Ok(compile_sdk(toolchain, scratch, &options, &|_| {})?)
}

fn show(choice: &Choice, render: &Render) -> Result<()> {
    let Choice { toolchain, name, why } = choice;
    let directory = match toolchain {
        Toolchain::Open(open) => Some(open.dir()),
        Toolchain::Vendor(vendor) => Some(vendor.layout().root.as_path()),
        _ => None,
    };
    let packages: Vec<String> = match toolchain {
        Toolchain::Open(open) => {
            open.packages().into_iter().map(|(name, version)| format!("{name} {version}")).collect()
        }
        _ => Vec::new(),
    };
    let mut notes: Vec<String> = toolchain.caveats().iter().map(ToString::to_string).collect();
    if let Toolchain::Vendor(vendor) = toolchain {
        notes.extend_from_slice(vendor.notes());
    }
    let document = Shown {
        name: (*name).to_owned(),
        why: why.clone(),
        compiler: toolchain.compiler_version().to_owned(),
        identity: toolchain.identity(),
        directory: directory.map(Path::to_owned),
        packages: packages.clone(),
        caveats: notes.clone(),
    };
    render.result(&document, || {
        let mut text = format!("{}\n  toolchain {name}: {why}\n", toolchain.compiler_version());
        text += &format!("  identity  {}\n", toolchain.identity());
        if let Some(directory) = directory {
            text += &format!("  directory {}\n", directory.display());
        }
        if !packages.is_empty() {
            let count = packages.len();
            text += &format!("  packages  {count}, in that directory; none of them need be installed\n");
        }
        for note in &notes {
            text += &format!("  note      {note}\n");
        }
        text
    })
}

/// The install's steps on a terminal: one bar each; on a pipe: one line as each ends.
struct Steps {
    bars: MultiProgress,
    shown: Mutex<BTreeMap<Step, ProgressBar>>,
    plain: bool,
    silent: bool,
}

impl Steps {
    fn new(silent: bool) -> Self {
        let plain = !std::io::stderr().is_terminal();
        let target =
            if silent || plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        Self { bars: MultiProgress::with_draw_target(target), shown: Mutex::default(), plain, silent }
    }

    fn event(&self, event: &Event) {
        match event {
            Event::Waiting { .. } => self.line("waiting for another install"),
            Event::Cleared { dir } => {
                self.line(&format!("cleared what an unfinished install left: {}", dir.display()))
            }
            Event::Said { line } => self.line(&format!("  {line}")),
            Event::Progress { step, done, total } => {
                let mut shown = self.shown.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let bar = shown.entry(*step).or_insert_with(|| self.bar(*step, *total));
                let is_end = done == total && !bar.is_finished();
                bar.set_position(*done);
                if is_end {
                    bar.finish();
                    if self.plain {
                        self.line(&format!("  {step}"));
                    }
                }
            }
        }
    }

    fn bar(&self, step: Step, total: u64) -> ProgressBar {
        let bar = self.bars.add(ProgressBar::new(total));
        if let Ok(style) = ProgressStyle::with_template("  {msg:20} {bar:30} {percent:>3}%") {
            bar.set_style(style);
        }
        bar.set_message(step.to_string());
        bar
    }

    fn line(&self, text: &str) {
        if !self.silent {
            self.bars.suspend(|| say(&format!("{text}\n")));
        }
    }

    fn finish(&self) {
        // clearing a terminal that went away is nobody's concern
        let _ = self.bars.clear();
    }
}
