//! A built library as files: its manifest, its images, their unstripped companions.
//!
//! Unaware of what is done with them.

use std::path::{Path, PathBuf};

use gpsimd_device::CoreImage;
use gpsimd_engine::{FileKind, Manifest};
use gpsimd_lsp::{CpuId, Variant};
use miette::Diagnostic;

use crate::commands::{ArgumentError, read};

/// Why a path is no library.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum LibraryError {
    /// Neither an image nor the stem of a manifest.
    #[error("{path} is no library: there is no such file, and no {path}.manifest.json", path = .path.display())]
    #[diagnostic(
        code(library::missing),
        help("name what gpsimd-build compile made (build/NAME), or one of its .so files")
    )]
    Missing {
        /// As given.
        path: PathBuf,
    },
    /// A manifest that does not read.
    #[error("{path} is no manifest: {reason}", path = .path.display())]
    #[diagnostic(code(library::manifest), help("name image files, or build the library again"))]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// A library found on disk.
#[derive(Debug)]
pub struct Library {
    /// What it consists of; a bare image has none.
    pub manifest: Option<Manifest>,
    /// The program that evaluates output shapes, if it was built from shape sources.
    pub shapes: Option<PathBuf>,
    /// One group per core.
    images: Vec<ImageFiles>,
}

/// The files of one core.
#[derive(Debug, Default)]
struct ImageFiles {
    linked: Option<PathBuf>,
    stripped: Option<PathBuf>,
    packed: Option<PathBuf>,
}

impl Library {
    /// Finds the library that `path` names: a manifest, a manifest without its ending, or any one of its images.
    pub fn find(path: &Path) -> miette::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".manifest.json") {
            return Self::of_manifest(path);
        }
        let mut manifest = path.as_os_str().to_owned();
        manifest.push(".manifest.json");
        if Path::new(&manifest).is_file() {
            return Self::of_manifest(Path::new(&manifest));
        }
        if path.is_file() {
            return Ok(Self::of_image(path, &name));
        }
        Err(LibraryError::Missing { path: path.to_owned() }.into())
    }

    fn of_manifest(path: &Path) -> miette::Result<Self> {
        let bad = |reason: String| LibraryError::Manifest { path: path.to_owned(), reason };
        let manifest: Manifest =
            serde_json::from_slice(&read(path)?).map_err(|error| bad(error.to_string()))?;
        let directory = path.parent().unwrap_or(Path::new("."));
        let mut images = Vec::new();
        for entry in &manifest.images {
            let mut files = ImageFiles::default();
            for file in &entry.files {
                if Path::new(&file.file).components().count() != 1 {
                    return Err(bad(format!("{:?} is not a plain file name", file.file)).into());
                }
                let path = Some(directory.join(&file.file));
                match file.kind {
                    FileKind::Linked => files.linked = path,
                    FileKind::Stripped => files.stripped = path,
                    FileKind::Packed => files.packed = path,
                }
            }
            images.push(files);
        }
        let shapes = match &manifest.shapes {
            Some(file) if Path::new(file).components().count() != 1 => {
                return Err(bad(format!("{file:?} is not a plain file name")).into());
            }
            // a relative path without a slash would be looked for in PATH
            Some(file) => Some(std::path::absolute(directory.join(file)).map_err(|e| bad(e.to_string()))?),
            None => None,
        };
        Ok(Self { manifest: Some(manifest), shapes, images })
    }

    /// A bare image; one that is named for a core stands for its seven siblings too.
    fn of_image(path: &Path, name: &str) -> Self {
        let kind = ["packed.so", "stripped.so"].into_iter().find(|kind| name.ends_with(&format!(".{kind}")));
        let stem =
            kind.map_or_else(|| name.trim_end_matches(".so"), |kind| &name[..name.len() - kind.len() - 1]);
        let variant = Variant::of_file_name(name);
        let base = stem.strip_suffix(variant.file_suffix()).unwrap_or(stem);
        let variants: Vec<Variant> = match variant {
            Variant::Single => vec![Variant::Single],
            Variant::Cpu(_) => CpuId::all().map(Variant::Cpu).collect(),
        };
        let files = |variant: Variant| {
            let file = |ending: &str| path.with_file_name(format!("{base}{}{ending}", variant.file_suffix()));
            let linked = Some(file(".so")).filter(|path| path.is_file());
            match kind {
                Some("packed.so") => ImageFiles { linked, packed: Some(file(".packed.so")), stripped: None },
                Some(_) => ImageFiles { linked, stripped: Some(file(".stripped.so")), packed: None },
                None if variants.len() == 1 => {
                    ImageFiles { linked: Some(path.to_owned()), ..ImageFiles::default() }
                }
                None => ImageFiles { linked: Some(file(".so")), ..ImageFiles::default() },
            }
        };
        Self {
            manifest: None,
            shapes: None,
            images: variants.iter().map(|&variant| files(variant)).collect(),
        }
    }

    /// Every file there is.
    pub fn files(&self) -> Vec<&Path> {
        self.images
            .iter()
            .flat_map(|files| [files.linked.as_deref(), files.stripped.as_deref(), files.packed.as_deref()])
            .flatten()
            .collect()
    }

    /// The images for the simulator: what would ship, with the unstripped file for names and lines.
    pub fn core_images(&self) -> Result<Vec<CoreImage>, ArgumentError> {
        self.images
            .iter()
            .map(|files| {
                let shipped = files.stripped.as_deref().or(files.packed.as_deref());
                let linked = files.linked.as_deref();
                let bytes = shipped.or(linked).map(read).transpose()?.unwrap_or_default();
                let debug = linked.filter(|_| shipped.is_some()).map(read).transpose()?;
                Ok(CoreImage { bytes, debug })
            })
            .collect()
    }
}
