//! The whole build at one glance: if the question is the same and no file is another, the last answer still holds.
//!
//! A receipt lists every file that the build's result depends on or consists of, each with its stamp. Checking it takes
//! one `stat` per file: no toolchain is asked for its version, nothing is planned, locked or written. Whatever is not
//! exactly as listed sends the caller to the engine, which judges by contents.
//! Unaware of what is built.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gpsimd_toolchain::{Home, Machine};
use serde::{Deserialize, Serialize};

use crate::fresh::fingerprint;
use crate::fresh::stamp::{Clock, Stamp};
use crate::words::digest::Digest;
use crate::words::disk::{self, HIDDEN};
use crate::words::error::EngineError;
use crate::words::request::{self, Draft};

/// Raised when the meaning of the file changes.
const FORMAT: u32 = 1;

/// What is asked: a request by this tool on this machine.
#[derive(Debug)]
pub struct Question {
    library: PathBuf,
    key: Digest,
    /// Programs of the toolchain, looked up in `PATH`.
    programs: Vec<PathBuf>,
}

/// Files that an answer depends on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Basis {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) absent: Vec<PathBuf>,
    pub(crate) directories: Vec<PathBuf>,
    /// Contents of those files that the build made.
    pub(crate) digests: BTreeMap<PathBuf, Digest>,
}

/// What the caller said when the build was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// For people.
    pub text: String,
    /// What compilers said.
    pub warnings: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Receipt<'a> {
    format: u32,
    key: Digest,
    items: Vec<Item<'a>>,
    absent: Vec<Cow<'a, Path>>,
    text: Cow<'a, str>,
    /// Of the answer for programs, in a file of its own: it is long, and people do not ask for it.
    document: Digest,
    warnings: Vec<Cow<'a, str>>,
}

#[derive(Serialize, Deserialize)]
struct Item<'a> {
    path: Cow<'a, Path>,
    stamp: Stamp,
    /// Content, for as long as the stamp alone does not tell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    digest: Option<Digest>,
}

impl Basis {
    /// Files of the caller's that belong to the answer.
    pub fn also(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        self.files.extend(files);
    }
}

impl Question {
    /// `surroundings` is what changes the result and is not in the draft: options, and words on how the toolchain is
    /// chosen. `None` when such a question cannot be answered from files: the SDK is a work tree.
    pub fn new(
        draft: &Draft,
        gnu_prefix: Option<&str>,
        home: &Home,
        surroundings: &impl Serialize,
    ) -> Option<Question> {
        if std::env::var_os("GPSIMD_SDK_DIR").is_some() {
            return None;
        }
        let programs = gpsimd_toolchain::programs(&Machine::here(), home, gnu_prefix)?;
        let cwd = std::env::current_dir().ok()?;
        let mut parts = fingerprint::environment();
        parts.push(serde_json::to_vec(&(draft, gnu_prefix, surroundings)).ok()?);
        parts.push(fingerprint::tool_identity().as_bytes().to_vec());
        let paths = programs.iter().map(PathBuf::as_path).chain([cwd.as_path(), home.path()]);
        parts.extend(paths.map(|path| path.as_os_str().as_bytes().to_vec()));
        let name = request::stem(&draft.settings.name);
        let out_dir = std::path::absolute(&draft.settings.out_dir).ok()?;
        (!name.is_empty() && !name.contains('/')).then(|| Question {
            library: out_dir.join(HIDDEN).join(name),
            key: Digest::of_parts(parts.iter().map(Vec::as_slice)),
            programs,
        })
    }

    fn path(&self) -> PathBuf {
        self.library.join("receipt.json")
    }

    /// The last answer, if it still holds.
    pub fn answer(&self) -> Option<Answer> {
        let is_own = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        if !is_own(self.library.parent()?) || !is_own(&self.library) {
            return None;
        }
        let bytes = disk::read_own(&self.path()).ok()?;
        let mut receipt: Receipt = serde_json::from_slice(&bytes).ok()?;
        if receipt.format != FORMAT || receipt.key != self.key {
            return None;
        }
        if receipt.items.iter().any(|item| Stamp::at(&item.path).ok().flatten() != Some(item.stamp)) {
            return None;
        }
        if receipt.absent.iter().any(|path| path.symlink_metadata().is_ok()) {
            return None;
        }
        if receipt.items.iter().any(|item| item.digest.is_some()) {
            // files that were just made when the receipt was written: look into them, once
            let clock = Clock::read(&self.library).ok()?;
            for item in &mut receipt.items {
                if item.digest.is_some() && item.digest != content(&item.path) {
                    return None;
                }
                if item.stamp.is_settled(clock) {
                    item.digest = None;
                }
            }
            let _ = disk::replace_json(&self.path(), &receipt);
        }
        Some(Answer {
            text: receipt.text.into_owned(),
            warnings: receipt.warnings.into_iter().map(Cow::into_owned).collect(),
        })
    }

    /// The last answer for programs, if [`Question::answer`] still gives that for people.
    pub fn document(&self) -> Option<String> {
        let bytes = disk::read_own(&self.path()).ok()?;
        let receipt: Receipt = serde_json::from_slice(&bytes).ok()?;
        let document = String::from_utf8(disk::read_own(&self.document_path()).ok()?).ok()?;
        (receipt.key == self.key && Digest::of(document.as_bytes()) == receipt.document).then_some(document)
    }

    fn document_path(&self) -> PathBuf {
        self.library.join("answer.json")
    }

    /// Remembers the answer to this question, for people and for programs.
    ///
    /// # Errors
    /// [`EngineError::Io`]: the answer will be worked out again.
    pub fn remember(&self, basis: &Basis, answer: &Answer, document: &str) -> Result<(), EngineError> {
        let clock = Clock::read(&self.library).map_err(EngineError::io("cannot write in", &self.library))?;
        let mut items = Vec::new();
        for path in basis.files.iter().chain(&basis.directories).chain(&self.programs) {
            let stamp = Stamp::at(path).map_err(EngineError::io("cannot read", path))?;
            // gone again: the next build finds out why
            let (Some(stamp), Some(_)) = (stamp, path.to_str()) else { return self.forget() };
            let known = || basis.digests.get(path).copied().or_else(|| content(path));
            let digest = if stamp.is_settled(clock) { None } else { known() };
            items.push(Item { path: Cow::Borrowed(path), stamp, digest });
        }
        disk::replace(&self.document_path(), document.as_bytes())?;
        let receipt = Receipt {
            format: FORMAT,
            key: self.key,
            items,
            absent: basis.absent.iter().map(|path| Cow::Borrowed(path.as_path())).collect(),
            text: Cow::Borrowed(&answer.text),
            document: Digest::of(document.as_bytes()),
            warnings: answer.warnings.iter().map(|text| Cow::Borrowed(text.as_str())).collect(),
        };
        disk::replace_json(&self.path(), &receipt)
    }

    /// Forgets what was remembered.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub fn forget(&self) -> Result<(), EngineError> {
        match std::fs::remove_file(self.path()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(EngineError::io("cannot remove", self.path())(error))
            }
            _ => Ok(()),
        }
    }
}

fn content(path: &Path) -> Option<Digest> {
    if path.is_dir() {
        return Some(fingerprint::listing(path));
    }
    std::fs::read(path).ok().map(|bytes| Digest::of(&bytes))
}
