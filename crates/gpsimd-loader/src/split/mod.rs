//! Split-load libraries from a static link: the linker script, and the dynamic part that the GNU linker cannot make.
//!
//! Unaware of how the linker is run. `ld -shared` leaves relocations with symbols, which no loader here applies; a static
//! link with `--emit-relocs` tells exactly which words hold addresses, and each becomes one symbol-free entry.
//! Facts: spec `prelink.md` §4, §17 R9, R14, R15, `lsp-and-memory.md` §8.2; that this works: `open-toolchain.md` §10.

mod error;
mod file;
mod input;
mod proof;
mod strip;
mod write;

pub use error::SplitError;
pub use strip::strip;

use crate::error::Segment;
use crate::generation::Bounds;
use crate::kernel_table::{self, Row};
use crate::mode::Mode;
use crate::prelink::prelink;
use gpsimd_image::{ElfFile, Section};
use input::Linked;

/// The script to link with: code at 0x01000000, data at 0x02000000, and a place for `kernel_info_table`. The entry is
/// `_start`.
pub const SCRIPT: &str = include_str!("split.x");
/// Functions with these names, if there are any, become `DT_INIT` and `DT_FINI`. Not `_init`: the library's start
/// function runs the constructors itself, once it has its heaps.
pub const HOOKS: [&str; 2] = ["__split_init", "__split_fini"];
/// Least distance of code end and data start (rule R14): the loader takes addresses just below the data for data.
const SEPARATION: u64 = 0x400;
const PT_DYNAMIC: u32 = 2;

/// A split-load library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The file: three LOAD segments, PT_DYNAMIC, section headers, symbols and debug information of the link.
    pub elf: Vec<u8>,
    /// Bytes of code.
    pub code: u32,
    /// Bytes of data, zeroed ones included.
    pub data: u32,
    /// Relocations that the loader will apply.
    pub relocations: usize,
    /// Kernels, in link addresses.
    pub rows: Vec<Row>,
}

/// Turns a static link made with [`SCRIPT`] and `--emit-relocs` into a split-load library for `bounds`.
///
/// # Errors
/// [`SplitError`] for whatever cannot be proven to survive the move of code and data by different distances, and for
/// sizes beyond the regions. The result has passed the strict prelinker.
pub fn synthesize(linked: &[u8], bounds: &Bounds) -> Result<Split, SplitError> {
    let linked = Linked::parse(linked)?;
    for (segment, region) in [(Segment::Code, bounds.code), (Segment::Data, bounds.data)] {
        let size = linked.part(segment).memsz;
        if size > region.size {
            let mut largest = linked.largest(segment);
            let printing = linked.printing(segment);
            if printing >= size - region.size {
                largest +=
                    &format!("printf is the cause: it takes {printing} bytes, less for integers only. ");
            }
            return Err(SplitError::TooLarge {
                segment,
                size,
                allowed: region.size,
                over: size - region.size,
                largest,
            });
        }
    }
    let (code_end, data_start) = (linked.code.end(), linked.data.base);
    if code_end + SEPARATION > u64::from(data_start) {
        return Err(SplitError::TooClose { code_end, data_start });
    }
    let entries = proof::entries(&linked)?;
    let rows = rows(&linked, &entries)?;
    let elf = write::elf(&linked, &entries)?;
    prelink(&elf, bounds, Mode::Strict, &mut |_| {})?;
    Ok(Split { elf, code: linked.code.memsz, data: linked.data.memsz, relocations: entries.len(), rows })
}

/// Whether the bytes are an ELF file with a dynamic segment: a split-load library has one, an image at a fixed address has
/// not.
pub fn is_split(bytes: &[u8]) -> bool {
    let is_dynamic = |file: ElfFile<'_>| file.segments.iter().any(|segment| segment.kind == PT_DYNAMIC);
    ElfFile::without_symbols(bytes).is_ok_and(is_dynamic)
}

/// The kernel table's rows, if each is one the device can use.
fn rows(linked: &Linked<'_>, entries: &[write::Entry]) -> Result<Vec<Row>, SplitError> {
    let is_table = |section: &&Section<'_>| kernel_table::SECTIONS.contains(&section.name);
    let Some(section) = linked.file.sections.iter().find(is_table) else { return Ok(Vec::new()) };
    let bad = |index, why| SplitError::BadRow { index, why };
    let (cells, rest) = section.data.as_chunks::<{ kernel_table::ROW }>();
    if !rest.is_empty() {
        return Err(bad(cells.len(), "is cut short"));
    }
    let row = |(index, cell): (usize, &[u8; kernel_table::ROW])| {
        let row = Row::parse(cell).ok_or(bad(index, "does not start with two zero bytes"))?;
        if !linked.code.contains(row.func) {
            return Err(bad(index, "has a function outside the code"));
        }
        let site = u64::from(section.addr) + 8 * index as u64 + 4;
        if !entries.iter().any(|entry| u64::from(entry.site) == site) {
            return Err(bad(index, "has a function that is no address"));
        }
        Ok(row)
    };
    cells.iter().enumerate().map(row).collect()
}
