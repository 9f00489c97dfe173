//! The end of a build: finished files of the work directory become the visible outputs, with a manifest that tells
//! what they are.
//!
//! What must be known for that fits on a command line, so that an exported plan can end the same way.
//! Unaware of how the files were made.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::publish::generation::{self, HIDDEN};
use crate::publish::manifest::{FileEntry, Manifest};
use crate::words::digest::Digest;
use crate::words::error::EngineError;
use crate::words::lock::Lock;

/// What is published and how it is described.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Publication {
    out_dir: PathBuf,
    /// Directory of the finished files.
    made: PathBuf,
    /// Sizes and hashes are filled in when the files are there.
    manifest: Manifest,
}

impl Publication {
    /// What an exported `plan` publishes.
    pub(crate) fn of(plan: &Plan) -> Result<Publication, EngineError> {
        let files = plan.images.iter().flat_map(|image| image.files()).chain(&plan.shapes);
        let names = files.map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned());
        let nothing: BTreeMap<String, Vec<u8>> = names.map(|name| (name, Vec::new())).collect();
        Ok(Publication {
            out_dir: plan.job.out_dir.clone(),
            made: plan.work_dir.join("out"),
            manifest: Manifest::of(plan, &nothing, &BTreeMap::new())?,
        })
    }

    /// Reads what [`Publication::text`] wrote.
    ///
    /// # Errors
    /// [`EngineError::Io`] when it is something else.
    pub fn read(text: &str) -> Result<Publication, EngineError> {
        serde_json::from_str(text)
            .map_err(|error| EngineError::io("cannot read", "--publication")(error.into()))
    }

    /// One line of JSON.
    pub(crate) fn text(&self) -> Result<String, EngineError> {
        serde_json::to_string(self)
            .map_err(|error| EngineError::io("cannot write", &self.out_dir)(error.into()))
    }

    /// The files that become visible, the manifest first.
    pub(crate) fn visible(&self) -> Vec<PathBuf> {
        let names = std::iter::once(self.manifest.file_name()).chain(self.names().map(str::to_owned));
        names.map(|name| self.out_dir.join(name)).collect()
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let files = self.manifest.images.iter().flat_map(|image| &image.files);
        files.map(|file| file.file.as_str()).chain(self.manifest.shapes.as_deref())
    }

    fn publish(mut self) -> Result<bool, EngineError> {
        let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for name in self.names() {
            let path = self.made.join(name);
            let bytes = std::fs::read(&path).map_err(EngineError::io("cannot read", path))?;
            files.insert(name.to_owned(), bytes);
        }
        for file in self.manifest.images.iter_mut().flat_map(|image| &mut image.files) {
            let bytes = files.get(&file.file).map_or(&[][..], |bytes| bytes);
            *file = FileEntry::new(file.kind, file.file.clone(), bytes);
        }
        publish(&self.out_dir, &self.manifest, files, &BTreeMap::new())
    }
}

/// Makes `files` and a manifest of them visible in `out_dir`; gives whether anything changed. `digests` are those of
/// files that are known.
pub(crate) fn publish(
    out_dir: &Path,
    manifest: &Manifest,
    mut files: BTreeMap<String, Vec<u8>>,
    digests: &BTreeMap<String, Digest>,
) -> Result<bool, EngineError> {
    let name = manifest.file_name();
    let mut text = serde_json::to_vec_pretty(manifest)
        .map_err(|error| EngineError::io("cannot write", &name)(error.into()))?;
    text.push(b'\n');
    files.insert(name, text);
    let parts = files.iter().map(|(name, bytes)| {
        let digest = digests.get(name).copied().unwrap_or_else(|| Digest::of(bytes));
        format!("{name}\n{digest}\n").into_bytes()
    });
    let parts: Vec<Vec<u8>> = parts.collect();
    let id = Digest::of_parts(parts.iter().map(Vec::as_slice)).to_string();
    generation::generation(out_dir, &manifest.name, id.get(..16).unwrap_or(&id), &files)
}

/// Publishes outside a build: the last step of an exported plan.
///
/// # Errors
/// [`EngineError::Io`].
pub fn publish_alone(publication: &Publication) -> Result<(), EngineError> {
    let library = publication.out_dir.join(HIDDEN).join(&publication.manifest.name);
    std::fs::create_dir_all(&library).map_err(EngineError::io("cannot create", &library))?;
    let _lock = Lock::acquire(&library.join("lock"), || {})?;
    publication.clone().publish()?;
    Ok(())
}
