//! Who answers for what one core counts: every instruction, and every way of calls that leads to a function.
//!
//! Both add up to the run's counters exactly, since each gets what was counted since the last time somebody answered.
//! Unaware of names and lines, and of what a count costs.

use std::collections::HashMap;

use xtensa_iss::Tally;

use crate::memory::private::Memory;
use crate::report::counters::Counters;

/// Calls deeper than that are their caller's.
const MOST_DEEP: usize = 512;
/// Ways of calls that are told apart; further ones are their caller's.
const MOST_CALLS: usize = 1 << 16;
/// Moments that are kept.
const MOST_MOMENTS: usize = 1 << 16;
/// Calls deeper than that are in no timeline.
const MOST_SHOWN: usize = 12;
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

/// A function, as it was called from one place on one way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Call {
    /// Its caller; the first call, which stands for the device, is its own.
    pub parent: usize,
    /// Address of its ENTRY.
    pub entry: u32,
    /// Address of the instruction that called it.
    pub site: u32,
    /// How often it was called.
    pub calls: u64,
    /// Counts of itself, without those it calls.
    pub counters: Counters,
}

/// Something that happened at a time: the counts tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// What.
    pub what: Happened,
    /// Counted until it had happened.
    pub counted: Counters,
    /// What of that it took itself.
    pub took: Counters,
}

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// The call at this position began.
    Entered(usize),
    /// The call that began last ended.
    Left,
    /// A transfer, or a window moved.
    Moved,
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
    children: Children,
    /// Calls in progress, innermost last, below the first.
    stack: Vec<usize>,
    /// Calls in progress beyond the limits.
    beyond: usize,
    /// What happened when, in order; only so many, and no calls that are deep.
    moments: Vec<Moment>,
    /// Calls in progress that are among them: the outermost.
    shown: usize,
    /// Instructions so far.
    instructions: u64,
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

    /// What happened when, in order.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Whether more happened than was noted.
    pub fn is_full(&self) -> bool {
        !self.has_room()
    }

    /// Whether something more can be noted; the ends of calls always can.
    fn has_room(&self) -> bool {
        self.moments.len() < MOST_MOMENTS
    }

    fn note(&mut self, what: Happened) {
        let counted = Counters { instructions: self.instructions, ..self.told };
        self.moments.push(Moment { what, counted, took: Counters::default() });
    }

    fn spot(&mut self, pc: u32) -> &mut Spot {
        let at = self.place(pc);
        &mut self.spots[at]
    }

    fn place(&mut self, pc: u32) -> usize {
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
        at
    }

    fn current(&mut self) -> &mut Call {
        let at = self.stack.last().copied().unwrap_or(0);
        &mut self.calls[at]
    }

    /// A function begins, called from `site`.
    #[inline]
    pub(crate) fn entered(&mut self, entry: u32, site: u32) {
        let Some(at) = self.callee(entry, site) else {
            self.beyond += 1;
            return;
        };
        self.stack.push(at);
        self.calls[at].calls += 1;
        if self.shown + 1 == self.stack.len() && self.shown < MOST_SHOWN && self.has_room() {
            self.shown += 1;
            self.note(Happened::Entered(at));
        }
    }

    /// The call from the running function; none beyond the limits.
    #[inline]
    fn callee(&mut self, entry: u32, site: u32) -> Option<usize> {
        let parent = self.stack.last().copied().unwrap_or(0);
        if self.beyond > 0 || self.stack.len() >= MOST_DEEP {
            return None;
        }
        self.children.get((parent, entry, site)).or_else(|| self.first_call(parent, entry, site))
    }

    #[cold]
    fn first_call(&mut self, parent: usize, entry: u32, site: u32) -> Option<usize> {
        let at = self.calls.len();
        if at >= MOST_CALLS {
            return None;
        }
        self.children.insert((parent, entry, site), at);
        self.calls.push(Call { parent, entry, site, ..Call::default() });
        Some(at)
    }

    /// The function entered last ends.
    #[inline]
    pub(crate) fn left(&mut self) {
        match self.beyond.checked_sub(1) {
            Some(fewer) => self.beyond = fewer,
            None => {
                if self.shown > 0 && self.shown == self.stack.len() {
                    self.shown -= 1;
                    self.note(Happened::Left);
                }
                self.stack.pop();
            }
        }
    }

    /// Instructions that ran, each once.
    pub(crate) fn executed(&mut self, pcs: impl Iterator<Item = u32>) {
        let mut count = 0;
        for pc in pcs {
            self.add(pc, 1);
            count += 1;
        }
        self.passed(count);
    }

    /// Instructions that ran; which ones is told later.
    #[inline]
    pub(crate) fn passed(&mut self, instructions: u64) {
        self.instructions += instructions;
        self.current().counters.instructions += instructions;
    }

    /// Accesses that were counted, for which instructions that are told later answer.
    #[inline]
    pub(crate) fn reached(&mut self, loads: u64, stores: u64) {
        self.answered.loads += loads;
        self.answered.stores += stores;
    }

    /// What was told as passed and reached was partly this instruction's.
    pub(crate) fn tallied(&mut self, pc: u32, Tally { instructions, loads, stores }: Tally) {
        self.add(pc, instructions);
        self.spot(pc).counters += Counters { loads, stores, ..Counters::default() };
    }

    /// A function's instructions, all at once.
    pub(crate) fn computed(&mut self, pc: u32, instructions: u64) {
        self.add(pc, instructions);
        self.passed(instructions);
    }

    /// A function that begins, is computed and ends at no time that is noted, called from `site`.
    pub(crate) fn computed_aside(&mut self, entry: u32, site: u32, instructions: u64) {
        self.add(entry, instructions);
        self.instructions += instructions;
        let at = match self.callee(entry, site) {
            Some(at) => {
                self.calls[at].calls += 1;
                at
            }
            None => self.stack.last().copied().unwrap_or(0),
        };
        self.calls[at].counters.instructions += instructions;
    }

    /// What was counted so far, but instructions: the running function answers for the difference.
    #[inline]
    pub(crate) fn settle_call(&mut self, counted: &Counters) {
        let at = self.stack.last().copied().unwrap_or(0);
        counted.give_since(&mut self.told, &mut self.calls[at].counters);
    }

    /// The same for the instruction at `pc`.
    pub(crate) fn settle_spot(&mut self, pc: u32, counted: &Counters) {
        let at = self.place(pc);
        let Counters { window_misses: moves, dma_transfers: transfers, dma_bytes: bytes, .. } = self.answered;
        counted.give_since(&mut self.answered, &mut self.spots[at].counters);
        let now = &self.answered;
        if (now.window_misses, now.dma_transfers) != (moves, transfers) && self.has_room() {
            let took = Counters {
                window_misses: now.window_misses - moves,
                dma_transfers: now.dma_transfers - transfers,
                dma_bytes: now.dma_bytes - bytes,
                ..Counters::default()
            };
            let counted = Counters { instructions: self.instructions, ..*counted };
            self.moments.push(Moment { what: Happened::Moved, counted, took });
        }
    }

    /// A watched function is at `at`, behind its ENTRY. That ran in `stub`, between two stops of the model's: its function
    /// answers for one instruction, where the first stop was, and nobody for the others.
    pub(crate) fn watched(&mut self, at: u32, stub: u32) {
        for pc in [stub, stub.wrapping_add(LEN)] {
            self.uncount(pc);
        }
        self.instructions = self.instructions.saturating_sub(2);
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
        self.instructions = self.instructions.saturating_sub(1);
        let instructions = &mut self.current().counters.instructions;
        *instructions = instructions.saturating_sub(1);
    }

    /// Less than nothing is there for a moment if what ran is told later.
    fn uncount(&mut self, pc: u32) {
        self.add(pc, u64::MAX);
    }

    fn add(&mut self, pc: u32, instructions: u64) {
        let spot = &mut self.spot(pc).counters.instructions;
        *spot = spot.wrapping_add(instructions);
    }
}

/// Caller, ENTRY and place of a call.
type Way = (usize, u32, u32);

/// Ways that are looked for in one place before all are looked through.
const NEAR: usize = 1 << 10;

/// The calls by the ways to them.
#[derive(Debug, Default)]
struct Children {
    all: HashMap<Way, usize>,
    near: Vec<(Way, usize)>,
}

impl Children {
    fn slot((parent, entry, site): Way) -> usize {
        (parent.wrapping_mul(0x9E37) ^ (entry >> 2 ^ site) as usize) % NEAR
    }

    #[inline]
    fn get(&mut self, way: Way) -> Option<usize> {
        match self.near.get(Children::slot(way)) {
            // The first call is nobody's child.
            Some(&(near, call)) if near == way && call != 0 => Some(call),
            _ => self.look(way),
        }
    }

    #[inline(never)]
    fn look(&mut self, way: Way) -> Option<usize> {
        let call = self.all.get(&way).copied()?;
        self.near.resize(NEAR, Default::default());
        self.near[Children::slot(way)] = (way, call);
        Some(call)
    }

    fn insert(&mut self, way: Way, call: usize) {
        self.all.insert(way, call);
    }
}
