//! Files and directories: read, written in one step, described for errors.
//!
//! Unaware of what they hold.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde::Serialize;
use tempfile::TempDir;

use crate::words::digest::Digest;
use crate::words::error::EngineError;

/// Name of the hidden directory beside the outputs.
pub(crate) const HIDDEN: &str = ".gpsimd-build";

/// The file name that a library's shape image ends in.
pub(crate) const SHAPES: &str = ".shapes.so";

/// What a name begins with before what it names is whole.
const UNFINISHED: &str = ".new-";

/// An age at which nobody is still writing what is unfinished.
const ABANDONED: Duration = Duration::from_secs(3600);

/// The file name that a library's native twin ends in.
pub(crate) const NATIVE: &str = ".native.so";
/// The file name that the twin's operators for PyTorch end in.
pub(crate) const OPERATORS: &str = ".torch.so";

/// What a file is called, wherever it lies.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Files as stages read and write them.
pub trait Contents {
    /// The bytes of a file.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    fn bytes(&self, path: &Path) -> Result<Arc<[u8]>, EngineError>;

    /// The digest of [`Contents::bytes`], where it is known.
    fn digest(&self, _: &Path) -> Option<Digest> {
        None
    }

    /// Writes a file, and the directories above it.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    fn write(&self, path: &Path, bytes: Vec<u8>) -> Result<(), EngineError>;

    /// Forgets what is known of a file that somebody else is about to write.
    fn forget(&self, path: &Path);
}

/// Files as they are.
#[derive(Debug)]
pub(crate) struct Plain;

impl Contents for Plain {
    fn bytes(&self, path: &Path) -> Result<Arc<[u8]>, EngineError> {
        read(path).map(Arc::from)
    }

    fn write(&self, path: &Path, bytes: Vec<u8>) -> Result<(), EngineError> {
        write(path, &bytes)
    }

    fn forget(&self, _: &Path) {}
}

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, EngineError> {
    fs::read(path).map_err(EngineError::io("cannot read", path))
}

/// Writes a file, and the directories above it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    create(path.parent().unwrap_or(Path::new(".")))?;
    fs::write(path, bytes).map_err(EngineError::io("cannot write", path))
}

/// Makes a directory and those above it.
pub(crate) fn create(directory: &Path) -> Result<(), EngineError> {
    fs::create_dir_all(directory).map_err(EngineError::io("cannot create", directory))
}

/// Makes a directory of this tool's own in one that is there.
///
/// # Errors
/// [`EngineError::NotOurs`] for a link or anything else in its place.
pub(crate) fn own_directory(directory: &Path) -> Result<(), EngineError> {
    match fs::create_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match fs::symlink_metadata(directory) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(found) => Err(not_ours(directory, found.file_type(), "a directory")),
            Err(error) => Err(EngineError::io("cannot create", directory)(error)),
        },
        made => made.map_err(EngineError::io("cannot create", directory)),
    }
}

/// Opens a file of this tool's own, following no link.
///
/// # Errors
/// [`EngineError::NotOurs`] for a link or anything else in its place.
pub(crate) fn own_file(path: &Path, options: &mut fs::OpenOptions) -> Result<File, EngineError> {
    // a pipe would wait for somebody at its other end
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => return Err(not_ours(path, found.file_type(), "a file")),
        _ => {}
    }
    options.custom_flags(libc::O_NOFOLLOW).open(path).map_err(EngineError::io("cannot open", path))
}

/// The bytes of a file of this tool's own.
///
/// # Errors
/// As [`own_file`].
pub(crate) fn read_own(path: &Path) -> Result<Vec<u8>, EngineError> {
    let mut bytes = Vec::new();
    let mut file = own_file(path, File::options().read(true))?;
    file.read_to_end(&mut bytes).map_err(EngineError::io("cannot read", path))?;
    Ok(bytes)
}

/// Refuses links, pipes and devices below a directory of this tool's own: processes that write there would follow them.
/// `links` are the names of links directly in it that are ours.
///
/// # Errors
/// [`EngineError::NotOurs`] for the first.
pub(crate) fn refuse_foreign(directory: &Path, links: &[&str]) -> Result<(), EngineError> {
    let mut waiting = vec![directory.to_owned()];
    while let Some(folder) = waiting.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => continue,
            Err(error) => return Err(EngineError::io("cannot read", folder)(error)),
        };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let is_own_link = || folder == directory && links.iter().any(|name| entry.file_name() == *name);
            if kind.is_dir() {
                waiting.push(entry.path());
            } else if !(kind.is_file() || kind.is_symlink() && is_own_link()) {
                return Err(not_ours(&entry.path(), kind, "a file"));
            }
        }
    }
    Ok(())
}

fn not_ours(path: &Path, found: fs::FileType, wanted: &'static str) -> EngineError {
    let found = match () {
        () if found.is_symlink() => "a link",
        () if found.is_dir() => "a directory",
        () if found.is_file() => "a file",
        () => "a device, pipe or socket",
    };
    EngineError::NotOurs { path: path.to_owned(), found, wanted }
}

/// Copies a file.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), EngineError> {
    fs::copy(from, to).map_err(EngineError::io("cannot copy", from)).map(|_| ())
}

/// Writes `value` as JSON to `path`, which changes in one step.
pub(crate) fn replace_json(path: &Path, value: &impl Serialize) -> Result<(), EngineError> {
    let text =
        serde_json::to_vec(value).map_err(|error| EngineError::io("cannot write", path)(error.into()))?;
    replace(path, &text)
}

/// Writes a file that changes in one step.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut scratch = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(folder)
        .map_err(EngineError::io("cannot create a file in", folder))?;
    scratch.write_all(bytes).map_err(EngineError::io("cannot write", path))?;
    scratch.persist(path).map_err(|error| EngineError::io("cannot replace", path)(error.error))?;
    Ok(())
}

/// Copies a file to where others look for it; it appears whole, and one that is there already gives way.
pub(crate) fn keep(from: &Path, to: &Path) -> Result<(), EngineError> {
    let parent = to.parent().unwrap_or(Path::new("."));
    create(parent)?;
    forget_abandoned(parent);
    let scratch = tempfile::Builder::new()
        .prefix(UNFINISHED)
        .tempfile_in(parent)
        .map_err(EngineError::io("cannot create a file in", parent))?;
    copy(from, scratch.path())?;
    scratch.persist(to).map_err(|error| EngineError::io("cannot rename into", to)(error.error))?;
    Ok(())
}

/// Writes `files` (relative name to content) as the directory `target`, which appears whole.
/// A directory that somebody else finished meanwhile is left as it is.
pub(crate) fn directory<B: AsRef<[u8]>>(
    target: &Path,
    files: &BTreeMap<String, B>,
) -> Result<(), EngineError> {
    let parent = target.parent().unwrap_or(Path::new("."));
    create(parent)?;
    let scratch = unfinished_directory(parent)?;
    for (name, bytes) in files {
        let path = scratch.path().join(name);
        write(&path, bytes.as_ref())?;
    }
    finish_directory(scratch, target)
}

/// A directory in `parent` that is not whole yet.
pub(crate) fn unfinished_directory(parent: &Path) -> Result<TempDir, EngineError> {
    forget_abandoned(parent);
    let builder = &mut tempfile::Builder::new();
    builder
        .prefix(UNFINISHED)
        .tempdir_in(parent)
        .map_err(EngineError::io("cannot create a directory in", parent))
}

/// Gives it its name, now that it is whole. One that somebody else finished meanwhile is left as it is.
pub(crate) fn finish_directory(scratch: TempDir, target: &Path) -> Result<(), EngineError> {
    open_to_all(scratch.path())?;
    match fs::rename(scratch.path(), target) {
        Ok(()) => {
            // renamed away: nothing is left for the guard to delete
            let _ = scratch.keep();
            Ok(())
        }
        Err(_) if target.is_dir() => Ok(()),
        Err(source) => Err(EngineError::io("cannot rename into", target)(source)),
    }
}

/// Removes from `folder` what builds were writing when they were killed. Failing to is harmless; the next build tries again.
pub(crate) fn forget_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
            continue;
        }
        let Ok(found) = entry.metadata() else { continue };
        let age = found.modified().ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_some_and(|age| age >= ABANDONED) {
            let path = entry.path();
            let _ = if found.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

/// Temporary directories are private, and what is published is not; likewise a program may be run by all.
fn open_to_all(path: &Path) -> Result<(), EngineError> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
        .map_err(EngineError::io("cannot set permissions of", path))
}

/// Whether an error says that there is no such file.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Locks a mutex whose holders cannot leave it half-changed: a panic elsewhere does not spoil it.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_builds_were_writing_goes_when_it_is_old() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let at = |name: &str| scratch.path().join(name);
        fs::create_dir(at(".new-directory")).expect("made");
        for name in [".new-file", ".new-young", ".new-directory/k.so", "state.json"] {
            fs::write(at(name), name).expect("written");
        }
        for name in [".new-file", ".new-directory", "state.json"] {
            let old = SystemTime::now() - 2 * ABANDONED;
            File::open(at(name)).and_then(|file| file.set_modified(old)).expect("aged");
        }
        forget_abandoned(scratch.path());
        let entries = fs::read_dir(scratch.path()).expect("readable").flatten();
        let mut left: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, [".new-young", "state.json"]);
        forget_abandoned(&at("nowhere"));
    }
}
