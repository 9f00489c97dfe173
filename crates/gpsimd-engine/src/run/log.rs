//! `build.log`: every command of a build and what it said, for the day after.
//!
//! Unaware of what the actions are. A log that cannot be written does not fail a build.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use crate::words::action::Action;
use crate::words::disk::{self, locked};
use crate::words::error::EngineError;

/// The log of a build.
pub(crate) struct Log {
    file: Option<Mutex<File>>,
}

/// Where a library's log is.
pub(crate) fn path(library: &Path) -> PathBuf {
    library.join("build.log")
}

impl Log {
    /// Begins the log of `library`, whose lock the caller holds.
    pub(crate) fn begin(library: &Path) -> Self {
        let file = disk::own_file(&path(library), File::options().create(true).truncate(true).write(true));
        Self { file: file.ok().map(Mutex::new) }
    }

    /// Notes an action that has ended.
    pub(crate) fn note(&self, action: &Action, took: Duration, result: Result<&str, &EngineError>) {
        let Some(file) = &self.file else { return };
        let (state, said) = match result {
            Ok(said) => ("done", said.to_owned()),
            Err(error) => ("failed", error.to_string()),
        };
        let mut text =
            format!("# {}: {state} in {} ms\n{}\n", action.label, took.as_millis(), action.work.command());
        if !said.trim().is_empty() {
            text += &format!("{}\n", said.trim_end());
        }
        text.push('\n');
        // a full disk shows where it matters: at the outputs
        let _ = locked(file).write_all(text.as_bytes());
    }
}
