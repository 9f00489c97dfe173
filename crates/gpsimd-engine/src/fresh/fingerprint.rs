//! Whether an action must run: its command and the contents of all it reads and wrote, against its last record.
//!
//! Unaware of processes and threads. Contents decide, never times: a touched file is the same file, and a file that was
//! changed and changed back is too.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::fresh::discovered::{self, Discovered};
use crate::fresh::files::{Files, Known};
use crate::fresh::stamp::{Clock, Stamp};
use crate::fresh::state::Record;
use crate::words::action::Action;
use crate::words::digest::Digest;

/// Variables that change what a compiler makes or says; all others are either removed from the child's environment or
/// of no consequence.
const ENVIRONMENT: [&str; 6] = ["LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LANGUAGE", "SOURCE_DATE_EPOCH"];

/// Why an action runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No record of an earlier success.
    New,
    /// It has no outputs that last: it always runs.
    Always,
    /// The command changed: words that went and words that came.
    Command {
        /// No longer there.
        gone: Vec<String>,
        /// New.
        come: Vec<String>,
    },
    /// The tool, the toolchain or the environment changed.
    Surroundings,
    /// Another set of declared inputs.
    Inputs,
    /// A file that was read has other content.
    Changed(PathBuf),
    /// A file that was read is gone.
    Vanished(PathBuf),
    /// A file came to be that is found before one that was read.
    Appeared(PathBuf),
    /// A directory whose names a source asks for has other names.
    Listing(PathBuf),
    /// An output is gone.
    OutputGone(PathBuf),
    /// An output is not what the action wrote.
    OutputChanged(PathBuf),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::New => f.write_str("it has not succeeded here before"),
            Reason::Always => f.write_str("it runs each time"),
            Reason::Command { gone, come } => {
                f.write_str("its command changed:")?;
                gone.iter().try_for_each(|word| write!(f, " -{{{word}}}"))?;
                come.iter().try_for_each(|word| write!(f, " +{{{word}}}"))
            }
            Reason::Surroundings => f.write_str("the tool, the toolchain or the environment changed"),
            Reason::Inputs => f.write_str("its inputs are other files than last time"),
            Reason::Changed(path) => write!(f, "{} changed", path.display()),
            Reason::Vanished(path) => write!(f, "{} is gone", path.display()),
            Reason::Appeared(path) => {
                write!(f, "{} appeared, which is found before a file read last time", path.display())
            }
            Reason::Listing(path) => {
                write!(f, "files of {} came or went, and a source asks for files", path.display())
            }
            Reason::OutputGone(path) => write!(f, "its output {} is gone", path.display()),
            Reason::OutputChanged(path) => write!(f, "its output {} was changed", path.display()),
        }
    }
}

/// What is the same for all actions of a run.
pub(crate) struct Surroundings {
    /// Tool, toolchain, environment.
    identity: Digest,
    /// Toolchain and environment: all that a compiler's output depends on besides its words and inputs.
    pub(crate) compiler: Digest,
    /// Directories that nobody but this tool changes: nothing appears in them unseen.
    pub(crate) fixed: Vec<PathBuf>,
    /// Directories named after their content, which is part of the identity: what is read there need not be listed.
    pub(crate) immutable: Vec<PathBuf>,
}

impl Surroundings {
    /// `immutable` directories and the `library`'s own.
    pub(crate) fn new(toolchain: &str, immutable: Vec<PathBuf>, library: &Path) -> Surroundings {
        let mut parts = environment();
        parts.push(toolchain.into());
        let compiler = Digest::of_parts(parts.iter().map(Vec::as_slice));
        let identity = Digest::of_parts([compiler.as_bytes(), tool_identity().as_bytes()]);
        let fixed = immutable.iter().cloned().chain([library.to_owned()]).collect();
        Surroundings { identity, compiler, fixed, immutable }
    }

    fn is_fixed(&self, path: &Path) -> bool {
        self.fixed.iter().any(|fixed| path.starts_with(fixed))
    }
}

/// The variables that matter, as `NAME=value`.
pub(crate) fn environment() -> Vec<Vec<u8>> {
    let pair = |name: &str| {
        let value = std::env::var_os(name).unwrap_or_default();
        [name.as_bytes(), b"=", value.as_bytes()].concat()
    };
    ENVIRONMENT.into_iter().map(pair).collect()
}

/// This tool: stages in this process are part of the result.
pub(crate) fn tool_identity() -> Digest {
    let file = std::env::current_exe().ok().and_then(|path| Stamp::at(&path).ok().flatten());
    let file = file.map(Stamp::to_bytes);
    Digest::of_parts([env!("CARGO_PKG_VERSION").as_bytes(), file.as_ref().map_or(&[][..], |stamp| stamp)])
}

/// Judges actions and records them.
pub(crate) struct Judge<'a> {
    pub(crate) files: &'a Files,
    pub(crate) surroundings: &'a Surroundings,
}

/// What an action reads, as it was before the action ran.
pub(crate) struct Before {
    words: Vec<OsString>,
    named: BTreeSet<PathBuf>,
    seen: Vec<(PathBuf, Option<Known>)>,
    clock: Clock,
}

impl Before {
    pub(crate) fn words(&self) -> &[OsString] {
        &self.words
    }

    /// Contents of what the action declares; `None` if one of them cannot be read.
    pub(crate) fn declared(&self, action: &Action) -> Option<Vec<(PathBuf, Digest)>> {
        let is_declared = |path: &PathBuf| action.inputs.contains(path) || self.named.contains(path);
        let is_written =
            |path: &PathBuf| action.outputs.contains(path) || action.depfile.as_ref() == Some(path);
        let declared = self.seen.iter().filter(|(path, _)| is_declared(path) && !is_written(path));
        let files = declared.filter(|(path, _)| !path.is_dir());
        files.map(|(path, known)| Some((path.clone(), (*known)?.digest))).collect()
    }
}

/// A record, or why there can be none.
pub(crate) enum Recorded {
    /// The result belongs to the inputs in it.
    Yes(Box<Record>),
    /// An input changed while the action ran, or inputs cannot be told: the result counts once only.
    No(&'static str),
}

impl Judge<'_> {
    /// Why `action` must run, or `None` if its outputs are what it would make again.
    pub(crate) fn reason(&self, action: &Action, record: Option<&Record>) -> Option<Reason> {
        let Some(record) = record else { return Some(Reason::New) };
        let words = words(action);
        let shown = shown(&words);
        if shown != record.words {
            let gone = record.words.iter().filter(|word| !shown.contains(word)).cloned().collect();
            let come = shown.iter().filter(|word| !record.words.contains(word)).cloned().collect();
            return Some(Reason::Command { gone, come });
        }
        if self.command(&words) != record.command {
            return Some(Reason::Surroundings);
        }
        let mut declared = self.declared(action, &discovered::named_files(&words));
        let recorded: BTreeSet<&PathBuf> = record.inputs.iter().map(|(path, _)| path).collect();
        declared.retain(|path| !path.is_dir());
        // a vanished input is reported as such below
        if declared.iter().any(|path| !recorded.contains(path))
            || recorded.iter().any(|path| !declared.contains(*path) && path.exists())
        {
            return Some(Reason::Inputs);
        }
        for (path, digest) in record.inputs.iter().chain(&record.found) {
            match self.digest(path) {
                Some(now) if now == *digest => {}
                Some(_) => return Some(Reason::Changed(path.clone())),
                None => return Some(Reason::Vanished(path.clone())),
            }
        }
        if let Some(path) = record.absent.iter().find(|path| path.symlink_metadata().is_ok()) {
            return Some(Reason::Appeared(path.clone()));
        }
        if let Some((path, _)) = record.listings.iter().find(|(path, digest)| listing(path) != *digest) {
            return Some(Reason::Listing(path.clone()));
        }
        if record.outputs.len() != action.outputs.iter().filter(|path| !path.is_dir()).count() {
            return Some(Reason::New);
        }
        for (path, digest) in &record.outputs {
            match self.digest(path) {
                Some(now) if now == *digest => {}
                Some(_) => return Some(Reason::OutputChanged(path.clone())),
                None => return Some(Reason::OutputGone(path.clone())),
            }
        }
        None
    }

    /// Notes what is known of the inputs before the action runs.
    pub(crate) fn before(&self, action: &Action, record: Option<&Record>, clock: Clock) -> Before {
        let words = words(action);
        let named = discovered::named_files(&words);
        let mut paths = self.declared(action, &named);
        paths.extend(record.into_iter().flat_map(|record| &record.found).map(|(path, _)| path.clone()));
        let seen = paths.into_iter().map(|path| {
            let known = self.files.look(&path).ok().flatten();
            (path, known)
        });
        Before { seen: seen.collect(), words, named, clock }
    }

    /// Records an action that succeeded. `after` is the clock since.
    pub(crate) fn record(
        &self,
        action: &Action,
        before: &Before,
        after: Clock,
        took: std::time::Duration,
        said: &str,
    ) -> Recorded {
        let Some(discovered) = discovered::discovered(action, &self.surroundings.fixed) else {
            return Recorded::No("the files it read cannot be told from its dependency file");
        };
        let Some(inputs) = self.unchanged(self.declared(action, &before.named), before, after) else {
            return Recorded::No("an input changed while it ran");
        };
        let is_listed =
            |path: &&PathBuf| !self.surroundings.immutable.iter().any(|fixed| path.starts_with(fixed));
        let listed = discovered.found.iter().filter(is_listed).cloned();
        let Some(found) = self.unchanged(listed, before, after) else {
            return Recorded::No("a file it reads changed while it ran");
        };
        let own = || inputs.iter().chain(&found).filter(|(path, _)| !self.surroundings.is_fixed(path));
        if own().any(|(_, known)| known.traits.embeds_files) {
            return Recorded::No("a source has files embedded that only the assembler sees");
        }
        if own().any(|(_, known)| known.traits.tells_time) {
            return Recorded::No("a source asks for the time");
        }
        let asks = own().any(|(_, known)| known.traits.asks_for_files);
        // what came to be while it ran may or may not have been seen by it
        let came = discovered.passed.iter().chain(discovered.directories.iter().filter(|_| asks));
        if came.filter_map(|path| Stamp::at(path).ok().flatten()).any(|stamp| stamp.is_after(before.clock)) {
            return Recorded::No("files came or went where it searches while it ran");
        }
        let outputs = action.outputs.iter().map(|path| {
            let known = self.files.look_at_output(path).ok().flatten()?;
            Some((path.clone(), known.digest))
        });
        let Some(outputs) = outputs.collect::<Option<Vec<_>>>() else {
            return Recorded::No("it did not write all of its outputs");
        };
        Recorded::Yes(Box::new(Record {
            command: self.command(&before.words),
            words: shown(&before.words),
            inputs: digests(inputs),
            found: digests(found),
            absent: discovered.absent.clone(),
            listings: if asks { listings(&discovered) } else { Vec::new() },
            outputs: outputs.into_iter().filter(|(path, _)| !path.is_dir()).collect(),
            took: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            said: said.to_owned(),
        }))
    }

    /// The files as they are, provided that the action saw the same. Those known before must be equal; those found only
    /// now must be older than its start.
    fn unchanged(
        &self,
        paths: impl IntoIterator<Item = PathBuf>,
        before: &Before,
        after: Clock,
    ) -> Option<Vec<(PathBuf, Known)>> {
        let mut unchanged = Vec::new();
        for path in paths {
            let now = self.files.look(&path).ok().flatten()?;
            let is_same = match before.seen.iter().find(|(seen, _)| *seen == path) {
                Some((_, Some(then))) => then.digest == now.digest && then.stamp == now.stamp,
                Some((_, None)) => false,
                None if self.surroundings.is_fixed(&path) => true,
                None => before.clock <= after && !now.stamp.is_after(before.clock),
            };
            if !is_same {
                return None;
            }
            unchanged.push((path, now));
        }
        unchanged.retain(|(path, _)| !path.is_dir());
        Some(unchanged)
    }

    fn declared(&self, action: &Action, named: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
        let is_written =
            |path: &&PathBuf| !action.outputs.contains(path) && action.depfile.as_ref() != Some(path);
        action.inputs.iter().chain(named).filter(is_written).cloned().collect()
    }

    fn command(&self, words: &[OsString]) -> Digest {
        let identity = self.surroundings.identity;
        Digest::of_parts([identity.as_bytes()].into_iter().chain(words.iter().map(|word| word.as_bytes())))
    }

    fn digest(&self, path: &Path) -> Option<Digest> {
        self.files.look(path).ok().flatten().map(|known| known.digest)
    }
}

/// Environment, program and arguments.
fn words(action: &Action) -> Vec<OsString> {
    let command = action.work.command();
    let mut words: Vec<OsString> = Vec::new();
    for (key, value) in command.env {
        let mut pair = key;
        pair.push("=");
        pair.push(value);
        words.push(pair);
    }
    words.push(command.program.into_os_string());
    words.extend(command.args);
    words
}

fn shown(words: &[OsString]) -> Vec<String> {
    words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

fn digests(files: Vec<(PathBuf, Known)>) -> Vec<(PathBuf, Digest)> {
    files.into_iter().map(|(path, known)| (path, known.digest)).collect()
}

fn listings(discovered: &Discovered) -> Vec<(PathBuf, Digest)> {
    discovered.directories.iter().map(|path| (path.clone(), listing(path))).collect()
}

/// A hash of the names in a directory.
pub(crate) fn listing(directory: &Path) -> Digest {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let names: BTreeSet<OsString> = entries.map(|entry| entry.file_name()).collect();
    Digest::of_parts(names.iter().map(|name| name.as_bytes()))
}
