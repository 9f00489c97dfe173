//! The `.debug_*` sections of an object with their relocations applied.
//!
//! Unaware of what the sections say. In a relocatable object every offset between debug sections is a relocation
//! against a section symbol, so an unrelocated reader would see zeros.

use std::borrow::Cow;
use std::collections::HashMap;

use object::elf;

use super::SignatureError;
use crate::elf_file::{ElfFile, Relocation};

/// What `gimli` reads from.
pub(super) type Reader<'a> = gimli::EndianSlice<'a, gimli::LittleEndian>;

/// A word that a symbol and an addend are added to. `R_XTENSA_DIFF*` and `R_XTENSA_*DIFF*` words already hold their
/// value until a linker relaxes code, and nothing relaxes here.
const R_XTENSA_32: u32 = 1;

const SHF_COMPRESSED: u32 = 1 << 11;

/// Debug sections by name.
pub(super) struct Sections<'d> {
    by_name: HashMap<&'d str, Cow<'d, [u8]>>,
}

impl<'d> Sections<'d> {
    /// Copies and relocates what needs it.
    pub(super) fn read(image: &ElfFile<'d>) -> Result<Self, SignatureError> {
        let mut bytes: HashMap<usize, Cow<'d, [u8]>> = HashMap::new();
        for (index, section) in image.sections.iter().enumerate() {
            if !section.name.starts_with(".debug_") {
                continue;
            }
            if section.flags & SHF_COMPRESSED != 0 {
                return Err(SignatureError::DebugInfo { detail: format!("{} is compressed", section.name) });
            }
            bytes.insert(index, Cow::Borrowed(section.data));
        }
        // a linked file's words are final; relocations it keeps say how they came to be
        if image.header.kind == elf::ET_REL.0 {
            for (target, relocation) in image.relocations()? {
                if let Some(section) = bytes.get_mut(&target) {
                    apply(image, section, &relocation);
                }
            }
        }
        let named =
            bytes.into_iter().filter_map(|(index, data)| Some((image.sections.get(index)?.name, data)));
        Ok(Self { by_name: named.collect() })
    }

    /// A reader over all of them.
    pub(super) fn dwarf(&self) -> gimli::Dwarf<Reader<'_>> {
        gimli::Dwarf {
            debug_abbrev: self.get(),
            debug_info: self.get(),
            debug_line: self.get(),
            debug_line_str: self.get(),
            debug_str: self.get(),
            debug_str_offsets: self.get(),
            ..gimli::Dwarf::default()
        }
    }

    fn get<'a, S: gimli::Section<Reader<'a>>>(&'a self) -> S {
        let bytes = self.by_name.get(S::section_name()).map_or(&[][..], |bytes| bytes);
        S::from(gimli::EndianSlice::new(bytes, gimli::LittleEndian))
    }
}

/// Adds symbol and addend to the word; a relocation that points nowhere changes nothing.
fn apply(image: &ElfFile<'_>, section: &mut Cow<'_, [u8]>, relocation: &Relocation) {
    if relocation.kind != R_XTENSA_32 {
        return;
    }
    let symbol = (relocation.symbol as usize).checked_sub(1).and_then(|index| image.symbols.get(index));
    let value = symbol.map_or(0, |symbol| symbol.value);
    let at = relocation.offset as usize;
    if at.checked_add(4).is_none_or(|end| end > section.len()) {
        return;
    }
    if let Some(word) = section.to_mut().get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
        let sum = u32::from_le_bytes(*word).wrapping_add(value).wrapping_add_signed(relocation.addend);
        *word = sum.to_le_bytes();
    }
}
