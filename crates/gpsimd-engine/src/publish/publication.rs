//! The end of a build: finished files of the work directory become the visible outputs, with a manifest that tells
//! what they are.
//!
//! What must be known for that fits on a command line, so that an exported plan can end the same way.
//! Unaware of how the files were made.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use gpsimd_toolchain::text;
use serde::{Deserialize, Serialize};

use crate::publish::generation;
use crate::publish::manifest::Manifest;
use crate::words::digest::Digest;
use crate::words::disk::{Contents, HIDDEN, file_name};
use crate::words::error::EngineError;

/// What is published and how it is described.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Publication {
    #[serde(with = "text")]
    pub(crate) out_dir: PathBuf,
    /// Directory of the finished files.
    #[serde(with = "text")]
    pub(crate) made: PathBuf,
    /// What only contents tell is filled in when they are there.
    pub(crate) manifest: Manifest,
    /// A native twin and its operators, which appear beside what ships and are no part of it: no manifest lists code for this
    /// machine.
    #[serde(with = "text")]
    pub(crate) native: Vec<PathBuf>,
}

/// What became visible.
pub(crate) struct Published {
    pub(crate) manifest: Manifest,
    /// Whether anything changed.
    pub(crate) changed: bool,
    /// The visible image files' contents, by path.
    pub(crate) digests: BTreeMap<PathBuf, Digest>,
}

impl Publication {
    /// The library's hidden directory.
    pub(crate) fn library(&self) -> PathBuf {
        self.out_dir.join(HIDDEN).join(&self.manifest.name)
    }

    /// The finished files.
    pub(crate) fn finished(&self) -> impl Iterator<Item = PathBuf> {
        self.manifest.names().map(|name| self.made.join(name)).chain(self.native.clone())
    }

    /// The files that become visible, the manifest first.
    pub(crate) fn visible(&self) -> impl Iterator<Item = PathBuf> {
        let manifest = self.out_dir.join(self.manifest.file_name());
        let native = self.visible_native().collect::<Vec<_>>();
        let named = self.manifest.names().map(|name| self.out_dir.join(name));
        [manifest].into_iter().chain(named).chain(native)
    }

    /// Where code for this machine becomes visible.
    pub(crate) fn visible_native(&self) -> impl Iterator<Item = PathBuf> {
        self.native.iter().map(|path| self.out_dir.join(file_name(path)))
    }

    /// Makes the finished files and a manifest of them visible.
    ///
    /// # Errors
    /// [`EngineError::Io`]; a split image that is not what the build has seen.
    pub(crate) fn publish(self, contents: &dyn Contents) -> Result<Published, EngineError> {
        let Self { out_dir, made, mut manifest, native } = self;
        let mut files: BTreeMap<String, Arc<[u8]>> = BTreeMap::new();
        let mut digests: BTreeMap<String, Digest> = BTreeMap::new();
        for name in manifest.names() {
            let path = made.join(name);
            let bytes = contents.bytes(&path)?;
            digests.insert(name.to_owned(), contents.digest(&path).unwrap_or_else(|| Digest::of(&bytes)));
            files.insert(name.to_owned(), bytes);
        }
        if let Some(split) = &mut manifest.split {
            let library = made.join(split.library());
            split.measure(&contents.bytes(&library)?).map_err(EngineError::stage(&library))?;
        }
        for entry in manifest.entries_mut() {
            let (Some(bytes), Some(digest)) = (files.get(&entry.file), digests.get(&entry.file)) else {
                continue;
            };
            entry.size = bytes.len() as u64;
            entry.sha256 = digest.to_string();
        }
        let manifest = manifest.sealed()?;
        let (name, text) = (manifest.file_name(), manifest.text()?);
        digests.insert(name.clone(), Digest::of(&text));
        files.insert(name, text.into());
        for path in native {
            let (name, bytes) = (file_name(&path), contents.bytes(&path)?);
            digests.insert(name.clone(), Digest::of(&bytes));
            files.insert(name, bytes);
        }
        let parts: Vec<Vec<u8>> =
            digests.iter().map(|(name, digest)| format!("{name}\n{digest}\n").into_bytes()).collect();
        let id = Digest::of_parts(parts.iter().map(Vec::as_slice)).short();
        let changed = generation::generation(&out_dir, &manifest.name, &id, &files)?;
        let digests = digests.into_iter().map(|(name, digest)| (out_dir.join(name), digest)).collect();
        Ok(Published { manifest, changed, digests })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::publish::manifest::Versions;

    /// Of a library without images.
    pub(crate) fn example() -> Publication {
        Publication {
            out_dir: "out".into(),
            made: "made".into(),
            manifest: Manifest {
                format: 1,
                name: "k".to_owned(),
                total_cpus: 1,
                ops: Vec::new(),
                images: Vec::new(),
                shapes: None,
                split: None,
                versions: Versions::of("a compiler".to_owned(), "an SDK"),
                seal: String::new(),
            },
            native: Vec::new(),
        }
    }

    /// Whoever publishes waits for it, and no manifest lists it.
    #[test]
    fn a_native_twin_is_finished_and_visible_and_not_in_the_manifest() {
        let twin = PathBuf::from("work/native/k.native.so");
        let publication = Publication { native: vec![twin.clone()], ..example() };
        assert_eq!(publication.finished().collect::<Vec<_>>(), [twin]);
        let visible: Vec<PathBuf> = publication.visible().collect();
        assert_eq!(visible, ["out/k.manifest.json", "out/k.native.so"].map(PathBuf::from));
        assert_eq!(publication.manifest.names().count(), 0);
    }
}
