//! `<name>.manifest.json`: what a build made, beside what it made.
//!
//! Carries what the vendor's `ucode_lib.json` needs (toolchain.md §10: function name, opcode 133, sub-opcode,
//! cpu id, total cpus, versions) and what tools of ours need to find an image's companions again. Unaware of
//! how files came to be.

use std::collections::BTreeMap;

use gpsimd_lsp::Variant;
use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::stages::split::SplitEntry;
use crate::words::action::Image;
use crate::words::digest::Digest;
use crate::words::error::EngineError;

/// The opcode every custom-op function is registered under (toolchain.md §10).
pub const CUSTOM_OP_OPCODE: u8 = 133;

/// A built library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The program beside this file that evaluates output shapes (`eval OP ARGUMENT...`), if there are shape sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shapes: Option<String>,
    /// The split image, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<SplitEntry>,
    /// What built it.
    pub versions: Versions,
}

/// A registered function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// A file beside the manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Versions and identities (toolchain.md §10, §13).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

impl Manifest {
    /// Describes what `plan` made; `files` holds every image file by name, `digests` what is known of them.
    ///
    /// # Errors
    /// A split image that is not what the build has seen.
    pub(crate) fn of(
        plan: &Plan,
        files: &BTreeMap<String, Vec<u8>>,
        digests: &BTreeMap<String, Digest>,
    ) -> Result<Self, EngineError> {
        let split = plan.split.as_ref().map(|split| SplitEntry::of(&split.image, &split.rows, files));
        let ops = plan.job.ops.iter().zip(&plan.job.schemas).enumerate();
        Ok(Self {
            format: 1,
            name: plan.job.name.clone(),
            total_cpus: plan.job.cores.count(),
            ops: ops
                .map(|(index, (op, schema))| OpEntry {
                    kernel: op.kernel.clone(),
                    schema: schema.clone(),
                    opcode: CUSTOM_OP_OPCODE,
                    // at most ten ops pass the request's check
                    sub_opcode: u8::try_from(index).unwrap_or(u8::MAX),
                })
                .collect(),
            images: plan.images.iter().map(|image| ImageEntry::of(image, files, digests)).collect(),
            shapes: plan.shapes.as_ref().and_then(|path| Some(path.file_name()?.to_str()?.to_owned())),
            split: split.transpose()?,
            versions: Versions::of(
                plan.job.toolchain.identity(),
                match plan.job.toolchain.device_sdk() {
                    Some(_) => "the toolchain's",
                    None => plan.sdk.hash(),
                },
            ),
        })
    }

    /// `vector_add.manifest.json`.
    pub fn file_name(&self) -> String {
        format!("{}.manifest.json", self.name)
    }
}

impl ImageEntry {
    fn of(image: &Image, files: &BTreeMap<String, Vec<u8>>, digests: &BTreeMap<String, Digest>) -> Self {
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
            files: kinds
                .into_iter()
                .filter_map(|(kind, path)| {
                    let name = path?.file_name()?.to_str()?;
                    let (file, bytes) = (name.to_owned(), files.get(name)?);
                    Some(match digests.get(name) {
                        Some(digest) => {
                            FileEntry { kind, file, size: bytes.len() as u64, sha256: digest.to_string() }
                        }
                        None => FileEntry::new(kind, file, bytes),
                    })
                })
                .collect(),
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

/// The files of an image (toolchain.md §3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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
}

impl FileEntry {
    /// Describes `bytes` as `file`.
    pub fn new(kind: FileKind, file: String, bytes: &[u8]) -> Self {
        Self { kind, file, size: bytes.len() as u64, sha256: Digest::of(bytes).to_string() }
    }
}
