//! What an image holds, in numbers: for `inspect`, reports and manifests.
//!
//! Unaware of what is right or wrong. Facts: spec `toolchain.md` §15 item 9.

use gpsimd_lsp::{Variant, Window};
use object::elf;
use serde::Serialize;

use crate::elf_file::{ElfFile, kind_name};
use crate::error::ImageError;

/// One image in numbers. Sizes are bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Summary {
    /// Bytes of the file.
    pub file_size: u64,
    /// `EXEC (2)` and so on.
    pub kind: String,
    /// `e_machine`.
    pub machine: u16,
    /// `e_flags`.
    pub flags: u32,
    /// Entry address.
    pub entry: u32,
    /// Whether there is no symbol table.
    pub is_stripped: bool,
    /// How many symbols there are.
    pub symbols: usize,
    /// The bank this variant must fit into.
    pub window: Window,
    /// From the window's start to the end of the last segment inside it.
    pub window_used: u64,
    /// Executable sections.
    pub code: u64,
    /// Read-only sections.
    pub rodata: u64,
    /// Initialised writable sections.
    pub data: u64,
    /// Zeroed sections.
    pub bss: u64,
    /// Program headers.
    pub segments: Vec<SegmentSummary>,
    /// Section headers, the null one left out.
    pub sections: Vec<SectionSummary>,
}

/// One program header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SegmentSummary {
    /// `LOAD`, `NULL` or the number.
    pub kind: String,
    /// `RWE` with blanks.
    pub access: String,
    /// First address.
    pub address: u32,
    /// Offset in the file.
    pub offset: u32,
    /// Bytes in the file.
    pub file_size: u32,
    /// Bytes in memory.
    pub memory_size: u32,
}

/// One section header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SectionSummary {
    /// Name.
    pub name: String,
    /// What it is.
    pub class: Class,
    /// First address, 0 when not loaded.
    pub address: u32,
    /// Offset in the file.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
    /// Alignment.
    pub align: u32,
}

/// What a section is to a loader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Loaded, executable.
    Code,
    /// Loaded, read-only.
    Rodata,
    /// Loaded, writable.
    Data,
    /// Zeroed.
    Bss,
    /// Not loaded.
    Other,
}

/// Summarises a file for one variant.
///
/// # Errors
/// What [`ElfFile::parse`] refuses.
pub fn summary(bytes: &[u8], variant: Variant) -> Result<Summary, ImageError> {
    ElfFile::parse(bytes).map(|image| Summary::of(&image, variant))
}

impl Summary {
    /// Summarises a read image.
    pub fn of(image: &ElfFile<'_>, variant: Variant) -> Summary {
        let window = variant.window();
        let inside = image.loads().filter(|(_, s)| window.contains(s.vaddr.into(), 0));
        let end = inside.map(|(_, segment)| segment.end()).max().unwrap_or(window.base.into());
        let sections: Vec<SectionSummary> = image.sections.iter().skip(1).map(section).collect();
        let total = |class| sections.iter().filter(|s| s.class == class).map(|s| u64::from(s.size)).sum();
        Summary {
            file_size: image.bytes.len() as u64,
            kind: kind_name(image.header.kind),
            machine: image.header.machine,
            flags: image.header.flags,
            entry: image.header.entry,
            is_stripped: image.is_stripped(),
            symbols: image.symbols.len(),
            window,
            window_used: end - u64::from(window.base),
            code: total(Class::Code),
            rodata: total(Class::Rodata),
            data: total(Class::Data),
            bss: total(Class::Bss),
            segments: image.segments.iter().map(segment).collect(),
            sections,
        }
    }
}

fn segment(segment: &crate::elf_file::Segment<'_>) -> SegmentSummary {
    let kind = match elf::ProgramType(segment.kind) {
        elf::PT_NULL => "NULL".to_owned(),
        elf::PT_LOAD => "LOAD".to_owned(),
        elf::PT_DYNAMIC => "DYNAMIC".to_owned(),
        _ => format!("{:#x}", segment.kind),
    };
    let access = [(elf::PF_R.0, 'R'), (elf::PF_W.0, 'W'), (elf::PF_X.0, 'E')];
    SegmentSummary {
        kind,
        access: access
            .iter()
            .map(|(bit, letter)| if segment.flags & bit != 0 { *letter } else { ' ' })
            .collect(),
        address: segment.vaddr,
        offset: segment.offset,
        file_size: segment.filesz,
        memory_size: segment.memsz,
    }
}

fn section(section: &crate::elf_file::Section<'_>) -> SectionSummary {
    let has = |flag: elf::SectionFlags| u64::from(section.flags) & flag.0 != 0;
    let class = match () {
        () if !section.is_alloc() => Class::Other,
        () if section.is_nobits() => Class::Bss,
        () if has(elf::SHF_EXECINSTR) => Class::Code,
        () if has(elf::SHF_WRITE) => Class::Data,
        () => Class::Rodata,
    };
    SectionSummary {
        name: section.name.to_owned(),
        class,
        address: section.addr,
        offset: section.offset,
        size: section.size,
        align: section.align,
    }
}
