//! What a library was made from: its sources and the headers that they read, each with its digest.
//!
//! Lies in the library's hidden directory, beside the state, and is written when a build is published. Whoever runs a
//! library can see by it whether the sources have changed since. Unaware of what reads it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde::{Deserialize, Serialize};

use crate::publish::manifest::Manifest;
use crate::words::digest::Digest;
use crate::words::disk::{self, HIDDEN};
use crate::words::error::EngineError;

/// Raised when the meaning of the file changes.
const FORMAT: u32 = 1;

/// What a library was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    format: u32,
    /// The sources that were named.
    sources: Vec<PathBuf>,
    /// What they and their headers contained.
    files: BTreeMap<PathBuf, Digest>,
}

/// A library that is older than its sources.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Diagnostic)]
#[error("{library} is older than what it was built from: {}", list(.changed, .gone))]
#[diagnostic(
    code(library::stale),
    severity(warning),
    help("build it again; what runs here is what the sources said then")
)]
pub struct Stale {
    /// As it was named.
    pub library: String,
    /// Files with other content.
    pub changed: Vec<PathBuf>,
    /// Files that are no more.
    pub gone: Vec<PathBuf>,
}

/// What a build replaces that it did not make by the same command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Diagnostic)]
pub enum Replaced {
    /// Images for another number of cores.
    #[error("{library} was built for {} and is now for {}: {removed} files of the other set are gone", cores(*.old), cores(*.new))]
    #[diagnostic(
        code(engine::replaced_cores),
        severity(warning),
        help("--multicore builds for eight cores; -o NAME keeps both under names of their own")
    )]
    Cores {
        /// The library.
        library: String,
        /// Cores it was for.
        old: u8,
        /// Cores it is for.
        new: u8,
        /// Files that it had and has no more.
        removed: usize,
    },
    /// A library of the same name, from other sources.
    #[error("{library} was built from {}, and is replaced by one from {}", names(.old), names(.new))]
    #[diagnostic(
        code(engine::replaced_sources),
        severity(warning),
        help("-o NAME gives one of them a name of its own")
    )]
    Sources {
        /// The library.
        library: String,
        /// What it was built from.
        old: Vec<PathBuf>,
        /// What it is built from.
        new: Vec<PathBuf>,
    },
}

fn list(changed: &[PathBuf], gone: &[PathBuf]) -> String {
    let said = |paths: &[PathBuf], what: &str| match paths {
        [] => None,
        [only] => Some(format!("{} {what}", only.display())),
        [first, rest @ ..] => Some(format!("{} and {} more {what}", first.display(), rest.len())),
    };
    let parts = [said(changed, "changed"), said(gone, "gone")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}

fn cores(count: u8) -> String {
    if count == 1 { "one core".to_owned() } else { format!("{count} cores") }
}

impl Origin {
    /// Of named sources and of all files that were read.
    pub(crate) fn new(sources: Vec<PathBuf>, files: BTreeMap<PathBuf, Digest>) -> Origin {
        Origin { format: FORMAT, sources, files }
    }

    fn path(library: &Path) -> PathBuf {
        library.join("origin.json")
    }

    /// Of the library in a hidden directory; `None` if nothing is known.
    pub(crate) fn load(library: &Path) -> Option<Origin> {
        let bytes = disk::read_own(&Origin::path(library)).ok()?;
        let origin: Origin = serde_json::from_slice(&bytes).ok()?;
        (origin.format == FORMAT).then_some(origin)
    }

    /// Keeps it for later.
    ///
    /// # Errors
    /// [`EngineError::Io`].
    pub(crate) fn save(&self, library: &Path) -> Result<(), EngineError> {
        disk::replace_json(&Origin::path(library), self)
    }
}

/// Whether the library of this name in `directory` is older than what it was built from. Nothing is known of a library
/// that was built elsewhere, or whose sources are all gone.
pub fn stale(directory: &Path, manifest: &Manifest) -> Option<Stale> {
    let origin = Origin::load(&directory.join(HIDDEN).join(&manifest.name))?;
    if !origin.sources.iter().any(|source| source.exists()) {
        return None;
    }
    let (mut changed, mut gone) = (Vec::new(), Vec::new());
    for (path, digest) in &origin.files {
        match std::fs::read(path) {
            Ok(bytes) if Digest::of(&bytes) == *digest => {}
            Ok(_) => changed.push(shown(path)),
            Err(_) => gone.push(shown(path)),
        }
    }
    // sources first: they are what a person thinks of
    changed.sort_by_key(|path| !origin.sources.iter().any(|source| shown(source) == *path));
    let library = shown(&directory.join(&manifest.name)).display().to_string();
    (!changed.is_empty() || !gone.is_empty()).then_some(Stale { library, changed, gone })
}

/// The files that the library of this name in `directory` was built from, headers included; none of one that was built
/// elsewhere.
pub fn built_from(directory: &Path, manifest: &Manifest) -> Vec<PathBuf> {
    let origin = Origin::load(&directory.join(HIDDEN).join(&manifest.name));
    origin
        .map(|origin| origin.sources.into_iter().chain(origin.files.into_keys()).collect())
        .unwrap_or_default()
}

/// What a build of `manifest` from `sources` replaces in `directory`.
pub(crate) fn replaced(directory: &Path, manifest: &Manifest, sources: &[PathBuf]) -> Vec<Replaced> {
    let library = shown(&directory.join(&manifest.name)).display().to_string();
    let before = disk::read(&directory.join(manifest.file_name())).ok();
    let Some(before) = before.and_then(|text| Manifest::parse(&text).ok()) else { return Vec::new() };
    let mut found = Vec::new();
    if before.total_cpus != manifest.total_cpus {
        let names: Vec<&str> = manifest.names().collect();
        found.push(Replaced::Cores {
            library: library.clone(),
            old: before.total_cpus,
            new: manifest.total_cpus,
            removed: before.names().filter(|name| !names.contains(name)).count(),
        });
    }
    let origin = Origin::load(&directory.join(HIDDEN).join(&manifest.name));
    if let Some(origin) = origin.filter(|origin| !origin.sources.iter().any(|old| sources.contains(old))) {
        let shown = |paths: &[PathBuf]| paths.iter().map(|path| shown(path)).collect();
        found.push(Replaced::Sources { library, old: shown(&origin.sources), new: shown(sources) });
    }
    found
}

/// As a person here would write it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().ok();
    let below = here.as_deref().and_then(|here| path.strip_prefix(here).ok());
    below.filter(|below| !below.as_os_str().is_empty()).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publish::publication::tests::example;

    #[test]
    fn a_changed_header_makes_a_library_stale() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let manifest = example().manifest;
        let library = scratch.path().join(HIDDEN).join(&manifest.name);
        std::fs::create_dir_all(&library).expect("made");
        let [source, header] = ["k.cpp", "k.hpp"].map(|name| scratch.path().join(name));
        for path in [&source, &header] {
            std::fs::write(path, "1").expect("written");
        }
        let files = [&source, &header].map(|path| (path.clone(), Digest::of(b"1")));
        assert_eq!(stale(scratch.path(), &manifest), None, "nothing is known");
        Origin::new(vec![source.clone()], files.into()).save(&library).expect("saved");
        assert_eq!(stale(scratch.path(), &manifest), None, "nothing changed");
        std::fs::write(&header, "2").expect("written");
        assert_eq!(stale(scratch.path(), &manifest).expect("stale").changed, std::slice::from_ref(&header));
        std::fs::write(&source, "2").expect("written");
        assert_eq!(
            stale(scratch.path(), &manifest).expect("stale").changed,
            [source.clone(), header.clone()]
        );
        std::fs::remove_file(&header).expect("removed");
        assert_eq!(stale(scratch.path(), &manifest).expect("stale").gone, [header]);
        std::fs::remove_file(&source).expect("removed");
        assert_eq!(stale(scratch.path(), &manifest), None, "the project is elsewhere");
    }
}
