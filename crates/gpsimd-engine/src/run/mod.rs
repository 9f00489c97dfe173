//! Runs a plan: what must run, in parallel, first failure stops the rest, outputs published at the end.
//!
//! Unaware of terminals; an observer hears [`Event`]s from the worker threads.

pub(crate) mod diagnose;
pub(crate) mod graph;
pub(crate) mod jobserver;
pub(crate) mod log;
pub(crate) mod process;
pub(crate) mod schedule;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use gpsimd_image::verify::Report;
use gpsimd_toolchain::{CompileJob, Toolchain};

use crate::fresh::cache::{Cache, Places};
use crate::fresh::discovered;
use crate::fresh::files::Files;
use crate::fresh::fingerprint::{Judge, Reason, Surroundings};
use crate::fresh::receipt::Basis;
use crate::fresh::stamp::Clock;
use crate::fresh::state::{Record, State};
use crate::plan::{self, Plan};
use crate::publish::generation::HIDDEN;
use crate::publish::manifest::Manifest;
use crate::publish::publication;
use crate::run::graph::Graph;
use crate::run::jobserver::Jobserver;
use crate::run::log::{Begin, Log};
use crate::run::schedule::{Scheduler, Workshop};
use crate::words::action::Action;
use crate::words::error::EngineError;
use crate::words::lock::Lock;
use crate::words::sdk::Sdk;

/// How to run a plan.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// Actions at the same time; at least one runs.
    pub jobs: usize,
    /// Set from elsewhere (a signal handler) to end the run.
    pub stop: &'a AtomicBool,
    /// Results of other builds.
    pub cache: Option<&'a Cache>,
    /// Leave to start processes.
    pub jobserver: Option<&'a Jobserver>,
}

/// How an action came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It ran.
    Ran,
    /// The cache had its result.
    Cached,
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
    /// An action's outputs are what it would make again.
    Fresh {
        /// The action.
        action: &'a Action,
        /// What a compiler said when it ran.
        output: &'a str,
    },
    /// An action starts.
    Started {
        /// The action.
        action: &'a Action,
        /// Why it must run.
        reason: &'a Reason,
        /// Number of the worker, from 0.
        lane: usize,
        /// The last of the actions it waited for.
        after: Option<&'a Action>,
    },
    /// An action succeeded.
    Finished {
        /// The action.
        action: &'a Action,
        /// What it took.
        took: Duration,
        /// What a compiler said although it succeeded: warnings.
        output: &'a str,
        /// Whether it ran.
        how: How,
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
    /// What the result depends on, to recognise that it still holds; absent when some of it changed meanwhile.
    pub basis: Option<Basis>,
}

/// Where a library is built, and with what.
pub(crate) struct Site<'a> {
    /// Its hidden directory.
    pub(crate) library: &'a Path,
    pub(crate) out_dir: &'a Path,
    pub(crate) toolchain: &'a Toolchain,
    pub(crate) sdk: &'a Sdk,
}

/// What a run leaves for its end.
pub(crate) struct Ran<'a> {
    pub(crate) report: Report,
    files: &'a Files,
    records: &'a BTreeMap<PathBuf, Record>,
    /// Whether every action has a record that holds.
    is_settled: bool,
}

/// Runs every action of `plan` that must run and publishes the outputs.
///
/// # Errors
/// The first failure; outputs of an earlier build are untouched then.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    observe: &(dyn Fn(Event) + Sync),
) -> Result<Outcome, EngineError> {
    let library = plan.job.out_dir.join(HIDDEN).join(&plan.job.name);
    let begin = if plan.job.is_logged { Begin::Continued } else { Begin::New };
    let site = Site {
        library: &library,
        out_dir: &plan.job.out_dir,
        toolchain: &plan.job.toolchain,
        sdk: &plan.sdk,
    };
    run_actions(&site, &plan.actions, begin, options, observe, |ran| publish(plan, ran))
}

/// Runs actions in the work directory of a library, then `finish` while still nobody else may.
pub(crate) fn run_actions<T>(
    site: &Site,
    actions: &[Action],
    begin: Begin,
    options: &RunOptions,
    observe: &(dyn Fn(Event) + Sync),
    finish: impl FnOnce(Ran) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    let library = site.library;
    std::fs::create_dir_all(library).map_err(EngineError::io("cannot create", library))?;
    let lock = Lock::acquire(&library.join("lock"), || observe(Event::Waiting))?;
    let log = Log::open(library, begin);
    for directory in plan::directories(actions) {
        std::fs::create_dir_all(directory).map_err(EngineError::io("cannot create", directory))?;
    }
    observe(Event::Planned { actions: actions.len() });
    let clock = || Clock::read(library).map_err(EngineError::io("cannot write in", library));
    let before = clock()?;
    let path = library.join("state.json");
    let State { actions: records, files: known, .. } = State::load(&path);
    let files = Files::remembering(known);
    let surroundings = surroundings(site);
    let places = places(site);
    let took = |action: &Action| {
        let record = records.get(action.outputs.first()?)?;
        Some(Duration::from_micros(record.took))
    };
    let graph = Graph::new(actions, took)?;
    let workshop = Workshop {
        judge: Judge { files: &files, surroundings: &surroundings },
        log: &log,
        lock: &lock,
        library,
        places: &places,
        options,
        observe,
    };
    let done = Scheduler::new(actions, graph, &workshop, records).run();
    let result = done.result.and_then(|report| {
        let is_settled = done.is_settled;
        finish(Ran { report, files: &files, records: &done.records, is_settled })
    });
    // what succeeded need not be done again, even if something else failed
    let after = clock().unwrap_or(Clock::NEVER);
    let mut records = done.records;
    records.retain(|output, _| output.exists());
    let known = files.settled(before, after).into_iter().collect();
    State::new(records, known).save(&path)?;
    if let Some(cache) = options.cache {
        cache.trim();
    }
    result
}

fn surroundings(site: &Site) -> Surroundings {
    let mut immutable = vec![site.sdk.root().to_owned()];
    if let Toolchain::Open(open) = site.toolchain {
        immutable.push(open.dir().to_owned());
        // the compiler's own headers: the distribution's, of the version that is part of the identity
        let bare = site.toolchain.compile(&CompileJob::new("k.cpp", "k.o"));
        immutable.extend(discovered::search_directories(&bare));
    }
    Surroundings::new(&site.toolchain.identity(), immutable, site.library)
}

fn places(site: &Site) -> Places {
    let cwd = std::env::current_dir().unwrap_or_default();
    // the SDK's own name is its content and stays
    let sdks = site.sdk.root().parent().unwrap_or(site.sdk.root());
    let mut places = vec![(cwd.as_path(), 'C'), (site.out_dir, 'O'), (site.library, 'L'), (sdks, 'S')];
    if let Toolchain::Open(open) = site.toolchain {
        places.push((open.dir(), 'T'));
    }
    Places::new(&places)
}

/// Takes what the actions made and publishes it with its manifest.
fn publish(plan: &Plan, ran: Ran) -> Result<Outcome, EngineError> {
    let split = plan.split.iter().flat_map(|split| split.image.files());
    let paths = plan.images.iter().flat_map(|image| image.files()).chain(&plan.shapes).chain(split);
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (mut files, mut digests) = (BTreeMap::new(), BTreeMap::new());
    for path in paths {
        files.insert(name(path), ran.files.bytes(path)?.to_vec());
        digests.extend(ran.files.written(path).map(|digest| (name(path), digest)));
    }
    let manifest = Manifest::of(plan, &files, &digests)?;
    let published = files.keys().map(|name| plan.job.out_dir.join(name));
    let published = published.chain([plan.job.out_dir.join(manifest.file_name())]).collect();
    let changed = publication::publish(&plan.job.out_dir, &manifest, files, &digests)?;
    let log = log::path(&plan.job.out_dir.join(HIDDEN).join(&plan.job.name));
    let digests = digests.into_iter().map(|(name, digest)| (plan.job.out_dir.join(name), digest)).collect();
    let basis = basis(plan, &ran, published).map(|basis| Basis { digests, ..basis });
    Ok(Outcome { manifest, out_dir: plan.job.out_dir.clone(), report: ran.report, log, changed, basis })
}

/// All files that the outputs were made from and are: what a receipt lists.
fn basis(plan: &Plan, ran: &Ran, mut files: Vec<PathBuf>) -> Option<Basis> {
    if !ran.is_settled {
        return None;
    }
    let made: BTreeSet<&PathBuf> = plan.actions.iter().flat_map(|action| &action.outputs).collect();
    let (mut read, mut absent, mut directories) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for action in &plan.actions {
        let Some(record) = action.outputs.first().and_then(|output| ran.records.get(output)) else {
            continue;
        };
        let paths = record.inputs.iter().chain(&record.found).map(|(path, _)| path);
        read.extend(paths.filter(|path| !made.contains(path)).cloned());
        absent.extend(record.absent.iter().cloned());
        directories.extend(record.listings.iter().map(|(path, _)| path.clone()));
    }
    files.extend(read);
    if let Toolchain::Open(open) = &plan.job.toolchain {
        files.push(open.dir().join("toolchain.json"));
        directories.extend(open.dir().parent().map(Path::to_owned));
    }
    if let Some(shapes) = &plan.job.shapes {
        files.push(shapes.compiler.clone());
    }
    Some(Basis {
        files,
        absent: absent.into_iter().collect(),
        directories: directories.into_iter().collect(),
        digests: BTreeMap::new(),
    })
}
