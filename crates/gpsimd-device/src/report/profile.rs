//! What each instruction and each function of one core cost, in the author's terms.
//!
//! Plain data: counts and cycles of the spots add up to the core's, and so do those of the calls. Unaware of how they were
//! counted and of how they are shown.

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
    /// Instructions of library functions that compute with floats.
    pub float_instructions: u64,
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
#[derive(Debug, Default)]
pub struct Estimate {
    so_far: Counters,
}

impl Estimate {
    /// The cycles that the next part adds.
    pub fn next(&mut self, part: Counters) -> u64 {
        let before = self.so_far.cycles();
        self.so_far += part;
        self.so_far.cycles() - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_parts_add_up() {
        let parts = [5, 31, 33, 64, 1].map(|dma_bytes| Counters { dma_bytes, ..Counters::default() });
        let mut estimate = Estimate::default();
        let cycles: u64 = parts.into_iter().map(|part| estimate.next(part)).sum();
        let whole = Counters { dma_bytes: 134, ..Counters::default() };
        assert_eq!(cycles, whole.cycles());
    }
}
