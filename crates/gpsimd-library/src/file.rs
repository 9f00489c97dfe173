//! Files of outside, read with an error that names the path.
//!
//! What is read is looked at first: a pipe would wait for ever, a device would never end. Unaware of what is in them.

use std::fs::{File, FileType};
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use miette::Diagnostic;

/// Longest image, record file or manifest read. A device image fits 32 MiB; its debug information is many times that.
pub const LONGEST: u64 = 1 << 30;

/// A file or directory that cannot be used.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum FileError {
    /// The operating system says no.
    #[error("cannot {verb} {path}: {source}", path = .path.display())]
    #[diagnostic(code(cli::file), help("check the path and its permissions"))]
    Io {
        /// `read`, `write` or `create`.
        verb: &'static str,
        /// The path.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A directory, pipe or device.
    #[error("{path} is a {kind}, not a file", path = .path.display())]
    #[diagnostic(code(cli::not_a_file), help("name a file; what a pipe holds can be written to one first"))]
    Kind {
        /// The path.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// More than anything the command reads.
    #[error("{path} has {found} bytes; at most {most} are read", path = .path.display())]
    #[diagnostic(code(cli::file_size), help("see whether it is the file you meant"))]
    Size {
        /// The path.
        path: PathBuf,
        /// Bytes it has, or has at least.
        found: u64,
        /// Bytes read.
        most: u64,
    },
}

impl FileError {
    /// For `map_err`: what was being done, and to which path.
    pub fn of(verb: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { verb, path, source }
    }
}

/// The bytes of a file that is no tensor.
pub fn read(path: &Path) -> Result<Vec<u8>, FileError> {
    read_at_most(path, LONGEST)
}

/// A file's bytes, if it is one and has at most `most`.
pub fn read_at_most(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    // before it is opened, which alone may wait for ever
    let metadata = std::fs::metadata(path).map_err(FileError::of("read", path))?;
    if !metadata.is_file() {
        return Err(FileError::Kind { path: path.to_owned(), kind: kind(metadata.file_type()) });
    }
    let size = |found| FileError::Size { path: path.to_owned(), found, most };
    if metadata.len() > most {
        return Err(size(metadata.len()));
    }
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(FileError::of("read", path))?.take(most + 1);
    // some files of the kernel say that they are empty; a file may grow meanwhile
    let found = file.read_to_end(&mut bytes).map_err(FileError::of("read", path))? as u64;
    if found > most { Err(size(found)) } else { Ok(bytes) }
}

fn kind(found: FileType) -> &'static str {
    match found {
        found if found.is_dir() => "directory",
        found if found.is_fifo() => "pipe",
        found if found.is_socket() => "socket",
        _ => "device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_a_sane_size_are_read() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let file = scratch.path().join("file");
        std::fs::write(&file, [7; 100]).expect("written");
        let code = |path: &Path, most| match read_at_most(path, most) {
            Ok(bytes) => format!("{} bytes", bytes.len()),
            Err(error) => error.code().map(|code| code.to_string()).unwrap_or_default(),
        };
        assert_eq!(code(&file, 100), "100 bytes");
        assert_eq!(code(&file, 99), "cli::file_size");
        assert_eq!(code(scratch.path(), 100), "cli::not_a_file");
        assert_eq!(code(Path::new("/dev/zero"), 100), "cli::not_a_file");
        assert_eq!(code(&scratch.path().join("none"), 100), "cli::file");
        // no size of its own, but an end
        assert_ne!(code(Path::new("/proc/self/maps"), 1 << 20), "0 bytes");
        assert_eq!(code(Path::new("/proc/self/maps"), 10), "cli::file_size");
    }
}
