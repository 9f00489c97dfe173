//! The fixed-location loader's view of an image: what to copy where.
//!
//! Takes `.so`, `.stripped.so` and `.packed.so` bytes. Unaware of symbols, debug information and of memory itself.
//! Facts: spec `lsp-and-memory.md` §4.1, §8, §11.4, §13.5; `customop-abi.md` §3.4.

use gpsimd_lsp::{CpuId, Variant, Window};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};
use object::{LittleEndian, elf};

/// Why bytes are not a loadable image.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum ImageError {
    /// Neither an ELF file nor a packed one.
    #[error("not an image: {why}")]
    #[diagnostic(
        code(device::not_an_image),
        help("give the .so, .stripped.so or .packed.so that a build wrote")
    )]
    NotAnImage {
        /// What is wrong.
        why: String,
    },
    /// An ELF file for something else.
    #[error("the ELF file's {field} is {found}; a device image has {wanted}")]
    #[diagnostic(
        code(device::foreign_elf),
        help("give the .so, .stripped.so or .packed.so that a build wrote")
    )]
    Foreign {
        /// Header field.
        field: &'static str,
        /// Value found.
        found: u32,
        /// Value needed.
        wanted: u32,
    },
    /// A segment whose load address is not its address.
    #[error(
        "segment {segment} is to be loaded at {paddr:#010x} but runs at {vaddr:#010x}; the two must be equal"
    )]
    #[diagnostic(code(device::load_address), help("link with the generated linker script"))]
    LoadAddress {
        /// Index of the program header.
        segment: usize,
        /// `p_paddr`.
        paddr: u32,
        /// `p_vaddr`.
        vaddr: u32,
    },
    /// A segment that lies partly or wholly outside the memory the image may occupy.
    #[error(
        "segment {segment} occupies [{start:#010x}, {end:#010x}), outside the instruction RAM's first 4096 bytes and {window}"
    )]
    #[diagnostic(code(device::segment_outside), help("load the image that was linked for this core"))]
    Outside {
        /// Index of the program header.
        segment: usize,
        /// First address.
        start: u64,
        /// First address behind.
        end: u64,
        /// Where it should lie.
        window: Window,
    },
    /// Two segments over the same bytes.
    #[error("segments {first} and {second} overlap at {addr:#010x}")]
    #[diagnostic(code(device::segments_overlap), help("the file is corrupt; build it again"))]
    Overlap {
        /// Index of one.
        first: usize,
        /// Index of the other.
        second: usize,
        /// First shared address.
        addr: u32,
    },
    /// More file bytes than memory bytes, or file bytes that are not there.
    #[error("segment {segment} has {file_len} bytes at file offset {offset}; {why}")]
    #[diagnostic(code(device::segment_bytes), help("the file is truncated or corrupt; build it again"))]
    SegmentBytes {
        /// Index of the program header.
        segment: usize,
        /// File offset.
        offset: u32,
        /// Bytes in the file.
        file_len: u32,
        /// What does not fit.
        why: &'static str,
    },
    /// An entry point outside the code.
    #[error("the entry point {entry:#010x} is in no segment of the image")]
    #[diagnostic(code(device::entry), help("the file is corrupt or was not linked with the device runtime"))]
    Entry {
        /// The address.
        entry: u32,
    },
    /// No segment in the window.
    #[error("the image has no bytes in {window}")]
    #[diagnostic(code(device::empty_image), help("load the image that was linked for this core"))]
    Empty {
        /// Where they should lie.
        window: Window,
    },
}

/// One loadable segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// NX address.
    pub vaddr: u32,
    /// Bytes in memory; those behind [`Segment::data`] are zero.
    pub mem_len: u32,
    /// Whether the program may write it.
    pub writable: bool,
    /// Bytes from the file.
    pub data: Vec<u8>,
}

impl Segment {
    fn end(&self) -> u64 {
        u64::from(self.vaddr) + u64::from(self.mem_len)
    }
}

/// A checked image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    entry: u32,
    variant: Variant,
    segments: Vec<Segment>,
    code: Vec<(u32, u32)>,
}

const IRAM_LEN: u64 = 0x1000;

impl Image {
    /// Reads an image linked for `variant`.
    ///
    /// # Errors
    /// [`ImageError`] for anything that cannot be loaded at its fixed place.
    pub fn parse(bytes: &[u8], variant: Variant) -> Result<Image, ImageError> {
        let bytes = elf_bytes(bytes)?;
        let bytes = bytes.as_ref();
        let not_an_image = |error: object::read::Error| ImageError::NotAnImage { why: error.to_string() };
        let header = elf::FileHeader32::<LittleEndian>::parse(bytes).map_err(not_an_image)?;
        let endian = header.endian().map_err(not_an_image)?;
        let expect = |field, found: u16, wanted: u16| match found == wanted {
            true => Ok(()),
            false => Err(ImageError::Foreign { field, found: found.into(), wanted: wanted.into() }),
        };
        expect("machine", header.e_machine(endian).0, elf::EM_XTENSA.0)?;
        expect("type", header.e_type(endian).0, elf::ET_EXEC.0)?;
        let window = variant.window();
        let mut segments: Vec<(usize, Segment)> = Vec::new();
        for (index, program) in
            header.program_headers(endian, bytes).map_err(not_an_image)?.iter().enumerate()
        {
            if program.p_type(endian) != elf::PT_LOAD || program.p_memsz(endian) == 0 {
                continue;
            }
            let (vaddr, paddr) = (program.p_vaddr(endian), program.p_paddr(endian));
            if vaddr != paddr {
                return Err(ImageError::LoadAddress { segment: index, paddr, vaddr });
            }
            let (offset, file_len, mem_len) =
                (program.p_offset(endian), program.p_filesz(endian), program.p_memsz(endian));
            let bad = |why| ImageError::SegmentBytes { segment: index, offset, file_len, why };
            if file_len > mem_len {
                return Err(bad("more than its memory size"));
            }
            let start = u64::from(vaddr);
            let end = start + u64::from(mem_len);
            let in_window =
                start >= u64::from(window.base) && end <= u64::from(window.base) + u64::from(window.len);
            if !in_window && end > IRAM_LEN {
                return Err(ImageError::Outside { segment: index, start, end, window });
            }
            let data = program.data(endian, bytes).map_err(|()| bad("the file ends before them"))?.to_vec();
            let writable = program.p_flags(endian).0 & elf::PF_W.0 != 0;
            segments.push((index, Segment { vaddr, mem_len, writable, data }));
        }
        segments.sort_by_key(|(_, segment)| segment.vaddr);
        for pair in segments.windows(2) {
            let [(first, a), (second, b)] = pair else { continue };
            if a.end() > u64::from(b.vaddr) {
                return Err(ImageError::Overlap { first: *first, second: *second, addr: b.vaddr });
            }
        }
        let segments: Vec<Segment> = segments.into_iter().map(|(_, segment)| segment).collect();
        if !segments.iter().any(|segment| segment.vaddr >= window.base) {
            return Err(ImageError::Empty { window });
        }
        let entry = header.e_entry(endian);
        if !segments
            .iter()
            .any(|segment| entry >= window.base && entry.wrapping_sub(segment.vaddr) < segment.mem_len)
        {
            return Err(ImageError::Entry { entry });
        }
        let code = header.sections(endian, bytes).map(|table| code_sections(&table)).unwrap_or_default();
        Ok(Image { entry, variant, segments, code })
    }

    /// Address of `_start`.
    pub fn entry(&self) -> u32 {
        self.entry
    }

    /// What it was linked for.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Segments in address order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Address and length of code, as far as section headers tell it from data; the segments do not, being both.
    pub fn code(&self) -> &[(u32, u32)] {
        &self.code
    }

    /// First address and first address behind the part in the bank.
    pub fn span(&self) -> (u32, u32) {
        let base = self.variant.window().base;
        let in_bank = self.segments.iter().filter(|segment| segment.vaddr >= base);
        let end = in_bank.map(Segment::end).max().unwrap_or(base.into());
        (base, u32::try_from(end.next_multiple_of(16)).unwrap_or(u32::MAX))
    }
}

fn code_sections(
    table: &object::read::elf::SectionTable<'_, elf::FileHeader32<LittleEndian>>,
) -> Vec<(u32, u32)> {
    let is_code = |section: &&elf::SectionHeader32<LittleEndian>| {
        section.sh_flags(LittleEndian).0 & elf::SHF_EXECINSTR.0 != 0
    };
    let extent = |section: &elf::SectionHeader32<LittleEndian>| {
        (section.sh_addr(LittleEndian), section.sh_size(LittleEndian))
    };
    table.iter().filter(is_code).map(extent).collect()
}

/// The ELF bytes of a plain, stripped or packed image.
///
/// # Errors
/// [`ImageError::NotAnImage`] when a packed image cannot be unpacked.
pub fn elf_bytes(bytes: &[u8]) -> Result<std::borrow::Cow<'_, [u8]>, ImageError> {
    // A packed image is itself an ELF file, a relocatable object that carries the image.
    let header = elf::FileHeader32::<LittleEndian>::parse(bytes)
        .map_err(|error| ImageError::NotAnImage { why: error.to_string() })?;
    if header.e_type(LittleEndian) != elf::ET_REL {
        return Ok(bytes.into());
    }
    gpsimd_image::unpack(bytes)
        .map(Into::into)
        .map_err(|error| ImageError::NotAnImage { why: error.to_string() })
}

/// The variant whose window holds the entry point of an ELF image; a multi-core image counts as its core's.
///
/// An image at the first bank may be for core 0 or for a single core: the bank is the same. `single` decides.
///
/// # Errors
/// [`ImageError`] when the bytes are no ELF file or the entry lies in no bank.
pub fn variant_of(bytes: &[u8], single: bool) -> Result<Variant, ImageError> {
    let bytes = elf_bytes(bytes)?;
    let header = elf::FileHeader32::<LittleEndian>::parse(bytes.as_ref())
        .map_err(|error| ImageError::NotAnImage { why: error.to_string() })?;
    let entry = header.e_entry(LittleEndian);
    if single {
        return Ok(Variant::Single);
    }
    let inside = |variant: &Variant| entry.wrapping_sub(variant.window().base) < variant.window().len;
    (0..8).filter_map(CpuId::new).map(Variant::Cpu).find(inside).ok_or(ImageError::Entry { entry })
}
