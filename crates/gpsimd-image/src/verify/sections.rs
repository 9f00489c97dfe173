//! Section headers: names, places, and what must not be there.
//!
//! Facts: spec `lsp-and-memory.md` §5.3, §9 checks 9, 10 and 16, §8 (`.xtensa.info`).

use gpsimd_lsp::{Lsp, Variant, Window};
use object::elf;

use super::finding::{Code, Findings, Place};
use crate::elf_file::{ElfFile, Section};

/// Constructor tables that start-up code does not walk.
const NEVER_RUN: [&str; 3] = [".init_array", ".fini_array", ".preinit_array"];

pub(super) fn check(image: &ElfFile<'_>, variant: Variant, findings: &mut Findings) {
    let placed = Lsp::custom_op(variant).output_sections();
    // Reported once, by segment.
    let is_misplaced = findings.has(&[Code::WindowOverflow, Code::OutsideWindow, Code::WrongBank]);
    for section in image.sections.iter().skip(1).filter(|section| section.size > 0) {
        abi(section, findings);
        if is_dynamic(section) {
            dynamic(section, findings);
            continue;
        }
        if !section.is_alloc() {
            continue;
        }
        let (name, start, end) = (section.name, section.addr, section.end());
        if !image.loads().any(|(_, s)| start >= s.vaddr && end <= s.end()) {
            let message = format!("{name} [{start:#010x}, {end:#010x}) lies in no LOAD segment");
            findings.add(Code::SectionNotLoaded, Place::section(name), message);
            continue;
        }
        match placed.iter().find(|(known, _)| known == name) {
            Some((_, region)) if !is_misplaced => place(section, *region, findings),
            Some(_) => {}
            None if is_never_run(name) || is_beside_the_table(name) => {
                let message = format!("{name} has {} bytes that start-up code never looks at", section.size);
                findings.add(Code::NeverRun, Place::section(name), message);
            }
            None => {
                let message =
                    format!("{name} [{start:#010x}, {end:#010x}) is no section of the linker script");
                findings.add(Code::OrphanSection, Place::section(name), message);
            }
        }
    }
}

/// Sections whose constructors never run, in objects and in images.
pub(super) fn is_never_run(name: &str) -> bool {
    let suffixed = |table: &str| name.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
    NEVER_RUN.iter().any(|table| name == *table || suffixed(table))
}

/// Where scripts that do not gather constructors with priority into the table leave them.
fn is_beside_the_table(name: &str) -> bool {
    [".ctors.", ".dtors."].iter().any(|table| name.starts_with(table))
}

/// `ABI=1` in the note that assemblers write is call0.
pub(super) fn abi(section: &Section<'_>, findings: &mut Findings) {
    let is_call0 = |note: &[u8]| note.split(|&byte| byte == b'\n' || byte == 0).any(|line| line == b"ABI=1");
    if section.name == ".xtensa.info" && is_call0(section.data) {
        let message = "ABI=1 (call0), where ABI=0 (windowed) is allowed";
        findings.add(Code::Call0, Place::section(section.name), message);
    }
}

fn place(section: &Section<'_>, region: Window, findings: &mut Findings) {
    let (name, start, end) = (section.name, section.addr, section.end());
    if !region.contains(start.into(), section.size.into()) {
        let message = format!("{name} [{start:#010x}, {end:#010x}) belongs into {region}");
        findings.add(Code::SectionPlace, Place::section(name), message);
    }
}

fn is_dynamic(section: &Section<'_>) -> bool {
    let kind = elf::SectionType(section.kind);
    let is_table = |name: &str| section.name == name || section.name.starts_with(&format!("{name}."));
    kind == elf::SHT_DYNAMIC
        || (section.is_alloc() && (kind == elf::SHT_RELA || kind == elf::SHT_REL))
        || (section.is_alloc() && (is_table(".got") || is_table(".plt")))
}

fn dynamic(section: &Section<'_>, findings: &mut Findings) {
    let name = section.name;
    let (code, what) = match elf::SectionType(section.kind) {
        elf::SHT_DYNAMIC => (Code::DynamicSegment, "of dynamic linking"),
        elf::SHT_RELA | elf::SHT_REL => (Code::Relocations, "of relocations a loader would have to apply"),
        _ => (Code::OffsetTable, "of indirection"),
    };
    findings.add(
        code,
        Place::section(name),
        format!("{name} has {} bytes {what}, where 0 are allowed", section.size),
    );
}
