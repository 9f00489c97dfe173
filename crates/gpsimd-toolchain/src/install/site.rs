//! The directory of all toolchains while one is added: the lock, what killed installs left, and the rename at the end.
//!
//! Unaware of how a toolchain is made.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::Event;
use crate::error::IoContext as _;
use crate::{Home, ToolchainError};

/// Names of directories in the making, so that the next install knows them.
const UNFINISHED: &str = ".install-";

/// The directory of toolchains, ours alone as long as this lives.
pub(crate) struct Site {
    toolchains: PathBuf,
    _lock: File,
}

impl Site {
    /// Waits for other installs, and clears away what killed ones left.
    pub(crate) fn take(home: &Home, tell: &(dyn Fn(Event) + Sync)) -> Result<Site, ToolchainError> {
        let toolchains = home.toolchains();
        fs::create_dir_all(&toolchains).context("cannot create", &toolchains)?;
        let lock = lock(&toolchains.join(".lock"), tell)?;
        clear_unfinished(&toolchains, tell)?;
        Ok(Site { toolchains, _lock: lock })
    }

    pub(crate) fn toolchains(&self) -> &Path {
        &self.toolchains
    }

    /// A directory in the making; dropped, it is gone.
    pub(crate) fn unfinished(&self) -> Result<TempDir, ToolchainError> {
        tempfile::Builder::new()
            .prefix(UNFINISHED)
            .permissions(fs::Permissions::from_mode(0o755))
            .tempdir_in(&self.toolchains)
            .context("cannot create a directory in", &self.toolchains)
    }

    /// Gives a finished directory its name. A damaged predecessor moves aside under a name that the next install would
    /// clear away.
    pub(crate) fn publish(&self, unfinished: TempDir, dir: &Path) -> Result<(), ToolchainError> {
        let aside = self.unfinished()?;
        if dir.exists() {
            fs::rename(dir, aside.path().join("damaged")).context("cannot move aside", dir)?;
        }
        fs::rename(unfinished.path(), dir).context("cannot move the finished toolchain to", dir)?;
        // It has another name now; there is nothing left to delete under the old one.
        let _ = unfinished.keep();
        Ok(())
    }
}

fn lock(path: &Path, tell: &(dyn Fn(Event) + Sync)) -> Result<File, ToolchainError> {
    let file =
        File::options().create(true).truncate(false).write(true).open(path).context("cannot open", path)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            tell(Event::Waiting { lock: path.to_owned() });
            file.lock().context("cannot lock", path)?;
        }
        Err(TryLockError::Error(error)) => return Err(error).context("cannot lock", path),
    }
    Ok(file)
}

/// Removes what killed installs left; the lock is held, so none is at work. A compiler that outlived its install may
/// still write a file: what cannot be removed now is left to the next install.
fn clear_unfinished(toolchains: &Path, tell: &(dyn Fn(Event) + Sync)) -> Result<(), ToolchainError> {
    for entry in fs::read_dir(toolchains).context("cannot list", toolchains)?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(UNFINISHED)
            && fs::remove_dir_all(entry.path()).is_ok()
        {
            tell(Event::Cleared { dir: entry.path() });
        }
    }
    Ok(())
}
