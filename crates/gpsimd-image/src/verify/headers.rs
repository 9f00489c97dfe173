//! File header and program headers: type, addresses, window, entry.
//!
//! Facts: spec `lsp-and-memory.md` §9 checks 1-9 and 15, `toolchain.md` §15 items 1-4.

use gpsimd_lsp::{Variant, Window};
use object::elf;

use super::finding::{Code, Findings, Place};
use crate::elf_file::{ElfFile, FLAGS, MACHINE, Segment, kind_name};

/// What the host prelinker stages; images of this kind do not pass through it.
const STAGING_CAP: u64 = 0x1_0000;

pub(super) fn check(image: &ElfFile<'_>, variant: Variant, findings: &mut Findings) {
    let header = image.header;
    if header.machine != MACHINE {
        let message = format!("e_machine is {}, where {MACHINE} (Xtensa) is allowed", header.machine);
        findings.add(Code::WrongMachine, Place::file(), message);
    }
    if header.kind != elf::ET_EXEC.0 {
        let message = format!("e_type is {}, where EXEC (2) is allowed", kind_name(header.kind));
        findings.add(Code::WrongType, Place::file(), message);
    }
    if header.flags != FLAGS {
        let message = format!("e_flags is {:#x}, where {FLAGS:#x} is allowed", header.flags);
        findings.add(Code::WrongFlags, Place::file(), message);
    }
    for (index, segment) in image.segments.iter().enumerate() {
        segment_type(index, segment, findings);
    }
    for (index, segment) in image.loads() {
        if segment.filesz > segment.memsz {
            let message = format!(
                "segment {index} has {} bytes in the file, {} in memory",
                segment.filesz, segment.memsz
            );
            findings.add(Code::FileSize, Place::address(segment.vaddr), message);
        }
        if segment.paddr != segment.vaddr {
            let message = format!(
                "segment {index} has physical address {:#010x}, virtual address {:#010x}",
                segment.paddr, segment.vaddr
            );
            findings.add(Code::PhysicalAddress, Place::address(segment.vaddr), message);
        }
    }
    windows(image, variant, findings);
    overlaps(image, findings);
    entry(image, variant, findings);
    let staged: u64 = image.loads().map(|(_, segment)| u64::from(segment.filesz)).sum();
    if staged > STAGING_CAP {
        let message =
            format!("{staged} file-backed bytes, more than the {STAGING_CAP} a prelinked library may have");
        findings.add(Code::Staging, Place::file(), message);
    }
}

fn segment_type(index: usize, segment: &Segment<'_>, findings: &mut Findings) {
    let code = match elf::ProgramType(segment.kind) {
        elf::PT_NULL | elf::PT_LOAD => return,
        elf::PT_DYNAMIC => Code::DynamicSegment,
        elf::PT_INTERP => Code::InterpreterSegment,
        elf::PT_TLS => Code::TlsSegment,
        _ => Code::SegmentType,
    };
    let message = format!("segment {index} has type {:#x}, where LOAD (1) is allowed", segment.kind);
    findings.add(code, Place::address(segment.vaddr), message);
}

fn is_vectors(segment: &Segment<'_>) -> bool {
    Window::IRAM.contains(segment.vaddr.into(), segment.end() - u64::from(segment.vaddr))
}

fn fits(segment: &Segment<'_>, window: Window) -> bool {
    window.contains(segment.vaddr.into(), segment.end() - u64::from(segment.vaddr))
}

fn windows(image: &ElfFile<'_>, variant: Variant, findings: &mut Findings) {
    let window = variant.window();
    let banked: Vec<_> = image.loads().filter(|(_, segment)| !is_vectors(segment)).collect();
    for (index, segment) in image.loads().filter(|(_, segment)| is_vectors(segment)) {
        let message = format!(
            "segment {index} loads {} bytes at {:#x}, over the vectors of the firmware",
            segment.memsz, segment.vaddr
        );
        findings.add(Code::Vectors, Place::address(segment.vaddr), message);
    }
    if let Some(other) = linked_for(&banked, variant) {
        let start = banked.iter().map(|(_, segment)| segment.vaddr).min().unwrap_or_default();
        let message = format!("linked for {other} at {start:#010x}, where {variant} has {window}");
        findings.add(Code::WrongBank, Place::address(start), message);
        return;
    }
    for (index, segment) in banked {
        let (start, end) = (segment.vaddr, segment.end());
        if fits(segment, window) {
            continue;
        }
        if u64::from(start) < window.base.into() || u64::from(start) >= window.end() {
            let message =
                format!("segment {index} [{start:#010x}, {end:#010x}) is outside {window} of {variant}");
            findings.add(Code::OutsideWindow, Place::address(start), message);
            continue;
        }
        let over = end - window.end();
        let message = format!(
            "segment {index} ends at {end:#010x}, {over} bytes past the window of {variant} {window}"
        );
        let largest =
            image.sections.iter().filter(|section| section.is_alloc()).max_by_key(|section| section.size);
        let help = largest.map_or_else(
            || Code::WindowOverflow.help().to_owned(),
            |section| {
                let help = Code::WindowOverflow.help();
                format!(
                    "the window holds {} bytes; {} takes {}: {help}",
                    window.len, section.name, section.size
                )
            },
        );
        let at = largest.map_or_else(Place::file, |section| Place::section(section.name));
        findings.add_with_help(Code::WindowOverflow, at, message, help);
    }
}

/// Another variant whose bank the image starts at and fits into: two files were swapped.
fn linked_for(banked: &[(usize, &Segment<'_>)], variant: Variant) -> Option<Variant> {
    let start = banked.iter().map(|(_, segment)| segment.vaddr).min()?;
    if start == variant.window().base {
        return None;
    }
    let is_home = |other: &Variant| {
        *other != variant
            && start == other.window().base
            && banked.iter().all(|(_, segment)| fits(segment, other.window()))
    };
    Variant::all().find(is_home)
}

fn overlaps(image: &ElfFile<'_>, findings: &mut Findings) {
    let mut loads: Vec<_> = image.loads().filter(|(_, segment)| segment.memsz > 0).collect();
    loads.sort_by_key(|(_, segment)| segment.vaddr);
    for pair in loads.windows(2) {
        if let [(a, first), (b, second)] = pair {
            let end = u64::from(first.vaddr) + u64::from(first.memsz);
            if end > second.vaddr.into() {
                let message =
                    format!("segment {a} ends at {end:#010x}, segment {b} starts at {:#010x}", second.vaddr);
                findings.add(Code::SegmentOverlap, Place::address(second.vaddr), message);
            }
        }
    }
}

fn entry(image: &ElfFile<'_>, variant: Variant, findings: &mut Findings) {
    let entry = image.header.entry;
    let executable = elf::PF_X.0;
    let inside = image.loads().any(|(_, segment)| {
        !is_vectors(segment)
            && segment.flags & executable != 0
            && entry >= segment.vaddr
            && u64::from(entry) < segment.end()
    });
    if !inside {
        let message =
            format!("entry {entry:#010x} is in no executable segment of {variant} {}", variant.window());
        findings.add(Code::WrongEntry, Place::address(entry), message);
        return;
    }
    if let Some(start) = image.symbol("_start").filter(|start| start.value != entry) {
        let message = format!("entry is {entry:#010x}, `_start` is at {:#010x}", start.value);
        findings.add(Code::WrongEntry, Place::address(entry), message);
    }
}
