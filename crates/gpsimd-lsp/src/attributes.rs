//! Cache-attribute words: one nibble for each 512 MiB of NX address space.
//!
//! Unaware of segments and sections; only kinds and ranges of memories count. The core has no data cache and reads none
//! of these words; they exist so that symbols agree with packages made by other generators.
//! Facts: spec `lsp-and-memory.md` §4.4.

use crate::map::{MemKind, MemoryMap};

/// Bytes that one nibble describes.
const RANGE: u64 = 0x2000_0000;

/// What a 512 MiB range holds; the nibble follows from this and the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Nothing,
    /// Local RAM or device registers only.
    Uncached,
    /// At least some RAM or ROM on the bus.
    Cacheable,
}

/// Nibble for an address range that must trap.
const ILLEGAL: u32 = 0;
const WRITE_BACK: u32 = 1;
const WRITE_BACK_NO_ALLOCATE: u32 = 2;
const WRITE_THROUGH: u32 = 3;
const BYPASS: u32 = 4;

/// The cache-attribute symbols of one memory map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheAttributes {
    ranges: [Use; 8],
}

impl CacheAttributes {
    /// Classifies the eight ranges.
    pub fn of(map: &MemoryMap) -> CacheAttributes {
        let mut ranges = [Use::Nothing; 8];
        for memory in &map.memories {
            let kind = match memory.kind {
                MemKind::SysRam | MemKind::SysRom => Use::Cacheable,
                MemKind::InstRam | MemKind::DataRam | MemKind::Device => Use::Uncached,
            };
            for (r, range) in ranges.iter_mut().enumerate() {
                let start = r as u64 * RANGE;
                if u64::from(memory.base) < start + RANGE && memory.end() > start && *range != Use::Cacheable
                {
                    *range = kind;
                }
            }
        }
        CacheAttributes { ranges }
    }

    /// Bit r is set iff range r holds mapped memory.
    pub fn region_map(&self) -> u32 {
        self.bits(|_, usage| u32::from(usage != Use::Nothing), 1)
    }

    /// `(symbol, value)` for every word, in the order scripts list them.
    pub fn words(&self) -> Vec<(&'static str, u32)> {
        use Use::*;
        let base = |cached| move |_, usage| [ILLEGAL, BYPASS, cached][usage as usize];
        let trapnull = |cached| {
            move |r, usage| match usage {
                Nothing if r == 0 => ILLEGAL,
                Nothing | Uncached => BYPASS,
                Cacheable => cached,
            }
        };
        let allvalid = |cached| move |_, usage| [BYPASS, BYPASS, cached][usage as usize];
        vec![
            ("wb_base", self.nibbles(base(WRITE_BACK))),
            ("wt_base", self.nibbles(base(WRITE_THROUGH))),
            ("bp_base", self.nibbles(base(BYPASS))),
            ("unused_mask", self.nibbles(|_, usage| if usage == Nothing { 0xf } else { 0 })),
            ("wb_trapnull", self.nibbles(trapnull(WRITE_BACK))),
            ("wba_trapnull", self.nibbles(trapnull(WRITE_BACK))),
            ("wbna_trapnull", self.nibbles(trapnull(WRITE_BACK_NO_ALLOCATE))),
            ("wt_trapnull", self.nibbles(trapnull(WRITE_THROUGH))),
            ("bp_trapnull", self.nibbles(trapnull(BYPASS))),
            ("wb_strict", self.nibbles(base(WRITE_BACK))),
            ("wt_strict", self.nibbles(base(WRITE_THROUGH))),
            ("bp_strict", self.nibbles(base(BYPASS))),
            ("wb_allvalid", self.nibbles(allvalid(WRITE_BACK))),
            ("wt_allvalid", self.nibbles(allvalid(WRITE_THROUGH))),
            ("bp_allvalid", self.nibbles(allvalid(BYPASS))),
        ]
    }

    fn nibbles(&self, value: impl Fn(usize, Use) -> u32) -> u32 {
        self.bits(value, 4)
    }

    fn bits(&self, value: impl Fn(usize, Use) -> u32, width: usize) -> u32 {
        self.ranges.iter().enumerate().fold(0, |word, (r, &usage)| word | (value(r, usage) << (width * r)))
    }
}
