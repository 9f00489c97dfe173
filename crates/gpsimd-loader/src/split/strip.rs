//! A split-load library without symbols and debug information: what is packed and shipped.
//!
//! The section headers of loaded sections stay, because the prelinker reads the largest alignment from them. Facts: spec
//! `prelink.md` §4.4, §6.1.

use std::collections::HashMap;

use object::LittleEndian as LE;
use object::elf;
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionHeader as _};

use super::SplitError;

const SHENTSIZE: usize = 40;

/// Strips a split-load library. Its segments keep their places in the file.
///
/// # Errors
/// [`SplitError::Input`] for files that are none, or whose segments do not come first.
pub fn strip(bytes: &[u8]) -> Result<Vec<u8>, SplitError> {
    let input = |why: &str| SplitError::Input { why: why.to_owned() };
    let broken = |error: object::read::Error| SplitError::Input { why: error.to_string() };
    let header = elf::FileHeader32::<LE>::parse(bytes).map_err(broken)?;
    header.endian().map_err(|_| input("it is not little-endian"))?;
    let segments = header.program_headers(LE, bytes).map_err(broken)?;
    let ends = segments.iter().map(|p| u64::from(p.p_offset(LE)) + u64::from(p.p_filesz(LE)));
    let end = usize::try_from(ends.max().unwrap_or(0)).unwrap_or(usize::MAX);
    let mut file =
        bytes.get(..end).ok_or_else(|| input("a segment lies behind the end of the file"))?.to_vec();

    let table = header.sections(LE, bytes).map_err(broken)?;
    let is_kept = |header: &elf::SectionHeader32<LE>| {
        header.sh_type(LE) == elf::SHT_NULL || header.sh_flags(LE).0 & elf::SHF_ALLOC.0 != 0
    };
    let kept: Vec<_> = table.iter().enumerate().filter(|(_, header)| is_kept(header)).collect();
    let numbers: HashMap<usize, u32> = (0..).zip(&kept).map(|(new, (old, _))| (*old, new)).collect();
    let renumber = |index: u32| numbers.get(&(index as usize)).copied().unwrap_or(0);

    // What the linker makes has a few dozen; the number must fit the header's 16 bits.
    if kept.len() >= 0xff00 {
        return Err(input("it has too many loaded sections"));
    }
    let mut names = vec![0];
    let mut headers = Vec::new();
    let mut push = |words: [u32; 10]| headers.extend(words.into_iter().flat_map(u32::to_le_bytes));
    for (_, section) in &kept {
        let in_file = section.file_range(LE).is_none_or(|(at, len)| at.saturating_add(len) <= end as u64);
        if !in_file {
            return Err(input("a loaded section lies behind the segments"));
        }
        let name = table.section_name(LE, *section).map_err(broken)?;
        if names.len() + name.len() > bytes.len() {
            return Err(input("its section names overlap"));
        }
        push([
            intern(&mut names, name),
            section.sh_type(LE).0,
            section.sh_flags(LE).0 as u32,
            section.sh_addr(LE),
            section.sh_offset(LE),
            section.sh_size(LE),
            renumber(section.sh_link(LE)),
            renumber(section.sh_info(LE)),
            section.sh_addralign(LE),
            section.sh_entsize(LE),
        ]);
    }
    let name = intern(&mut names, b".shstrtab");
    let (at, len) = (file.len() as u32, names.len() as u32);
    push([name, elf::SHT_STRTAB.0, 0, 0, at, len, 0, 0, 1, 0]);
    file.extend(names);
    file.resize(file.len().next_multiple_of(4), 0);

    let (shoff, count) = (file.len() as u32, (headers.len() / SHENTSIZE) as u16);
    file.extend(headers);
    let mut patch = |at: usize, value: &[u8]| {
        if let Some(to) = file.get_mut(at..at + value.len()) {
            to.copy_from_slice(value);
        }
    };
    patch(0x20, &shoff.to_le_bytes());
    patch(0x30, &count.to_le_bytes());
    patch(0x32, &count.saturating_sub(1).to_le_bytes());
    Ok(file)
}

/// Offset of a name in the string table, appended to it.
fn intern(names: &mut Vec<u8>, name: &[u8]) -> u32 {
    if name.is_empty() {
        return 0;
    }
    let at = names.len() as u32;
    names.extend_from_slice(name);
    names.push(0);
    at
}
