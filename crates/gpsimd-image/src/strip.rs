//! Stripping: a linked image reduced to what a loader needs, in the layout of the reference images.
//!
//! Unaware of windows. Does in one step what the reference packager does with a strip and two objcopy runs. The bytes
//! that get loaded are copied as they are; only headers are new. Facts: spec `toolchain.md` §7.2 steps 1-4, §7.3, §8.4.

use object::write::StringId;
use object::write::elf::{FileHeader, ProgramHeader, SectionHeader, Writer};
use object::{Endianness, elf};

use crate::elf_file::{ElfFile, Section, Segment};
use crate::error::ImageError;

/// Sections of Xtensa tools and of dynamic linking that never reach the device.
pub(crate) const REMOVED: [&str; 10] = [
    ".xtensa.info",
    ".xt.lit",
    ".xt.prop",
    ".interp",
    ".got.loc",
    ".got",
    ".hash",
    ".dynstr",
    ".dynsym",
    ".rela.plt",
];

/// Debug sections by the start of their names, and per-function Xtensa tables, which the reference images lack too.
const REMOVED_PREFIXES: [&str; 8] =
    [".debug", ".zdebug", ".line", ".stab", ".gnu.debuglto_", ".gnu.linkonce.wi.", ".gdb_index", ".xt."];

/// File offsets keep this much of the address, and `p_align` says so. Reference images put code at offset 0x94.
const ALIGN: u32 = 4;
const MAX_ALIGN: u32 = 4096;

const FILE_HEADER: u32 = 52;
const PROGRAM_HEADER: u32 = 32;

/// Strips a linked image.
///
/// Symbols, debug information, Xtensa tables, dynamic-linking sections and empty sections go; loaded sections and
/// `.comment` stay. An empty LOAD becomes a NULL program header. The same input gives the same bytes; a stripped image
/// comes back unchanged.
///
/// # Errors
/// What [`ElfFile::parse`] refuses; files that are not static Xtensa executables; sections outside every segment.
pub fn strip(bytes: &[u8]) -> Result<Vec<u8>, ImageError> {
    let image = ElfFile::parse(bytes)?;
    image.require_executable()?;
    let kept: Vec<(usize, &Section<'_>)> =
        image.sections.iter().enumerate().skip(1).filter(|(_, section)| is_kept(section)).collect();
    refuse_overlap(&image, &kept)?;
    let segments = place_segments(&image)?;
    write(&image, &segments, &kept)
}

/// Whether a section survives stripping.
pub(crate) fn is_kept(section: &Section<'_>) -> bool {
    if section.size == 0 || REMOVED.contains(&section.name) {
        return false;
    }
    let plain = section.kind == elf::SHT_PROGBITS.0 || section.kind == elf::SHT_NOTE.0;
    section.is_alloc() || (plain && !REMOVED_PREFIXES.iter().any(|prefix| section.name.starts_with(prefix)))
}

/// A damaged file may let many headers name the same bytes; copying them all would have no bound.
fn refuse_overlap(image: &ElfFile<'_>, kept: &[(usize, &Section<'_>)]) -> Result<(), ImageError> {
    let segments = image.segments.iter().map(|segment| segment.data.len() as u64);
    let sections = kept.iter().filter(|(_, s)| !s.is_alloc()).map(|(_, s)| s.data.len() as u64);
    let claimed: u64 = segments.chain(sections).sum();
    match claimed > image.bytes.len() as u64 {
        true => Err(ImageError::FileOverlap { claimed, has: image.bytes.len() }),
        false => Ok(()),
    }
}

/// Gives each segment its place in the new file, bytes after bytes.
fn place_segments(image: &ElfFile<'_>) -> Result<Vec<ProgramHeader>, ImageError> {
    let mut end = FILE_HEADER + PROGRAM_HEADER * image.segments.len() as u32;
    let mut placed = Vec::with_capacity(image.segments.len());
    for (index, segment) in image.segments.iter().enumerate() {
        let Segment { kind, vaddr, paddr, filesz, memsz, flags, .. } = *segment;
        if kind != elf::PT_LOAD.0 && kind != elf::PT_NULL.0 {
            return Err(ImageError::SegmentType { index, kind });
        }
        if kind == elf::PT_NULL.0 || (filesz == 0 && memsz == 0) {
            placed.push(null_segment());
            continue;
        }
        end += vaddr.wrapping_sub(end) % ALIGN;
        placed.push(ProgramHeader {
            p_type: elf::PT_LOAD,
            p_flags: elf::ProgramFlags(flags),
            p_offset: end.into(),
            p_vaddr: vaddr.into(),
            p_paddr: paddr.into(),
            p_filesz: filesz.into(),
            p_memsz: memsz.into(),
            p_align: ALIGN.into(),
        });
        // Fits: all file bytes together are no more than the input has.
        end += filesz;
    }
    Ok(placed)
}

fn null_segment() -> ProgramHeader {
    ProgramHeader {
        p_type: elf::PT_NULL,
        p_flags: elf::ProgramFlags(0),
        p_offset: 0,
        p_vaddr: 0,
        p_paddr: 0,
        p_filesz: 0,
        p_memsz: 0,
        p_align: 0,
    }
}

fn write(
    image: &ElfFile<'_>,
    segments: &[ProgramHeader],
    kept: &[(usize, &Section<'_>)],
) -> Result<Vec<u8>, ImageError> {
    let mut buffer = Vec::new();
    let mut writer = Writer::new(Endianness::Little, false, &mut buffer);
    writer.reserve_file_header();
    writer.reserve_program_headers(segments.len() as u32);
    let loaded_end = segments.iter().map(|p| p.p_offset + p.p_filesz).max().unwrap_or(0);
    writer.reserve_until(loaded_end.max(writer.reserved_len()));

    let mut headers: Vec<(StringId, SectionHeader)> = Vec::with_capacity(kept.len());
    for (_, section) in kept {
        let name = writer.add_section_name(section.name.as_bytes());
        writer.reserve_section_index();
        let sh_offset = match section.is_alloc() {
            true => loaded_offset(image, segments, section)?,
            false => {
                if !section.align.max(1).is_power_of_two() || section.align > MAX_ALIGN {
                    let what = format!("section {}", section.name);
                    return Err(ImageError::Alignment { what, found: section.align, allowed: MAX_ALIGN });
                }
                writer.reserve(section.data.len() as u64, section.align.max(1).into())
            }
        };
        headers.push((name, header(section, sh_offset, kept)));
    }
    writer.reserve_shstrtab_section_index();
    writer.reserve_shstrtab().map_err(unwritable)?;
    writer.reserve_section_headers();
    if writer.reserved_len() > u32::MAX.into() {
        return Err(ImageError::TooLarge { found: writer.reserved_len(), allowed: u32::MAX.into() });
    }

    writer
        .write_file_header(&FileHeader {
            os_abi: elf::ELFOSABI_NONE,
            abi_version: 0,
            e_type: elf::ET_EXEC,
            e_machine: elf::EM_XTENSA,
            e_entry: image.header.entry.into(),
            e_flags: elf::FileFlags(image.header.flags),
        })
        .map_err(unwritable)?;
    writer.write_align_program_headers();
    for segment in segments {
        writer.write_program_header(segment);
    }
    for (placed, segment) in segments.iter().zip(&image.segments) {
        if placed.p_filesz > 0 {
            writer.pad_until(placed.p_offset);
            writer.write(segment.data);
        }
    }
    for ((_, header), (_, section)) in headers.iter().zip(kept) {
        if !section.is_alloc() {
            writer.pad_until(header.sh_offset);
            writer.write(section.data);
        }
    }
    writer.write_shstrtab();
    writer.write_null_section_header();
    for (name, header) in headers {
        let sh_name = writer.section_name_offset(Some(name));
        writer.write_section_header(&SectionHeader { sh_name, ..header });
    }
    writer.write_shstrtab_section_header();
    Ok(buffer)
}

fn header(section: &Section<'_>, sh_offset: u64, kept: &[(usize, &Section<'_>)]) -> SectionHeader {
    // Kept sections stay in order, so their old indices ascend.
    let link = |old: u32| {
        kept.binary_search_by_key(&(old as usize), |(index, _)| *index).map_or(0, |new| new as u32 + 1)
    };
    SectionHeader {
        sh_name: 0,
        sh_type: elf::SectionType(section.kind),
        sh_flags: elf::SectionFlags(section.flags.into()),
        sh_addr: section.addr.into(),
        sh_offset,
        sh_size: section.size.into(),
        sh_link: if section.link == 0 { 0 } else { link(section.link) },
        sh_info: 0,
        sh_addralign: section.align.into(),
        sh_entsize: section.entsize.into(),
    }
}

/// Where a loaded section's bytes are in the new file; for bss, where they would be.
fn loaded_offset(
    image: &ElfFile<'_>,
    segments: &[ProgramHeader],
    section: &Section<'_>,
) -> Result<u64, ImageError> {
    let holder = segments.iter().zip(&image.segments).find(|(placed, segment)| {
        let len = if section.is_nobits() { segment.memsz } else { segment.filesz };
        placed.p_type == elf::PT_LOAD
            && section.addr >= segment.vaddr
            && section.end() <= u64::from(segment.vaddr) + u64::from(len)
    });
    let Some((placed, segment)) = holder else {
        let (section, start, end) = (section.name.to_owned(), section.addr, section.end());
        return Err(ImageError::SectionNotLoaded { section, start, end });
    };
    let into = u64::from(section.addr - segment.vaddr);
    Ok(placed.p_offset + if section.is_nobits() { into.min(placed.p_filesz) } else { into })
}

fn unwritable(error: object::write::Error) -> ImageError {
    ImageError::Malformed { what: "the new file", detail: error.to_string() }
}
