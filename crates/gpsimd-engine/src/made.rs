//! What the first half of a build made, so that the second half need not make it again.
//!
//! The lock is free between the halves, so another build may have overwritten a file: it counts only as long as it is
//! the very file that was left, made by the very command. Unaware of what the files are.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::action::Action;

/// Files left by actions that have run.
#[derive(Debug, Clone, Default)]
pub struct Made {
    files: HashMap<PathBuf, (String, Stamp)>,
}

/// Tells a file from one written over it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    len: u64,
    modified: (i64, i64),
}

impl Made {
    /// What `actions`, which have just run, left.
    pub(crate) fn by(actions: &[Action]) -> Self {
        let outputs = actions.iter().flat_map(|action| action.outputs.iter().map(move |path| (action, path)));
        let file = |(action, path): (&Action, &PathBuf)| {
            Some((path.clone(), (action.work.command().to_string(), stamp(path)?)))
        };
        Self { files: outputs.filter_map(file).collect() }
    }

    /// Whether all that the action would make is there already.
    pub(crate) fn holds(&self, action: &Action) -> bool {
        let command = action.work.command().to_string();
        let is_there = |path: &PathBuf| {
            self.files
                .get(path)
                .is_some_and(|(by, left)| *by == command && stamp(path).as_ref() == Some(left))
        };
        !action.outputs.is_empty() && action.outputs.iter().all(is_there)
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = std::fs::metadata(path).ok()?;
    Some(Stamp { inode: found.ino(), len: found.len(), modified: (found.mtime(), found.mtime_nsec()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::action::Work;
    use gpsimd_toolchain::Command;

    #[test]
    fn a_file_counts_while_it_is_the_one_that_was_left() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let path = scratch.path().join("k.o");
        let action = |flag: &str| Action {
            label: String::new(),
            inputs: Vec::new(),
            outputs: vec![path.clone()],
            depfile: None,
            work: Work::Command(Command::new("cc").arg(flag)),
        };
        std::fs::write(&path, "object").expect("written");
        let made = Made::by(&[action("-O2")]);
        assert!(made.holds(&action("-O2")));
        assert!(!made.holds(&action("-O0")), "another command");
        assert!(!Made::default().holds(&action("-O2")));
        std::fs::write(&path, "another object").expect("written");
        assert!(!made.holds(&action("-O2")), "another file");
        std::fs::remove_file(&path).expect("removed");
        assert!(!made.holds(&action("-O2")), "no file");
    }
}
