//! One build at a time in a library's work directory.
//!
//! The lock is a `flock` on an open file description. Children get that description as their standard input
//! (an empty file, as good as `/dev/null` to a compiler), so the lock outlives a killed build for exactly as
//! long as one of its compilers still writes into the work directory. Unaware of what is built.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use crate::words::disk;
use crate::words::error::EngineError;

/// Held while a build owns a work directory; released when it and every child holding its standard input ended.
pub(crate) struct Lock {
    file: File,
}

impl Lock {
    /// Takes the lock at `path`, waiting for its owner; `waiting` is called first if there is one.
    pub(crate) fn acquire(path: &Path, waiting: impl FnOnce()) -> Result<Self, EngineError> {
        let file = disk::own_file(path, File::options().create(true).truncate(false).read(true).write(true))?;
        if file.try_lock().is_err() {
            waiting();
            file.lock().map_err(EngineError::io("cannot lock", path))?;
        }
        Ok(Self { file })
    }

    /// Standard input for a child that writes into the locked directory.
    pub(crate) fn stdin(&self) -> std::io::Result<Stdio> {
        self.file.try_clone().map(Stdio::from)
    }
}
