//! The static link as it came from the linker: two segments, sections, symbols, kept relocations.
//!
//! Unaware of which relocations matter.

use std::fmt::Write as _;

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _, Sym as _, SymbolTable};

use super::SplitError;
use crate::error::Segment;

type Symbols<'a> = SymbolTable<'a, elf::FileHeader32<LE>>;

/// A static link.
pub(super) struct Linked<'a> {
    /// `e_flags` and `e_entry`.
    pub flags: u32,
    pub entry: u32,
    pub code: Part<'a>,
    pub data: Part<'a>,
    /// All sections, the null section first.
    pub sections: Vec<Section<'a>>,
    pub symbols: Symbols<'a>,
}

/// One loaded segment.
pub(super) struct Part<'a> {
    pub base: u32,
    pub memsz: u32,
    pub flags: u32,
    /// The bytes that are in the file.
    pub contents: &'a [u8],
}

/// One section.
pub(super) struct Section<'a> {
    pub name: &'a [u8],
    pub header: &'a elf::SectionHeader32<LE>,
    pub addr: u32,
    /// The bytes that are in the file.
    pub contents: &'a [u8],
    /// The segment it is loaded with.
    pub segment: Option<Segment>,
}

/// What a relocation's symbol is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In a loaded segment, at this address.
    In(Segment, u32),
    /// A number.
    Constant,
    /// Nowhere; a weak symbol is 0 then.
    Undefined { is_weak: bool },
    /// In something that is not loaded.
    Unloaded,
}

impl Part<'_> {
    pub fn end(&self) -> u64 {
        u64::from(self.base) + u64::from(self.memsz)
    }

    pub fn contains(&self, addr: u32) -> bool {
        addr >= self.base && u64::from(addr) < self.end()
    }

    /// Bytes at an address, as far as the file has them.
    pub fn at(&self, addr: u32, len: usize) -> Option<&[u8]> {
        let offset = addr.checked_sub(self.base)? as usize;
        self.contents.get(offset..offset.checked_add(len)?)
    }
}

impl<'a> Linked<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Linked<'a>, SplitError> {
        let input = |why: &str| SplitError::Input { why: why.to_owned() };
        let broken = |error: object::read::Error| SplitError::Input { why: error.to_string() };
        let header = elf::FileHeader32::<LE>::parse(bytes).map_err(broken)?;
        header.endian().map_err(|_| input("it is not little-endian"))?;
        if header.e_machine.get(LE) != elf::EM_XTENSA {
            return Err(input("it is for another machine"));
        }
        if header.e_type.get(LE) != elf::ET_EXEC {
            return Err(input("it is no executable"));
        }
        let headers = header.program_headers(LE, bytes).map_err(broken)?;
        let part = |index: usize, flags: [u32; 2], want| {
            let phdr = headers.get(index).ok_or(SplitError::Segments { index, p_type: 0, flags: 0, want })?;
            let (p_type, p_flags) = (phdr.p_type(LE).0, phdr.p_flags(LE).0);
            let contents =
                phdr.data(LE, bytes).map_err(|()| input("a segment lies behind the end of the file"))?;
            let (base, memsz) = (phdr.p_vaddr(LE), phdr.p_memsz(LE));
            let is_sound = phdr.p_paddr(LE) == base
                && contents.len() <= memsz as usize
                && base.checked_add(memsz).is_some();
            if p_type != elf::PT_LOAD.0 || !flags.contains(&p_flags) || !is_sound {
                return Err(SplitError::Segments { index, p_type, flags: p_flags, want });
            }
            Ok(Part { base, memsz, flags: p_flags, contents })
        };
        let code = part(0, [5, 5], "the code, a LOAD with flags R-X")?;
        let data = part(1, [6, 7], "the data, a LOAD with flags RW- or RWX")?;
        if let Some(phdr) = headers.get(2) {
            let (p_type, flags) = (phdr.p_type(LE).0, phdr.p_flags(LE).0);
            return Err(SplitError::Segments {
                index: 2,
                p_type,
                flags,
                want: "there: code and data are all",
            });
        }
        let table = header.sections(LE, bytes).map_err(broken)?;
        let symbols = table.symbols(LE, bytes, elf::SHT_SYMTAB).map_err(broken)?;
        let mut sections = Vec::with_capacity(table.len());
        for header in table.iter() {
            let name = table.section_name(LE, header).map_err(broken)?;
            let contents = header.data(LE, bytes).map_err(broken)?;
            let (addr, size) = (header.sh_addr(LE), header.sh_size(LE));
            let within =
                |part: &Part<'_>| addr >= part.base && u64::from(addr) + u64::from(size) <= part.end();
            let is_alloc =
                header.sh_flags(LE).0 & elf::SHF_ALLOC.0 != 0 && header.sh_type(LE) != elf::SHT_NULL;
            let segment = match is_alloc {
                true if within(&code) => Some(Segment::Code),
                true if within(&data) => Some(Segment::Data),
                _ => None,
            };
            if is_alloc && size != 0 {
                let text = || String::from_utf8_lossy(name).into_owned();
                if name.starts_with(b".got") || name.starts_with(b".plt") || name == b".dynamic" {
                    return Err(SplitError::Linkage { section: text(), size });
                }
                if segment.is_none() {
                    return Err(SplitError::Orphan { section: text(), addr });
                }
            }
            sections.push(Section { name, header, addr, contents, segment });
        }
        Ok(Linked {
            flags: header.e_flags.get(LE).0,
            entry: header.e_entry.get(LE),
            code,
            data,
            sections,
            symbols,
        })
    }

    pub fn part(&self, segment: Segment) -> &Part<'a> {
        match segment {
            Segment::Code => &self.code,
            Segment::Data => &self.data,
        }
    }

    /// The segment an address lies in.
    pub fn segment_of(&self, addr: u32) -> Option<Segment> {
        [Segment::Code, Segment::Data].into_iter().find(|&segment| self.part(segment).contains(addr))
    }

    /// What a symbol is.
    pub fn place(&self, index: u32) -> Place {
        let Ok(symbol) = self.symbols.symbol(object::SymbolIndex(index as usize)) else {
            // Index 0 stands for the address 0.
            return if index == 0 { Place::Constant } else { Place::Undefined { is_weak: false } };
        };
        match symbol.st_shndx(LE) {
            elf::SHN_UNDEF => Place::Undefined { is_weak: symbol.st_bind() == elf::STB_WEAK },
            elf::SHN_ABS => Place::Constant,
            section => match self.sections.get(usize::from(section.0)).and_then(|section| section.segment) {
                Some(segment) => Place::In(segment, symbol.st_value(LE)),
                None => Place::Unloaded,
            },
        }
    }

    /// A symbol's name, its section's name if it stands for the section.
    pub fn symbol_name(&self, index: u32) -> String {
        let Ok(symbol) = self.symbols.symbol(object::SymbolIndex(index as usize)) else {
            return format!("#{index}");
        };
        let name = symbol.name(LE, self.symbols.strings()).unwrap_or_default();
        let name = match self.sections.get(usize::from(symbol.st_shndx(LE).0)) {
            Some(section) if name.is_empty() => section.name,
            _ => name,
        };
        String::from_utf8_lossy(name).into_owned()
    }

    /// Address of a defined, loaded symbol.
    pub fn address_of(&self, name: &str) -> Option<u32> {
        self.symbols.iter().find_map(|symbol| {
            let section = self.sections.get(usize::from(symbol.st_shndx(LE).0))?;
            let is_it = symbol.name(LE, self.symbols.strings()) == Ok(name.as_bytes());
            (is_it && section.segment.is_some()).then(|| symbol.st_value(LE))
        })
    }

    /// A sentence with the three largest symbols of a segment, or nothing if no symbol has a size.
    pub fn largest(&self, segment: Segment) -> String {
        let mut sized: Vec<(u32, String)> = Vec::new();
        for (index, symbol) in self.symbols.enumerate() {
            let size = symbol.st_size(LE);
            if size > 0 && matches!(self.place(index.0 as u32), Place::In(at, _) if at == segment) {
                sized.push((size, self.symbol_name(index.0 as u32)));
            }
        }
        sized.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        sized.dedup();
        let mut text = String::new();
        for (size, name) in sized.iter().take(3) {
            let _ = write!(text, "{}`{name}` {size}", if text.is_empty() { "The largest: " } else { ", " });
        }
        if !text.is_empty() {
            text.push_str(". ");
        }
        text
    }
}
