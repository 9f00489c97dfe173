//! A split-load library without symbols and debug information: what is packed and shipped.
//!
//! The section headers of loaded sections stay, because the prelinker reads the largest alignment from them. Facts: spec
//! `prelink.md` §4.4, §6.1.

use std::collections::HashMap;

use gpsimd_image::{ElfFile, Section};
use object::elf;

use super::SplitError;
use super::file::File;

/// Strips a split-load library. Its segments keep their places in the file.
///
/// # Errors
/// [`SplitError::Input`] for files that are none, or whose segments do not come first.
pub fn strip(bytes: &[u8]) -> Result<Vec<u8>, SplitError> {
    let input = |why: String| SplitError::Input { why };
    let file = ElfFile::without_symbols(bytes).map_err(|error| input(error.to_string()))?;
    let ends = file.segments.iter().map(|segment| u64::from(segment.offset) + u64::from(segment.filesz));
    let end = ends.max().unwrap_or(0);
    let head = usize::try_from(end).ok().and_then(|end| bytes.get(..end));
    let head = head.ok_or_else(|| input("a segment lies behind the end of the file".into()))?;

    let is_kept = |section: &Section<'_>| section.kind == elf::SHT_NULL.0 || section.is_alloc();
    let kept: Vec<_> = file.sections.iter().enumerate().filter(|(_, section)| is_kept(section)).collect();
    let numbers: HashMap<usize, u32> = (0..).zip(&kept).map(|(new, (old, _))| (*old, new)).collect();
    let renumber = |index: u32| numbers.get(&(index as usize)).copied().unwrap_or(0);
    let mut sections = Vec::with_capacity(kept.len() + 1);
    for (_, section) in kept {
        if !section.is_nobits() && u64::from(section.offset) + u64::from(section.size) > end {
            return Err(input("a loaded section lies behind the segments".into()));
        }
        let (link, info) = (renumber(section.link), renumber(section.info));
        sections.push(Section { link, info, ..section.clone() });
    }
    File::starting(head.to_vec()).finish(sections)
}
