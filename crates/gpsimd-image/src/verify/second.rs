//! A second opinion: goblin reads the same bytes, and every field must agree with what `object` read.
//!
//! A writer and a reader that share a mistake would not notice it.

use goblin::elf::Elf;

use super::finding::{Code, Findings, Place};
use crate::elf_file::ElfFile;

pub(super) fn check(image: &ElfFile<'_>, findings: &mut Findings) {
    let mut differ = |what: &str, ours: String, theirs: String| {
        let message = format!("{what}: object reads {ours}, goblin reads {theirs}");
        findings.add(Code::SecondOpinion, Place::file(), message);
    };
    let other = match Elf::parse(image.bytes) {
        Ok(other) => other,
        Err(error) => return differ("the file", "it".to_owned(), format!("an error: {error}")),
    };
    let header = image.header;
    let ours = (header.kind, header.machine, u64::from(header.entry), header.flags);
    let theirs = (other.header.e_type, other.header.e_machine, other.header.e_entry, other.header.e_flags);
    if ours != theirs {
        return differ("the file header", format!("{ours:x?}"), format!("{theirs:x?}"));
    }
    let counts = (image.segments.len(), image.sections.len());
    let their_counts = (other.program_headers.len(), other.section_headers.len());
    if counts != their_counts {
        return differ("segments and sections", format!("{counts:?}"), format!("{their_counts:?}"));
    }
    for (index, (a, b)) in image.segments.iter().zip(&other.program_headers).enumerate() {
        let ours = (a.kind, a.flags, [a.offset, a.vaddr, a.paddr, a.filesz, a.memsz, a.align].map(u64::from));
        let theirs =
            (b.p_type, b.p_flags, [b.p_offset, b.p_vaddr, b.p_paddr, b.p_filesz, b.p_memsz, b.p_align]);
        if ours != theirs {
            return differ(&format!("segment {index}"), format!("{ours:x?}"), format!("{theirs:x?}"));
        }
    }
    for (index, (a, b)) in image.sections.iter().zip(&other.section_headers).enumerate() {
        let name = other.shdr_strtab.get_at(b.sh_name).unwrap_or_default();
        let ours =
            (a.name, a.kind, [a.flags, a.addr, a.offset, a.size, a.align].map(u64::from), [a.link, a.info]);
        let theirs = (
            name,
            b.sh_type,
            [b.sh_flags, b.sh_addr, b.sh_offset, b.sh_size, b.sh_addralign],
            [b.sh_link, b.sh_info],
        );
        if ours != theirs {
            return differ(&format!("section {index}"), format!("{ours:x?}"), format!("{theirs:x?}"));
        }
    }
    let theirs = other.syms.len().saturating_sub(1);
    if image.symbols.len() != theirs {
        return differ("symbols", image.symbols.len().to_string(), theirs.to_string());
    }
    for (index, (a, b)) in image.symbols.iter().zip(other.syms.iter().skip(1)).enumerate() {
        let name = other.strtab.get_at(b.st_name).unwrap_or_default();
        let ours =
            (a.name, u64::from(a.value), u64::from(a.size), a.binding << 4 | a.kind, usize::from(a.section));
        let theirs = (name, b.st_value, b.st_size, b.st_info, b.st_shndx);
        if ours != theirs {
            return differ(&format!("symbol {}", index + 1), format!("{ours:x?}"), format!("{theirs:x?}"));
        }
    }
}
