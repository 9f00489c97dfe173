//! Generations of the hardware and the device regions a library is prelinked into.
//!
//! Unaware of ELF and UCPL; everything here is a table. Facts: spec `prelink.md` §5, §12.3, `load-and-dispatch.md`
//! §1.4, §4.2.

use std::fmt;
use std::str::FromStr;

use crate::result::ResultCode;

/// A range of device addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
pub struct Region {
    /// First device address.
    pub base: u32,
    /// Bytes.
    pub size: u32,
}

impl Region {
    /// Offset of `addr` in the region, if it lies inside.
    pub fn offset_of(self, addr: u32) -> Option<u32> {
        addr.checked_sub(self.base).filter(|&offset| offset < self.size)
    }

    /// First address behind the region; 64 bits, because a region may end at the top of the address space.
    pub fn end(self) -> u64 {
        u64::from(self.base) + u64::from(self.size)
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.base, self.end())
    }
}

/// Where a library's two segments go: the part of the vendor's 64-byte bounds record that the prelinker reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, schemars::JsonSchema)]
pub struct Bounds {
    /// Code region (record offsets 0x10 and 0x18), the tail of instruction memory.
    pub code: Region,
    /// Data region (record offsets 0x30 and 0x38), the tail of data memory.
    pub data: Region,
}

impl Bounds {
    /// Regions of CAYMAN and, because the vendor passes the same table, of every later generation.
    pub const CAYMAN: Bounds = Bounds {
        code: Region { base: 0x1_8000, size: 0x8000 },
        data: Region { base: 0xb_e000, size: 0x2000 },
    };
    /// Regions of SUNDA: a table the vendor ships but never passes.
    pub const SUNDA: Bounds =
        Bounds { code: Region { base: 0x5500, size: 0xab00 }, data: Region { base: 0x8_e000, size: 0x2000 } };

    /// The regions of a coretype (rule R6). What the user should be warned of is [`Generation::never_staged`].
    ///
    /// # Errors
    /// [`ResultCode::Invalid`] for anything but a pool coretype.
    pub fn for_coretype(coretype: u32) -> Result<Bounds, ResultCode> {
        Generation::from_coretype(coretype).map(Generation::bounds).ok_or(ResultCode::Invalid)
    }
}

/// A hardware generation with a pool of eight cores.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Generation {
    /// v2. The vendor's host creates an empty handle for it and never prelinks.
    Sunda,
    /// v3.
    Cayman,
    /// v4.
    Mariana,
    /// v4+.
    MarianaPlus,
    /// v5. Known to the vendor's internal build only; its regions are CAYMAN's by inference, not by evidence.
    Maverick,
}

/// A name that is no generation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("`{found}` is not a generation")]
#[diagnostic(
    code(loader::unknown_generation),
    help(
        "the generations are sunda, cayman, mariana and mariana-plus; maverick is known to the vendor's internal build only"
    )
)]
pub struct UnknownGeneration {
    /// What stood there.
    pub found: String,
}

impl Generation {
    /// All of them, oldest first.
    pub const ALL: [Generation; 5] = [
        Generation::Sunda,
        Generation::Cayman,
        Generation::Mariana,
        Generation::MarianaPlus,
        Generation::Maverick,
    ];

    /// The number by which the vendor's interfaces know the generation's pool cores.
    pub fn coretype(self) -> u32 {
        match self {
            Generation::Sunda => 6,
            Generation::Cayman => 13,
            Generation::Mariana => 21,
            Generation::MarianaPlus => 29,
            Generation::Maverick => 37,
        }
    }

    /// The generation of a pool coretype; other coretype sets (`{2,9,17,25,32}` and so on) are none.
    pub fn from_coretype(coretype: u32) -> Option<Generation> {
        Generation::ALL.into_iter().find(|generation| generation.coretype() == coretype)
    }

    /// The regions to prelink for: SUNDA's own, CAYMAN's for everything later (rule R6).
    pub fn bounds(self) -> Bounds {
        match self {
            Generation::Sunda => Bounds::SUNDA,
            _ => Bounds::CAYMAN,
        }
    }

    /// How many built-in extended-ISA libraries the generation has (`nrtucode_get_num_ext_isa_libs`).
    pub fn num_ext_isa_libs(self) -> usize {
        match self {
            Generation::Sunda => 1,
            _ => 4,
        }
    }

    /// The name users write.
    pub fn name(self) -> &'static str {
        match self {
            Generation::Sunda => "sunda",
            Generation::Cayman => "cayman",
            Generation::Mariana => "mariana",
            Generation::MarianaPlus => "mariana-plus",
            Generation::Maverick => "maverick",
        }
    }

    /// The generations that are a user's choice: those of the runtime that ships.
    pub const OFFERED: [Generation; 4] =
        [Generation::Sunda, Generation::Cayman, Generation::Mariana, Generation::MarianaPlus];

    /// Why no prelinked image ever runs on the generation, if so; said when one is made, and why one is not run.
    pub fn never_staged(self) -> Option<NeverStaged> {
        match self {
            Generation::Sunda => {
                Some(NeverStaged { generation: self, why: "its runtime makes empty handles (coretype 6)" })
            }
            Generation::Maverick => Some(NeverStaged {
                generation: self,
                why: "only the vendor's internal build knows it (coretype 37)",
            }),
            _ => None,
        }
    }
}

/// A generation on which no prelinked image runs: one sentence for whoever builds, prelinks, records or runs one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[error("on {generation} no runtime stages a prelinked image: {why}")]
#[diagnostic(
    code(loader::never_staged),
    help(
        "choose cayman, mariana or mariana-plus; an image made for {generation} shows how it would lie in memory, no more"
    )
)]
pub struct NeverStaged {
    generation: Generation,
    why: &'static str,
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Generation {
    type Err = UnknownGeneration;

    fn from_str(text: &str) -> Result<Generation, UnknownGeneration> {
        Generation::OFFERED
            .into_iter()
            .find(|generation| generation.name() == text)
            .ok_or_else(|| UnknownGeneration { found: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations() {
        // prelink.md §5 and load-and-dispatch.md §1.4: coretype = arch_id + 1
        let rows = [
            ("sunda", 6, Bounds::SUNDA, 1),
            ("cayman", 13, Bounds::CAYMAN, 4),
            ("mariana", 21, Bounds::CAYMAN, 4),
            ("mariana-plus", 29, Bounds::CAYMAN, 4),
            ("maverick", 37, Bounds::CAYMAN, 4),
        ];
        for (name, coretype, bounds, libraries) in rows {
            let generation =
                Generation::ALL.into_iter().find(|generation| generation.name() == name).unwrap();
            let is_offered = Generation::OFFERED.contains(&generation);
            assert_eq!(name.parse().ok(), is_offered.then_some(generation), "{name}");
            assert_eq!(generation.never_staged().is_some(), matches!(name, "sunda" | "maverick"), "{name}");
            assert_eq!(generation.coretype(), coretype, "{name}");
            assert_eq!(Generation::from_coretype(coretype), Some(generation));
            assert_eq!(Bounds::for_coretype(coretype), Ok(bounds), "{name}");
            assert_eq!(generation.num_ext_isa_libs(), libraries, "{name}");
        }
        for coretype in [0, 2, 7, 9, 12, 17, 25, 32, 36, 99] {
            assert_eq!(Generation::from_coretype(coretype), None, "{coretype}");
            assert_eq!(Bounds::for_coretype(coretype), Err(ResultCode::Invalid), "{coretype}");
        }
        assert!("Cayman".parse::<Generation>().is_err());
    }

    #[test]
    fn every_region_is_the_tail_of_its_memory() {
        assert_eq!(Bounds::CAYMAN.code.end(), 0x2_0000);
        assert_eq!(Bounds::CAYMAN.data.end(), 0xc_0000);
        assert_eq!(Bounds::SUNDA.code.end(), 0x1_0000);
        assert_eq!(Bounds::SUNDA.data.end(), 0x9_0000);
    }

    #[test]
    fn offsets_in_a_region() {
        let region = Region { base: 0xffff_ff00, size: 0x100 };
        let rows = [(0xffff_feff, None), (0xffff_ff00, Some(0)), (0xffff_ffff, Some(0xff)), (0, None)];
        for (addr, want) in rows {
            assert_eq!(region.offset_of(addr), want, "{addr:#x}");
        }
    }
}
