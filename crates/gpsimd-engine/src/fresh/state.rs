//! What the last run of a library knew: one record per action, and the hashes of the files it looked at.
//!
//! One file, replaced in one step. It can only save work: a state that is missing, torn, of another version or wrong
//! about a file leads to actions that run again. Unaware of how records are judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fresh::files::Known;
use crate::words::digest::Digest;
use crate::words::disk;
use crate::words::error::EngineError;

/// Raised when the meaning of the file changes.
const FORMAT: u32 = 1;

/// How an action was done when it last succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Everything about the action but file contents.
    pub(crate) command: Digest,
    /// Its words, to say what changed.
    pub(crate) words: Vec<String>,
    /// Declared inputs.
    pub(crate) inputs: Vec<(PathBuf, Digest)>,
    /// Inputs that the compiler listed.
    pub(crate) found: Vec<(PathBuf, Digest)>,
    /// Paths that must not exist.
    pub(crate) absent: Vec<PathBuf>,
    /// Directories whose file names count, and a hash of these.
    pub(crate) listings: Vec<(PathBuf, Digest)>,
    pub(crate) outputs: Vec<(PathBuf, Digest)>,
    /// Duration in microseconds, to start the longest first.
    pub(crate) took: u64,
    /// What the compiler said.
    pub(crate) said: String,
}

/// All of it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    format: u32,
    /// By first output.
    pub(crate) actions: BTreeMap<PathBuf, Record>,
    pub(crate) files: BTreeMap<PathBuf, Known>,
}

impl State {
    pub(crate) fn new(actions: BTreeMap<PathBuf, Record>, files: BTreeMap<PathBuf, Known>) -> State {
        State { format: FORMAT, actions, files }
    }

    /// The state at `path`; an empty one if there is none that can be used.
    pub(crate) fn load(path: &Path) -> State {
        let Ok(bytes) = std::fs::read(path) else { return State::default() };
        match serde_json::from_slice::<State>(&bytes) {
            Ok(state) if state.format == FORMAT => state,
            Ok(state) => {
                tracing::debug!("{}: format {}, not {FORMAT}", path.display(), state.format);
                State::default()
            }
            Err(error) => {
                tracing::debug!("{}: {error}", path.display());
                State::default()
            }
        }
    }

    /// Replaces the state at `path`.
    ///
    /// # Errors
    /// [`EngineError::Io`]. File names that are not UTF-8 are left out, so what reads them runs each time.
    pub(crate) fn save(mut self, path: &Path) -> Result<(), EngineError> {
        let is_text = |path: &PathBuf| path.to_str().is_some();
        self.files.retain(|path, _| is_text(path));
        self.actions.retain(|path, record| {
            let listed = record.inputs.iter().chain(&record.found).chain(&record.outputs);
            is_text(path)
                && listed.chain(&record.listings).all(|(path, _)| is_text(path))
                && record.absent.iter().all(is_text)
        });
        disk::replace_json(path, &self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_or_foreign_state_is_an_empty_one() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let path = scratch.path().join("state.json");
        let record = Record {
            command: Digest::of(b"c"),
            words: vec!["cc".into()],
            inputs: vec![("a".into(), Digest::of(b"a"))],
            found: Vec::new(),
            absent: vec!["b".into()],
            listings: Vec::new(),
            outputs: vec![("o".into(), Digest::of(b"o"))],
            took: 5,
            said: String::new(),
        };
        let state = State::new([("o".into(), record.clone())].into(), BTreeMap::new());
        state.save(&path).expect("saved");
        assert_eq!(State::load(&path).actions.get(Path::new("o")), Some(&record));
        let whole = std::fs::read_to_string(&path).expect("read");
        for text in [&whole[..whole.len() / 2], "", "{}", &whole.replace("\"format\":1", "\"format\":9")] {
            std::fs::write(&path, text).expect("written");
            assert!(State::load(&path).actions.is_empty(), "{text}");
        }
    }
}
