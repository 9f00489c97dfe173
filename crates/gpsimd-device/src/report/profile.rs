//! What each instruction and each function of one core cost, in the author's terms.
//!
//! Plain data: counts and cycles of the spots add up to the core's, and so do those of the calls. Unaware of how they were
//! counted and of how they are shown.

use crate::memory::heap::Kind;
use crate::report::Site;
use crate::report::costs::Costs;
use crate::report::counters::Counters;

/// Who answers for what one core counted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Profile {
    /// Number of the core.
    pub core: u8,
    /// Every instruction that ran, by address; a library function that the host computed is all at its first.
    pub spots: Vec<Spot>,
    /// Every function on every way of calls that led to it, callers first. The first stands for the device.
    pub calls: Vec<Call>,
    /// The same costs by the author's lines, where a library function's are those of the line that led to its call.
    pub lines: Vec<Line>,
    /// Instructions of library functions that compute with floats.
    pub float_instructions: u64,
    /// What happened when, in estimated cycles, in order of the beginnings: calls that are not deep, transfers, window moves.
    #[serde(skip)]
    pub spans: Vec<Span>,
    /// Blocks of the heaps, in the order in which they were handed out; of those given back only the last 256 a heap.
    pub blocks: Vec<Block>,
    /// Whether more happened than is in `spans`.
    #[serde(skip)]
    pub is_cut: bool,
}

/// A block of a heap while it lived.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "BlockLife")]
pub struct Block {
    /// Which heap.
    pub heap: Kind,
    /// Bytes from the start of the heap's memory.
    pub offset: u32,
    /// Its bytes.
    pub len: u32,
    /// Instructions executed when it was handed out.
    pub born: u64,
    /// The same for when it was given back, if it was.
    pub died: Option<u64>,
    /// Where it was allocated.
    pub site: Option<Site>,
}

/// A stretch of a core's time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// What the core did.
    pub what: Doing,
    /// Cycles of the call before it.
    pub begin: u64,
    /// Cycles that it took.
    pub len: u64,
}

/// What a core can be at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// A call: its position among the profile's.
    Call(usize),
    /// Waiting for this many transfers of so many bytes.
    Transfer {
        /// Transfers.
        count: u64,
        /// Bytes.
        bytes: u64,
    },
    /// Moving a window, so often.
    Window(u64),
}

/// What a part of a line's work is for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The author's own instructions.
    Own,
    /// Element accessors.
    Accessor,
    /// Stream accessors.
    Stream,
    /// Copies between device memory and a core.
    Transfer,
    /// Functions that stand in for a unit for `float`.
    Float,
    /// Functions that stand in for one for `double`.
    Double,
    /// Allocating memory and giving it back.
    Memory,
    /// Any other function of a library.
    Library,
}

/// What a line of the author's answers for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Line {
    /// Source file; empty for what no line of the author's led to.
    pub file: String,
    /// Line, from 1; 0 without.
    pub line: u32,
    /// The author's function.
    pub function: String,
    /// What these counts are for.
    pub part: Part,
    /// How often library functions were called for it from here.
    pub calls: u64,
    /// Its counts.
    pub counters: Counters,
    /// Its estimated cycles.
    pub cycles: u64,
}

/// What one instruction answers for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Spot {
    /// Its address.
    pub pc: u32,
    /// The author's function that it is in or inlined into, else the innermost; empty without symbols.
    pub function: String,
    /// Source file of that; empty without line information.
    pub file: String,
    /// Line, from 1; 0 without line information.
    pub line: u32,
    /// Its counts.
    pub counters: Counters,
    /// Its estimated cycles.
    pub cycles: u64,
}

/// What a function answers for, called on one way.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Call {
    /// Position of its caller; none for the first.
    pub parent: Option<usize>,
    /// Its name, or its address without symbols.
    pub function: String,
    /// How often it was called.
    pub calls: u64,
    /// Counts of itself, without those it calls.
    pub counters: Counters,
    /// Estimated cycles of itself.
    pub cycles: u64,
}

/// Estimated cycles of one part after the other. Part by part the estimate would round; their sum is the whole's.
#[derive(Debug)]
pub struct Estimate<'c> {
    so_far: Counters,
    costs: &'c Costs,
}

impl<'c> Estimate<'c> {
    /// Of nothing so far.
    pub fn by(costs: &'c Costs) -> Estimate<'c> {
        Estimate { so_far: Counters::default(), costs }
    }

    /// The cycles that the next part adds.
    pub fn next(&mut self, part: Counters) -> u64 {
        let before = self.so_far.cycles(self.costs);
        self.so_far += part;
        self.so_far.cycles(self.costs) - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_parts_add_up() {
        let parts = [5, 31, 33, 64, 1].map(|dma_bytes| Counters { dma_bytes, ..Counters::default() });
        let costs = Costs::default();
        let mut estimate = Estimate::by(&costs);
        let cycles: u64 = parts.into_iter().map(|part| estimate.next(part)).sum();
        let whole = Counters { dma_bytes: 134, ..Counters::default() };
        assert_eq!(cycles, whole.cycles(&costs));
    }
}
