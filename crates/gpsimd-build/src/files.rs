//! Files that the commands write, each at once.
//!
//! Unaware of what is in them.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

pub use gpsimd_library::file::{FileError, read, read_at_most};

/// Writes a file whose directory exists. Whoever opens it meanwhile, or after a death in the midst of it, finds what was there
/// before.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = match std::fs::metadata(path) {
        // a device, a pipe, standard output by name
        Ok(found) if !found.is_file() => std::fs::write(path, bytes),
        found => replace(path, found.ok().map(|found| found.permissions()), bytes),
    };
    written.map_err(FileError::of("write", path))
}

/// Puts a new file where `path` leads, links followed, with the permissions of the one that was there.
fn replace(path: &Path, permissions: Option<Permissions>, bytes: &[u8]) -> std::io::Result<()> {
    let target = if permissions.is_some() { path.canonicalize()? } else { path.to_owned() };
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // said of the directory, not of a file in it that nobody named
    std::fs::metadata(directory)?;
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    prefix.push(".");
    let made = tempfile::Builder::new()
        .prefix(&prefix)
        // less what the user's mask takes away
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(directory);
    let mut file = match made {
        Ok(file) => file,
        // a file of the user's in a directory that is not
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return std::fs::write(path, bytes),
        Err(error) => return Err(error),
    };
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    file.persist(target)?;
    Ok(())
}

/// Creates a directory and those above it.
pub fn create_directory(path: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(path).map_err(FileError::of("create", path))
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn what_is_written_replaces_what_was_there_at_once() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let path = |name: &str| scratch.path().join(name);
        let mode = |name: &str| path(name).metadata().expect("a file").permissions().mode() & 0o777;
        write(&path("new"), b"new").expect("written");
        std::fs::write(path("plain"), "plain").expect("written");
        assert_eq!(mode("new"), mode("plain"));

        std::fs::set_permissions(path("new"), Permissions::from_mode(0o640)).expect("set");
        std::os::unix::fs::symlink(path("new"), path("link")).expect("linked");
        let reader = File::open(path("new")).expect("opened");
        write(&path("link"), b"newer").expect("written");
        assert_eq!(std::io::read_to_string(&reader).expect("read"), "new");
        assert_eq!(std::fs::read_to_string(path("new")).expect("read"), "newer");
        assert_eq!(mode("new"), 0o640);
        assert!(path("link").is_symlink());

        write(Path::new("/dev/null"), b"nothing").expect("written");
        assert!(write(Path::new("/dev/full"), b"nothing").is_err());
        let error = write(&path("no/such"), b"nothing").expect_err("no directory").to_string();
        assert!(error.ends_with("no/such: No such file or directory (os error 2)"), "{error}");
        let left: Vec<_> = std::fs::read_dir(scratch.path()).expect("read").flatten().collect();
        assert_eq!(left.len(), 3, "{left:?}");
    }
}
