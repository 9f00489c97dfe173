//! A library's hidden directory while a build owns it: lock, log, state of the last run.
//!
//! Unaware of what is built there and of phases: all actions of one build run in one yard.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use gpsimd_image::verify::Report;

use crate::fresh::cache::{Places, TOOLCHAIN};
use crate::fresh::files::Files;
use crate::fresh::fingerprint::{Judge, Surroundings};
use crate::fresh::stamp::Clock;
use crate::fresh::state::{Record, State};
use crate::publish::generation;
use crate::run::event::{Event, Observer, RunOptions};
use crate::run::graph::Graph;
use crate::run::headers::Headers;
use crate::run::log::Log;
use crate::run::process::{self, Children};
use crate::run::schedule::{Scheduler, Workshop};
use crate::words::action::{Action, Work};
use crate::words::disk;
use crate::words::error::EngineError;
use crate::words::kit::Kit;
use crate::words::lock::Lock;
use crate::words::request::Project;

/// Where a library is built.
pub(crate) struct Yard<'a> {
    library: PathBuf,
    lock: Lock,
    log: Log,
    surroundings: Surroundings,
    places: Places,
    headers: Option<Headers>,
    options: &'a RunOptions<'a>,
    observe: &'a Observer<'a>,
}

/// What a run leaves for its end.
pub(crate) struct Ran<'a> {
    pub(crate) report: Report,
    pub(crate) files: &'a Files,
    pub(crate) records: &'a BTreeMap<PathBuf, Record>,
    /// Whether every action has a record that holds.
    pub(crate) is_settled: bool,
}

impl<'a> Yard<'a> {
    /// Takes the library's lock and begins its log.
    pub(crate) fn open(
        project: &Project,
        kit: &Kit,
        options: &'a RunOptions<'a>,
        observe: &'a Observer<'a>,
    ) -> Result<Yard<'a>, EngineError> {
        let library = project.library();
        let lock = generation::own(&library, || observe(Event::Waiting))?;
        let log = Log::begin(&library);
        let mut immutable = vec![kit.sdk.root().to_owned()];
        immutable.extend(kit.toolchain.immutable_directories());
        let surroundings = Surroundings::new(&kit.toolchain.identity(), immutable, &library);
        let places = places(project, kit, &library);
        let headers = options.precompiles.then(|| Headers::of(project, kit)).flatten();
        Ok(Yard { library, lock, log, surroundings, places, headers, options, observe })
    }

    /// Makes the headers that compiles found missing while no worker was idle: later builds take less time with them.
    pub(crate) fn make_headers(&self) {
        let Some(headers) = &self.headers else { return };
        let children = Children::default();
        while let Some(wanted) = headers.wanted().filter(|_| !self.options.stop.load(Ordering::SeqCst)) {
            headers.make(&wanted, &|label, command| process::run(label, command, &self.lock, &children));
        }
    }

    /// Runs the actions that must run, then `finish` if all succeeded.
    ///
    /// # Errors
    /// The first failure.
    pub(crate) fn run<T>(
        &self,
        actions: &[Action],
        finish: impl FnOnce(Ran) -> Result<T, EngineError>,
    ) -> Result<T, EngineError> {
        // those that processes write into; stages make their own
        let processes = actions.iter().filter(|action| matches!(action.work, Work::Process(_)));
        let directories: BTreeSet<&Path> =
            processes.flat_map(|action| &action.outputs).filter_map(|output| output.parent()).collect();
        directories.into_iter().try_for_each(disk::create)?;
        (self.observe)(Event::Planned { actions: actions.len() });
        let clock = || Clock::read(&self.library).map_err(EngineError::io("cannot write in", &self.library));
        let before = clock()?;
        let path = self.library.join("state.json");
        let State { actions: records, files: known, .. } = State::load(&path);
        let files = Files::remembering(known);
        let took = |action: &Action| {
            let record = records.get(action.outputs.first()?)?;
            Some(Duration::from_micros(record.took))
        };
        let graph = Graph::new(actions, took)?;
        let workshop = Workshop {
            judge: Judge { files: &files, surroundings: &self.surroundings },
            log: &self.log,
            lock: &self.lock,
            library: &self.library,
            places: &self.places,
            headers: self.headers.as_ref(),
            options: self.options,
            observe: self.observe,
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
        if let Err(error) = State::new(records, known).save(&path) {
            let text = format!("what was done cannot be remembered and will be done again: {error}");
            (self.observe)(Event::Warning { text: &text });
        }
        if let Some(cache) = self.options.cache {
            cache.trim();
        }
        result
    }
}

/// The directories that builds in different places have by other names.
fn places(project: &Project, kit: &Kit, library: &Path) -> Places {
    // the SDK's own name is its content and stays
    let sdks = kit.sdk.root().parent().unwrap_or(kit.sdk.root());
    let mut places = vec![(project.out_dir.as_path(), 'O'), (library, 'L'), (sdks, 'S')];
    places.extend(project.directory.as_deref().map(|directory| (directory, 'C')));
    places.extend(kit.toolchain.directory().map(|directory| (directory, TOOLCHAIN)));
    Places::new(&places)
}
