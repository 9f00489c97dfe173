//! A published file, as the manifest lists it.
//!
//! Unaware of what else the manifest tells.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A file beside the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct FileEntry {
    /// What kind of image it is.
    pub kind: FileKind,
    /// File name, no directory.
    pub file: String,
    /// Bytes.
    pub size: u64,
    /// Hexadecimal.
    pub sha256: String,
}

/// The files of an image (toolchain.md §3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// As the linker left it, with symbols and debug information.
    Linked,
    /// The loadable image: what ships.
    Stripped,
    /// The image inside a relocatable object, behind `lib_func`.
    Packed,
    /// The split image moved to where it will run.
    Prelinked,
    /// The shape functions, for a core of their own.
    Shapes,
}

impl FileEntry {
    /// Entries of files of which nothing but the name is known.
    pub(crate) fn named<'p>(files: impl IntoIterator<Item = (FileKind, Option<&'p PathBuf>)>) -> Vec<Self> {
        let entry = |(kind, path): (FileKind, Option<&PathBuf>)| {
            let file = path?.file_name()?.to_str()?.to_owned();
            Some(FileEntry { kind, file, size: 0, sha256: String::new() })
        };
        files.into_iter().filter_map(entry).collect()
    }
}
