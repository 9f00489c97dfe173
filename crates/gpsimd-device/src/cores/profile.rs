//! Who answers for what one core counts: every instruction, and every way of calls that leads to a function.
//!
//! Both add up to the run's counters exactly, since each gets what was counted since the last time somebody answered.
//! Unaware of names and lines, and of what a count costs.

use std::collections::HashMap;

use crate::memory::private::Memory;
use crate::report::counters::Counters;

/// Calls deeper than that are their caller's.
const MOST_DEEP: usize = 512;
/// Ways of calls that are told apart; further ones are their caller's.
const MOST_CALLS: usize = 1 << 16;
/// Bytes of ENTRY, and of SIMCALL.
const LEN: u32 = 3;

/// What one instruction answers for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spot {
    /// Its address.
    pub pc: u32,
    /// Its counts.
    pub counters: Counters,
}

/// A function, as it was called on one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Call {
    /// Its caller; the first call, which stands for the device, is its own.
    pub parent: usize,
    /// Address of its ENTRY.
    pub entry: u32,
    /// How often it was called.
    pub calls: u64,
    /// Counts of itself, without those it calls.
    pub counters: Counters,
}

/// Counts of one run, by who answers for them.
#[derive(Debug, Default)]
pub struct Profile {
    base: u32,
    /// One more than the place in `spots`, for every byte of the image.
    index: Vec<u32>,
    /// The same for code elsewhere.
    elsewhere: HashMap<u32, usize>,
    spots: Vec<Spot>,
    calls: Vec<Call>,
    children: HashMap<(usize, u32), usize>,
    /// Calls in progress, innermost last, below the first.
    stack: Vec<usize>,
    /// Calls in progress beyond the limits.
    beyond: usize,
    /// Counted when a spot answered last, and when a call did; instructions are told apart.
    answered: Counters,
    told: Counters,
}

impl Profile {
    /// Of a core about to run.
    pub(crate) fn of(memory: &Memory) -> Profile {
        let index = vec![0; memory.image.size()];
        Profile { base: memory.image_base, index, calls: vec![Call::default()], ..Profile::default() }
    }

    /// What every instruction that ran answers for, by address.
    pub fn spots(&self) -> Vec<Spot> {
        let mut spots: Vec<Spot> =
            self.spots.iter().filter(|spot| spot.counters != Counters::default()).copied().collect();
        spots.sort_unstable_by_key(|spot| spot.pc);
        spots
    }

    /// The functions by way of calls, callers first.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    fn spot(&mut self, pc: u32) -> &mut Spot {
        let next = self.spots.len();
        let at = match self.index.get_mut(pc.wrapping_sub(self.base) as usize) {
            Some(known) => {
                if *known == 0 {
                    *known = next as u32 + 1;
                }
                *known as usize - 1
            }
            None => *self.elsewhere.entry(pc).or_insert(next),
        };
        if at == next {
            self.spots.push(Spot { pc, ..Spot::default() });
        }
        &mut self.spots[at]
    }

    fn current(&mut self) -> &mut Call {
        let at = self.stack.last().copied().unwrap_or(0);
        &mut self.calls[at]
    }

    /// A function begins.
    pub(crate) fn entered(&mut self, entry: u32) {
        let parent = self.stack.last().copied().unwrap_or(0);
        let known = self.children.get(&(parent, entry)).copied();
        if self.beyond > 0
            || self.stack.len() >= MOST_DEEP
            || known.is_none() && self.calls.len() >= MOST_CALLS
        {
            self.beyond += 1;
            return;
        }
        let at = known.unwrap_or_else(|| {
            self.children.insert((parent, entry), self.calls.len());
            self.calls.push(Call { parent, entry, ..Call::default() });
            self.calls.len() - 1
        });
        self.stack.push(at);
        self.calls[at].calls += 1;
    }

    /// The function entered last ends.
    pub(crate) fn left(&mut self) {
        match self.beyond.checked_sub(1) {
            Some(fewer) => self.beyond = fewer,
            None => drop(self.stack.pop()),
        }
    }

    /// Instructions that ran, each once.
    pub(crate) fn executed(&mut self, pcs: impl Iterator<Item = u32>) {
        let mut count = 0;
        for pc in pcs {
            self.spot(pc).counters.instructions += 1;
            count += 1;
        }
        self.current().counters.instructions += count;
    }

    /// A function's instructions, all at once.
    pub(crate) fn computed(&mut self, pc: u32, instructions: u64) {
        self.spot(pc).counters.instructions += instructions;
        self.current().counters.instructions += instructions;
    }

    /// What was counted so far: the difference is the running function's, and the instruction's if one is named.
    pub(crate) fn settle(&mut self, pc: Option<u32>, counted: Counters) {
        let counted = Counters { instructions: 0, ..counted };
        match pc {
            Some(pc) => {
                let since = counted - self.answered;
                self.spot(pc).counters += since;
                self.answered = counted;
            }
            None => {
                let since = counted - self.told;
                self.current().counters += since;
                self.told = counted;
            }
        }
    }

    /// A watched function is at `at`, behind its ENTRY. That ran in `stub`, between two stops of the model's: its function
    /// answers for one instruction, where the first stop was, and nobody for the others.
    pub(crate) fn watched(&mut self, at: u32, stub: u32) {
        for pc in [stub, stub.wrapping_add(LEN)] {
            self.uncount(pc);
        }
        let current = self.stack.last().copied().unwrap_or(0);
        if self.beyond > 0 {
            let instructions = &mut self.calls[current].counters.instructions;
            *instructions = instructions.saturating_sub(2);
            return;
        }
        // The first stop was counted before the call began.
        let parent = self.calls[current].parent;
        for call in [current, parent] {
            let instructions = &mut self.calls[call].counters.instructions;
            *instructions = instructions.saturating_sub(1);
        }
        self.calls[current].entry = at.wrapping_sub(LEN);
    }

    /// A watched function has returned through the stop at `pc`.
    pub(crate) fn unwatched(&mut self, pc: u32) {
        self.uncount(pc);
        let instructions = &mut self.current().counters.instructions;
        *instructions = instructions.saturating_sub(1);
    }

    fn uncount(&mut self, pc: u32) {
        let instructions = &mut self.spot(pc).counters.instructions;
        *instructions = instructions.saturating_sub(1);
    }
}
