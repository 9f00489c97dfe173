//! The manifest's part about the split image.
//!
//! Unaware of how it was made. Facts: spec `prelink.md` §17, `load-and-dispatch.md` §0.2, §4.2.

use gpsimd_loader::kernel_table::{EXTENDED, TableOp, TableRef};
use gpsimd_loader::ucpl::Header;
use gpsimd_loader::{Generation, Mode, PrelinkError, prelink};
use serde::{Deserialize, Serialize};

use crate::publish::file::{FileEntry, FileKind};
use crate::words::images::SplitFiles;

/// The manifest's part about the split image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SplitEntry {
    /// The generation it was prelinked for.
    pub generation: Generation,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Use {
    /// Bytes.
    pub size: u32,
    /// Bytes of the region.
    pub allowed: u32,
}

/// Where a kernel table lies: neither image nor load record say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct KernelTable {
    /// Device address.
    pub addr: u32,
    /// Rows.
    pub rows: u32,
}

/// The instruction of an op.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SplitOp {
    /// Kernel function.
    pub kernel: String,
    /// Always 240, 0xf0.
    pub opcode: u8,
    /// Byte 12 of the instruction.
    pub spec: u8,
}

impl SplitEntry {
    /// A split image whose contents are not known yet.
    pub(crate) fn of(image: &SplitFiles, rows: &[TableOp]) -> Self {
        let kinds = [
            (FileKind::Linked, Some(&image.library)),
            (FileKind::Packed, image.packed.as_ref()),
            (FileKind::Prelinked, Some(&image.prelinked)),
        ];
        let bounds = image.generation.bounds();
        let op = |row: &TableOp| SplitOp { kernel: row.kernel.clone(), opcode: EXTENDED, spec: row.spec };
        Self {
            generation: image.generation,
            ops: rows.iter().map(op).collect(),
            code: Use { size: 0, allowed: bounds.code.size },
            data: Use { size: 0, allowed: bounds.data.size },
            start: 0,
            table: KernelTable { addr: 0, rows: 0 },
            files: FileEntry::named(kinds),
        }
    }

    /// The name of the library, which [`SplitEntry::measure`] reads.
    pub(crate) fn library(&self) -> &str {
        let library = self.files.iter().find(|file| file.kind == FileKind::Linked);
        library.map_or("", |file| &file.file)
    }

    /// Fills in what the library's contents say.
    pub(crate) fn measure(&mut self, library: &[u8]) -> Result<(), PrelinkError> {
        let prelinked = prelink(library, &self.generation.bounds(), Mode::Strict, &mut |_| {})?;
        let Header { code_len, data_len, start, .. } = prelinked.header;
        let table = prelinked.kernel_table.unwrap_or(TableRef { addr: 0, rows: 0 });
        self.code.size = code_len;
        self.data.size = data_len;
        self.start = start;
        self.table = KernelTable { addr: table.addr, rows: table.rows };
        Ok(())
    }
}
