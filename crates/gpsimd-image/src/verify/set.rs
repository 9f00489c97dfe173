//! Eight images, one program: the files of a multicore library against each other.
//!
//! Facts: spec `lsp-and-memory.md` §9 check 17, `toolchain.md` §8.4 (rebase property) and §15 item 8.

use std::collections::BTreeMap;

use gpsimd_lsp::{CpuId, Variant};

use super::artefacts::located;
use super::finding::{Code, Findings, Place};
use super::{Checked, Role};
use crate::elf_file::ElfFile;

pub(super) fn relate(members: &[&Checked<'_, '_>], relations: &mut Vec<Findings>) {
    let mut roles: BTreeMap<Role, BTreeMap<CpuId, &Checked<'_, '_>>> = BTreeMap::new();
    for member in members {
        if let Variant::Cpu(cpu) = member.file.variant {
            roles.entry(member.file.role).or_default().insert(cpu, member);
        }
    }
    // One core by itself is no set.
    let is_set = roles.values().any(|cores| cores.len() > 1);
    for cores in roles.values().filter(|_| is_set) {
        missing(cores, relations);
    }
    // Files of one core were compared already: one role stands for the others, if all its files hold up.
    let is_sound = |checked: &Checked<'_, '_>| {
        let related = relations.iter().filter(|related| related.file() == checked.file.name);
        !checked.findings.has_errors() && !related.into_iter().any(Findings::has_errors)
    };
    let sound = |cores: &&BTreeMap<CpuId, &Checked<'_, '_>>| cores.values().all(|checked| is_sound(checked));
    let order = [Role::Stripped, Role::Linked, Role::Packed];
    let Some(cores) = order.iter().filter_map(|role| roles.get(role)).find(sound) else { return };
    let mut cores = cores.iter();
    let Some((first, reference)) = cores.next() else { return };
    for (cpu, checked) in cores {
        let delta = cpu.rebase().wrapping_sub(first.rebase());
        let mut findings = Findings::new(&checked.file.name);
        if let (Some(a), Some(b)) = (&reference.image, &checked.image)
            && let Err((place, message)) = compare(a, b, delta)
        {
            findings.add(Code::ImagesDiffer, place, format!("{message} in {}", reference.file.name));
        }
        relations.push(findings);
    }
}

fn missing(cores: &BTreeMap<CpuId, &Checked<'_, '_>>, relations: &mut Vec<Findings>) {
    let absent: Vec<String> =
        CpuId::all().filter(|cpu| !cores.contains_key(cpu)).map(|cpu| cpu.to_string()).collect();
    let Some(any) = cores.values().next().filter(|_| !absent.is_empty()) else { return };
    let mut findings = Findings::new(&any.file.name);
    let message = format!("{} of 8 images: {} missing", cores.len(), absent.join(", "));
    findings.add(Code::MissingCore, Place::file(), message);
    relations.push(findings);
}

/// Whether `b` is `a` moved up by `delta`. Says the first site where it is not.
fn compare(a: &ElfFile<'_>, b: &ElfFile<'_>, delta: u32) -> Result<(), (Place, String)> {
    let moved = |address: u32| address.wrapping_add(delta);
    if moved(a.header.entry) != b.header.entry {
        let message =
            format!("entry is {:#010x}, where {:#010x} follows from", b.header.entry, moved(a.header.entry));
        return Err((Place::address(b.header.entry), message));
    }
    let alloc = |image: &ElfFile<'_>| -> Vec<(String, u32, u32, u32)> {
        let alloc = image.sections.iter().filter(|section| section.is_alloc() && section.size > 0);
        alloc.map(|s| (s.name.to_owned(), s.addr, s.size, s.flags)).collect()
    };
    let (before, after) = (alloc(a), alloc(b));
    if before.len() != after.len() {
        return Err((Place::file(), format!("{} sections, where {} are", after.len(), before.len())));
    }
    for ((name, addr, size, flags), (name_b, addr_b, size_b, flags_b)) in before.iter().zip(&after) {
        let moved_addr = if is_banked(*addr) { moved(*addr) } else { *addr };
        if (name, moved_addr, size, flags) != (name_b, *addr_b, size_b, flags_b) {
            let message = format!(
                "{name_b} has {size_b} bytes at {addr_b:#010x}, where {name} with {size} bytes at {moved_addr:#010x} follows from its place"
            );
            return Err((Place::section(name_b), message));
        }
    }
    for ((_, a), (_, second)) in a.loads().zip(b.loads()) {
        let vaddr = if is_banked(a.vaddr) { moved(a.vaddr) } else { a.vaddr };
        let shape = |s: &crate::elf_file::Segment<'_>| (s.filesz, s.memsz, s.flags);
        if vaddr != second.vaddr || shape(a) != shape(second) {
            let message = format!("the segment at {:#010x} has another place or size than", second.vaddr);
            return Err((Place::address(second.vaddr), message));
        }
        if let Some(at) = first_foreign(a.data, second.data, delta) {
            let address = second.vaddr.wrapping_add(at as u32);
            let message =
                format!("the bytes at {address:#010x} are not those, or an address moved by {delta:#x},");
            return Err((located(b, address), message));
        }
    }
    Ok(())
}

fn is_banked(address: u32) -> bool {
    Variant::Single.window().contains(address.into(), 0)
}

/// Offset of the first byte of `b` that is neither equal nor part of a word that grew by `delta`.
///
/// Deltas are multiples of 0x200000 below 0x1000000, so a moved word always differs in its third byte, first or only:
/// the words need not be aligned to be found.
fn first_foreign(a: &[u8], b: &[u8], delta: u32) -> Option<usize> {
    let word = |bytes: &[u8], at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let mut at = 0;
    while let Some(skip) = a.get(at..)?.iter().zip(b.get(at..)?).position(|(a, b)| a != b) {
        at += skip;
        let start = at.checked_sub(2);
        let moved = start.and_then(|start| Some(word(a, start)?.wrapping_add(delta) == word(b, start)?));
        if moved != Some(true) {
            return Some(at);
        }
        at += 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_where_they_are() {
        let with = |at: usize, word: u32| {
            let mut bytes = vec![0x11; 16];
            bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
            bytes
        };
        // (offset, word, moved word, delta, verdict); the carry of a bank end and unaligned words included.
        for (at, before, after, delta, want) in [
            (4, 0x8400_0060, 0x8420_0060, 0x20_0000, None),
            (4, 0x8420_0000, 0x8500_0000, 0xe0_0000, None),
            (7, 0x8400_0060, 0x8460_0060, 0x60_0000, None),
            (4, 0x8400_0060, 0x8440_0060, 0x20_0000, Some(6)),
            (4, 0x8400_0060, 0x8420_0061, 0x20_0000, Some(4)),
            (12, 0x8400_0060, 0x8420_0060, 0x20_0000, None),
            (0, 0x0000_0001, 0x0000_0002, 0x20_0000, Some(0)),
        ] {
            assert_eq!(
                first_foreign(&with(at, before), &with(at, after), delta),
                want,
                "{before:#x} {after:#x}"
            );
        }
        assert_eq!(first_foreign(&[1, 2, 3], &[1, 2, 4], 0x20_0000), Some(2));
        assert_eq!(first_foreign(&[], &[], 0x20_0000), None);
    }
}
