//! The fixed-location loader's view of an image: what to copy where.
//!
//! Takes `.so`, `.stripped.so` and `.packed.so` bytes. Unaware of symbols, debug information and of memory itself.
//! Facts: spec `lsp-and-memory.md` §4.1, §8, §11.4, §13.5; `customop-abi.md` §3.4.

use gpsimd_image::{ElfFile, Header};
use gpsimd_lsp::{Variant, Window};

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
    /// More file bytes than memory bytes.
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
    is_checked: bool,
}

const ET_REL: u16 = 1;
const ET_EXEC: u16 = 2;

impl From<gpsimd_image::ImageError> for ImageError {
    fn from(error: gpsimd_image::ImageError) -> ImageError {
        ImageError::NotAnImage { why: error.to_string() }
    }
}

impl Image {
    /// Whether it was built for the simulator's own checks, by `compile --sanitize`.
    pub fn is_checked(&self) -> bool {
        self.is_checked
    }

    /// Reads an image linked for `variant`.
    ///
    /// # Errors
    /// [`ImageError`] for anything that cannot be loaded at its fixed place.
    pub fn parse(bytes: &[u8], variant: Variant) -> Result<Image, ImageError> {
        let elf = ElfFile::without_symbols(elf_bytes(bytes)?)?;
        let expect = |field, found: u16, wanted: u16| match found == wanted {
            true => Ok(()),
            false => Err(ImageError::Foreign { field, found: found.into(), wanted: wanted.into() }),
        };
        expect("machine", elf.header.machine, gpsimd_image::MACHINE)?;
        expect("type", elf.header.kind, ET_EXEC)?;
        let window = variant.window();
        let mut segments: Vec<(usize, Segment)> = Vec::new();
        for (index, load) in elf.loads().filter(|(_, load)| load.memsz > 0) {
            let (vaddr, paddr, mem_len) = (load.vaddr, load.paddr, load.memsz);
            if vaddr != paddr {
                return Err(ImageError::LoadAddress { segment: index, paddr, vaddr });
            }
            if load.filesz > mem_len {
                let (offset, file_len, why) = (load.offset, load.filesz, "more than its memory size");
                return Err(ImageError::SegmentBytes { segment: index, offset, file_len, why });
            }
            let start = u64::from(vaddr);
            let end = start + u64::from(mem_len);
            if !window.contains(start, mem_len.into()) && end > Window::IRAM.end() {
                return Err(ImageError::Outside { segment: index, start, end, window });
            }
            let (writable, data) = (load.is_writable(), load.data.to_vec());
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
        let entry = elf.header.entry;
        if !segments
            .iter()
            .any(|segment| entry >= window.base && entry.wrapping_sub(segment.vaddr) < segment.mem_len)
        {
            return Err(ImageError::Entry { entry });
        }
        let code = elf.sections.iter().filter(|section| section.is_alloc() && !section.is_writable());
        let code = code.map(|section| (section.addr, section.size)).collect();
        let is_checked = segments.iter().any(|segment| gpsimd_image::is_checked(&segment.data));
        Ok(Image { entry, variant, segments, code, is_checked })
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

    /// Address and length of code and constants, as far as section headers tell them from data; the segments do not, being
    /// both.
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

/// The ELF bytes of a plain, stripped or packed image; the last is itself an ELF file, an object that carries the image.
fn elf_bytes(bytes: &[u8]) -> Result<&[u8], ImageError> {
    Ok(if Header::parse(bytes)?.kind == ET_REL { gpsimd_image::unpack(bytes)? } else { bytes })
}
