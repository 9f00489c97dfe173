//! Windows: where in the 32-bit NX address space one core's image must live.
//!
//! Unaware of ELF, linker scripts and compilers; those import this.
//! Facts: spec `lsp-and-memory.md` §4.1, `toolchain.md` §3.1.

use std::fmt;

use serde::{Deserialize, Serialize};

/// First address of core 0's bank, and of the single-core bank.
const BANK_BASE: u32 = 0x8400_0000;
/// Bytes from one core's bank to the next: 2 MiB.
const BANK_STRIDE: u32 = 0x20_0000;
/// Bytes of the single-core bank: 32 MiB.
const SINGLE_LEN: u32 = 0x200_0000;

/// One of the eight cores of the pool engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct CpuId(u8);

impl CpuId {
    /// How many cores there are; a multicore library has exactly this many images.
    pub const COUNT: usize = 8;

    /// The core numbered `index`, or `None` from 8 on.
    pub const fn new(index: u8) -> Option<CpuId> {
        if index < Self::COUNT as u8 { Some(CpuId(index)) } else { None }
    }

    /// All eight, in order.
    pub fn all() -> impl DoubleEndedIterator<Item = CpuId> + ExactSizeIterator {
        (0..Self::COUNT as u8).map(CpuId)
    }

    /// The number, 0 to 7.
    pub const fn index(self) -> u8 {
        self.0
    }

    /// How far this core's image lies above core 0's, in bytes.
    pub const fn rebase(self) -> u32 {
        self.0 as u32 * BANK_STRIDE
    }
}

impl From<CpuId> for u8 {
    fn from(cpu: CpuId) -> u8 {
        cpu.0
    }
}

impl TryFrom<u8> for CpuId {
    type Error = String;

    fn try_from(index: u8) -> Result<CpuId, String> {
        CpuId::new(index).ok_or_else(|| format!("core {index} does not exist; cores are 0 to 7"))
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cpu{}", self.0)
    }
}

/// Which of the nine link layouts an image is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// One of eight cores, each with its own 2 MiB bank.
    Cpu(CpuId),
    /// One core alone in a 32 MiB bank.
    Single,
}

impl Variant {
    /// All nine: the eight cores in order, then the single-core layout.
    pub fn all() -> impl Iterator<Item = Variant> {
        CpuId::all().map(Variant::Cpu).chain([Variant::Single])
    }

    /// The bank that the image must fit into.
    pub const fn window(self) -> Window {
        match self {
            Variant::Cpu(cpu) => Window { base: BANK_BASE + cpu.rebase(), len: BANK_STRIDE },
            Variant::Single => Window { base: BANK_BASE, len: SINGLE_LEN },
        }
    }

    /// Directory name of the linker support package.
    pub fn lsp_name(self) -> String {
        match self {
            Variant::Cpu(cpu) => format!("lsp_fll_load_{cpu}"),
            Variant::Single => "lsp_fll_load_cpu_single".to_owned(),
        }
    }

    /// What follows the stem in the image's file name; loaders rely on it.
    pub const fn file_suffix(self) -> &'static str {
        const SUFFIXES: [&str; CpuId::COUNT] =
            ["_cpu0", "_cpu1", "_cpu2", "_cpu3", "_cpu4", "_cpu5", "_cpu6", "_cpu7"];
        match self {
            Variant::Cpu(cpu) => SUFFIXES[cpu.0 as usize],
            Variant::Single => "",
        }
    }

    /// The variant that a file name announces: `…_cpuN[.stripped|.packed].so` is core N, everything else single.
    pub fn of_file_name(name: &str) -> Variant {
        let stem = name.strip_suffix(".so").unwrap_or(name);
        let stem = stem.strip_suffix(".stripped").or_else(|| stem.strip_suffix(".packed")).unwrap_or(stem);
        CpuId::all().map(Variant::Cpu).find(|v| stem.ends_with(v.file_suffix())).unwrap_or(Variant::Single)
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Variant::Cpu(cpu) => cpu.fmt(f),
            Variant::Single => f.write_str("single"),
        }
    }
}

impl Serialize for Variant {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl schemars::JsonSchema for Variant {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Variant".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<String> = Variant::all().map(|variant| variant.to_string()).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

impl<'de> Deserialize<'de> for Variant {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Variant, D::Error> {
        let name = String::deserialize(deserializer)?;
        let found = Variant::all().find(|variant| variant.to_string() == name);
        found.ok_or_else(|| serde::de::Error::custom(format!("{name:?} is no variant")))
    }
}

/// A half-open range of NX addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, schemars::JsonSchema)]
pub struct Window {
    /// First address.
    pub base: u32,
    /// Bytes.
    pub len: u32,
}

impl Window {
    /// The vector segment every variant shares: the first 4 KiB of instruction RAM.
    pub const IRAM: Window = Window { base: 0, len: 0x1000 };

    /// First address past the window.
    pub const fn end(self) -> u64 {
        self.base as u64 + self.len as u64
    }

    /// Whether `[start, start + len)` lies wholly inside.
    pub const fn contains(self, start: u64, len: u64) -> bool {
        match start.checked_add(len) {
            Some(end) => start >= self.base as u64 && end <= self.end(),
            None => false,
        }
    }
}

impl fmt::Display for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:#010x}, {:#010x})", self.base, self.end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banks_tile_sixteen_mebibytes() {
        let windows: Vec<Window> = CpuId::all().map(|cpu| Variant::Cpu(cpu).window()).collect();
        assert_eq!(windows[0].base, 0x8400_0000);
        assert!(windows.windows(2).all(|pair| pair[0].end() == u64::from(pair[1].base)));
        assert_eq!(windows[7].end(), 0x8500_0000);
        assert_eq!(Variant::Single.window().to_string(), "[0x84000000, 0x86000000)");
    }

    #[test]
    fn file_names_announce_variants() {
        let cpu = |i| Variant::Cpu(CpuId::new(i).expect("below 8"));
        let rows = [
            ("vector_add_cpu3.so", cpu(3)),
            ("vector_add_cpu7.stripped.so", cpu(7)),
            ("vector_add_cpu0.packed.so", cpu(0)),
            ("vector_add.so", Variant::Single),
            ("vector_add.packed.so", Variant::Single),
            ("x_cpu8.so", Variant::Single),
            ("x_cpu12.so", Variant::Single),
            ("cpu3.so", Variant::Single),
        ];
        for (name, want) in rows {
            assert_eq!(Variant::of_file_name(name), want, "{name}");
        }
    }

    #[test]
    fn window_arithmetic_does_not_wrap() {
        let top = Window { base: 0xffff_f000, len: 0x1000 };
        assert_eq!(top.end(), 1 << 32);
        assert!(top.contains(0xffff_f000, 0x1000));
        assert!(!top.contains(u64::MAX, 2));
    }
}
