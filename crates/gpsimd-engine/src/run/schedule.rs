//! The worker threads: take ready actions, judge them, run those that must, record how they were done.
//!
//! Unaware of what a plan is for and of what happens after the last action.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use gpsimd_image::verify::Report;

use crate::fresh::cache::{self, Hit, Places};
use crate::fresh::discovered;
use crate::fresh::fingerprint::{Before, Judge, Reason, Recorded};
use crate::fresh::stamp::Clock;
use crate::fresh::state::Record;
use crate::run::event::{Event, How, RunOptions};
use crate::run::graph::Graph;
use crate::run::headers::{Headers, Tried, Wanted};
use crate::run::log::{self, Log};
use crate::run::process::{self, Children};
use crate::words::action::{Action, Made, Tools, Work};
use crate::words::digest::Digest;
use crate::words::disk::{Contents as _, locked};
use crate::words::error::EngineError;
use crate::words::lock::Lock;

/// What workers share and none of them changes.
pub(crate) struct Workshop<'a> {
    pub(crate) judge: Judge<'a>,
    pub(crate) log: &'a Log,
    pub(crate) lock: &'a Lock,
    pub(crate) library: &'a Path,
    pub(crate) places: &'a Places,
    pub(crate) headers: Option<&'a Headers>,
    pub(crate) options: &'a RunOptions<'a>,
    pub(crate) observe: &'a (dyn Fn(Event) + Sync),
}

/// The end of a run.
pub(crate) struct Done {
    pub(crate) result: Result<Report, EngineError>,
    /// Of all actions that are done, these and earlier ones.
    pub(crate) records: BTreeMap<PathBuf, Record>,
    /// Whether every action has a record.
    pub(crate) is_settled: bool,
}

/// Which actions wait for what.
pub(crate) struct Scheduler<'a> {
    actions: &'a [Action],
    graph: Graph,
    workshop: &'a Workshop<'a>,
    board: Mutex<Board>,
    wake: Condvar,
}

/// What workers change.
struct Board {
    /// Inputs not yet made, per action.
    waiting_for: Vec<usize>,
    /// The action whose end made each ready.
    after: Vec<Option<usize>>,
    /// Startable: the longest way to the end last, and of equals the first of the plan.
    ready: BTreeSet<(Duration, std::cmp::Reverse<usize>)>,
    running: usize,
    /// Done, not recorded yet: what waits for them need not wait for that.
    backlog: Vec<(usize, Unrecorded)>,
    records: BTreeMap<PathBuf, Record>,
    is_settled: bool,
    failure: Option<EngineError>,
    report: Report,
}

/// Of more actions that could start than this, enough profit from a header that a compile found missing for it to be made first.
const MANY: usize = 6;

/// What a worker does next.
enum Task {
    /// An action, the one that let it start, and its last record.
    Perform(usize, Option<usize>, Option<Record>),
    /// The record of one that is done.
    Record(usize, Unrecorded),
    /// What later compiles take less time with.
    Make(Wanted),
}

/// What an action leaves besides its files.
struct Performed {
    report: Option<Report>,
    record: Recording,
}

enum Recording {
    /// The last one holds.
    Kept(Option<Record>),
    /// It ran.
    New(Unrecorded),
}

/// What the record of an action is made from.
struct Unrecorded {
    before: Before,
    took: Duration,
    said: String,
    how: How,
    key: Option<Digest>,
}

impl<'a> Scheduler<'a> {
    pub(crate) fn new(
        actions: &'a [Action],
        graph: Graph,
        workshop: &'a Workshop<'a>,
        records: BTreeMap<PathBuf, Record>,
    ) -> Self {
        let ready = (0..actions.len()).filter(|&index| graph.waiting_for[index] == 0);
        let board = Mutex::new(Board {
            waiting_for: graph.waiting_for.clone(),
            after: vec![None; actions.len()],
            ready: ready.map(|index| (graph.way[index], std::cmp::Reverse(index))).collect(),
            running: 0,
            backlog: Vec::new(),
            records,
            is_settled: true,
            failure: None,
            report: Report { findings: Vec::new(), images: Vec::new() },
        });
        Self { actions, graph, workshop, board, wake: Condvar::new() }
    }

    pub(crate) fn run(self) -> Done {
        let children = Children::default();
        let done = AtomicBool::new(false);
        let options = self.workshop.options;
        let refused = std::thread::scope(|scope| {
            let watch = || {
                while !done.load(Ordering::SeqCst) {
                    if options.stop.load(Ordering::SeqCst) {
                        children.stop();
                    }
                    std::thread::park_timeout(Duration::from_millis(50));
                }
            };
            let stopper = match std::thread::Builder::new().spawn_scoped(scope, watch) {
                Ok(stopper) => stopper,
                Err(source) => return Some(source),
            };
            let mut refused = None;
            let mut workers = Vec::new();
            for lane in 0..options.jobs.max(1).min(self.actions.len().max(1)) {
                let (this, children) = (&self, &children);
                match std::thread::Builder::new().spawn_scoped(scope, move || this.work(lane, children)) {
                    Ok(worker) => workers.push(worker),
                    Err(source) => {
                        refused = Some(source);
                        break;
                    }
                }
            }
            let is_done = !workers.is_empty();
            let ends: Vec<_> = workers.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
            done.store(true, Ordering::SeqCst);
            stopper.thread().unpark();
            // a panicking worker is a defect; let it surface as one
            if let Some(panic) = ends.into_iter().find_map(Result::err) {
                std::panic::resume_unwind(panic);
            }
            // those that could start have done the work of the others
            refused.filter(|_| !is_done)
        });
        let board = self.board.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let result = match (board.failure, refused) {
            (Some(failure), _) => Err(failure),
            (None, Some(source)) => Err(EngineError::NoThread { source }),
            (None, None) => Ok(board.report),
        };
        Done { result, records: board.records, is_settled: board.is_settled }
    }

    /// One worker: takes ready actions until there can be no more.
    fn work(&self, lane: usize, children: &Children) {
        while let Some(task) = self.next(children) {
            match task {
                Task::Perform(index, after, record) => {
                    let action = &self.actions[index];
                    let after = after.map(|index| &self.actions[index]);
                    self.finished(index, self.workshop.perform(action, record, lane, after, children));
                }
                Task::Record(index, unrecorded) => {
                    let record = self.workshop.record(&self.actions[index], &unrecorded);
                    self.recorded(&mut locked(&self.board), index, record);
                }
                Task::Make(wanted) => self.workshop.make(&wanted, children),
            }
        }
    }

    fn next(&self, children: &Children) -> Option<Task> {
        let mut board = locked(&self.board);
        loop {
            if children.stopped() && board.failure.is_none() {
                board.failure = Some(EngineError::Stopped);
            }
            let wanted = || self.workshop.headers.and_then(Headers::wanted);
            if board.failure.is_none()
                && board.ready.len() > MANY
                && let Some(wanted) = wanted()
            {
                return Some(Task::Make(wanted));
            }
            if board.failure.is_none()
                && let Some((_, std::cmp::Reverse(index))) = board.ready.pop_last()
            {
                board.running += 1;
                let output = self.actions[index].outputs.first();
                let record = output.and_then(|output| board.records.remove(output));
                return Some(Task::Perform(index, board.after[index], record));
            }
            if let Some((index, unrecorded)) = board.backlog.pop() {
                return Some(Task::Record(index, unrecorded));
            }
            if board.running == 0 || board.failure.is_some() {
                return None;
            }
            if let Some(wanted) = wanted() {
                drop(board);
                return Some(Task::Make(wanted));
            }
            board = self.wake.wait(board).unwrap_or_else(std::sync::PoisonError::into_inner);
        }
    }

    fn finished(&self, index: usize, result: Result<Performed, EngineError>) {
        let mut board = locked(&self.board);
        board.running -= 1;
        match result {
            Ok(performed) => {
                if let Some(report) = performed.report {
                    board.report = report;
                }
                match performed.record {
                    Recording::Kept(record) => self.recorded(&mut board, index, record),
                    Recording::New(unrecorded) => board.backlog.push((index, unrecorded)),
                }
                for &dependent in &self.graph.dependents[index] {
                    board.waiting_for[dependent] -= 1;
                    if board.waiting_for[dependent] == 0 {
                        board.after[dependent] = Some(index);
                        board.ready.insert((self.graph.way[dependent], std::cmp::Reverse(dependent)));
                    }
                }
            }
            // the first failure is the cause; those after it may be its consequences
            Err(error) => {
                board.failure.get_or_insert(error);
            }
        }
        drop(board);
        self.wake.notify_all();
    }

    fn recorded(&self, board: &mut Board, index: usize, record: Option<Record>) {
        match (record, self.actions[index].outputs.first()) {
            (Some(record), Some(output)) => {
                board.records.insert(output.clone(), record);
            }
            _ => board.is_settled = false,
        }
    }
}

impl Workshop<'_> {
    /// Does what is left to do for one action.
    fn perform(
        &self,
        action: &Action,
        record: Option<Record>,
        lane: usize,
        after: Option<&Action>,
        children: &Children,
    ) -> Result<Performed, EngineError> {
        let reason = match &action.work {
            Work::Stage(stage) if stage.always_runs() => Some(Reason::Always),
            _ => self.judge.reason(action, record.as_ref()),
        };
        let Some(reason) = reason else {
            tracing::debug!("{}: nothing it depends on changed", action.label);
            let output = record.as_ref().map_or("", |record| record.said.as_str());
            (self.observe)(Event::Fresh { action, output });
            return Ok(Performed { report: None, record: Recording::Kept(record) });
        };
        let clock = || Clock::read(self.library).map_err(EngineError::io("cannot write in", self.library));
        let before = self.judge.before(action, record.as_ref(), clock()?);
        let key = self.key(action, &before);
        let _span = tracing::debug_span!("action", label = action.label).entered();
        tracing::debug!("it runs: {reason}");
        let hit = key.and_then(|key| self.options.cache?.find(key, self.places, self.judge.files));
        // only what starts a process counts against a jobserver
        let token = match (&hit, &action.work, self.options.jobserver) {
            (None, Work::Process(_), Some(server)) => {
                Some(server.token(|| children.stopped()).ok_or(EngineError::Stopped)?)
            }
            _ => None,
        };
        (self.observe)(Event::Started { action, reason: &reason, lane, after });
        let begin = Instant::now();
        let how = if hit.is_some() { How::Cached } else { How::Ran };
        let made = match hit {
            Some(hit) => self.restore(action, hit),
            None => self.execute(action, children),
        };
        drop(token);
        let took = begin.elapsed();
        self.log.note(action, took, made.as_ref().map(|made| made.said.as_str()));
        let Made { report, said } = made.map_err(|error| error.logged(log::path(self.library)))?;
        (self.observe)(Event::Finished { action, took, output: &said, how });
        let record = Recording::New(Unrecorded { before, took, said, how, key });
        Ok(Performed { report, record })
    }

    /// The record of an action that is done. What changed since then counts as changed during it.
    fn record(&self, action: &Action, unrecorded: &Unrecorded) -> Option<Record> {
        let Unrecorded { before, took, said, how, key } = unrecorded;
        let after = Clock::read(self.library).ok()?;
        let record = match self.judge.record(action, before, after, *took, said) {
            Recorded::Yes(record) => *record,
            Recorded::No(why) => {
                tracing::debug!("{}: not recorded: {why}", action.label);
                return None;
            }
        };
        if let (How::Ran, Some(cache), Some(key)) = (how, self.options.cache, key) {
            cache.keep(*key, self.places, &record, self.judge.files);
        }
        Some(record)
    }

    /// The cache's key for the result of a compiler.
    fn key(&self, action: &Action, before: &Before) -> Option<Digest> {
        self.options.cache?;
        let Work::Process(_) = &action.work else { return None };
        let inputs = before.declared(action)?;
        cache::key(self.judge.surroundings.compiler, before.words(), &inputs, self.places)
    }

    fn restore(&self, action: &Action, hit: Hit) -> Result<Made, EngineError> {
        if let Some(path) = &action.depfile {
            let inputs: Vec<_> =
                action.inputs.iter().filter(|path| !path.is_dir()).chain(&hit.found).collect();
            let text = discovered::render(inputs.iter().map(|path| path.as_path()));
            self.judge.files.write(path, text)?;
        }
        for (path, bytes) in action.outputs.iter().zip(hit.outputs) {
            self.remove(path)?;
            self.judge.files.write(path, bytes)?;
        }
        Ok(Made { report: None, said: hit.said })
    }

    fn execute(&self, action: &Action, children: &Children) -> Result<Made, EngineError> {
        // a compiler that fails, or is killed, must not leave the last build's file looking like this one's;
        // stages replace theirs in place, because other builds may be reading what they keep
        for output in action.outputs.iter().chain(&action.depfile) {
            match &action.work {
                Work::Process(_) => self.remove(output)?,
                Work::Stage(_) => self.judge.files.forget(output),
            }
        }
        let start = |label: &str, command: &_| process::run(label, command, self.lock, children);
        let command = match &action.work {
            Work::Process(command) => command,
            Work::Stage(stage) => return stage.run(&Tools { files: self.judge.files, start: &start }),
        };
        let headers = self.headers.zip(action.depfile.as_ref()).filter(|_| action.is_compile());
        let tried = match headers {
            Some((headers, depfile)) => headers.compile(command, depfile, &start)?,
            None => Tried::No,
        };
        if let Tried::Made = tried {
            return Ok(Made::default());
        }
        let said = start(&action.label, command)?;
        if let (Tried::Failed(folder), Some((headers, _)), true) = (tried, headers, said.is_empty()) {
            headers.give_up(&folder);
        }
        Ok(Made { report: None, said })
    }

    /// Makes a header that compiles found missing; a build does not depend on whether that succeeds.
    fn make(&self, wanted: &Wanted, children: &Children) {
        let Some(headers) = self.headers else { return };
        let token = self.options.jobserver.map(|server| server.token(|| children.stopped()));
        if !matches!(token, Some(None)) {
            headers.make(wanted, &|label, command| process::run(label, command, self.lock, children));
        }
    }

    fn remove(&self, path: &Path) -> Result<(), EngineError> {
        self.judge.files.forget(path);
        if path.is_file() {
            std::fs::remove_file(path).map_err(EngineError::io("cannot remove", path))?;
        }
        Ok(())
    }
}
