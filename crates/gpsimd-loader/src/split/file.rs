//! An ELF file being written: bytes in order, and at its end the section headers with their names.
//!
//! Unaware of what the sections hold. `object`'s own writer sorts the names and lets them share endings; here they keep
//! the order of the headers, as in the libraries that were shipped so far.

use gpsimd_image::Section;
use object::elf;

use super::SplitError;

/// The section that holds the names of sections.
const NAMES: &str = ".shstrtab";
/// Most bytes of section names; in a damaged file they overlap, and their sum has no bound.
const MAX_NAMES: usize = 1 << 20;

/// The file as far as it is written.
pub(super) struct File {
    bytes: Vec<u8>,
}

impl File {
    /// A file that starts with `bytes`, among them the file header; [`File::finish`] completes that.
    pub fn starting(bytes: Vec<u8>) -> File {
        File { bytes }
    }

    /// Appends at a multiple of `align` and says where. The whole length is checked at the end.
    pub fn append(&mut self, bytes: &[u8], align: usize) -> u32 {
        self.bytes.resize(self.bytes.len().next_multiple_of(align), 0);
        let at = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        at as u32
    }

    /// Overwrites bytes that are there.
    pub fn patch(&mut self, at: usize, bytes: &[u8]) {
        if let Some(to) = self.bytes.get_mut(at..at + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    /// Appends the names of `sections` and their headers, null section first, and tells the file header.
    pub fn finish(mut self, mut sections: Vec<Section<'_>>) -> Result<Vec<u8>, SplitError> {
        let input = |why: String| SplitError::Input { why };
        let strings = sections.iter().rposition(|section| section.name == NAMES).unwrap_or_else(|| {
            sections.push(Section { name: NAMES, kind: elf::SHT_STRTAB.0, align: 1, ..Section::default() });
            sections.len() - 1
        });
        let total: usize = sections.iter().map(|section| section.name.len() + 1).sum();
        if total > MAX_NAMES {
            return Err(input(format!(
                "its section names have {total} bytes, where {MAX_NAMES} are allowed"
            )));
        }
        let mut names = vec![0];
        let mut name_of = |name: &str| {
            let at = if name.is_empty() { 0 } else { names.len() as u32 };
            if at > 0 {
                names.extend_from_slice(name.as_bytes());
                names.push(0);
            }
            at
        };
        let mut starts = Vec::with_capacity(sections.len());
        for section in &sections {
            starts.push(name_of(section.name));
        }
        (sections[strings].offset, sections[strings].size) = (self.append(&names, 1), names.len() as u32);
        let headers = starts.iter().zip(&sections);
        let headers: Vec<u8> = headers.flat_map(|(name, section)| header(*name, section)).collect();
        let at = self.append(&headers, 4);
        self.patch(0x20, &at.to_le_bytes());
        self.patch(0x30, &(sections.len() as u16).to_le_bytes());
        self.patch(0x32, &(strings as u16).to_le_bytes());
        let (len, count) = (self.bytes.len(), sections.len());
        if u32::try_from(len).is_err() || count >= usize::from(elf::SHN_LORESERVE) {
            return Err(input("it is too large for a 32-bit ELF file".into()));
        }
        Ok(self.bytes)
    }
}

fn header(name: u32, section: &Section<'_>) -> Vec<u8> {
    let Section { kind, flags, addr, offset, size, link, info, align, entsize, .. } = *section;
    words(&[name, kind, flags, addr, offset, size, link, info, align, entsize])
}

/// Words as they are stored.
pub(super) fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_headers_end_the_file() {
        let mut file = File::starting(vec![0; 52]);
        let text = Section {
            name: ".text",
            kind: 1,
            flags: 6,
            addr: 0x100,
            size: 3,
            align: 4,
            ..Section::default()
        };
        let offset = file.append(&[1, 2, 3], 4);
        let bytes = file.finish(vec![Section::default(), Section { offset, ..text }]).unwrap();
        // the code at 52, the names at 55 as they come, the headers at the next multiple of 4
        assert_eq!(&bytes[52..80], b"\x01\x02\x03\0.text\0.shstrtab\0\0\0\0\0\0\0\0\0");
        let header = |index: usize| {
            let at = 72 + 40 * index;
            bytes[at..at + 40]
                .as_chunks::<4>()
                .0
                .iter()
                .map(|word| u32::from_le_bytes(*word))
                .collect::<Vec<_>>()
        };
        assert_eq!(header(0), [0; 10]);
        assert_eq!(header(1), [1, 1, 6, 0x100, 52, 3, 0, 0, 4, 0]);
        assert_eq!(header(2), [7, 3, 0, 0, 55, 17, 0, 0, 1, 0]);
        assert_eq!(bytes.len(), 72 + 3 * 40);
        assert_eq!([&bytes[0x20..0x24], &bytes[0x30..0x34]], [&[72, 0, 0, 0], &[3, 0, 2, 0]]);
    }

    #[test]
    fn overlapping_names_have_a_bound() {
        let name = "n".repeat(1 << 16);
        let sections = vec![Section { name: &name, ..Section::default() }; 17];
        assert!(matches!(File::starting(Vec::new()).finish(sections), Err(SplitError::Input { .. })));
    }
}
