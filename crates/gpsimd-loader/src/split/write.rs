//! The split-load file: both segments of the link, a third with the dynamic part, and what else the link had except the
//! kept relocations.
//!
//! Unaware of why there is an entry. Layout: spec `prelink.md` §4.3, §4.6, §17 R14, R15.

use gpsimd_image::Section;
use object::elf;

use super::HOOKS;
use super::SplitError;
use super::file::{File, words};
use super::input::{Linked, Part};

/// Link address of the third segment.
const SCRATCH: u32 = 0x0300_0000;
/// Alignment of segments in the file and in memory.
const SEGMENT_ALIGN: usize = 0x80;
const PHNUM: usize = 4;
/// Bytes of the file header.
const EHDR: usize = 52;

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
    /// Headers, with addresses in place of offsets.
    sections: [Section<'static>; 5],
}

/// The whole file.
pub(super) fn elf(linked: &Linked<'_>, entries: &[Entry]) -> Result<Vec<u8>, SplitError> {
    let hooks = HOOKS.map(|name| linked.address_of(name));
    let (code, data, scratch) = (&linked.code, &linked.data, scratch(hooks, entries));
    let mut file = File::starting(head(linked));
    let code_at = file.append(code.contents, SEGMENT_ALIGN);
    let data_at = file.append(data.contents, SEGMENT_ALIGN);
    let scratch_at = file.append(&scratch.bytes, SEGMENT_ALIGN);
    let load = |at, part: &Part<'_>| {
        segment(elf::PT_LOAD, at, part.base, part.contents.len() as u32, part.memsz, part.flags)
    };
    let (len, dynamic) = (scratch.bytes.len() as u32, scratch.dynamic);
    let phdrs = [
        load(code_at, code),
        load(data_at, data),
        segment(elf::PT_LOAD, scratch_at, SCRATCH, len, len, 3),
        segment(elf::PT_DYNAMIC, scratch_at, SCRATCH, dynamic, dynamic, 6),
    ];
    file.patch(EHDR, &phdrs.concat());

    // Kept relocations go; the others keep their order, and the dynamic part's come behind.
    let is_kept = |section: &Section<'_>| section.kind != elf::SHT_RELA.0;
    let mut numbers = Vec::with_capacity(linked.file.sections.len());
    let mut next = 0;
    for section in &linked.file.sections {
        numbers.push(if is_kept(section) { next } else { 0 });
        next += u32::from(is_kept(section));
    }
    let renumber = |index: u32| numbers.get(index as usize).copied().unwrap_or(0);

    let mut sections = Vec::new();
    for (index, section) in linked.file.sections.iter().enumerate().filter(|(_, section)| is_kept(section)) {
        let names_section = u64::from(section.flags) & elf::SHF_INFO_LINK.0 != 0;
        let info = if names_section { renumber(section.info) } else { section.info };
        let offset = match linked.home(index) {
            _ if index == 0 => 0,
            Some(crate::Segment::Code) => code_at + (section.addr - code.base),
            Some(crate::Segment::Data) => data_at + (section.addr - data.base),
            None => {
                // Section alignments of a file are small; a damaged one must not blow the file up.
                let align = (section.align as usize).clamp(1, 0x1000);
                match elf::SectionType(section.kind) {
                    elf::SHT_SYMTAB => file.append(&renumbered_symbols(section.data, renumber), align),
                    _ => file.append(section.data, align),
                }
            }
        };
        sections.push(Section { offset, link: renumber(section.link), info, ..section.clone() });
    }
    // `.dynamic` and `.dynsym` use `.dynstr`; `.hash` and `.rela.got` use `.dynsym`.
    let dynsym = sections.len() as u32 + 2;
    let links = [dynsym + 1, dynsym, dynsym + 1, 0, dynsym];
    for (section, link) in scratch.sections.into_iter().zip(links) {
        sections.push(Section { offset: scratch_at + (section.addr - SCRATCH), link, ..section });
    }
    file.finish(sections)
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
    let section = |name, kind: elf::SectionType, addr, size, entsize| {
        let (flags, align) = (3, 4);
        Section { name, kind: kind.0, flags, addr, size, align, entsize, ..Section::default() }
    };
    let sections = [
        section(".dynamic", elf::SHT_DYNAMIC, SCRATCH, dynamic, 8),
        section(".hash", elf::SHT_HASH, hash, 16, 4),
        Section { info: 1, ..section(".dynsym", elf::SHT_DYNSYM, symtab, 16, 16) },
        Section { align: 1, ..section(".dynstr", elf::SHT_STRTAB, strtab, 1, 0) },
        section(".rela.got", elf::SHT_RELA, rela, rela_size, 12),
    ];
    Scratch { bytes, dynamic, sections }
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

fn segment(kind: elf::ProgramType, at: u32, addr: u32, filesz: u32, memsz: u32, flags: u32) -> Vec<u8> {
    let align = if kind == elf::PT_LOAD { SEGMENT_ALIGN as u32 } else { 4 };
    words(&[kind.0, at, addr, addr, filesz, memsz, flags, align])
}

/// The file header, still without sections, and room for the program headers.
fn head(linked: &Linked<'_>) -> Vec<u8> {
    let mut bytes = vec![0x7f, b'E', b'L', b'F', 1, 1, 1];
    bytes.resize(16, 0);
    bytes.extend([2, 0, 94, 0]);
    bytes.extend(words(&[1, linked.file.header.entry, EHDR as u32, 0, linked.file.header.flags]));
    bytes.extend([EHDR as u16, 32, PHNUM as u16, 40, 0, 0].map(u16::to_le_bytes).as_flattened());
    bytes.resize(EHDR + 32 * PHNUM, 0);
    bytes
}
