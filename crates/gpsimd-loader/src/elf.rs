//! The little of ELF32 that the vendor's loader reads, at the offsets where it reads it, and never past the end of the
//! file.
//!
//! Unaware of regions and relocations. All other ELF is read by `gpsimd_image::ElfFile`, which would refuse here what the
//! vendor's path accepts: either byte order, any machine and type, entries of tables counted with fixed sizes, program
//! headers beyond `e_phnum`, a dynamic section that runs past its segment, tables and names that nobody looks at broken.
//! Facts: spec `prelink.md` §4.1-§4.5.

use crate::error::{Part, PrelinkError, Segment};
use crate::mode::Mode;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const EM_XTENSA: u16 = 94;
const EHDR: usize = 52;
const PHDR: u64 = 0x20;
const SHDR: u64 = 0x28;

/// The file with the byte order of its header.
#[derive(Clone, Copy)]
pub(crate) struct Elf<'a> {
    bytes: &'a [u8],
    big_endian: bool,
}

/// A program header, without the fields that nobody reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phdr {
    pub p_type: u32,
    pub offset: u32,
    pub vaddr: u32,
    pub paddr: u32,
    pub filesz: u32,
    pub memsz: u32,
    pub flags: u32,
}

/// The program headers of a split-load library.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub code: Phdr,
    pub data: Phdr,
    pub scratch: Option<Phdr>,
}

/// What the dynamic section says, in link addresses; `None` where a tag is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Dynamic {
    pub init: Option<u32>,
    pub fini: Option<u32>,
    pub rela: Option<u32>,
    /// Entries, not bytes.
    pub rela_count: u32,
}

impl<'a> Elf<'a> {
    /// Checks the identification (§4.1), and in strict mode byte order, machine and type (§17 R1-R3).
    pub fn parse(bytes: &'a [u8], mode: Mode) -> Result<Elf<'a>, PrelinkError> {
        let header = bytes.get(..EHDR).ok_or(PrelinkError::Truncated {
            part: Part::Header,
            end: EHDR as u64,
            limit: bytes.len() as u64,
        });
        // The magic first, so that a short text file is "not an ELF file" and not "a truncated one".
        for (at, want) in [(0, 0x7f), (1, b'E'), (2, b'L'), (3, b'F')] {
            match bytes.get(at) {
                Some(&found) if found != want => {
                    return Err(PrelinkError::NotElf {
                        field: "a byte of the magic number",
                        found,
                        want: "that of \\x7fELF",
                    });
                }
                _ => {}
            }
        }
        let header = header?;
        if header[4] != 1 {
            return Err(PrelinkError::NotElf { field: "EI_CLASS", found: header[4], want: "1 (32 bits)" });
        }
        let big_endian = match (header[5], mode) {
            (1, _) => false,
            (2, Mode::Compat) => true,
            (found, Mode::Compat) => {
                return Err(PrelinkError::NotElf { field: "EI_DATA", found, want: "1 or 2" });
            }
            (found, Mode::Strict) => {
                return Err(PrelinkError::NotElf { field: "EI_DATA", found, want: "1 (little-endian)" });
            }
        };
        let elf = Elf { bytes, big_endian };
        if mode == Mode::Strict {
            let machine = elf.half(0x12);
            if machine != EM_XTENSA {
                return Err(PrelinkError::Machine { found: machine });
            }
            let e_type = elf.half(0x10);
            if !matches!(e_type, 2 | 3) {
                return Err(PrelinkError::ElfType { found: e_type });
            }
        }
        Ok(elf)
    }

    pub fn is_big_endian(self) -> bool {
        self.big_endian
    }

    pub fn entry(self) -> u32 {
        self.word(0x18)
    }

    /// Program headers by position: code, data, optional scratch, dynamic (§4.3). `e_phnum` is not looked at.
    pub fn shape(self) -> Result<Shape, PrelinkError> {
        let expect = |index: usize, p_type: u32, is_right: fn(u32) -> bool, want: &'static str| {
            let phdr = self.phdr(index as u64)?;
            if phdr.p_type != p_type || !is_right(phdr.flags) {
                return Err(PrelinkError::NotSplitLoad {
                    index,
                    p_type: phdr.p_type,
                    flags: phdr.flags,
                    want,
                });
            }
            Ok(phdr)
        };
        let code = expect(0, PT_LOAD, |flags| flags & 7 == 5, "the code, a LOAD with flags R-X")?;
        let data = expect(1, PT_LOAD, |flags| !flags & 6 == 0, "the data, a LOAD with flags RW- or RWX")?;
        let third = self.phdr(2)?;
        let scratch = (third.p_type == PT_LOAD && third.flags & 6 == 2).then_some(third);
        let (index, want) = match scratch {
            Some(_) => (3, "the dynamic segment, with flags RW-"),
            None => (2, "a scratch LOAD with flags -W- or -WX, or the dynamic segment with flags RW-"),
        };
        expect(index, PT_DYNAMIC, |flags| flags & 7 == 6, want)?;
        Ok(Shape { code, data, scratch })
    }

    fn phdr(self, index: u64) -> Result<Phdr, PrelinkError> {
        let at = u64::from(self.word(0x1c)) + index * PHDR;
        let fields = self.slice(Part::ProgramHeaders, at, PHDR)?;
        let word = |offset: usize| self.word_of(fields, offset);
        Ok(Phdr {
            p_type: word(0),
            offset: word(4),
            vaddr: word(8),
            paddr: word(0xc),
            filesz: word(0x10),
            memsz: word(0x14),
            flags: word(0x18),
        })
    }

    /// The largest alignment of a section that has a type and a size (§4.4); compared signed, as the vendor does.
    pub fn max_section_align(self) -> Result<u32, PrelinkError> {
        let mut align = 0i32;
        for fields in self.section_headers()? {
            let (sh_type, size) = (self.word_of(fields, 4), self.word_of(fields, 0x14));
            if sh_type != 0 && size != 0 {
                align = align.max(self.word_of(fields, 0x20) as i32);
            }
        }
        Ok(align as u32)
    }

    fn section_headers(self) -> Result<impl Iterator<Item = &'a [u8]>, PrelinkError> {
        let len = u64::from(self.half(0x30)) * SHDR;
        // Without sections e_shoff means nothing.
        let at = if len == 0 { 0 } else { u64::from(self.word(0x20)) };
        Ok(self.slice(Part::SectionHeaders, at, len)?.chunks_exact(SHDR as usize))
    }

    /// Link address and size of the first section with one of these names; the vendor's loader does not look.
    pub fn section_named(self, names: &[&str]) -> Option<(u32, u32)> {
        let headers: Vec<&[u8]> = self.section_headers().ok()?.collect();
        let strings = headers.get(usize::from(self.half(0x32)))?;
        let at = u64::from(self.word_of(strings, 0x10));
        let strings = self.slice(Part::SectionHeaders, at, u64::from(self.word_of(strings, 0x14))).ok()?;
        let found = headers.iter().find(|fields| {
            let name = strings.get(self.word_of(fields, 0) as usize..).unwrap_or_default();
            names
                .iter()
                .any(|want| name.strip_prefix(want.as_bytes()).is_some_and(|rest| rest.first() == Some(&0)))
        })?;
        Some((self.word_of(found, 0xc), self.word_of(found, 0x14)))
    }

    /// Finds the dynamic segment and reads it up to its DT_NULL (§4.5). The last of two equal tags counts.
    pub fn dynamic(self, mode: Mode) -> Result<Dynamic, PrelinkError> {
        let phnum = self.half(0x2c);
        let mut found = None;
        for index in 0..u64::from(phnum) {
            let phdr = self.phdr(index)?;
            if phdr.p_type == PT_DYNAMIC {
                found = Some(phdr);
                break;
            }
        }
        let phdr = found.ok_or(PrelinkError::NoDynamic { phnum })?;
        // The vendor reads on until DT_NULL, whatever p_filesz says; the end of the file ends it here.
        let start = u64::from(phdr.offset);
        let limit = match mode {
            Mode::Strict => start + u64::from(phdr.filesz),
            Mode::Compat => self.bytes.len() as u64,
        };
        let mut dynamic = Dynamic::default();
        for at in (start..).step_by(8) {
            if at + 8 > limit {
                return Err(PrelinkError::Truncated { part: Part::Dynamic, end: at + 8, limit });
            }
            let entry = self.slice(Part::Dynamic, at, 8)?;
            let (tag, value) = (self.word_of(entry, 0), self.word_of(entry, 4));
            match tag {
                0 => break,
                7 => dynamic.rela = Some(value),
                8 => dynamic.rela_count = value / 12,
                12 => dynamic.init = Some(value),
                13 => dynamic.fini = Some(value),
                _ => {}
            }
        }
        Ok(dynamic)
    }

    /// The file bytes of a loaded segment.
    pub fn contents(self, segment: Segment, phdr: &Phdr) -> Result<&'a [u8], PrelinkError> {
        self.slice(Part::Contents(segment), u64::from(phdr.offset), u64::from(phdr.filesz))
    }

    /// `len` bytes at file offset `at`.
    pub fn slice(self, part: Part, at: u64, len: u64) -> Result<&'a [u8], PrelinkError> {
        let end = at.saturating_add(len);
        let range = usize::try_from(at).ok().zip(usize::try_from(end).ok());
        range.and_then(|(at, end)| self.bytes.get(at..end)).ok_or(PrelinkError::Truncated {
            part,
            end,
            limit: self.bytes.len() as u64,
        })
    }

    fn half(self, at: usize) -> u16 {
        let bytes = self.bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) }
    }

    fn word(self, at: usize) -> u32 {
        self.word_of(self.bytes, at)
    }

    fn word_of(self, fields: &[u8], at: usize) -> u32 {
        let bytes = fields.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }
}
