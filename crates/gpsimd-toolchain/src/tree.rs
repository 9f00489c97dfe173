//! One hash over a directory tree: names, contents and nothing else (no times, owners, modes).
//!
//! Unaware of what the files are.

use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::ToolchainError;
use crate::error::IoContext as _;

/// SHA-256 over the files below `dir`'s `parts`, in the order of their names; a part that is not there has none.
pub(crate) fn hash(dir: &Path, parts: &[&str]) -> Result<String, ToolchainError> {
    let mut files = Vec::new();
    for part in parts.iter().map(|part| dir.join(part)).filter(|part| part.exists()) {
        collect(&part, &mut files)?;
    }
    files.sort_unstable();
    let mut hasher = Sha256::new();
    for file in files {
        let bytes = std::fs::read(&file).context("cannot read", &file)?;
        let name = file.strip_prefix(dir).unwrap_or(&file);
        absorb(&mut hasher, name.as_os_str().as_bytes(), &bytes);
    }
    Ok(hex(hasher))
}

/// SHA-256 of one file's bytes.
pub(crate) fn hash_of(mut file: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(hasher)),
            n => hasher.update(buffer.get(..n).unwrap_or_default()),
        }
    }
}

/// A name and its content, so that no two different lists of them give the same stream.
pub(crate) fn absorb(hasher: &mut Sha256, name: &[u8], content: &[u8]) {
    for part in [name, content] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
}

pub(crate) fn hex(hasher: Sha256) -> String {
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All regular files below `dir`.
pub(crate) fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<(), ToolchainError> {
    for entry in std::fs::read_dir(dir).context("cannot list", dir)? {
        let entry = entry.context("cannot list", dir)?;
        let path = entry.path();
        if entry.file_type().context("cannot look at", &path)?.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
