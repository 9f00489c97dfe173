//! What `stat` says about a file, and when that can be trusted.
//!
//! A stamp that is equal means content that is equal, unless the file changed again within the tick of the file
//! system's clock in which it was looked at. So stamps are compared with each other and with the file system's own
//! clock (the time it gives a file written now), never with the machine's idea of the time: a clock that jumps makes
//! stamps distrusted, not wrong. Unaware of what files mean.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::words::disk::is_absence;

/// Two changes of a file further apart than this, in nanoseconds, have different times. Linux stamps files with the
/// time of the last timer tick, at most 10 ms apart; some file systems keep coarser times, see [`Stamp::is_settled`].
const TICK: i64 = 20_000_000;

/// A file's size, identity and times in nanoseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u64, i64, i64)", into = "(u64, u64, u64, i64, i64)")]
pub(crate) struct Stamp {
    size: u64,
    device: u64,
    inode: u64,
    modified: i64,
    /// Change of inode: unlike `modified`, no program can set it.
    changed: i64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let nanoseconds =
            |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Stamp {
            size: metadata.size(),
            device: metadata.dev(),
            inode: metadata.ino(),
            modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The stamp of the file at `path`, links followed; `None` if there is none.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Stamp>> {
        match std::fs::metadata(path) {
            Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Equal for equal stamps only.
    pub(crate) fn to_bytes(self) -> [u8; 40] {
        let (size, device, inode, modified, changed) = self.into();
        let words = [size, device, inode, modified.cast_unsigned(), changed.cast_unsigned()];
        let mut bytes = [0; 40];
        for (slot, word) in bytes.chunks_exact_mut(8).zip(words) {
            slot.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Whether a change of the file after `clock` must give it another stamp.
    pub(crate) fn is_settled(&self, clock: Clock) -> bool {
        let last = self.modified.max(self.changed);
        // a file system whose times are whole seconds, or two of them (FAT)
        let is_coarse = last % 1_000_000_000 == 0;
        last < clock.0.saturating_sub(if is_coarse { 2_000_000_000 + TICK } else { TICK })
    }

    /// Whether the file may have changed after `clock`.
    pub(crate) fn is_after(&self, clock: Clock) -> bool {
        !self.is_settled(clock)
    }
}

impl From<(u64, u64, u64, i64, i64)> for Stamp {
    fn from((size, device, inode, modified, changed): (u64, u64, u64, i64, i64)) -> Stamp {
        Stamp { size, device, inode, modified, changed }
    }
}

impl From<Stamp> for (u64, u64, u64, i64, i64) {
    fn from(stamp: Stamp) -> Self {
        (stamp.size, stamp.device, stamp.inode, stamp.modified, stamp.changed)
    }
}

/// A moment by the file system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Clock(i64);

impl Clock {
    /// Before every file: nothing is settled.
    pub(crate) const NEVER: Clock = Clock(i64::MIN);

    /// Now, as the file system of `directory` would stamp a file.
    pub(crate) fn read(directory: &Path) -> io::Result<Clock> {
        let mut file: File = tempfile::tempfile_in(directory)?;
        file.write_all(b".")?;
        let stamp = Stamp::of(&file.metadata()?);
        Ok(Clock(stamp.modified))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000_000;

    fn stamp(modified: i64, changed: i64) -> Stamp {
        Stamp::from((1, 2, 3, modified, changed))
    }

    #[test]
    fn only_files_older_than_a_tick_are_settled() {
        let now = Clock(1000 * SECOND + 500_000_000);
        let rows = [
            ("long ago", stamp(SECOND + 1, SECOND + 1), true),
            ("a tick ago", stamp(now.0 - TICK - 1, now.0 - TICK - 1), true),
            ("in this tick", stamp(now.0 - TICK, now.0 - TICK), false),
            ("set back with touch -d in this tick", stamp(SECOND + 1, now.0), false),
            ("from the future: the clock was set back", stamp(2000 * SECOND + 1, SECOND + 1), false),
            ("whole seconds, a second ago", stamp(999 * SECOND, 999 * SECOND), false),
            ("whole seconds, long ago", stamp(990 * SECOND, 990 * SECOND), true),
        ];
        for (what, stamp, want) in rows {
            assert_eq!(stamp.is_settled(now), want, "{what}");
            assert!(!stamp.is_settled(Clock::NEVER), "{what}");
        }
    }

    #[test]
    fn every_change_shows() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let path = scratch.path().join("f");
        assert_eq!(Stamp::at(&path).expect("no error"), None);
        std::fs::write(&path, "one").expect("written");
        let first = Stamp::at(&path).expect("no error");
        std::fs::write(&path, "four").expect("written");
        assert_ne!(first, Stamp::at(&path).expect("no error"));
        assert_eq!(Stamp::at(&path.join("below a file")).expect("no error"), None);
    }
}
