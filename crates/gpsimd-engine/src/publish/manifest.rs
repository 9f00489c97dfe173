//! `<name>.manifest.json`: what a build made, beside what it made.
//!
//! Carries what the vendor's `ucode_lib.json` needs (toolchain.md §10: function name, opcode 133, sub-opcode,
//! cpu id, total cpus, versions) and what tools of ours need to find an image's companions again. Unaware of
//! how files came to be.

use gpsimd_lsp::Variant;
use serde::{Deserialize, Deserializer, Serialize};

use crate::publish::file::{FileEntry, FileKind};
use crate::publish::split::SplitEntry;
use crate::words::images::CoreFiles;
use crate::words::request::NamedOp;

/// The opcode every custom-op function is registered under (toolchain.md §10).
pub const CUSTOM_OP_OPCODE: u8 = 133;

/// A built library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Manifest {
    /// Version of this file's layout.
    pub format: u32,
    /// Output stem.
    pub name: String,
    /// 1 or 8.
    pub total_cpus: u8,
    /// Registered functions; `sub_opcode` is the position.
    pub ops: Vec<OpEntry>,
    /// One per image, core order.
    pub images: Vec<ImageEntry>,
    /// The image that tells output shapes, if there are shape sources.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "shapes")]
    pub shapes: Option<FileEntry>,
    /// The split image, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitEntry>,
    /// What built it.
    pub versions: Versions,
    /// SHA-256 of this text without this line: a changed byte shows here, too.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub seal: String,
}

/// A registered function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OpEntry {
    /// Kernel function, the name it is registered under.
    pub kernel: String,
    /// Canonical schema text.
    pub schema: String,
    /// Always 133.
    pub opcode: u8,
    /// Function id of the call header (load-and-dispatch.md §10.3).
    pub sub_opcode: u8,
}

/// The files of one core.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ImageEntry {
    /// 0..=7; 0 for a single-core library.
    pub cpu_id: u8,
    /// First address of the core's window.
    pub window_base: u32,
    /// Length of the window in bytes.
    pub window_len: u32,
    /// Unstripped, stripped, packed: those that were made.
    pub files: Vec<FileEntry>,
}

/// Versions and identities (toolchain.md §10, §13).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Versions {
    /// This tool.
    pub gpsimd_build: String,
    /// What the vendor's compiler expects of a library's microcode interface.
    pub ulib_to_ucode_version: String,
    /// And of its instruction set interface.
    pub ulib_to_isa_version: String,
    /// Compiler identity.
    pub toolchain: String,
    /// Content hash of the device SDK; words where the toolchain brings one, whose identity is above.
    pub sdk: String,
}

/// Earlier versions named a program for the build machine here; nothing starts it any more.
fn shapes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<FileEntry>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Entry {
        Image(FileEntry),
        Program(#[allow(dead_code)] String),
    }
    Ok(match Entry::deserialize(from)? {
        Entry::Image(file) => Some(file),
        Entry::Program(_) => None,
    })
}

impl Manifest {
    /// `vector_add.manifest.json`.
    pub fn file_name(&self) -> String {
        format!("{}.manifest.json", self.name)
    }

    /// The entries of all image files.
    pub fn entries(&self) -> impl Iterator<Item = &FileEntry> {
        let split = self.split.iter().flat_map(|split| &split.files);
        self.images.iter().flat_map(|image| &image.files).chain(split).chain(&self.shapes)
    }

    pub(crate) fn entries_mut(&mut self) -> impl Iterator<Item = &mut FileEntry> {
        let split = self.split.iter_mut().flat_map(|split| &mut split.files);
        self.images.iter_mut().flat_map(|image| &mut image.files).chain(split).chain(&mut self.shapes)
    }

    /// The names of all files that it describes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries().map(|entry| entry.file.as_str())
    }
}

impl OpEntry {
    /// The ops of a library, in registration order.
    pub(crate) fn all(ops: &[NamedOp]) -> Vec<OpEntry> {
        // at most ten ops pass the request's check
        let entry = |(sub_opcode, op): (u8, &NamedOp)| OpEntry {
            kernel: op.kernel.clone().unwrap_or_default(),
            schema: op.schema.clone(),
            opcode: CUSTOM_OP_OPCODE,
            sub_opcode,
        };
        (0..=u8::MAX).zip(ops).map(entry).collect()
    }
}

impl ImageEntry {
    /// The files of one core, nothing known of their contents.
    pub(crate) fn of(image: &CoreFiles) -> Self {
        let window = image.variant.window();
        let kinds = [
            (FileKind::Linked, Some(&image.linked)),
            (FileKind::Stripped, image.stripped.as_ref()),
            (FileKind::Packed, image.packed.as_ref()),
        ];
        Self {
            cpu_id: match image.variant {
                Variant::Cpu(cpu) => cpu.index(),
                Variant::Single => 0,
            },
            window_base: window.base,
            window_len: window.len,
            files: FileEntry::named(kinds),
        }
    }
}

impl Versions {
    /// The versions of a build by this tool.
    pub fn of(toolchain: String, sdk: &str) -> Self {
        Self {
            gpsimd_build: env!("CARGO_PKG_VERSION").to_owned(),
            ulib_to_ucode_version: "1.21.1.0".to_owned(),
            ulib_to_isa_version: "1.0.2520.0".to_owned(),
            toolchain,
            sdk: sdk.to_owned(),
        }
    }
}
