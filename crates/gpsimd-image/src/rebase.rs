//! Rebasing: one link for cpu0, eight images, by adding a bank offset to every word that holds an address.
//!
//! Unaware of how the link was run but for its traces: relocations must have been kept (`--emit-relocs`). The words to
//! move are proven from them, never guessed from values; what is not understood is refused, and the caller links again.
//! The result equals a real link for the other core byte for byte, symbols and debug information included, because all
//! that depends on the bank is a 32-bit word: offsets are multiples of 0x200000, distances do not change.
//! Facts: `open-toolchain.md` §6; `lsp-and-memory.md` §4.3, §8.2.

use std::collections::HashSet;

use gpsimd_lsp::{CpuId, Lsp, Variant, Window};
use object::elf;

use crate::elf_file::{ElfFile, Relocation, Section, Symbol};
use crate::error::ImageError;

/// A link for cpu0 with the places of all words that move with the bank.
#[derive(Debug, Clone)]
pub struct Rebase<'d> {
    bytes: &'d [u8],
    places: Places,
}

/// The words of a link that move with the bank, without the link itself: found once, they serve all cores.
#[derive(Debug, Clone)]
pub struct Places {
    /// File offsets of 32-bit words, ascending and disjoint.
    sites: Vec<u32>,
    loaded: usize,
}

impl<'d> Rebase<'d> {
    /// Finds every word of `linked` that moves. `linked` is an unstripped image for cpu0, made with `--emit-relocs`.
    ///
    /// # Errors
    /// Relocations that cannot be proven harmless or plain addresses, words that do not hold what their relocation says,
    /// images that are not cpu0's or kept no relocations.
    pub fn of(linked: &'d [u8]) -> Result<Rebase<'d>, ImageError> {
        let image = ElfFile::parse(linked)?;
        image.require_executable()?;
        Finder::new(&image)?.find()
    }

    /// The image for another core, still with symbols: strip it as a linked one.
    pub fn image_for(&self, cpu: CpuId) -> Vec<u8> {
        self.places.image_for(self.bytes, cpu)
    }

    /// How many words of loaded sections move.
    pub fn loaded_words(&self) -> usize {
        self.places.loaded
    }

    /// What was found.
    pub fn into_places(self) -> Places {
        self.places
    }
}

impl Places {
    /// The image for another core of the link that these are the places of.
    pub fn image_for(&self, linked: &[u8], cpu: CpuId) -> Vec<u8> {
        let mut bytes = linked.to_vec();
        for &site in &self.sites {
            let at = site as usize;
            if let Some(word) = bytes.get_mut(at..at + 4).and_then(|word| <&mut [u8; 4]>::try_from(word).ok())
            {
                *word = u32::from_le_bytes(*word).wrapping_add(cpu.rebase()).to_le_bytes();
            }
        }
        bytes
    }
}

struct Finder<'i, 'd> {
    image: &'i ElfFile<'d>,
    bank: Window,
    /// Absolute symbols of the linker script; those of others are constants that only look like addresses.
    script: HashSet<String>,
    sites: Vec<u32>,
}

impl<'i, 'd> Finder<'i, 'd> {
    fn new(image: &'i ElfFile<'d>) -> Result<Finder<'i, 'd>, ImageError> {
        let cpu0 = CpuId::all().next().map_or(Variant::Single, Variant::Cpu);
        let bank = cpu0.window();
        let refuse = |why: String| Err(ImageError::RebaseInput { why });
        if image.is_stripped() {
            return refuse("it has no symbols".to_owned());
        }
        for (index, segment) in image.loads() {
            if !bank.contains(segment.vaddr.into(), segment.memsz.max(segment.filesz).into()) {
                let (start, end) = (segment.vaddr, segment.end());
                return refuse(format!(
                    "segment {index} [{start:#010x}, {end:#010x}) is outside {bank} of cpu0"
                ));
            }
        }
        let script = Lsp::custom_op(cpu0).symbols().into_iter().collect();
        Ok(Finder { image, bank, script, sites: Vec::new() })
    }

    fn find(mut self) -> Result<Rebase<'d>, ImageError> {
        self.relocations()?;
        self.bss_table()?;
        let loaded = self.sites.len();
        self.unloaded()?;
        self.headers()?;
        self.symbol_table();
        self.sites.sort_unstable();
        if let Some(pair) = self.sites.windows(2).find(|pair| pair[1] - pair[0] < 4) {
            let why = format!("two addresses share the bytes at file offset {:#x}", pair[1]);
            return Err(ImageError::RebaseInput { why });
        }
        Ok(Rebase { bytes: self.image.bytes, places: Places { sites: self.sites, loaded } })
    }

    /// Words of loaded sections.
    fn relocations(&mut self) -> Result<(), ImageError> {
        let mut relocated: HashSet<usize> = HashSet::new();
        for (target, relocation) in self.image.relocations()? {
            let Some(section) = self.image.sections.get(target).filter(|s| s.is_alloc()) else { continue };
            relocated.insert(target);
            let refuse = || ImageError::RebaseRelocation {
                kind: relocation.kind,
                address: relocation.offset,
                section: section.name.to_owned(),
            };
            match Effect::of(relocation.kind).ok_or_else(refuse)? {
                Effect::None => {}
                // Distances within the bank stay; one to anywhere else would not.
                Effect::Relative if self.moves(relocation)? == Some(true) => {}
                Effect::Relative => return Err(refuse()),
                Effect::Address => {
                    if self.moves(relocation)? == Some(true) {
                        self.address(section, relocation)?;
                    }
                }
            }
        }
        let has_code =
            |(_, s): &(usize, &Section<'_>)| s.flags & elf::SHF_EXECINSTR.0 as u32 != 0 && s.size > 0;
        match self.image.sections.iter().enumerate().find(|s| has_code(s) && !relocated.contains(&s.0)) {
            Some((_, section)) => {
                Err(ImageError::RebaseInput { why: format!("{} kept no relocations", section.name) })
            }
            None => Ok(()),
        }
    }

    /// Debug information and tables: the same rule, but a word that does not hold what its relocation says is one that
    /// the linker blanked for a discarded section.
    fn unloaded(&mut self) -> Result<(), ImageError> {
        for (target, relocation) in self.image.relocations()? {
            let Some(section) = self.image.sections.get(target).filter(|s| !s.is_alloc()) else { continue };
            let is_address = matches!(Effect::of(relocation.kind), Some(Effect::Address));
            if is_address && self.moves(relocation)? == Some(true) {
                let offset = relocation.offset.wrapping_sub(section.addr);
                if self.holds_address(word(section.data, offset), relocation) {
                    self.sites.push(section.offset + offset);
                }
            }
        }
        Ok(())
    }

    /// Whether the target of a relocation moves with the bank; `None` for an undefined weak one, whose word is constant.
    fn moves(&self, relocation: Relocation) -> Result<Option<bool>, ImageError> {
        let unproven = |why: String| Err(ImageError::RebaseSite { address: relocation.offset, why });
        if relocation.symbol == 0 {
            return Ok(Some(false));
        }
        let Some(symbol) = self.symbol(relocation.symbol) else {
            return unproven(format!("its symbol {} does not exist", relocation.symbol));
        };
        match symbol.section {
            section if section == elf::SHN_UNDEF.0 && symbol.binding == elf::STB_WEAK.0 => Ok(None),
            section if section == elf::SHN_UNDEF.0 => unproven(format!("`{}` is not defined", symbol.name)),
            section if section == elf::SHN_ABS.0 && !self.is_banked(symbol.value) => Ok(Some(false)),
            section if section == elf::SHN_ABS.0 && self.script.contains(symbol.name) => Ok(Some(true)),
            section if section == elf::SHN_ABS.0 => unproven(format!(
                "`{}` is a constant in the bank's range: {:#010x}",
                symbol.name, symbol.value
            )),
            section => match self.image.sections.get(usize::from(section)) {
                Some(section) => Ok(Some(self.is_placed(section))),
                None => unproven(format!("`{}` is in section {section}, which does not exist", symbol.name)),
            },
        }
    }

    /// A word that must hold the address its relocation names.
    fn address(&mut self, section: &Section<'_>, relocation: Relocation) -> Result<(), ImageError> {
        let offset = relocation.offset.wrapping_sub(section.addr);
        let found = word(section.data, offset);
        if !self.holds_address(found, relocation) {
            let found = found.map_or("nothing".to_owned(), |word| format!("{word:#010x}"));
            let target = self.symbol(relocation.symbol).map_or("?", |symbol| symbol.name);
            let why = format!("it holds {found}, its relocation names `{target}` {:+}", relocation.addend);
            return Err(ImageError::RebaseSite { address: relocation.offset, why });
        }
        self.sites.push(section.offset + offset);
        Ok(())
    }

    /// Whether a word is what the linker made of an address. Against named symbols that is symbol plus addend; against
    /// section symbols GNU as leaves part of the addend in the word, so all that can be asked is that it is in the bank.
    fn holds_address(&self, found: Option<u32>, relocation: Relocation) -> bool {
        match (found, self.symbol(relocation.symbol)) {
            (Some(word), Some(symbol)) if symbol.kind == elf::STT_SECTION.0 => self.is_banked(word),
            (Some(word), Some(symbol)) => word == symbol.value.wrapping_add_signed(relocation.addend),
            _ => false,
        }
    }

    /// The two words that the script writes without a relocation.
    fn bss_table(&mut self) -> Result<(), ImageError> {
        let value = |name| self.image.symbol(name).map(|symbol| symbol.value);
        let (Some(table), Some(end)) = (value("_bss_table_start"), value("_bss_table_end")) else {
            return Err(ImageError::RebaseInput {
                why: "it has no `_bss_table_start` and `_bss_table_end`".into(),
            });
        };
        for (address, name) in [(table, "_bss_start"), (table.wrapping_add(4), "_bss_end")] {
            let why = |why: String| ImageError::RebaseSite { address, why };
            let section = self.image.section_at(address).ok_or_else(|| why("it is in no section".into()))?;
            let offset = address - section.addr;
            if end.wrapping_sub(table) != 8 || word(section.data, offset) != value(name) {
                return Err(why(format!("the bss table does not hold `{name}` there")));
            }
            self.sites.push(section.offset + offset);
        }
        Ok(())
    }

    /// `e_entry`, `p_vaddr` and `p_paddr` of what occupies memory, `sh_addr`, and `r_offset` of kept relocations.
    fn headers(&mut self) -> Result<(), ImageError> {
        const E_ENTRY: u32 = 24;
        let table = |at| word(self.image.bytes, at).unwrap_or_default();
        let (segments, sections) = (table(28), table(32));
        self.sites.push(E_ENTRY);
        for (index, _) in self.image.loads() {
            let header = segments + index as u32 * 32;
            self.sites.extend([header + 8, header + 12]);
        }
        for (index, section) in self.image.sections.iter().enumerate().skip(1) {
            if self.is_placed(section) {
                self.sites.push(sections + index as u32 * 40 + 12);
            }
            let target = self.image.sections.get(section.info as usize);
            let is_moved = section.kind == elf::SHT_RELA.0 && target.is_some_and(|t| t.is_alloc());
            if is_moved {
                let entries = (0..section.size / 12).map(|entry| section.offset + entry * 12);
                let is_banked = |at: &u32| word(self.image.bytes, *at).is_some_and(|a| self.is_banked(a));
                let moved: Vec<u32> = entries.filter(is_banked).collect();
                self.sites.extend(moved);
            }
        }
        Ok(())
    }

    fn symbol_table(&mut self) {
        let Some(table) = self.image.sections.iter().find(|section| section.kind == elf::SHT_SYMTAB.0) else {
            return;
        };
        for (index, symbol) in self.image.symbols.iter().enumerate() {
            let is_moved = match symbol.section {
                section if section == elf::SHN_UNDEF.0 => false,
                section if section == elf::SHN_ABS.0 => {
                    self.script.contains(symbol.name) && self.is_banked(symbol.value)
                }
                section => self.image.sections.get(usize::from(section)).is_some_and(|s| self.is_placed(s)),
            };
            if is_moved {
                self.sites.push(table.offset + (index as u32 + 1) * 16 + 4);
            }
        }
    }

    fn symbol(&self, index: u32) -> Option<&'i Symbol<'d>> {
        self.image.symbols.get((index as usize).checked_sub(1)?)
    }

    /// Whether a section has a place in the bank. Empty ones do, loaded or not, and their symbols move with them.
    fn is_placed(&self, section: &Section<'_>) -> bool {
        section.addr != 0 && self.is_banked(section.addr)
    }

    /// The bank's end counts: tables hold ends.
    fn is_banked(&self, address: u32) -> bool {
        self.bank.contains(address.into(), 0)
    }
}

/// What a relocation type does to its word when everything moves together.
enum Effect {
    /// The word holds an address.
    Address,
    /// An instruction holds a distance.
    Relative,
    /// Nothing: notes to the linker, and differences of two places.
    None,
}

impl Effect {
    fn of(kind: u32) -> Option<Effect> {
        use elf::*;
        match RelocationType(kind) {
            R_XTENSA_32 | R_XTENSA_PLT => Some(Effect::Address),
            R_XTENSA_32_PCREL => Some(Effect::Relative),
            R_XTENSA_NONE | R_XTENSA_ASM_EXPAND | R_XTENSA_ASM_SIMPLIFY => Some(Effect::None),
            R_XTENSA_DIFF8 | R_XTENSA_DIFF16 | R_XTENSA_DIFF32 => Some(Effect::None),
            R_XTENSA_PDIFF8 | R_XTENSA_PDIFF16 | R_XTENSA_PDIFF32 => Some(Effect::None),
            R_XTENSA_NDIFF8 | R_XTENSA_NDIFF16 | R_XTENSA_NDIFF32 => Some(Effect::None),
            _ if (R_XTENSA_SLOT0_OP.0..=R_XTENSA_SLOT14_OP.0).contains(&kind) => Some(Effect::Relative),
            // High halves of addresses in `const16` (SLOTn_ALT), GOT, TLS: not what our compiler leaves.
            _ => None,
        }
    }
}

fn word(bytes: &[u8], at: u32) -> Option<u32> {
    let at = at as usize;
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}
