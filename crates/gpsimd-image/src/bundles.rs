//! Instruction bundles of vector code, counted by format: an image that has some was made for the vector unit, which nothing
//! here executes.
//!
//! Unaware of what a bundle does: only where instructions begin and how they are called is known publicly.
//! Facts: spec `vector-framing.md` §1, §2.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::elf_file::{ElfFile, Section};
use crate::provenance::producers;

/// The formats: name, bytes, mask and value of the first four bytes.
const FORMATS: [(&str, usize, u32, u32); 14] = [
    ("x24", 3, 0x0000_0008, 0x0000_0000),
    ("x16a", 2, 0x0000_000c, 0x0000_0008),
    ("x16b", 2, 0x0000_000e, 0x0000_000c),
    ("F0", 16, 0x0b00_000f, 0x0100_000f),
    ("F1", 16, 0x3700_000f, 0x0300_000f),
    ("F2", 16, 0x3700_000f, 0x3300_000f),
    ("F3", 16, 0x0800_000f, 0x0000_000e),
    ("F4", 16, 0x0b00_000f, 0x0900_000f),
    ("F6", 16, 0x3700_000f, 0x2300_000f),
    ("F7", 16, 0x3700_000f, 0x1300_000f),
    ("F11", 16, 0x0800_000f, 0x0800_000e),
    ("N0", 8, 0x0900_000f, 0x0000_000f),
    ("N1", 8, 0x1900_000f, 0x0800_000f),
    ("N2", 8, 0x1900_000f, 0x1800_000f),
];
/// Bytes of the shortest bundle; what is shorter is a plain instruction.
const BUNDLE: usize = 8;

/// What the code of an image consists of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Bundles {
    /// How many bundles there are.
    pub total: u64,
    /// How many of each format.
    pub formats: BTreeMap<&'static str, u64>,
    /// Address of the first.
    pub first: Option<u32>,
    /// The function that has it, if the image names one.
    pub function: Option<String>,
}

/// Counts the bundles of an image: function by function where it names functions, else section by section, for literals
/// and padding between functions look like anything. What GNU tools alone have made has none: they have no bundles to write.
pub fn bundles(image: &ElfFile<'_>) -> Bundles {
    let mut found = Bundles::default();
    let producers = producers(image);
    if !producers.is_empty() && producers.iter().all(|producer| producer.text.starts_with("GCC: ")) {
        return found;
    }
    let code = || image.sections.iter().filter(|section| section.is_code() && !section.is_nobits());
    let mut functions: Vec<_> = image
        .symbols
        .iter()
        .filter(|symbol| symbol.is_function() && symbol.is_defined() && symbol.size > 0)
        .collect();
    functions.sort_by_key(|function| (function.value, function.size));
    functions.dedup_by_key(|function| function.value);
    for function in &functions {
        let bytes = code().find_map(|section| within(section, function.value, function.size));
        found.walk(function.value, bytes.unwrap_or_default(), Some(function.name));
    }
    if functions.is_empty() {
        for section in code() {
            found.walk(section.addr, section.data, None);
        }
    }
    found
}

fn within<'d>(section: &Section<'d>, addr: u32, size: u32) -> Option<&'d [u8]> {
    let at = addr.checked_sub(section.addr)? as usize;
    section.data.get(at..at.checked_add(size as usize)?)
}

impl Bundles {
    fn walk(&mut self, base: u32, code: &[u8], function: Option<&str>) {
        let mut at = 0;
        while let Some((name, len)) = code.get(at..).and_then(format) {
            if len >= BUNDLE {
                self.total += 1;
                *self.formats.entry(name).or_default() += 1;
                if self.first.is_none() {
                    self.first = Some(base.wrapping_add(at as u32));
                    self.function = function.map(str::to_owned);
                }
            }
            at += len;
        }
    }
}

/// The format of what starts here, and its length; nothing where no instruction can.
fn format(code: &[u8]) -> Option<(&'static str, usize)> {
    let mut bytes = [0; 4];
    let known = code.len().min(4);
    bytes.get_mut(..known)?.copy_from_slice(code.get(..known)?);
    let word = u32::from_le_bytes(bytes);
    let (name, len, ..) = FORMATS.iter().find(|(_, _, mask, value)| word & mask == *value)?;
    (code.len() >= *len).then_some((name, *len))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// vector-framing.md §1.
    fn length(op0: u8, b3: u8) -> Option<usize> {
        match (op0, b3) {
            (0..=7, _) => Some(3),
            (8..=0xd, _) => Some(2),
            (0xe, _) => Some(16),
            (_, b3) if b3 % 2 == 0 => Some(8),
            (_, 1 | 3 | 5 | 9 | 0xb | 0xd) => Some(16),
            _ => None,
        }
    }

    #[test]
    fn at_most_one_format_fits_and_has_the_length_of_the_rule() {
        for byte3 in 0..=u8::MAX {
            for op0 in 0..16 {
                let word = u32::from_le_bytes([op0, 0, 0, byte3]);
                let fitting: Vec<_> =
                    FORMATS.iter().filter(|(_, _, mask, value)| word & mask == *value).collect();
                assert!(fitting.len() <= 1, "{byte3:#x} {op0:#x}: {fitting:?}");
                if let [(_, len, ..)] = fitting.as_slice() {
                    assert_eq!(Some(*len), length(op0, byte3 & 0xf), "{byte3:#x} {op0:#x}");
                }
            }
        }
    }

    #[test]
    fn bundles_are_counted_from_where_instructions_begin() {
        let mut code = vec![0x36, 0x41, 0x00, 0x0d, 0xf0];
        code.extend([0x0f, 0, 0, 0x01]);
        code.extend([0xff; 12]);
        code.extend([0x0f, 0, 0, 0x08, 0xff, 0xff, 0xff, 0xff]);
        code.extend([0x0f, 0, 0, 0x08, 0xff, 0xff, 0xff, 0xff, 0x0d, 0xf0]);
        let mut found = Bundles::default();
        found.walk(0x8400_0000, &code, Some("f"));
        assert_eq!(found.formats, BTreeMap::from([("F0", 1), ("N1", 2)]));
        assert_eq!((found.total, found.first, found.function.as_deref()), (3, Some(0x8400_0005), Some("f")));
        // the end of the code ends the count, in the middle of a bundle too
        let mut cut = Bundles::default();
        cut.walk(0, &code[..20], None);
        assert_eq!(cut, Bundles::default());
    }
}
