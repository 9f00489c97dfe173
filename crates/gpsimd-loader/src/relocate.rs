//! The walk over the relocation table and its two kinds of patches: 32-bit words and instruction immediates.
//!
//! Unaware of where the table came from. Facts: spec `prelink.md` §8.

use crate::error::PrelinkError;
use crate::instruction::{Refusal, set_immediate};
use crate::mode::Mode;
use crate::placement::Placement;

/// Bytes of one table entry.
pub(crate) const RELA: usize = 12;

/// How many relocations of which kind were applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Relocations {
    /// Entries that say to do nothing.
    pub none: u32,
    /// 32-bit words.
    pub words: u32,
    /// Instruction immediates, low half.
    pub low: u32,
    /// Instruction immediates, high half.
    pub high: u32,
}

/// Applies the table entry by entry; the first that fails ends it, with what came before left in the buffers.
pub(crate) fn relocate(
    placement: &mut Placement,
    table: &[u8],
    mode: Mode,
    log: &mut dyn FnMut(&str),
) -> Result<Relocations, PrelinkError> {
    let mut done = Relocations::default();
    let (entries, _) = table.as_chunks::<RELA>();
    for (index, entry) in (0..).zip(entries) {
        let [r_offset, r_info, r_addend] = words(entry);
        if r_info > 0xff {
            return Err(PrelinkError::RelocationSymbol { index, r_info });
        }
        match r_info {
            0 => done.none += 1,
            5 => {
                patch_word(placement, index, r_offset, r_addend, mode, log)?;
                done.words += 1;
            }
            20..=34 => {
                let value = placement.map(r_addend);
                patch_slot(placement, index, r_offset, r_info - 20, value as u16, mode)?;
                done.low += 1;
            }
            35..=49 => {
                let value = placement.map(r_addend);
                patch_slot(placement, index, r_offset, r_info - 35, (value >> 16) as u16, mode)?;
                done.high += 1;
            }
            _ => return Err(PrelinkError::RelocationType { index, r_info }),
        }
    }
    Ok(done)
}

fn words(entry: &[u8; RELA]) -> [u32; 3] {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *entry;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_le_bytes)
}

/// A word that holds a link address gets the device address; the addend counts too, though linkers leave it 0.
fn patch_word(
    placement: &mut Placement,
    index: u32,
    r_offset: u32,
    r_addend: u32,
    mode: Mode,
    log: &mut dyn FnMut(&str),
) -> Result<(), PrelinkError> {
    let site = placement.map(r_offset);
    if mode == Mode::Strict && !placement.is_loaded(site, 4) {
        return Err(PrelinkError::RelocationExtent { index, site, width: 4, word: true });
    }
    // Sites are unaligned in C++ exception tables: two aligned words around them are read and written.
    let misalign = site & 3;
    let shift = 8 * misalign;
    let first = site - misalign;
    if misalign == 0 {
        let old = load(placement, first, log);
        let new = placement.map(old.wrapping_add(r_addend));
        store(placement, first, new, log);
    } else {
        let second = first.wrapping_add(4);
        let (low, high) = (load(placement, first, log), load(placement, second, log));
        let pair = u64::from(high) << 32 | u64::from(low);
        let new = placement.map(((pair >> shift) as u32).wrapping_add(r_addend));
        let keep = !(0xffff_ffff_u64 << shift);
        let pair = pair & keep | u64::from(new) << shift;
        store(placement, first, pair as u32, log);
        store(placement, second, (pair >> 32) as u32, log);
    }
    Ok(())
}

fn load(placement: &mut Placement, addr: u32, log: &mut dyn FnMut(&str)) -> u32 {
    match placement.at(addr).and_then(|bytes| bytes.first_chunk_mut()) {
        Some(word) => u32::from_le_bytes(*word),
        None => {
            log(&format!("Invalid load @ {addr:#x}"));
            u32::MAX
        }
    }
}

fn store(placement: &mut Placement, addr: u32, value: u32, log: &mut dyn FnMut(&str)) {
    match placement.at(addr).and_then(|bytes| bytes.first_chunk_mut()) {
        Some(word) => *word = value.to_le_bytes(),
        None => log(&format!("Invalid store ({value:#x}) @ {addr:#x}")),
    }
}

fn patch_slot(
    placement: &mut Placement,
    index: u32,
    r_offset: u32,
    slot: u32,
    imm: u16,
    mode: Mode,
) -> Result<(), PrelinkError> {
    let site = placement.map(r_offset);
    if mode == Mode::Strict && !placement.is_loaded(site, 3) {
        return Err(PrelinkError::RelocationExtent { index, site, width: 3, word: false });
    }
    let bytes = placement.at(site).ok_or(PrelinkError::RelocationSite { index, site })?;
    set_immediate(bytes, imm).map_err(|refusal| match refusal {
        Refusal::Bundle(word) => PrelinkError::LargeImmediate { index, slot, word },
        Refusal::Format(word) => PrelinkError::InstructionFormat { index, word },
        Refusal::Short => PrelinkError::RelocationSite { index, site },
    })
}
