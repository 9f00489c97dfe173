//! The static link as it came from the linker: two segments, sections, symbols, kept relocations.
//!
//! Unaware of which relocations matter.

use std::fmt::Write as _;

use gpsimd_image::{ElfFile, Symbol};
use object::elf;

use super::SplitError;
use crate::error::Segment;

/// What newlib's formatted output is made of, beside the functions named after it.
const STDIO: [&str; 12] = [
    "_dtoa_r",
    "__sfvwrite_r",
    "__sflush_r",
    "__multiply",
    "__mdiff",
    "quorem",
    "impure_data",
    "__global_locale",
    "_ctype_",
    "__mprec_tens",
    "__mprec_bigtens",
    "_realloc_r",
];

/// A static link.
pub(super) struct Linked<'a> {
    pub file: ElfFile<'a>,
    pub code: Part<'a>,
    pub data: Part<'a>,
    /// The segment that each section is loaded with, by index.
    homes: Vec<Option<Segment>>,
}

/// One loaded segment.
pub(super) struct Part<'a> {
    pub base: u32,
    pub memsz: u32,
    pub flags: u32,
    /// The bytes that are in the file.
    pub contents: &'a [u8],
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
        let input = |why: String| SplitError::Input { why };
        let file = ElfFile::parse(bytes).map_err(|error| input(error.to_string()))?;
        if file.header.machine != gpsimd_image::MACHINE {
            return Err(input("it is for another machine".into()));
        }
        if file.header.kind != elf::ET_EXEC.0 {
            return Err(input("it is no executable".into()));
        }
        let part = |index: usize, flags: [u32; 2], want| {
            let found = file.segments.get(index);
            let found = found.ok_or(SplitError::Segments { index, p_type: 0, flags: 0, want })?;
            let (base, memsz) = (found.vaddr, found.memsz);
            let is_sound = found.paddr == base && found.filesz <= memsz && base.checked_add(memsz).is_some();
            if found.kind != elf::PT_LOAD.0 || !flags.contains(&found.flags) || !is_sound {
                return Err(SplitError::Segments { index, p_type: found.kind, flags: found.flags, want });
            }
            Ok(Part { base, memsz, flags: found.flags, contents: found.data })
        };
        let code = part(0, [5, 5], "the code, a LOAD with flags R-X")?;
        let data = part(1, [6, 7], "the data, a LOAD with flags RW- or RWX")?;
        if let Some(third) = file.segments.get(2) {
            return Err(SplitError::Segments {
                index: 2,
                p_type: third.kind,
                flags: third.flags,
                want: "there: code and data are all",
            });
        }
        let mut homes = Vec::with_capacity(file.sections.len());
        for section in &file.sections {
            let within = |part: &Part<'_>| section.addr >= part.base && section.end() <= part.end();
            let is_loaded = section.is_alloc() && section.kind != elf::SHT_NULL.0;
            let home = match is_loaded {
                true if within(&code) => Some(Segment::Code),
                true if within(&data) => Some(Segment::Data),
                _ => None,
            };
            if is_loaded && section.size != 0 {
                let (name, size, addr) = (section.name, section.size, section.addr);
                if name.starts_with(".got") || name.starts_with(".plt") || name == ".dynamic" {
                    return Err(SplitError::Linkage { section: name.to_owned(), size });
                }
                if home.is_none() {
                    return Err(SplitError::Orphan { section: name.to_owned(), addr });
                }
            }
            homes.push(home);
        }
        Ok(Linked { file, code, data, homes })
    }

    /// The segment a section is loaded with.
    pub fn home(&self, section: usize) -> Option<Segment> {
        self.homes.get(section).copied().flatten()
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
        match self.symbol(index) {
            // Index 0 stands for the address 0.
            None if index == 0 => Place::Constant,
            None => Place::Undefined { is_weak: false },
            Some(symbol) => self.place_of(symbol),
        }
    }

    fn place_of(&self, symbol: &Symbol<'a>) -> Place {
        match elf::SymbolSection(symbol.section) {
            elf::SHN_UNDEF => Place::Undefined { is_weak: symbol.binding == elf::STB_WEAK.0 },
            elf::SHN_ABS => Place::Constant,
            section => match self.home(section.0.into()) {
                Some(segment) => Place::In(segment, symbol.value),
                None => Place::Unloaded,
            },
        }
    }

    fn symbol(&self, index: u32) -> Option<&Symbol<'a>> {
        self.file.symbols.get((index as usize).checked_sub(1)?)
    }

    /// A symbol's name, its section's name if it stands for the section.
    pub fn symbol_name(&self, index: u32) -> String {
        match self.symbol(index) {
            Some(symbol) => self.name_of(symbol).to_owned(),
            None => format!("#{index}"),
        }
    }

    fn name_of(&self, symbol: &Symbol<'a>) -> &'a str {
        match self.file.sections.get(usize::from(symbol.section)) {
            Some(section) if symbol.name.is_empty() => section.name,
            _ => symbol.name,
        }
    }

    /// Address of a defined, loaded symbol.
    pub fn address_of(&self, name: &str) -> Option<u32> {
        let named = self
            .file
            .symbols
            .iter()
            .find(|symbol| symbol.name == name && self.home(symbol.section.into()).is_some());
        named.map(|symbol| symbol.value)
    }

    /// A sentence with the five largest symbols of a segment, or nothing if no symbol has a size.
    pub fn largest(&self, segment: Segment) -> String {
        let is_in = |symbol: &&Symbol<'a>| {
            symbol.size > 0 && matches!(self.place_of(symbol), Place::In(at, _) if at == segment)
        };
        let sized = self.file.symbols.iter().filter(is_in);
        let mut sized: Vec<_> = sized.map(|symbol| (symbol.size, self.name_of(symbol))).collect();
        sized.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        sized.dedup();
        let mut text = String::new();
        for (size, name) in sized.iter().take(5) {
            let name = spelled(name);
            let _ = write!(text, "{}`{name}` {size}", if text.is_empty() { "The largest: " } else { ", " });
        }
        if !text.is_empty() {
            text.push_str(". ");
        }
        text
    }

    /// Bytes of a segment that printing takes: `printf`, its relatives, and what turns numbers into text for them.
    pub fn printing(&self, segment: Segment) -> u32 {
        let prints =
            |name: &str| name.contains("printf") || name.contains("neuron_stdio") || STDIO.contains(&name);
        let is_in = |symbol: &&Symbol<'a>| {
            matches!(self.place_of(symbol), Place::In(at, _) if at == segment) && prints(self.name_of(symbol))
        };
        let mut found: Vec<_> =
            self.file.symbols.iter().filter(is_in).map(|symbol| (symbol.value, symbol.size)).collect();
        found.sort_unstable();
        found.dedup_by_key(|(address, _)| *address);
        found.iter().map(|(_, size)| size).sum()
    }
}

/// As the source spells it, with its parameters.
fn spelled(symbol: &str) -> String {
    let demangled = cpp_demangle::Symbol::new(symbol).ok().and_then(|parsed| parsed.demangle().ok());
    demangled.unwrap_or_else(|| symbol.to_owned())
}
