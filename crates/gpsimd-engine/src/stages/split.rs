//! The split-load image of a library: its kernel table, its link, its synthesis, its prelinked form.
//!
//! One image serves every core, for its code and data move where the loader wants them. Unaware of how kernels are
//! compiled. Facts: spec `prelink.md` §4, §17, `load-and-dispatch.md` §0.2, §4.2.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpsimd_codegen::Op;
use gpsimd_loader::kernel_table::{self, EXTENDED, TableError, TableOp, TableRef};
use gpsimd_loader::ucpl::Header;
use gpsimd_loader::{Generation, Mode, prelink, split};
use serde::{Deserialize, Serialize};

use crate::publish::manifest::{FileEntry, FileKind};
use crate::stages::{read, stage_error, write};
use crate::words::error::EngineError;

/// What the data region of 8 KiB leaves for the runtime's small pool, which takes as much by itself in a fixed image.
pub(crate) const DEFINES: [&str; 1] = ["-DNEURON_DEFAULT_POOL_SIZE=0x1000"];

/// Which images a library consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// A step on the way to a split image.
#[derive(Debug, Clone)]
pub enum Step {
    /// Write the linker script.
    Script {
        /// Where the linker finds it.
        output: PathBuf,
    },
    /// Render the kernel table.
    Table {
        /// In registration order.
        ops: Vec<TableOp>,
        /// The source.
        output: PathBuf,
    },
    /// Make the library from the static link, pack it, prelink it.
    Image(SplitImage),
}

/// The files of a split image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitImage {
    /// The generation whose memory it must fit.
    pub generation: Generation,
    /// The static link with its relocations; not published.
    pub linked: PathBuf,
    /// `.split.so`, with symbols and debug information.
    pub library: PathBuf,
    /// `.split.packed.so`, when packaging.
    pub packed: Option<PathBuf>,
    /// `.ucpl`, prelinked.
    pub prelinked: PathBuf,
}

impl SplitImage {
    pub(crate) fn new(folder: &Path, name: &str, packaged: bool, generation: Generation) -> Self {
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

/// The split image of a plan and the rows of its kernel table.
#[derive(Debug, Clone)]
pub struct PlannedSplit {
    /// Its files.
    pub image: SplitImage,
    /// One an op.
    pub rows: Vec<TableOp>,
}

impl Step {
    /// Arguments after `gpsimd-build`.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        let mut line: Vec<OsString> = vec!["split".into()];
        let mut add = |option: &str, value: &Path| line.extend([option.into(), value.into()]);
        match self {
            Step::Script { output } => add("--script", output),
            Step::Table { ops, output } => {
                add("--table", output);
                for op in ops {
                    add("--row", Path::new(&format!("{}={}", op.kernel, op.spec)));
                }
            }
            Step::Image(image) => {
                add("--linked", &image.linked);
                add("--generation", Path::new(image.generation.name()));
                add("--library", &image.library);
                if let Some(packed) = &image.packed {
                    add("--packed", packed);
                }
                add("--prelinked", &image.prelinked);
            }
        }
        line
    }
}

/// The rows of a library's ops.
///
/// # Errors
/// Specs that are reserved or do not suffice, kernels whose names are no identifiers.
pub(crate) fn table(ops: &[Op], target: Target) -> Result<Vec<TableOp>, TableError> {
    let kernels: Vec<&str> = ops.iter().map(|op| op.kernel.as_str()).collect();
    let rows = kernel_table::number(&kernels, target.first_spec)?;
    kernel_table::source(&rows).map(|_| rows)
}

/// Does one step: inside a build, and as a step of an exported plan.
///
/// # Errors
/// Rows that cannot be, links that cannot be moved or are too large, [`EngineError::Io`].
pub fn split_step(step: &Step) -> Result<(), EngineError> {
    match step {
        Step::Script { output } => write(output, split::SCRIPT.as_bytes()),
        Step::Table { ops, output } => {
            let text = kernel_table::source(ops).map_err(stage_error(output))?;
            write(output, text.as_bytes())
        }
        Step::Image(image) => make(image),
    }
}

fn make(image: &SplitImage) -> Result<(), EngineError> {
    let bounds = image.generation.bounds();
    let made = split::synthesize(&read(&image.linked)?, &bounds).map_err(stage_error(&image.library))?;
    write(&image.library, &made.elf)?;
    let shipped = match &image.packed {
        Some(path) => {
            let stripped = split::strip(&made.elf).map_err(stage_error(&image.library))?;
            write(path, &gpsimd_image::pack(&stripped).map_err(stage_error(path))?)?;
            stripped
        }
        None => made.elf,
    };
    let prelinked =
        prelink(&shipped, &bounds, Mode::Strict, &mut |_| {}).map_err(stage_error(&image.prelinked))?;
    write(&image.prelinked, &prelinked.image())
}

/// The manifest's part about the split image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitEntry {
    /// The generation it was prelinked for.
    pub generation: String,
    /// By which instruction each op is called.
    pub ops: Vec<SplitOp>,
    /// Bytes of code, and how many there may be.
    pub code: Use,
    /// Bytes of data, zeroed memory included, and how many there may be.
    pub data: Use,
    /// Device address of the start function.
    pub start: u32,
    /// Where the kernel table lies once loaded.
    pub table: KernelTable,
    /// The library, the packed library, the prelinked image: those that were made.
    pub files: Vec<FileEntry>,
}

/// How much of a region a segment takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// Bytes.
    pub size: u32,
    /// Bytes of the region.
    pub allowed: u32,
}

/// Where a kernel table lies: neither image nor load record say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelTable {
    /// Device address.
    pub addr: u32,
    /// Rows.
    pub rows: u32,
}

/// The instruction of an op.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SplitOp {
    /// Kernel function.
    pub kernel: String,
    /// Always 240, 0xf0.
    pub opcode: u8,
    /// Byte 12 of the instruction.
    pub spec: u8,
}

impl SplitEntry {
    /// Describes what was made; `files` holds every published file by name.
    ///
    /// # Errors
    /// The library does not prelink, which the build has seen it do.
    pub(crate) fn of(
        image: &SplitImage,
        rows: &[TableOp],
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, EngineError> {
        let kinds = [
            (FileKind::Linked, Some(&image.library)),
            (FileKind::Packed, image.packed.as_ref()),
            (FileKind::Prelinked, Some(&image.prelinked)),
        ];
        let contents = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?;
            Some((name.to_owned(), files.get(name)?))
        };
        let bounds = image.generation.bounds();
        let library = contents(&image.library).map_or(&[][..], |(_, bytes)| bytes);
        let prelinked =
            prelink(library, &bounds, Mode::Strict, &mut |_| {}).map_err(stage_error(&image.library))?;
        let Header { code_len, data_len, start, .. } = prelinked.header;
        let table = prelinked.kernel_table.unwrap_or(TableRef { addr: 0, rows: 0 });
        Ok(Self {
            generation: image.generation.name().to_owned(),
            ops: rows
                .iter()
                .map(|row| SplitOp { kernel: row.kernel.clone(), opcode: EXTENDED, spec: row.spec })
                .collect(),
            code: Use { size: code_len, allowed: bounds.code.size },
            data: Use { size: data_len, allowed: bounds.data.size },
            start,
            table: KernelTable { addr: table.addr, rows: table.rows },
            files: kinds
                .into_iter()
                .filter_map(|(kind, path)| {
                    let (name, bytes) = contents(path?)?;
                    Some(FileEntry::new(kind, name, bytes))
                })
                .collect(),
        })
    }
}
