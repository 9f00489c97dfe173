//! Objects: what is wrong before anything is linked.
//!
//! Facts: spec `lsp-and-memory.md` §5.3, §8, §9 check 16: the linked image no longer shows constructor priorities.

use object::elf;

use super::finding::{Code, Findings, Place};
use super::sections;
use crate::elf_file::{ElfFile, MACHINE, kind_name};

pub(super) fn check(bytes: &[u8], findings: &mut Findings) {
    let object = match ElfFile::parse(bytes) {
        Ok(object) => object,
        Err(error) => return findings.error(&error),
    };
    if object.header.machine != MACHINE {
        let message = format!("e_machine is {}, where {MACHINE} (Xtensa) is allowed", object.header.machine);
        findings.add(Code::WrongMachine, Place::file(), message);
    }
    if object.header.kind != elf::ET_REL.0 {
        let message = format!("e_type is {}, where REL (1) is allowed", kind_name(object.header.kind));
        findings.add(Code::WrongType, Place::file(), message);
    }
    for section in object.sections.iter().filter(|section| section.size > 0) {
        sections::abi(section, findings);
        if section.is_alloc() && sections::is_never_run(section.name) {
            let message =
                format!("{} has {} bytes that start-up code never looks at", section.name, section.size);
            findings.add(Code::NeverRun, Place::section(section.name), message);
        }
    }
}
