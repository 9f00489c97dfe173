//! From kept relocations to loader entries, with proof that moving code and data apart breaks nothing.
//!
//! Unaware of the output file. A word with an absolute address needs an entry; what depends on distances within one
//! segment needs none; everything else is refused. Facts: spec `lsp-and-memory.md` §8.2, `prelink.md` §8.2, §17 R9.

use gpsimd_image::Relocation;
use object::elf;

use super::SplitError;
use super::input::{Linked, Place};
use super::write::{Entry, Kind};
use crate::error::Segment;

/// Loader entries for all kept relocations of loaded sections, by address.
pub(super) fn entries(linked: &Linked<'_>) -> Result<Vec<Entry>, SplitError> {
    let mut entries = Vec::new();
    let mut has_relocations = false;
    let input = |error: gpsimd_image::ImageError| SplitError::Input { why: error.to_string() };
    for (target, Relocation { offset: site, symbol, kind, addend }) in
        linked.file.relocations().map_err(input)?
    {
        let Some(segment) = linked.home(target) else { continue };
        has_relocations = true;
        let kept = Kept { site, kind, symbol, addend: addend as u32, segment };
        entries.extend(kept.entry(linked)?);
    }
    if !has_relocations {
        return Err(SplitError::NoRelocations);
    }
    entries.sort_unstable_by_key(|entry| (entry.site, entry.kind));
    for pair in entries.windows(2) {
        let [first, second] = pair else { continue };
        if u64::from(first.site) + u64::from(first.kind.width()) > u64::from(second.site) {
            return Err(SplitError::Overlap { first: first.site, second: second.site });
        }
    }
    Ok(entries)
}

/// A relocation that the linker kept.
struct Kept {
    site: u32,
    kind: u32,
    symbol: u32,
    addend: u32,
    /// Of the section that is relocated.
    segment: Segment,
}

impl Kept {
    fn entry(&self, linked: &Linked<'_>) -> Result<Option<Entry>, SplitError> {
        match elf::RelocationType(self.kind) {
            // Leftovers of relaxation, notes for garbage collection, and differences within a section.
            elf::R_XTENSA_NONE | elf::R_XTENSA_ASM_EXPAND | elf::R_XTENSA_ASM_SIMPLIFY => Ok(None),
            elf::R_XTENSA_GNU_VTINHERIT | elf::R_XTENSA_GNU_VTENTRY => Ok(None),
            elf::R_XTENSA_DIFF8 | elf::R_XTENSA_DIFF16 | elf::R_XTENSA_DIFF32 => Ok(None),
            elf::R_XTENSA_PDIFF8 | elf::R_XTENSA_PDIFF16 | elf::R_XTENSA_PDIFF32 => Ok(None),
            elf::R_XTENSA_NDIFF8 | elf::R_XTENSA_NDIFF16 | elf::R_XTENSA_NDIFF32 => Ok(None),
            elf::R_XTENSA_32 | elf::R_XTENSA_PLT => self.word(linked),
            elf::R_XTENSA_32_PCREL | elf::R_XTENSA_OP0 | elf::R_XTENSA_OP1 | elf::R_XTENSA_OP2 => {
                self.distance(linked).map(|()| None)
            }
            elf::RelocationType(20..=34) => match self.is_const16(linked)? {
                true => self.half(linked, Kind::Low).map(Some),
                false => self.distance(linked).map(|()| None),
            },
            elf::RelocationType(35..=49) => self.half(linked, Kind::High).map(Some),
            _ => {
                let symbol = linked.symbol_name(self.symbol);
                Err(SplitError::Symbolic { kind: self.name(), site: self.site, symbol })
            }
        }
    }

    /// A word with an address. Its value in the file counts; the addend does not, because relaxation leaves it stale.
    fn word(&self, linked: &Linked<'_>) -> Result<Option<Entry>, SplitError> {
        let bytes = linked.part(self.segment).at(self.site, 4).ok_or(self.bad_site())?;
        let word = bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let site = self.site;
        let symbol = || linked.symbol_name(self.symbol);
        match linked.place(self.symbol) {
            Place::In(segment, _) => {
                // The loader decides by the word alone which way it goes.
                let goes_with = match word.wrapping_add(super::SEPARATION as u32) >= linked.data.base {
                    true => Segment::Data,
                    false => Segment::Code,
                };
                let is_below = segment == Segment::Code && word < linked.code.base;
                if goes_with != segment || is_below {
                    return Err(SplitError::Biased { site, word, symbol: symbol(), segment });
                }
                Ok(Some(Entry { site, kind: Kind::Word, addend: 0 }))
            }
            Place::Undefined { is_weak: true } if word == 0 => Ok(None),
            Place::Constant => match linked.segment_of(word) {
                Some(segment) => Err(SplitError::Absolute { site, word, symbol: symbol(), segment }),
                None => Ok(None),
            },
            Place::Undefined { .. } | Place::Unloaded => {
                Err(SplitError::Undefined { kind: self.name(), site, symbol: symbol() })
            }
        }
    }

    /// Something that stays right as long as both ends move together.
    fn distance(&self, linked: &Linked<'_>) -> Result<(), SplitError> {
        let symbol = || linked.symbol_name(self.symbol);
        match linked.place(self.symbol) {
            Place::In(segment, _) if segment == self.segment => Ok(()),
            Place::Undefined { .. } => {
                Err(SplitError::Undefined { kind: self.name(), site: self.site, symbol: symbol() })
            }
            _ => Err(SplitError::Across {
                kind: self.name(),
                site: self.site,
                from: self.segment,
                symbol: symbol(),
            }),
        }
    }

    /// Half an address in a CONST16. The other half is in another instruction, so symbol and addend must account for
    /// what is there.
    fn half(&self, linked: &Linked<'_>, kind: Kind) -> Result<Entry, SplitError> {
        if !self.is_const16(linked)? || !matches!(self.kind, 20 | 35) {
            let symbol = linked.symbol_name(self.symbol);
            return Err(SplitError::Symbolic { kind: self.name(), site: self.site, symbol });
        }
        let bytes = linked.part(self.segment).at(self.site, 3).ok_or(self.bad_site())?;
        let found = match bytes {
            [_, low, high] => u16::from_le_bytes([*low, *high]),
            _ => 0,
        };
        let Place::In(_, value) = linked.place(self.symbol) else {
            let symbol = linked.symbol_name(self.symbol);
            return Err(SplitError::Undefined { kind: self.name(), site: self.site, symbol });
        };
        let addend = value.wrapping_add(self.addend);
        let expected = match kind {
            Kind::High => (addend >> 16) as u16,
            _ => addend as u16,
        };
        if found != expected {
            let symbol = linked.symbol_name(self.symbol);
            return Err(SplitError::Const16 { site: self.site, found, expected, symbol });
        }
        Ok(Entry { site: self.site, kind, addend })
    }

    /// Whether the instruction is a 24-bit one with op0 4. A pc-relative operand never is.
    fn is_const16(&self, linked: &Linked<'_>) -> Result<bool, SplitError> {
        let bytes = linked.part(self.segment).at(self.site, 1).ok_or(self.bad_site())?;
        Ok(bytes.first().is_some_and(|first| first & 0xf == 4))
    }

    fn bad_site(&self) -> SplitError {
        SplitError::Site { kind: self.name(), site: self.site }
    }

    fn name(&self) -> String {
        match elf::RelocationType(self.kind) {
            elf::R_XTENSA_32 => "R_XTENSA_32".into(),
            elf::R_XTENSA_RTLD => "R_XTENSA_RTLD".into(),
            elf::R_XTENSA_GLOB_DAT => "R_XTENSA_GLOB_DAT".into(),
            elf::R_XTENSA_JMP_SLOT => "R_XTENSA_JMP_SLOT".into(),
            elf::R_XTENSA_RELATIVE => "R_XTENSA_RELATIVE".into(),
            elf::R_XTENSA_PLT => "R_XTENSA_PLT".into(),
            elf::R_XTENSA_32_PCREL => "R_XTENSA_32_PCREL".into(),
            elf::RelocationType(kind @ 20..=34) => format!("R_XTENSA_SLOT{}_OP", kind - 20),
            elf::RelocationType(kind @ 35..=49) => format!("R_XTENSA_SLOT{}_ALT", kind - 35),
            elf::RelocationType(kind) => format!("relocation type {kind}"),
        }
    }
}
