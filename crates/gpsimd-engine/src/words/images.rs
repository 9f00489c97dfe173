//! The images of a library: which there are, and the files of each.
//!
//! Unaware of how they are made.

use std::path::{Path, PathBuf};

use gpsimd_loader::{Generation, kernel_table};
use gpsimd_lsp::Variant;
use gpsimd_toolchain::text;
use serde::{Deserialize, Serialize};

/// Which images a library consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub enum Images {
    /// One for each core's window.
    #[default]
    Fixed,
    /// One for all cores, moved into place by the loader.
    Split(Target),
    /// Both kinds.
    Both(Target),
}

/// What a split image is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The generation whose memory it must fit.
    pub generation: Generation,
    /// Spec of the first op; the others follow.
    pub first_spec: u8,
}

impl Default for Target {
    /// CAYMAN, and the first spec that no built-in kernel has.
    fn default() -> Self {
        Self { generation: Generation::Cayman, first_spec: kernel_table::FIRST_FREE_SPEC }
    }
}

impl Images {
    /// Whether there are fixed images.
    pub fn has_fixed(self) -> bool {
        !matches!(self, Images::Split(_))
    }

    /// What the split image is for, if there is one.
    pub fn target(self) -> Option<Target> {
        match self {
            Images::Fixed => None,
            Images::Split(target) | Images::Both(target) => Some(target),
        }
    }
}

/// The files of one core's image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreFiles {
    /// Which window it is for.
    pub variant: Variant,
    /// As the linker left it.
    #[serde(with = "text")]
    pub linked: PathBuf,
    /// `.stripped.so`, when packaging.
    #[serde(with = "text")]
    pub stripped: Option<PathBuf>,
    /// `.packed.so`, when packaging.
    #[serde(with = "text")]
    pub packed: Option<PathBuf>,
}

impl CoreFiles {
    pub(crate) fn new(folder: &Path, name: &str, variant: Variant, packaged: bool) -> Self {
        let file = |kind: &str| folder.join(format!("{name}{}{kind}.so", variant.file_suffix()));
        Self {
            variant,
            linked: file(""),
            stripped: packaged.then(|| file(".stripped")),
            packed: packaged.then(|| file(".packed")),
        }
    }

    /// Its files: linked, stripped, packed.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [Some(&self.linked), self.stripped.as_ref(), self.packed.as_ref()].into_iter().flatten()
    }
}

/// The files of a split image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitFiles {
    /// The generation whose memory it must fit.
    pub generation: Generation,
    /// The static link with its relocations; not published.
    #[serde(with = "text")]
    pub linked: PathBuf,
    /// `.split.so`, with symbols and debug information.
    #[serde(with = "text")]
    pub library: PathBuf,
    /// `.split.packed.so`, when packaging.
    #[serde(with = "text")]
    pub packed: Option<PathBuf>,
    /// `.ucpl`, prelinked.
    #[serde(with = "text")]
    pub prelinked: PathBuf,
}

impl SplitFiles {
    pub(crate) fn new(folder: &Path, name: &str, generation: Generation, packaged: bool) -> Self {
        let file = |ending: &str| folder.join(format!("{name}{ending}"));
        Self {
            generation,
            linked: file(".split.linked"),
            library: file(".split.so"),
            packed: packaged.then(|| file(".split.packed.so")),
            prelinked: file(".ucpl"),
        }
    }

    /// Its published files.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [Some(&self.library), self.packed.as_ref(), Some(&self.prelinked)].into_iter().flatten()
    }
}
