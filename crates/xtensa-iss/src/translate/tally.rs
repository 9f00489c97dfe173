//! What translated code counts for a profile: how often each of its blocks began, and how often one did less than it would.
//!
//! A counter stands for shares of several instructions. The sums outlast the code. Unaware of how code counts.

use std::collections::HashMap;

use crate::bus::{Bus, Tally};
use crate::isa::{Insn, Op};

/// Most counters at a time.
pub(super) const COUNTERS: usize = 1 << 20;

/// What one instruction gets each time a counter counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    pc: u32,
    instructions: i8,
    loads: i8,
    stores: i8,
}

impl Share {
    /// The instruction ran.
    pub fn ran(insn: &Insn) -> Share {
        let (loads, stores) =
            (accesses(insn.op) == Some(Access::Load), accesses(insn.op) == Some(Access::Store));
        Share { pc: insn.pc, instructions: 1, loads: loads.into(), stores: stores.into() }
    }

    /// It ran without its access, which is counted elsewhere or was refused.
    pub fn without_access(insn: &Insn) -> Share {
        Share { loads: 0, stores: 0, ..Share::ran(insn) }
    }

    /// Its access alone.
    pub fn access(insn: &Insn) -> Share {
        Share { instructions: 0, ..Share::ran(insn) }
    }

    /// As much less.
    pub fn back(self) -> Share {
        let Share { pc, instructions, loads, stores } = self;
        Share { pc, instructions: -instructions, loads: -loads, stores: -stores }
    }
}

/// What of memory an instruction accesses in a way that the bus counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Load,
    Store,
}

/// The access of an instruction that has a translation; literals are not counted.
pub(super) fn accesses(op: Op) -> Option<Access> {
    match op {
        Op::L8ui | Op::L16ui | Op::L16si | Op::L32i | Op::L32iN | Op::L32ai => Some(Access::Load),
        Op::S8i | Op::S16i | Op::S32i | Op::S32iN | Op::S32ri => Some(Access::Store),
        _ => None,
    }
}

/// The counters of all code there is, and the sums of what there was.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    counters: Vec<u64>,
    shares: Vec<Vec<Share>>,
    sums: HashMap<u32, Tally>,
}

impl Tallies {
    /// How many counters there are.
    pub fn len(&self) -> usize {
        self.counters.len()
    }

    /// Where code finds them.
    pub fn counters(&mut self) -> *mut u64 {
        self.counters.as_mut_ptr()
    }

    /// Adds counters, by what each stands for.
    pub fn extend(&mut self, shares: Vec<Vec<Share>>) {
        self.shares.extend(shares);
        self.counters.resize(self.shares.len(), 0);
    }

    /// The code that counts is gone.
    pub fn clear(&mut self) {
        self.sum();
        self.counters.clear();
        self.shares.clear();
    }

    fn sum(&mut self) {
        for (counter, shares) in self.counters.iter_mut().zip(&self.shares) {
            let count = std::mem::take(counter);
            if count == 0 {
                continue;
            }
            for share in shares {
                let sum = self.sums.entry(share.pc).or_default();
                let times = |share: i8| count.wrapping_mul(i64::from(share) as u64);
                sum.instructions = sum.instructions.wrapping_add(times(share.instructions));
                sum.loads = sum.loads.wrapping_add(times(share.loads));
                sum.stores = sum.stores.wrapping_add(times(share.stores));
            }
        }
    }

    /// Tells the bus everything that it has not been told.
    pub fn tell<B: Bus>(&mut self, bus: &mut B) {
        self.sum();
        for (pc, tally) in self.sums.drain() {
            bus.tallied(pc, tally);
        }
    }
}
