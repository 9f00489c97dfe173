//! Which memory translated code may reach by itself, and under what conditions; everything else goes through the bus.
//!
//! Unaware of instructions and of translation. A bus that says nothing here works all the same, slower.

/// Memories that can be reached.
pub const LAYOUT_MEMORIES: usize = 2;

/// What does not change while a program runs. Another answer than last time makes all code be translated anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layout {
    /// The memories, the one to try first first; they do not overlap.
    pub memories: [Reachable; LAYOUT_MEMORIES],
    /// What the marks say, if every byte has one: they lie behind the values, in the same order.
    pub marks: Option<Marks>,
    /// Offset in the first memory from where on the bus wants to know of stores below all earlier ones ([`Reach::untouched`]).
    pub watermark: Option<u32>,
    /// What becomes of a frame's marks when its function returns; without, nothing is to be told.
    pub frames: Option<Frames>,
    /// Whether code may lie in these memories without being marked against stores.
    pub holds_code: bool,
}

/// One memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reachable {
    /// Its first address, a multiple of 4.
    pub base: u32,
    /// Bytes: a multiple of 4, 0 for none.
    pub len: u32,
}

/// What a byte's mark says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marks {
    /// Bits that are all set where a load is plain.
    pub load: u8,
    /// Bits that matter to a store.
    pub store: u8,
    /// What they are where a store is plain.
    pub storable: u8,
    /// Bits that a store sets.
    pub stored: u8,
}

/// Addresses of the first memory where frames are forgotten by writing a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frames {
    /// First address.
    pub from: u32,
    /// First address behind.
    pub to: u32,
    /// What all marks of a frame become.
    pub mark: u8,
}

/// The memories of a [`Layout`] as they are now.
#[derive(Debug, Default)]
pub struct Reach<'a> {
    /// Values and marks, and how many bytes may be reached: all or none.
    pub memories: [(&'a mut [u8], u32); LAYOUT_MEMORIES],
    /// Bytes from the watermark's floor to the lowest byte stored above it.
    pub untouched: u32,
}
