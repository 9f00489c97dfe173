//! Content hashes of files, found by `stat` where that is enough; and the bytes of files this run made.
//!
//! Unaware of actions. Safe to use from all worker threads; nothing here waits for another thread's read.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use memchr::memmem;
use serde::{Deserialize, Serialize};

use crate::fresh::stamp::{Clock, Stamp};
use crate::words::digest::Digest;
use crate::words::disk::{self, Contents, is_absence, locked};
use crate::words::error::EngineError;

/// What a source's text says about inputs that no dependency file lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traits {
    /// `__has_include`: whether files exist matters, not only what is in those that do.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) asks_for_files: bool,
    /// `.incbin`: the assembler reads a file that the preprocessor does not see.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) embeds_files: bool,
    /// `__DATE__`, `__TIME__`, `__TIMESTAMP__`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) tells_time: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_false(value: &bool) -> bool {
    !value
}

impl Traits {
    fn of(bytes: &[u8]) -> Traits {
        if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"!<arch>") {
            return Traits::default();
        }
        let has = |word: &str| memmem::find(bytes, word.as_bytes()).is_some();
        Traits {
            asks_for_files: has("__has_include"),
            embeds_files: has("incbin"),
            tells_time: has("__DATE__") || has("__TIME__") || has("__TIMESTAMP__"),
        }
    }
}

/// A file's content, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Known {
    pub(crate) stamp: Stamp,
    pub(crate) digest: Digest,
    #[serde(flatten)]
    pub(crate) traits: Traits,
}

/// Hashes of files by path.
pub(crate) struct Files {
    known: Mutex<HashMap<PathBuf, Entry>>,
    made: Mutex<HashMap<PathBuf, Written>>,
}

/// What this run wrote.
struct Written {
    bytes: Arc<[u8]>,
    digest: Digest,
}

struct Entry {
    known: Known,
    origin: Origin,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// Remembered from an earlier run and confirmed by that run's clock.
    Remembered,
    /// Read in this run; a person may be editing it.
    Read,
    /// Written by this run, in a directory whose lock it holds.
    Made,
}

impl Files {
    /// Starts from what an earlier run remembered.
    pub(crate) fn remembering(known: impl IntoIterator<Item = (PathBuf, Known)>) -> Files {
        let entry = |(path, known)| (path, Entry { known, origin: Origin::Remembered });
        Files { known: Mutex::new(known.into_iter().map(entry).collect()), made: Mutex::default() }
    }

    /// What is in the file now; `None` if there is no file. A directory has the content "directory".
    pub(crate) fn look(&self, path: &Path) -> io::Result<Option<Known>> {
        self.look_at(path, Origin::Read)
    }

    /// The same for a file that an action of this run just wrote.
    pub(crate) fn look_at_output(&self, path: &Path) -> io::Result<Option<Known>> {
        self.look_at(path, Origin::Made)
    }

    fn look_at(&self, path: &Path, origin: Origin) -> io::Result<Option<Known>> {
        // a file that is being written gives way after a few looks to the check that finds it changed
        for _ in 0..8 {
            let Some(stamp) = Stamp::at(path)? else {
                locked(&self.known).remove(path);
                return Ok(None);
            };
            if let Some(entry) = locked(&self.known).get(path)
                && entry.known.stamp == stamp
            {
                return Ok(Some(entry.known));
            }
            let (digest, traits) = match std::fs::read(path) {
                Ok(bytes) => (Digest::of(&bytes), Traits::of(&bytes)),
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => {
                    (Digest::of(b"directory"), Traits::default())
                }
                Err(error) if is_absence(&error) => continue,
                Err(error) => return Err(error),
            };
            let known = Known { stamp, digest, traits };
            if Stamp::at(path)? == Some(stamp) {
                locked(&self.known).insert(path.to_owned(), Entry { known, origin });
                return Ok(Some(known));
            }
        }
        Err(io::Error::other("the file keeps changing"))
    }

    /// Entries that a later run may trust when the stamp is the same. `before` and `after` are the file system's clock
    /// at the start and the end of this run.
    pub(crate) fn settled(&self, before: Clock, after: Clock) -> Vec<(PathBuf, Known)> {
        let known = locked(&self.known);
        let trusted = known.iter().filter(|(_, entry)| match entry.origin {
            Origin::Remembered => true,
            // any later change happens after `before`; but if the clock went back, nobody knows what came later
            Origin::Read => entry.known.stamp.is_settled(before.min(after)),
            // nobody else writes these, so only the time since the end of the run counts
            Origin::Made => before <= after && entry.known.stamp.is_settled(after),
        });
        trusted.map(|(path, entry)| (path.clone(), entry.known)).collect()
    }
}

/// What this run wrote is remembered.
impl Contents for Files {
    fn bytes(&self, path: &Path) -> Result<Arc<[u8]>, EngineError> {
        if let Some(written) = locked(&self.made).get(path) {
            return Ok(written.bytes.clone());
        }
        disk::read(path).map(Arc::from)
    }

    fn digest(&self, path: &Path) -> Option<Digest> {
        locked(&self.made).get(path).map(|written| written.digest)
    }

    fn write(&self, path: &Path, bytes: Vec<u8>) -> Result<(), EngineError> {
        disk::write(path, &bytes)?;
        let stamp = Stamp::at(path).map_err(EngineError::io("cannot read", path))?;
        let digest = Digest::of(&bytes);
        if let Some(stamp) = stamp {
            let known = Known { stamp, digest, traits: Traits::of(&bytes) };
            locked(&self.known).insert(path.to_owned(), Entry { known, origin: Origin::Made });
        }
        locked(&self.made).insert(path.to_owned(), Written { bytes: bytes.into(), digest });
        Ok(())
    }

    fn forget(&self, path: &Path) {
        locked(&self.known).remove(path);
        locked(&self.made).remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_seen_through_equal_sizes_and_faked_times() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let path = scratch.path().join("f");
        let files = Files::remembering([]);
        std::fs::write(&path, "aaaa").expect("written");
        let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
        let set_back = || {
            std::fs::File::options().write(true).open(&path).and_then(|f| f.set_modified(past)).expect("set")
        };
        set_back();
        let first = files.look(&path).expect("read").expect("there");
        // let the file system's clock tick, so that the change of the inode shows
        std::thread::sleep(std::time::Duration::from_millis(25));
        std::fs::write(&path, "bbbb").expect("written");
        set_back();
        let second = files.look(&path).expect("read").expect("there");
        assert_ne!(first.digest, second.digest);
        std::fs::remove_file(&path).expect("removed");
        assert_eq!(files.look(&path).expect("no error"), None);
    }

    #[test]
    fn files_changed_during_the_run_are_not_remembered() {
        let scratch = tempfile::tempdir().expect("scratch directory");
        let path = scratch.path().join("f");
        std::fs::write(&path, "a").expect("written");
        let files = Files::remembering([]);
        let before = Clock::read(scratch.path()).expect("a clock");
        files.look(&path).expect("read");
        assert_eq!(files.settled(before, before).len(), 0, "too young");
        std::thread::sleep(std::time::Duration::from_millis(60));
        let later = Clock::read(scratch.path()).expect("a clock");
        assert_eq!(files.settled(before, later).len(), 0, "an edit since `before` could have the same stamp");
        assert_eq!(files.settled(later, later).len(), 1);
        assert_eq!(files.settled(later, before).len(), 0, "the clock went back");
    }

    #[test]
    fn sources_tell_of_inputs_nobody_lists() {
        let rows = [
            ("int f();", Traits::default()),
            ("#if __has_include(<x.h>)", Traits { asks_for_files: true, ..Traits::default() }),
            ("asm(\".incbin \\\"x\\\"\");", Traits { embeds_files: true, ..Traits::default() }),
            ("char t[] = __TIME__;", Traits { tells_time: true, ..Traits::default() }),
            ("\x7fELF __TIME__", Traits::default()),
        ];
        for (text, want) in rows {
            assert_eq!(Traits::of(text.as_bytes()), want, "{text:?}");
        }
    }
}
