//! Runs a plan: ready actions in parallel, first failure stops the rest, outputs published at the end.
//!
//! Unaware of terminals; an observer hears [`Event`]s from the worker threads.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use gpsimd_image::verify::Report;

use crate::action::{Action, Builtin, Work};
use crate::builtin;
use crate::error::EngineError;
use crate::lock::Lock;
use crate::log::{self, Begin, Log};
use crate::made::Made;
use crate::manifest::Manifest;
use crate::plan::{self, Plan};
use crate::process::{self, Children, lock};
use crate::publish::{self, HIDDEN};

/// How to run a plan.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// Actions at the same time; at least one runs.
    pub jobs: usize,
    /// Set from elsewhere (a signal handler) to end the run.
    pub stop: &'a AtomicBool,
}

/// What an observer hears.
#[derive(Debug)]
pub enum Event<'a> {
    /// Another build owns the work directory; this one waits for it.
    Waiting,
    /// How many actions there are.
    Planned {
        /// All of them.
        actions: usize,
    },
    /// An action starts.
    Started {
        /// The action.
        action: &'a Action,
    },
    /// An action succeeded.
    Finished {
        /// The action.
        action: &'a Action,
        /// What it took.
        took: Duration,
        /// What a compiler said although it succeeded: warnings.
        output: &'a str,
    },
}

/// A finished build.
#[derive(Debug)]
pub struct Outcome {
    /// As written beside the outputs.
    pub manifest: Manifest,
    /// Where the manifest and the files it names are.
    pub out_dir: PathBuf,
    /// The checks' report; it has no errors, or the build would have failed.
    pub report: Report,
    /// Every command of the build and what it said.
    pub log: PathBuf,
    /// Whether any output differs from the last build's.
    pub changed: bool,
}

/// Runs every action of `plan` and publishes the outputs.
///
/// # Errors
/// The first failure; outputs of an earlier build are untouched then.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    observe: &(dyn Fn(Event) + Sync),
) -> Result<Outcome, EngineError> {
    let library = plan.job.out_dir.join(HIDDEN).join(&plan.job.name);
    let made = plan.job.made.as_ref();
    run_actions(&library, &plan.actions, made, options, observe, |report| publish(plan, report))
}

/// Runs actions in the work directory of `library`, but those whose outputs the first half of the build `made`; then
/// `finish`, while still nobody else may.
pub(crate) fn run_actions<T>(
    library: &Path,
    actions: &[Action],
    made: Option<&Made>,
    options: &RunOptions,
    observe: &(dyn Fn(Event) + Sync),
    finish: impl FnOnce(Report) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    std::fs::create_dir_all(library).map_err(EngineError::io("cannot create", library))?;
    let lock = Lock::acquire(&library.join("lock"), || observe(Event::Waiting))?;
    let log = Log::open(library, if made.is_some() { Begin::Continued } else { Begin::New });
    for directory in plan::directories(actions) {
        std::fs::create_dir_all(directory).map_err(EngineError::io("cannot create", directory))?;
    }
    let scheduler = Scheduler::new(actions, made, &log)?;
    observe(Event::Planned { actions: scheduler.to_run });
    let report = scheduler.run(&lock, options, observe)?;
    finish(report)
}

/// Reads what the actions made and publishes it with its manifest.
fn publish(plan: &Plan, report: Report) -> Result<Outcome, EngineError> {
    let mut files = BTreeMap::new();
    let split = plan.split.iter().flat_map(|split| split.image.files());
    for path in plan.images.iter().flat_map(|image| image.files()).chain(&plan.shapes).chain(split) {
        let bytes = std::fs::read(path).map_err(EngineError::io("cannot read", path))?;
        files.insert(path.file_name().unwrap_or_default().to_string_lossy().into_owned(), bytes);
    }
    let manifest = Manifest::of(plan, &files)?;
    let mut text = serde_json::to_vec_pretty(&manifest).map_err(|error| EngineError::Io {
        doing: "cannot write",
        path: manifest.file_name().into(),
        source: error.into(),
    })?;
    text.push(b'\n');
    files.insert(manifest.file_name(), text);
    let changed = publish::generation(&plan.job.out_dir, &plan.job.name, &files)?;
    let log = log::path(&plan.job.out_dir.join(HIDDEN).join(&plan.job.name));
    Ok(Outcome { manifest, out_dir: plan.job.out_dir.clone(), report, log, changed })
}

/// Which actions wait for what.
struct Scheduler<'a> {
    actions: &'a [Action],
    log: &'a Log,
    /// Actions that are not made yet.
    to_run: usize,
    /// Actions that read what this one writes.
    dependents: Vec<Vec<usize>>,
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    /// Inputs not yet made, per action.
    waiting_for: Vec<usize>,
    /// Startable, lowest index first, so that a run is as reproducible as its timing allows.
    ready: BTreeSet<usize>,
    running: usize,
    failure: Option<EngineError>,
    report: Report,
}

impl<'a> Scheduler<'a> {
    fn new(actions: &'a [Action], made: Option<&Made>, log: &'a Log) -> Result<Self, EngineError> {
        let maker: HashMap<&Path, usize> = actions
            .iter()
            .enumerate()
            .flat_map(|(index, action)| action.outputs.iter().map(move |output| (output.as_path(), index)))
            .collect();
        let mut dependents = vec![Vec::new(); actions.len()];
        let mut waiting_for = vec![0; actions.len()];
        let mut is_made = vec![false; actions.len()];
        for (index, action) in actions.iter().enumerate() {
            let mut needs = BTreeSet::new();
            for input in &action.inputs {
                match maker.get(input.as_path()) {
                    // a later maker would wait for itself: plans are written in a runnable order
                    Some(&made_by) if made_by < index => {
                        if !is_made[made_by] {
                            needs.insert(made_by);
                        }
                    }
                    Some(_) => return Err(EngineError::PlanIncomplete { path: input.clone() }),
                    None if input.exists() => {}
                    None => return Err(EngineError::PlanIncomplete { path: input.clone() }),
                }
            }
            is_made[index] = needs.is_empty() && made.is_some_and(|made| made.holds(action));
            waiting_for[index] = needs.len();
            for made_by in needs {
                dependents[made_by].push(index);
            }
        }
        let ready = (0..actions.len()).filter(|&index| waiting_for[index] == 0 && !is_made[index]).collect();
        let state = Mutex::new(State {
            waiting_for,
            ready,
            running: 0,
            failure: None,
            report: Report { findings: Vec::new(), images: Vec::new() },
        });
        let to_run = is_made.iter().filter(|is_made| !**is_made).count();
        Ok(Self { actions, log, to_run, dependents, state, wake: Condvar::new() })
    }

    fn run(
        self,
        lock: &Lock,
        options: &RunOptions,
        observe: &(dyn Fn(Event) + Sync),
    ) -> Result<Report, EngineError> {
        let children = Children::default();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let stopper = scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    if options.stop.load(Ordering::SeqCst) {
                        children.stop();
                    }
                    std::thread::park_timeout(Duration::from_millis(50));
                }
            });
            let workers: Vec<_> = (0..options.jobs.max(1).min(self.actions.len().max(1)))
                .map(|_| scope.spawn(|| self.work(lock, &children, observe)))
                .collect();
            for worker in workers {
                // a panicking worker is a defect; let it surface as one
                if let Err(panic) = worker.join() {
                    std::panic::resume_unwind(panic);
                }
            }
            done.store(true, Ordering::SeqCst);
            stopper.thread().unpark();
        });
        let state = self.state.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match state.failure {
            Some(failure) => Err(failure),
            None => Ok(state.report),
        }
    }

    /// One worker: takes ready actions until there can be no more.
    fn work(&self, build_lock: &Lock, children: &Children, observe: &(dyn Fn(Event) + Sync)) {
        while let Some(index) = self.next(children) {
            let action = &self.actions[index];
            observe(Event::Started { action });
            let begin = Instant::now();
            let result = execute(action, build_lock, children);
            self.log.note(action, begin.elapsed(), result.as_ref().map(|done| done.output.as_str()));
            if let Ok(done) = &result {
                observe(Event::Finished { action, took: begin.elapsed(), output: &done.output });
            }
            self.finished(index, result);
        }
    }

    fn next(&self, children: &Children) -> Option<usize> {
        let mut state = lock(&self.state);
        loop {
            if children.stopped() && state.failure.is_none() {
                state.failure = Some(EngineError::Stopped);
            }
            if state.failure.is_some() {
                return None;
            }
            if let Some(index) = state.ready.pop_first() {
                state.running += 1;
                return Some(index);
            }
            if state.running == 0 {
                return None;
            }
            state = self.wake.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn finished(&self, index: usize, result: Result<Done, EngineError>) {
        let mut state = lock(&self.state);
        state.running -= 1;
        match result {
            Ok(done) => {
                if let Some(report) = done.report {
                    state.report = report;
                }
                for &dependent in &self.dependents[index] {
                    state.waiting_for[dependent] -= 1;
                    if state.waiting_for[dependent] == 0 {
                        state.ready.insert(dependent);
                    }
                }
            }
            // the first failure is the cause; those after it may be its consequences
            Err(error) => {
                state.failure.get_or_insert(error);
            }
        }
        drop(state);
        self.wake.notify_all();
    }
}

/// What an action leaves besides its files.
#[derive(Default)]
struct Done {
    output: String,
    report: Option<Report>,
}

fn execute(action: &Action, lock: &Lock, children: &Children) -> Result<Done, EngineError> {
    // a compiler that fails, or is killed, must not leave the last build's file looking like this one's;
    // builtins replace theirs in place, because other builds may be reading what they keep
    let is_builtin = matches!(action.work, Work::Builtin(_));
    for output in action.outputs.iter().filter(|output| !is_builtin && output.is_file()) {
        std::fs::remove_file(output).map_err(EngineError::io("cannot remove", output))?;
    }
    match &action.work {
        Work::Host(command) => {
            let output = process::run_here(&action.label, command, lock, children)?;
            Ok(Done { output, report: None })
        }
        Work::Command(command) => {
            let output = process::run(&action.label, command, lock, children)?;
            Ok(Done { output, report: None })
        }
        Work::Builtin(stage) => {
            let start = |label: &str, command: &_| match stage {
                Builtin::Registrations { .. } => process::run_here(label, command, lock, children),
                _ => process::run(label, command, lock, children),
            };
            Ok(Done { output: String::new(), report: builtin::run(stage, &start)? })
        }
    }
}
