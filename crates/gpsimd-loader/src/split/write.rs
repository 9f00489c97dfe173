//! The split-load file: both segments of the link, a third with the dynamic part, and what else the link had except the
//! kept relocations.
//!
//! Unaware of why there is an entry. Layout: spec `prelink.md` §4.3, §4.6, §17 R14, R15.

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::SectionHeader as _;

use super::HOOKS;
use super::SplitError;
use super::input::Linked;

/// Link address of the third segment.
const SCRATCH: u32 = 0x0300_0000;
/// Alignment of segments in the file and in memory.
const SEGMENT_ALIGN: usize = 0x80;
const PHNUM: usize = 4;

/// A relocation for the loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub site: u32,
    pub kind: Kind,
    /// For halves the whole link address; words hold theirs themselves.
    pub addend: u32,
}

/// What the loader patches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Word,
    Low,
    High,
}

impl Kind {
    fn r_info(self) -> u32 {
        match self {
            Kind::Word => 5,
            Kind::Low => 20,
            Kind::High => 35,
        }
    }

    pub fn width(self) -> u32 {
        match self {
            Kind::Word => 4,
            Kind::Low | Kind::High => 3,
        }
    }
}

/// The dynamic part.
struct Scratch {
    bytes: Vec<u8>,
    /// Bytes of the dynamic section, which comes first.
    dynamic: u32,
    /// Name, type, address, bytes, entry size of each section in it.
    sections: Vec<(&'static [u8], u32, u32, u32, u32)>,
}

/// A section header being made.
#[derive(Clone, Copy, Default)]
struct Shdr {
    name: u32,
    sh_type: u32,
    flags: u32,
    addr: u32,
    offset: u32,
    size: u32,
    link: u32,
    info: u32,
    align: u32,
    entsize: u32,
}

/// The whole file.
pub(super) fn elf(linked: &Linked<'_>, entries: &[Entry]) -> Result<Vec<u8>, SplitError> {
    let hooks = HOOKS.map(|name| linked.address_of(name));
    let scratch = scratch(hooks, entries);
    let mut file = File { bytes: vec![0; 52 + 32 * PHNUM] };
    let code_at = file.append(linked.code.contents, SEGMENT_ALIGN);
    let data_at = file.append(linked.data.contents, SEGMENT_ALIGN);
    let scratch_at = file.append(&scratch.bytes, SEGMENT_ALIGN);

    // Kept relocations go; the others keep their order, and the dynamic part's come behind.
    let is_kept =
        |index: usize| linked.sections.get(index).is_some_and(|s| s.header.sh_type(LE) != elf::SHT_RELA);
    let mut numbers = vec![0; linked.sections.len()];
    let mut next = 0;
    for (index, number) in numbers.iter_mut().enumerate() {
        if is_kept(index) {
            *number = next;
            next += 1;
        }
    }
    let renumber = |index: u32| numbers.get(index as usize).copied().unwrap_or(0);

    let mut names = vec![0];
    let mut headers = Vec::new();
    let mut strings_index = 0;
    for (index, section) in linked.sections.iter().enumerate().filter(|(index, _)| is_kept(*index)) {
        let header = section.header;
        let mut shdr = Shdr {
            name: add_name(&mut names, section.name),
            sh_type: header.sh_type(LE).0,
            flags: header.sh_flags(LE).0 as u32,
            addr: section.addr,
            offset: 0,
            size: header.sh_size(LE),
            link: renumber(header.sh_link(LE)),
            info: header.sh_info(LE),
            align: header.sh_addralign(LE),
            entsize: header.sh_entsize(LE),
        };
        if header.sh_flags(LE).0 & elf::SHF_INFO_LINK.0 != 0 {
            shdr.info = renumber(shdr.info);
        }
        let contents = match header.sh_type(LE) {
            elf::SHT_SYMTAB => renumbered_symbols(section.contents, renumber),
            _ => section.contents.to_vec(),
        };
        let segment_at = section.segment.map(|segment| match segment {
            crate::Segment::Code => code_at + (section.addr - linked.code.base),
            crate::Segment::Data => data_at + (section.addr - linked.data.base),
        });
        if index > 0 {
            // Section alignments of a file are small; a damaged one must not blow the file up.
            let align = (shdr.align as usize).clamp(1, 0x1000);
            shdr.offset = segment_at.unwrap_or_else(|| file.append(&contents, align));
        }
        if section.name == b".shstrtab" {
            strings_index = headers.len();
        }
        headers.push(shdr);
    }
    for (name, sh_type, addr, size, entsize) in &scratch.sections {
        let name = add_name(&mut names, name);
        let offset = scratch_at + (addr - SCRATCH);
        let (flags, align) = (3, 4);
        headers.push(Shdr {
            name,
            sh_type: *sh_type,
            flags,
            addr: *addr,
            offset,
            size: *size,
            align,
            entsize: *entsize,
            ..Shdr::default()
        });
    }
    link_dynamic(&mut headers, scratch.sections.len());
    if strings_index == 0 {
        strings_index = headers.len();
        let name = add_name(&mut names, b".shstrtab");
        headers.push(Shdr { name, sh_type: elf::SHT_STRTAB.0, align: 1, ..Shdr::default() });
    }
    let strings = file.append(&names, 1);
    if let Some(shdr) = headers.get_mut(strings_index) {
        (shdr.offset, shdr.size) = (strings, names.len() as u32);
    }
    let table: Vec<u8> = headers.iter().flat_map(Shdr::bytes).collect();
    let table_at = file.append(&table, 4);

    let dynamic = [elf::PT_DYNAMIC.0, scratch_at, SCRATCH, scratch.dynamic, scratch.dynamic, 6];
    let load = |at, base, contents: &[u8], memsz, flags| {
        [elf::PT_LOAD.0, at, base, contents.len() as u32, memsz, flags]
    };
    let phdrs = [
        load(code_at, linked.code.base, linked.code.contents, linked.code.memsz, linked.code.flags),
        load(data_at, linked.data.base, linked.data.contents, linked.data.memsz, linked.data.flags),
        load(scratch_at, SCRATCH, &scratch.bytes, scratch.bytes.len() as u32, 3),
        dynamic,
    ];
    let mut head = ehdr(linked, table_at, headers.len() as u16, strings_index as u16);
    for [p_type, offset, addr, filesz, memsz, flags] in phdrs {
        let align = if p_type == elf::PT_LOAD.0 { SEGMENT_ALIGN as u32 } else { 4 };
        head.extend(words(&[p_type, offset, addr, addr, filesz, memsz, flags, align]));
    }
    file.bytes[..head.len()].copy_from_slice(&head);
    if u32::try_from(file.bytes.len()).is_err() || headers.len() >= usize::from(elf::SHN_LORESERVE) {
        return Err(SplitError::Input { why: "it is too large for a 32-bit ELF file".into() });
    }
    Ok(file.bytes)
}

struct File {
    bytes: Vec<u8>,
}

impl File {
    /// Appends at a multiple of `align` and says where. The whole length is checked at the end.
    fn append(&mut self, bytes: &[u8], align: usize) -> u32 {
        self.bytes.resize(self.bytes.len().next_multiple_of(align), 0);
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        at as u32
    }
}

/// Dynamic section, then the tables it names: minimal hash, symbol and string tables, and the relocations.
fn scratch([init, fini]: [Option<u32>; 2], entries: &[Entry]) -> Scratch {
    let mut tags = Vec::new();
    for (tag, addr) in [(elf::DT_INIT, init), (elf::DT_FINI, fini)] {
        tags.extend(addr.map(|addr| (tag, addr)));
    }
    let dynamic = 8 * (tags.len() as u32 + 9);
    let hash = SCRATCH + dynamic;
    let (symtab, strtab) = (hash + 16, hash + 32);
    let rela = strtab + 4;
    let rela_size = 12 * entries.len() as u32;
    tags.extend([
        (elf::DT_HASH, hash),
        (elf::DT_STRTAB, strtab),
        (elf::DT_SYMTAB, symtab),
        (elf::DT_STRSZ, 1),
        (elf::DT_SYMENT, 16),
        (elf::DT_RELA, rela),
        (elf::DT_RELASZ, rela_size),
        (elf::DT_RELAENT, 12),
        (elf::DT_NULL, 0),
    ]);
    let mut bytes: Vec<u8> = tags.iter().flat_map(|(tag, value)| words(&[tag.0 as u32, *value])).collect();
    // One bucket and one chain, both ending at the null symbol; the null symbol; the empty string and its padding.
    bytes.extend(words(&[1, 1, 0, 0, 0, 0, 0, 0, 0]));
    bytes.extend(entries.iter().flat_map(|entry| words(&[entry.site, entry.kind.r_info(), entry.addend])));
    let sections = vec![
        (&b".dynamic"[..], elf::SHT_DYNAMIC.0, SCRATCH, dynamic, 8),
        (b".hash", elf::SHT_HASH.0, hash, 16, 4),
        (b".dynsym", elf::SHT_DYNSYM.0, symtab, 16, 16),
        (b".dynstr", elf::SHT_STRTAB.0, strtab, 1, 0),
        (b".rela.got", elf::SHT_RELA.0, rela, rela_size, 12),
    ];
    Scratch { bytes, dynamic, sections }
}

/// `.dynamic` and `.dynsym` use `.dynstr`; `.hash` and `.rela.got` use `.dynsym`.
fn link_dynamic(headers: &mut [Shdr], count: usize) {
    let first = headers.len().saturating_sub(count);
    if let [dynamic, hash, dynsym, dynstr, rela] = &mut headers[first..] {
        let (dynsym_index, dynstr_index) = (first as u32 + 2, first as u32 + 3);
        (dynamic.link, dynsym.link) = (dynstr_index, dynstr_index);
        (hash.link, rela.link) = (dynsym_index, dynsym_index);
        dynsym.info = 1;
        dynstr.align = 1;
    }
}

fn renumbered_symbols(table: &[u8], renumber: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut table = table.to_vec();
    for cell in table.as_chunks_mut::<16>().0 {
        let [.., low, high] = cell;
        let section = u16::from_le_bytes([*low, *high]);
        if section < elf::SHN_LORESERVE {
            [*low, *high] = (renumber(u32::from(section)) as u16).to_le_bytes();
        }
    }
    table
}

fn add_name(names: &mut Vec<u8>, name: &[u8]) -> u32 {
    if name.is_empty() {
        return 0;
    }
    let at = names.len() as u32;
    names.extend_from_slice(name);
    names.push(0);
    at
}

impl Shdr {
    fn bytes(&self) -> Vec<u8> {
        words(&[
            self.name,
            self.sh_type,
            self.flags,
            self.addr,
            self.offset,
            self.size,
            self.link,
            self.info,
            self.align,
            self.entsize,
        ])
    }
}

fn ehdr(linked: &Linked<'_>, shoff: u32, shnum: u16, shstrndx: u16) -> Vec<u8> {
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 1, 1, 1];
    bytes.resize(16, 0);
    bytes.extend([2, 0, 94, 0]);
    bytes.extend(words(&[1, linked.entry, 52, shoff, linked.flags]));
    bytes.extend([52, 32, PHNUM as u16, 40, shnum, shstrndx].map(u16::to_le_bytes).as_flattened());
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
