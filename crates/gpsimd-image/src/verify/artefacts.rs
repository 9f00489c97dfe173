//! The three files of one core: unstripped, stripped, packed, and whether they are of one build.
//!
//! Facts: spec `toolchain.md` §15 items 6 and 7.

use std::collections::BTreeMap;

use gpsimd_lsp::Variant;
use object::elf;

use super::finding::{Code, Findings, Place};
use super::{Checked, Role, second};
use crate::elf_file::ElfFile;
use crate::pack::{PAYLOAD_SECTION, unpack};
use crate::strip::REMOVED;

/// The image inside a packed object.
pub(super) fn payload<'d>(bytes: &'d [u8], findings: &mut Findings) -> Option<&'d [u8]> {
    let payload = match unpack(bytes) {
        Ok(payload) => payload,
        Err(error) => {
            findings.error(&error);
            return None;
        }
    };
    let object = ElfFile::parse(bytes).ok()?;
    second::check(&object, findings);
    let section = object.section(PAYLOAD_SECTION)?;
    if section.flags != elf::SHF_ALLOC.0 as u32 || section.align < 4 {
        let message = format!(
            "{PAYLOAD_SECTION} has flags {:#x} and alignment {}, where 0x2 and 4 are allowed",
            section.flags, section.align
        );
        findings.add(Code::PayloadSection, Place::section(PAYLOAD_SECTION), message);
    }
    Some(payload)
}

/// What stripping must have removed.
pub(super) fn check_stripped(image: &ElfFile<'_>, findings: &mut Findings) {
    if let Some(table) = image.sections.iter().find(|section| section.kind == elf::SHT_SYMTAB.0) {
        let message = format!("{} has {} bytes, where no symbol table is allowed", table.name, table.size);
        return findings.add(Code::NotStripped, Place::section(table.name), message);
    }
    for section in image.sections.iter().skip(1) {
        let message = match section.size {
            0 => format!("{} is empty", section.name),
            // Offset tables are an error in every image and already reported.
            size if REMOVED.contains(&section.name) && !section.name.starts_with(".got") => {
                format!("{} with {size} bytes is still there", section.name)
            }
            _ => continue,
        };
        findings.add(Code::SectionLeft, Place::section(section.name), message);
    }
}

/// Compares the files of each core.
pub(super) fn relate(members: &[&Checked<'_, '_>], relations: &mut Vec<Findings>) {
    let mut cores: BTreeMap<Variant, BTreeMap<Role, &Checked<'_, '_>>> = BTreeMap::new();
    for member in members {
        cores.entry(member.file.variant).or_default().insert(member.file.role, member);
    }
    for files in cores.values() {
        let sound = |role| files.get(&role).copied().filter(|checked| !checked.findings.has_errors());
        if let (Some(linked), Some(stripped)) = (sound(Role::Linked), sound(Role::Stripped)) {
            let mut findings = Findings::new(&stripped.file.name);
            stripped_differs(linked, stripped, &mut findings);
            relations.push(findings);
        }
        if let (Some(stripped), Some(packed)) = (sound(Role::Stripped), sound(Role::Packed)) {
            let mut findings = Findings::new(&packed.file.name);
            payload_differs(stripped, packed, &mut findings);
            relations.push(findings);
        }
        if let (None, Some(any)) = (files.get(&Role::Linked), files.values().next()) {
            let mut findings = Findings::new(&any.file.name);
            let message = "symbols, bss table and entry name: the unstripped file was not given";
            findings.add(Code::NotChecked, Place::file(), message);
            relations.push(findings);
        }
    }
}

fn stripped_differs(linked: &Checked<'_, '_>, stripped: &Checked<'_, '_>, findings: &mut Findings) {
    let (Some(before), Some(after)) = (&linked.image, &stripped.image) else { return };
    if before.header.entry != after.header.entry {
        let message = format!(
            "entry is {:#010x}, that of {} is {:#010x}",
            after.header.entry, linked.file.name, before.header.entry
        );
        return findings.add(Code::StrippedDiffers, Place::address(after.header.entry), message);
    }
    let (from, to): (Vec<_>, Vec<_>) = (before.loads().collect(), after.loads().collect());
    if from.len() != to.len() {
        let message = format!("{} segments, {} in {}", to.len(), from.len(), linked.file.name);
        return findings.add(Code::StrippedDiffers, Place::file(), message);
    }
    for ((_, a), (_, b)) in from.iter().zip(&to) {
        let place = Place::address(b.vaddr);
        if (a.vaddr, a.filesz, a.memsz, a.flags) != (b.vaddr, b.filesz, b.memsz, b.flags) {
            let message = format!(
                "the segment at {:#010x} has {} of {} bytes and flags {}; that of {} is at {:#010x} with {} of {} and {}",
                b.vaddr, b.filesz, b.memsz, b.flags, linked.file.name, a.vaddr, a.filesz, a.memsz, a.flags
            );
            return findings.add(Code::StrippedDiffers, place, message);
        }
        if let Some(at) = a.data.iter().zip(b.data).position(|(a, b)| a != b) {
            let address = b.vaddr.wrapping_add(at as u32);
            let message = format!("the byte at {address:#010x} differs from that of {}", linked.file.name);
            return findings.add(Code::StrippedDiffers, located(after, address), message);
        }
    }
}

fn payload_differs(stripped: &Checked<'_, '_>, packed: &Checked<'_, '_>, findings: &mut Findings) {
    let Some(payload) = &packed.image else { return };
    let (ours, theirs) = (payload.bytes, stripped.file.bytes);
    if ours == theirs {
        return;
    }
    let message = match ours.iter().zip(theirs).position(|(a, b)| a != b) {
        Some(at) => format!("the payload differs from {} at byte {at:#x}", stripped.file.name),
        None => format!("the payload has {} bytes, {} has {}", ours.len(), stripped.file.name, theirs.len()),
    };
    findings.add(Code::PayloadDiffers, Place::section(PAYLOAD_SECTION), message);
}

/// An address with the section that holds it.
pub(super) fn located(image: &ElfFile<'_>, address: u32) -> Place {
    let section = image.section_at(address).map(|section| section.name.to_owned());
    Place { section, ..Place::address(address) }
}
