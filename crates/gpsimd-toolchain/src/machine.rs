//! The machine a toolchain is looked for on: where its files begin, what is in `PATH`, who is asking.
//!
//! Unaware of compilers. A test gives another root and another `PATH` and so plays a machine without packages.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file system root, a program search path and a user.
#[derive(Debug, Clone)]
pub struct Machine {
    root: PathBuf,
    path: OsString,
    is_root: bool,
}

impl Machine {
    /// This machine, with this process's `PATH` and user.
    pub fn here() -> Machine {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // The owner of a process's /proc entry is its effective user.
        let is_root = std::fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0);
        Machine { root: PathBuf::from("/"), path, is_root }
    }

    /// A machine whose file system begins at `root` and whose programs are in `path` (`:`-separated).
    pub fn at(root: impl Into<PathBuf>, path: impl Into<OsString>, is_root: bool) -> Machine {
        Machine { root: root.into(), path: path.into(), is_root }
    }

    /// Whether commands run as the superuser.
    pub fn is_root(&self) -> bool {
        self.is_root
    }

    /// An absolute path below this machine's root.
    pub fn file(&self, absolute: &str) -> PathBuf {
        self.root.join(absolute.trim_start_matches('/'))
    }

    /// Where a program is; a name with a slash is looked for as it is.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        which::which_in(name, Some(&self.path), Path::new("/")).ok()
    }

    /// The last, by name, of the files in `dir` whose names start and end so.
    pub fn newest(&self, dir: &str, start: &str, end: &str) -> Option<PathBuf> {
        let entries = std::fs::read_dir(self.file(dir)).ok()?;
        entries
            .flatten()
            .filter(|e| e.file_name().to_str().is_some_and(|n| n.starts_with(start) && n.ends_with(end)))
            .map(|e| e.path())
            .max()
    }
}
