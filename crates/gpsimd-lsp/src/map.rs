//! A memory map: memories, the segments cut from them, and which sections each segment takes.
//!
//! Unaware of the text it was read from and of linker scripts. Facts: spec `lsp-and-memory.md` §3.

/// A checked memory map; see [`MemoryMap::parse`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryMap {
    /// `KEY = value` lines in order, with overrides applied.
    pub parameters: Vec<(String, String)>,
    /// Memories in file order.
    pub memories: Vec<Memory>,
    /// Sections that must not be loaded from the file, besides bss.
    pub noload: Vec<String>,
}

/// A contiguous physical memory or device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// Name, used in `_memmap_mem_<name>_*`.
    pub name: String,
    /// What it is made of.
    pub kind: MemKind,
    /// First NX address.
    pub base: u32,
    /// Bytes.
    pub size: u64,
    /// Physical address, when it differs from `base`. Kept, not used: GPSIMD cores translate nothing here.
    pub physical_base: Option<u32>,
    /// Physical size, when it differs from `size`. Kept, not used.
    pub physical_size: Option<u64>,
    /// Declared access.
    pub access: Access,
    /// Segments, in file order.
    pub segments: Vec<Segment>,
}

/// Kind of memory; decides its cache attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemKind {
    /// `instRam`: local instruction memory.
    InstRam,
    /// `dataRam`: local data memory.
    DataRam,
    /// `sysram`: memory on the bus.
    SysRam,
    /// `sysrom`: read-only memory on the bus.
    SysRom,
    /// `device`: registers.
    Device,
}

/// Declared access of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    /// `writable`.
    pub writable: bool,
    /// `executable`.
    pub executable: bool,
    /// `device`.
    pub device: bool,
}

/// A linkable part of a memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Name, used in `<name>_seg`, `<name>_phdr` and `_memmap_seg_<name>_*`.
    pub name: String,
    /// `F` or `C`. Vector segments carry F and general ones C in public maps; nothing here depends on it.
    pub kind: char,
    /// First address.
    pub first: u32,
    /// Last address, **inclusive** as in the file.
    pub last: u32,
    /// Whether the stack starts at this segment's end.
    pub has_stack: bool,
    /// Whether the heap takes what the sections leave.
    pub has_heap: bool,
    /// Input section families in the order their output sections appear.
    pub sections: Vec<String>,
}

impl MemoryMap {
    /// Value of a parameter.
    pub fn parameter(&self, key: &str) -> Option<&str> {
        self.parameters.iter().find(|(k, _)| k == key).map(|(_, v)| v.as_str())
    }

    /// All segments in file order.
    pub fn segments(&self) -> impl Iterator<Item = &Segment> {
        self.memories.iter().flat_map(|memory| &memory.segments)
    }
}

impl Memory {
    /// First address past the memory.
    pub fn end(&self) -> u64 {
        u64::from(self.base) + self.size
    }
}

impl Segment {
    /// First address past the segment.
    pub fn end(&self) -> u64 {
        u64::from(self.last) + 1
    }

    /// Bytes; never 0.
    pub fn size(&self) -> u64 {
        self.end() - u64::from(self.first)
    }
}
