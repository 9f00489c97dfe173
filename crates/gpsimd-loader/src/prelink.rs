//! The prelinker: a split-load ELF becomes code and data at their device addresses, and the header of a UCPL image.
//!
//! Unaware of files, environment and staging. The steps and their order are spec `prelink.md` §3; what strict mode adds
//! is its §17.

use crate::elf::{Dynamic, Elf, Phdr, Shape};
use crate::error::{Part, PrelinkError, Segment};
use crate::generation::{Bounds, Region};
use crate::kernel_table::{self, TableRef};
use crate::mode::Mode;
use crate::placement::{Placed, Placement};
use crate::relocate::{RELA, Relocations, relocate};
use crate::ucpl::{self, Header};

/// A prelinked library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prelinked {
    /// Header of the image.
    pub header: Header,
    /// Code as it will be staged; a multiple of four bytes.
    pub code: Vec<u8>,
    /// Data as it will be staged; a multiple of four bytes.
    pub data: Vec<u8>,
    /// What was relocated.
    pub relocations: Relocations,
    /// Where on the device the library's `kernel_info_table` section will lie, if it has one.
    pub kernel_table: Option<TableRef>,
}

impl Prelinked {
    /// The contiguous UCPL image: header, code, zeros up to the data, data.
    pub fn image(&self) -> Vec<u8> {
        let mut image = Vec::with_capacity(usize::try_from(self.header.total()).unwrap_or_default());
        image.extend_from_slice(&self.header.encode());
        image.extend_from_slice(&self.code);
        image.resize(self.header.data_off as usize, 0);
        image.extend_from_slice(&self.data);
        image
    }
}

/// Prelinks `elf` into `bounds`. `log` gets the vendor's log lines (severity 1), those of a failure included.
///
/// # Errors
/// [`PrelinkError`], the first thing wrong in the vendor's order of checks.
pub fn prelink(
    elf: &[u8],
    bounds: &Bounds,
    mode: Mode,
    log: &mut dyn FnMut(&str),
) -> Result<Prelinked, PrelinkError> {
    let _span = tracing::debug_span!("prelink", ?mode, code = %bounds.code, data = %bounds.data).entered();
    run(elf, bounds, mode, log).inspect_err(|error| {
        tracing::debug!(status = error.status(), %error, "refused");
        if let Some(text) = error.vendor_text() {
            log(&text);
        }
    })
}

fn run(
    bytes: &[u8],
    bounds: &Bounds,
    mode: Mode,
    log: &mut dyn FnMut(&str),
) -> Result<Prelinked, PrelinkError> {
    let elf = Elf::parse(bytes, mode)?;
    let shape = elf.shape()?;
    let align = elf.max_section_align()?;
    if mode == Mode::Strict {
        check_alignment(&shape, bounds, align)?;
    }
    let dynamic = elf.dynamic(mode)?;
    let place = |segment, region, phdr: &Phdr| {
        Placed::load(segment, region, phdr, align, || elf.contents(segment, phdr))
    };
    let code = place(Segment::Code, bounds.code, &shape.code)?;
    let data = place(Segment::Data, bounds.data, &shape.data)?;
    let (code_at, data_at) = (code.extent(), data.extent());
    tracing::debug!(code = %code_at, data = %data_at, align, has_scratch = shape.scratch.is_some(), "placed");
    let mut placement = Placement { code, data, has_scratch: shape.scratch.is_some() };
    let table = relocation_table(elf, &shape, &dynamic, &placement, mode)?;
    let relocations = relocate(&mut placement, &table, mode, log)?;
    tracing::debug!(?relocations, "relocated");

    let start = placement.map_code(elf.entry());
    let [init, fini] =
        [dynamic.init, dynamic.fini].map(|addr| addr.map_or(0, |addr| placement.map_code(addr)));
    let (code_memsz, data_memsz) = (placement.code.memsz, placement.data.memsz);
    let too_large = |total| PrelinkError::ImageTooLarge { total, allowed: ucpl::MAX_IMAGE };
    let header = Header::new(code_memsz, data_memsz, init, fini, start).ok_or(too_large(u64::MAX))?;
    if mode == Mode::Strict {
        check_entries(&header, placement.code.extent())?;
        if header.total() > ucpl::MAX_IMAGE {
            return Err(too_large(header.total()));
        }
    }
    let kernel_table = elf.section_named(&kernel_table::SECTIONS).and_then(|(addr, size)| {
        let table = TableRef { addr: placement.map(addr), rows: size / kernel_table::ROW as u32 };
        placement.is_loaded(table.addr, size).then_some(table)
    });
    Ok(Prelinked {
        header,
        code: placement.code.staged(mode),
        data: placement.data.staged(mode),
        relocations,
        kernel_table,
    })
}

/// Rule R5: a segment that does not start where its region does is staged wrongly (§6.2), be it because of its own
/// address or because the region's is not aligned enough.
fn check_alignment(shape: &Shape, bounds: &Bounds, align: u32) -> Result<(), PrelinkError> {
    if !align.is_power_of_two() {
        return Err(PrelinkError::BadAlignment { align });
    }
    let segments = [(Segment::Code, shape.code, bounds.code), (Segment::Data, shape.data, bounds.data)];
    for (segment, phdr, region) in segments {
        if phdr.paddr % align != 0 {
            return Err(PrelinkError::LeadIn { segment, paddr: phdr.paddr, align });
        }
        if region.base % align != 0 {
            return Err(PrelinkError::RegionAlignment { segment, region, align });
        }
    }
    Ok(())
}

/// Rule R13. In strict mode the code starts where its region does.
fn check_entries(header: &Header, code: Region) -> Result<(), PrelinkError> {
    let rows = [
        ("the start symbol", header.start, false),
        ("DT_INIT", header.init, true),
        ("DT_FINI", header.fini, true),
    ];
    for (what, addr, may_be_zero) in rows {
        if !(code.offset_of(addr).is_some() && addr != 0 || may_be_zero && addr == 0) {
            return Err(PrelinkError::EntryOutside { what, addr, code });
        }
    }
    Ok(())
}

/// The table's bytes: from the scratch segment in the file or, as rule R7 adds, from the data segment in memory.
fn relocation_table(
    elf: Elf<'_>,
    shape: &Shape,
    dynamic: &Dynamic,
    placement: &Placement,
    mode: Mode,
) -> Result<Vec<u8>, PrelinkError> {
    let count = dynamic.rela_count;
    if count == 0 {
        return Ok(Vec::new());
    }
    let unusable = |why| PrelinkError::RelocationTable { count, why };
    if elf.is_big_endian() {
        return Err(unusable("a big-endian table cannot be applied"));
    }
    let addr = dynamic.rela.ok_or(unusable("no DT_RELA says where they are"))?;
    let len = u64::from(count) * RELA as u64;
    // Both may be outside the file in a damaged library; the vendor subtracts pointers.
    let at = |start: u32, offset: u32| {
        let at = i64::from(offset) + i64::from(addr) - i64::from(start);
        u64::try_from(at).map_err(|_| unusable("DT_RELA lies before the file's first byte"))
    };
    let within = |at: u64, first: u32, limit: u64| match at {
        at if at < u64::from(first) => Err(unusable("DT_RELA lies before the segment that should hold it")),
        at if at + len > limit => {
            Err(PrelinkError::Truncated { part: Part::Relocations, end: at + len, limit })
        }
        at => Ok(at),
    };
    if let Some(scratch) = shape.scratch {
        let mut at = at(scratch.vaddr, scratch.offset)?;
        if mode == Mode::Strict {
            at = within(at, scratch.offset, u64::from(scratch.offset) + u64::from(scratch.filesz))?;
        }
        return Ok(elf.slice(Part::Relocations, at, len)?.to_vec());
    }
    let data = &placement.data;
    let at =
        within(at(data.link, data.offset)?, data.offset, u64::from(data.offset) + u64::from(data.memsz))?;
    // The segment lies in its buffer, and the table in the segment.
    Ok(data.bytes[at as usize..(at + len) as usize].to_vec())
}
