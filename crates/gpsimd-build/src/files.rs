//! Files that the commands read and write, with an error that names the path.
//!
//! Unaware of what is in them.

use std::path::{Path, PathBuf};

use miette::Diagnostic;

/// A file or directory that cannot be used.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("cannot {verb} {path}: {source}", path = .path.display())]
#[diagnostic(code(cli::file), help("check the path and its permissions"))]
pub struct FileError {
    /// `read`, `write` or `create`.
    pub verb: &'static str,
    /// The path.
    pub path: PathBuf,
    /// The operating system's reason.
    pub source: std::io::Error,
}

impl FileError {
    /// For `map_err`: what was being done, and to which path.
    pub fn of(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self { verb, path, source }
    }
}

/// A file's bytes.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    std::fs::read(path).map_err(FileError::of("read", path))
}

/// Writes a file whose directory exists.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    std::fs::write(path, bytes).map_err(FileError::of("write", path))
}

/// Creates a directory and those above it.
pub fn create_directory(path: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(path).map_err(FileError::of("create", path))
}
