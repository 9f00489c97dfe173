//! One ELF file as a checked view: header, segments, sections, symbols, each with its bytes.
//!
//! Unaware of windows and of what an image should be; it reports what a file holds, or why it cannot be read. Everything
//! borrows from the input, and nothing is allocated beyond what the file's own length pays for.
//! Facts: spec `lsp-and-memory.md` §8.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _, Rela as _, SectionHeader as _, Sym as _};

use crate::error::ImageError;

type RawHeader = elf::FileHeader32<LE>;

/// Bytes of an ELF32 file header.
const HEADER_LEN: usize = 52;

/// Linkers make a handful; checks look at every section and segment together.
const MAX_SEGMENTS: u16 = 256;

/// Longest name read; mangled C++ names stay far below.
const MAX_NAME: usize = 1 << 16;

/// `e_machine` of Xtensa.
pub const MACHINE: u16 = elf::EM_XTENSA.0;
/// `e_flags` any Xtensa assembler sets: instruction and literal tables exist. Says nothing about the core.
pub const FLAGS: u32 = 0x300;

/// An ELF32 little-endian file, read.
#[derive(Debug, Clone)]
pub struct ElfFile<'d> {
    /// The whole file.
    pub bytes: &'d [u8],
    /// Fields of the file header.
    pub header: Header,
    /// Program headers in file order.
    pub segments: Vec<Segment<'d>>,
    /// Section headers in file order; index 0 is the null section.
    pub sections: Vec<Section<'d>>,
    /// The static symbol table without its null entry, in file order.
    pub symbols: Vec<Symbol<'d>>,
}

/// File header fields that differ between images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// `e_type`.
    pub kind: u16,
    /// `e_machine`.
    pub machine: u16,
    /// `e_entry`.
    pub entry: u32,
    /// `e_flags`.
    pub flags: u32,
}

/// One program header and the file bytes it covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the gABI's own names, without their prefix
pub struct Segment<'d> {
    pub kind: u32,
    pub flags: u32,
    pub offset: u32,
    pub vaddr: u32,
    pub paddr: u32,
    pub filesz: u32,
    pub memsz: u32,
    pub align: u32,
    pub data: &'d [u8],
}

/// One section header and the file bytes it covers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the gABI's own names, without their prefix
pub struct Section<'d> {
    pub name: &'d str,
    pub kind: u32,
    pub flags: u32,
    pub addr: u32,
    pub offset: u32,
    pub size: u32,
    pub link: u32,
    pub info: u32,
    pub align: u32,
    pub entsize: u32,
    /// Empty for sections without file bytes.
    pub data: &'d [u8],
}

/// One symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol<'d> {
    /// Name as stored, mangled.
    pub name: &'d str,
    /// Address, or offset in its section for relocatable files.
    pub value: u32,
    /// Bytes.
    pub size: u32,
    /// `st_info` type: `STT_FUNC` and so on.
    pub kind: u8,
    /// `st_info` binding: `STB_GLOBAL` and so on.
    pub binding: u8,
    /// `st_shndx`.
    pub section: u16,
}

/// One relocation with addend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relocation {
    /// Address in linked files, offset in the section in relocatable ones.
    pub offset: u32,
    /// Index into the symbol table, 0 for none. The null entry counts, so `ElfFile::symbols` is one shorter.
    pub symbol: u32,
    /// `R_XTENSA_*`.
    pub kind: u32,
    /// Addend.
    pub addend: i32,
}

impl Header {
    /// Reads the file header alone.
    ///
    /// # Errors
    /// Not ELF, or not 32-bit little-endian.
    pub fn parse(bytes: &[u8]) -> Result<Header, ImageError> {
        file_header(bytes).map(|(_, header)| header)
    }
}

impl<'d> ElfFile<'d> {
    /// Reads a file.
    ///
    /// # Errors
    /// Not ELF, not 32-bit little-endian, shorter than its headers say, or inconsistent.
    pub fn parse(bytes: &'d [u8]) -> Result<ElfFile<'d>, ImageError> {
        let mut file = ElfFile::without_symbols(bytes)?;
        file.symbols = symbols(&file.sections)?;
        Ok(file)
    }

    /// Reads a file as [`ElfFile::parse`] does, but leaves the symbol table, which may be long, alone.
    ///
    /// # Errors
    /// As for [`ElfFile::parse`], but for the symbols.
    pub fn without_symbols(bytes: &'d [u8]) -> Result<ElfFile<'d>, ImageError> {
        let (raw, header) = file_header(bytes)?;
        table(bytes, "the program headers", raw.e_phoff(LE), raw.e_phnum(LE), raw.e_phentsize(LE), 32)?;
        table(bytes, "the section headers", raw.e_shoff(LE), raw.e_shnum(LE), raw.e_shentsize(LE), 40)?;
        if raw.e_phnum(LE) > MAX_SEGMENTS {
            let detail = format!("{} program headers, where {MAX_SEGMENTS} are allowed", raw.e_phnum(LE));
            return Err(ImageError::Malformed { what: "the file header", detail });
        }
        let segments = raw.program_headers(LE, bytes).map_err(malformed("the program headers"))?;
        let segments =
            segments.iter().enumerate().map(|(i, p)| segment(bytes, i, p)).collect::<Result<_, _>>()?;

        let raw_sections = raw.section_headers(LE, bytes).map_err(malformed("the section headers"))?;
        let mut sections = Vec::with_capacity(raw_sections.len());
        for (i, s) in raw_sections.iter().enumerate() {
            sections.push(section(bytes, i, s)?);
        }
        let names = sections.get(usize::from(raw.e_shstrndx.get(LE).0)).map_or(&[][..], |s| s.data);
        for (section, raw) in sections.iter_mut().zip(raw_sections).skip(1) {
            section.name = name(names, raw.sh_name(LE), "a section name")?;
        }
        Ok(ElfFile { bytes, header, segments, sections, symbols: Vec::new() })
    }

    /// Bytes of the first section of that name, none without one.
    pub fn section_data(&self, name: &str) -> &'d [u8] {
        self.section(name).map_or(&[], |section| section.data)
    }

    /// The first section of that name.
    pub fn section(&self, name: &str) -> Option<&Section<'d>> {
        self.sections.iter().skip(1).find(|section| section.name == name)
    }

    /// The definition of a symbol, undefined references passed over; global ones win over local ones.
    pub fn symbol(&self, name: &str) -> Option<&Symbol<'d>> {
        let mut named = self.symbols.iter().filter(|symbol| symbol.name == name && symbol.is_defined());
        let first = named.next()?;
        match first.binding == elf::STB_LOCAL.0 {
            true => named.find(|symbol| symbol.binding != elf::STB_LOCAL.0).or(Some(first)),
            false => Some(first),
        }
    }

    /// Addresses of the functions that have one of these names, each with the name's index, by address. Reads no more of the symbol
    /// table than that takes, whether the file was read with its symbols or without; a damaged entry counts as another name.
    pub fn find_functions(&self, names: &[&str]) -> Vec<(u32, usize)> {
        let table = self.sections.iter().find(|section| section.kind == elf::SHT_SYMTAB.0);
        let Some(table) = table else { return Vec::new() };
        let entries: &[elf::Sym32<LE>] = object::slice_from_all_bytes(table.data).unwrap_or_default();
        let strings = self.sections.get(table.link as usize).map_or(&[][..], |section| section.data);
        // most are told apart by the first bytes alone
        let head = |name: &[u8]| name.first_chunk().map_or(0, |head| u64::from_le_bytes(*head));
        let heads: Vec<u64> = names.iter().map(|name| head(name.as_bytes())).collect();
        let function = |entry: &elf::Sym32<LE>| {
            let is_function = entry.st_type() == elf::STT_FUNC;
            let name = strings.get(entry.st_name(LE) as usize..).filter(|_| is_function)?;
            let found = head(name);
            let is_called = |(wanted, head): (&&str, &u64)| {
                let rest = || name.strip_prefix(wanted.as_bytes());
                (*head == found || wanted.len() < 8) && rest().is_some_and(|rest| rest.first() == Some(&0))
            };
            Some((entry.st_value(LE), names.iter().zip(&heads).position(is_called)?))
        };
        let mut functions: Vec<_> = entries.iter().skip(1).filter_map(function).collect();
        functions.sort_unstable();
        functions
    }

    /// Refuses what is no statically linked Xtensa executable.
    ///
    /// # Errors
    /// Another machine or another type.
    pub fn require_executable(&self) -> Result<(), ImageError> {
        if self.header.machine != MACHINE {
            return Err(ImageError::WrongMachine { found: self.header.machine });
        }
        if self.header.kind != elf::ET_EXEC.0 {
            return Err(ImageError::WrongType {
                found: kind_name(self.header.kind),
                allowed: "EXEC (2)",
                help: "link statically at a fixed address: no -shared, -pie or -r",
            });
        }
        Ok(())
    }

    /// Whether there is no symbol table.
    pub fn is_stripped(&self) -> bool {
        !self.sections.iter().any(|section| section.kind == elf::SHT_SYMTAB.0)
    }

    /// Segments that occupy memory, with their index.
    pub fn loads(&self) -> impl Iterator<Item = (usize, &Segment<'d>)> {
        let occupied = |s: &Segment<'_>| s.kind == elf::PT_LOAD.0 && (s.memsz > 0 || s.filesz > 0);
        self.segments.iter().enumerate().filter(move |(_, segment)| occupied(segment))
    }

    /// The section that holds an address.
    pub fn section_at(&self, address: u32) -> Option<&Section<'d>> {
        self.sections.iter().find(|s| s.is_alloc() && address >= s.addr && u64::from(address) < s.end())
    }

    /// The initialised word at an address, as loaded.
    pub fn word_at(&self, address: u32) -> Option<u32> {
        self.loads().find_map(|(_, segment)| {
            let at = address.checked_sub(segment.vaddr)? as usize;
            Some(u32::from_le_bytes(segment.data.get(at..at.checked_add(4)?)?.try_into().ok()?))
        })
    }

    /// Relocations that apply to section `target`, or all of them, each with its section's index.
    ///
    /// # Errors
    /// A relocation section whose size is no multiple of its entries, or entries without addend.
    pub fn relocations(&self) -> Result<Vec<(usize, Relocation)>, ImageError> {
        let mut all = Vec::new();
        for section in &self.sections {
            if section.kind == elf::SHT_REL.0 && section.size > 0 {
                let detail =
                    format!("{} holds relocations without addend, which Xtensa does not use", section.name);
                return Err(ImageError::Malformed { what: "the relocations", detail });
            }
            if section.kind != elf::SHT_RELA.0 {
                continue;
            }
            let entries: &[elf::Rela32<LE>] = object::slice_from_all_bytes(section.data).map_err(|()| {
                let detail = format!("{} has {} bytes, not a multiple of 12", section.name, section.size);
                ImageError::Malformed { what: "the relocations", detail }
            })?;
            if section.info as usize >= self.sections.len() {
                let detail = format!("`{}` relocates a section that does not exist", section.name);
                return Err(ImageError::Malformed { what: "the relocations", detail });
            }
            all.extend(entries.iter().map(|entry| {
                let relocation = Relocation {
                    offset: entry.r_offset(LE),
                    symbol: entry.symbol(LE, false).map_or(0, |index| index.0 as u32),
                    kind: entry.r_type(LE).0,
                    addend: entry.r_addend(LE),
                };
                (section.info as usize, relocation)
            }));
        }
        Ok(all)
    }
}

impl Segment<'_> {
    /// First address past the segment in memory.
    pub fn end(&self) -> u64 {
        u64::from(self.vaddr) + u64::from(self.memsz.max(self.filesz))
    }

    /// Whether the program may write it.
    pub fn is_writable(&self) -> bool {
        self.flags & elf::PF_W.0 != 0
    }
}

impl Section<'_> {
    /// Whether it occupies memory when the image runs.
    pub fn is_alloc(&self) -> bool {
        u64::from(self.flags) & elf::SHF_ALLOC.0 != 0
    }

    /// Whether it holds instructions.
    pub fn is_code(&self) -> bool {
        u64::from(self.flags) & elf::SHF_EXECINSTR.0 != 0
    }

    /// Whether the program may write it.
    pub fn is_writable(&self) -> bool {
        u64::from(self.flags) & elf::SHF_WRITE.0 != 0
    }

    /// Whether it has no bytes in the file.
    pub fn is_nobits(&self) -> bool {
        self.kind == elf::SHT_NOBITS.0
    }

    /// First address past the section.
    pub fn end(&self) -> u64 {
        u64::from(self.addr) + u64::from(self.size)
    }
}

impl Symbol<'_> {
    /// Whether it names a function.
    pub fn is_function(&self) -> bool {
        self.kind == elf::STT_FUNC.0
    }

    /// Whether this file defines it; absolute symbols count.
    pub fn is_defined(&self) -> bool {
        self.section != elf::SHN_UNDEF.0
    }
}

/// `e_type` as people write it.
pub(crate) fn kind_name(kind: u16) -> String {
    let name = match kind {
        1 => "REL",
        2 => "EXEC",
        3 => "DYN",
        4 => "CORE",
        _ => "unknown",
    };
    format!("{name} ({kind})")
}

fn file_header(bytes: &[u8]) -> Result<(&RawHeader, Header), ImageError> {
    check_ident(bytes)?;
    let raw = RawHeader::parse(bytes).map_err(malformed("the file header"))?;
    let header = Header {
        kind: raw.e_type(LE).0,
        machine: raw.e_machine(LE).0,
        entry: raw.e_entry(LE),
        flags: raw.e_flags(LE).0,
    };
    Ok((raw, header))
}

fn check_ident(bytes: &[u8]) -> Result<(), ImageError> {
    if bytes.len() as u64 > u32::MAX.into() {
        return Err(ImageError::TooLarge { found: bytes.len() as u64, allowed: u32::MAX.into() });
    }
    if !bytes.starts_with(b"\x7fELF") {
        return Err(ImageError::NotElf { found: bytes.iter().take(4).copied().collect() });
    }
    if bytes.len() < HEADER_LEN {
        return Err(ImageError::Truncated {
            what: "the file header".into(),
            needs: HEADER_LEN as u64,
            has: bytes.len(),
        });
    }
    match (bytes.get(4), bytes.get(5)) {
        (Some(1), Some(1)) => Ok(()),
        (class, data) => {
            let byte = |b: Option<&u8>| b.copied().unwrap_or_default();
            Err(ImageError::WrongClass { class: byte(class), data: byte(data) })
        }
    }
}

fn table(bytes: &[u8], what: &str, at: u32, count: u16, entry: u16, want: u16) -> Result<(), ImageError> {
    if at == 0 || count == 0 {
        return Ok(());
    }
    if entry != want {
        let detail = format!("{what} have {entry} bytes each, not {want}");
        return Err(ImageError::Malformed { what: "the file header", detail });
    }
    within(bytes, || what.to_owned(), at, u32::from(count) * u32::from(entry)).map(|_| ())
}

fn within(bytes: &[u8], what: impl FnOnce() -> String, at: u32, len: u32) -> Result<&[u8], ImageError> {
    let end = u64::from(at) + u64::from(len);
    usize::try_from(end)
        .ok()
        .and_then(|end| bytes.get(at as usize..end))
        .ok_or_else(|| ImageError::Truncated { what: what(), needs: end, has: bytes.len() })
}

fn segment<'d>(bytes: &'d [u8], i: usize, raw: &elf::ProgramHeader32<LE>) -> Result<Segment<'d>, ImageError> {
    let (offset, filesz) = (raw.p_offset(LE), raw.p_filesz(LE));
    let data = match filesz {
        0 => &[][..],
        _ => within(bytes, || format!("segment {i}"), offset, filesz)?,
    };
    Ok(Segment {
        kind: raw.p_type(LE).0,
        flags: raw.p_flags(LE).0,
        offset,
        vaddr: raw.p_vaddr(LE),
        paddr: raw.p_paddr(LE),
        filesz,
        memsz: raw.p_memsz(LE),
        align: raw.p_align(LE),
        data,
    })
}

/// Name left empty: it needs the section that holds the names.
fn section<'d>(
    bytes: &'d [u8],
    index: usize,
    raw: &elf::SectionHeader32<LE>,
) -> Result<Section<'d>, ImageError> {
    let (kind, offset, size) = (raw.sh_type(LE).0, raw.sh_offset(LE), raw.sh_size.get(LE));
    let has_bytes = index != 0 && size != 0 && kind != elf::SHT_NOBITS.0 && kind != elf::SHT_NULL.0;
    let data = match has_bytes {
        true => within(bytes, || format!("section {index}"), offset, size)?,
        false => &[][..],
    };
    Ok(Section {
        name: "",
        kind,
        flags: raw.sh_flags(LE).0 as u32,
        addr: raw.sh_addr(LE),
        offset,
        size,
        link: raw.sh_link(LE),
        info: raw.sh_info(LE),
        align: raw.sh_addralign(LE),
        entsize: raw.sh_entsize(LE),
        data,
    })
}

fn symbols<'d>(sections: &[Section<'d>]) -> Result<Vec<Symbol<'d>>, ImageError> {
    let Some(table) = sections.iter().find(|section| section.kind == elf::SHT_SYMTAB.0) else {
        return Ok(Vec::new());
    };
    let entries: &[elf::Sym32<LE>] = object::slice_from_all_bytes(table.data).map_err(|()| {
        let detail = format!("it has {} bytes, not a multiple of 16", table.size);
        ImageError::Malformed { what: "the symbol table", detail }
    })?;
    let names = sections.get(table.link as usize).map_or(&[][..], |section| section.data);
    let symbol = |entry: &elf::Sym32<LE>| {
        Ok(Symbol {
            name: name(names, entry.st_name(LE), "a symbol name")?,
            value: entry.st_value(LE),
            size: entry.st_size.get(LE),
            kind: entry.st_type().0,
            binding: entry.st_bind().0,
            section: entry.st_shndx(LE).0,
        })
    };
    entries.iter().skip(1).map(symbol).collect()
}

/// A NUL-ended string of a string table.
fn name<'d>(strings: &'d [u8], at: u32, what: &'static str) -> Result<&'d str, ImageError> {
    let malformed = |detail: String| ImageError::Malformed { what, detail };
    if at == 0 {
        return Ok("");
    }
    let rest = strings
        .get(at as usize..)
        .ok_or_else(|| malformed(format!("it starts at {at}, past {} bytes of names", strings.len())))?;
    let bounded = rest.get(..MAX_NAME).unwrap_or(rest);
    let len = bounded
        .iter()
        .position(|&byte| byte == 0)
        .ok_or_else(|| malformed(format!("it does not end within {} bytes", bounded.len())))?;
    std::str::from_utf8(&bounded[..len]).map_err(|error| malformed(error.to_string()))
}

fn malformed(what: &'static str) -> impl Fn(object::read::Error) -> ImageError {
    move |error| ImageError::Malformed { what, detail: error.to_string() }
}
