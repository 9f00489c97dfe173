//! The history of a byte: which instructions wrote it, when, from which line.
//!
//! Found by replaying each core from its begin to where it is. Unaware of why somebody asks.

use std::collections::VecDeque;

use gpsimd_device::cores::observed::{Lookout, Range};
use gpsimd_device::cores::paused::Halt;

use crate::engine::Debugger;
use crate::error::DebugError;
use crate::memory::Named;

/// An instruction that wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Write {
    /// The core, by its place among those that take part.
    pub core: usize,
    /// Instructions that the core had executed before.
    pub time: u64,
    /// Its address, and those of the calls around it, outwards.
    pub chain: Vec<u32>,
    /// What was there, and what is there then.
    pub values: (String, String),
}

impl Debugger<'_> {
    /// The instruction that was just executed, and the calls around it.
    pub(crate) fn chain_at(&mut self, core: usize, pc: u32) -> Vec<u32> {
        let levels = self.levels(core);
        std::iter::once(pc).chain(levels.iter().skip(1).map(|level| level.pc)).collect()
    }

    /// Who wrote bytes so far: at most the last `most` writes of each core, and how many there were.
    pub(crate) fn history(&mut self, named: &Named, most: usize) -> (Vec<Write>, u64) {
        let Named { place, len, is_shared } = *named;
        let range = Range { place, len, reads: false, writes: true };
        let lookout = Lookout { ranges: vec![range], ..Lookout::default() };
        let cores: Vec<usize> = if is_shared { (0..self.tracks.len()).collect() } else { vec![self.current] };
        let (mut all, mut count) = (Vec::new(), 0);
        for core in cores {
            let now = self.time(core);
            self.put(core, 0);
            let mut last = VecDeque::new();
            while self.time(core) < now {
                let touched = match self.go(core, &lookout, now) {
                    Halt::Touched(touched) => touched,
                    Halt::Stopped => {
                        self.put(core, now);
                        break;
                    }
                    _ => continue,
                };
                let after = self.session.read(core, place, len);
                let values = (self.shown(place, &touched.before), self.shown(place, &after));
                count += 1;
                let chain = self.chain_at(core, touched.pc);
                last.push_back(Write { core, time: self.time(core) - 1, chain, values });
                if last.len() > most {
                    last.pop_front();
                }
            }
            all.extend(last);
        }
        (all, count)
    }

    /// The history as text, latest first.
    pub(crate) fn why(&mut self, text: &str) -> Result<String, DebugError> {
        const MOST: usize = 4;
        let named = self.named(text)?;
        let (writes, count) = self.history(&named, MOST);
        if writes.is_empty() {
            return Ok(format!("{text}: nothing has written it so far\n"));
        }
        let mut told = String::new();
        for write in writes.iter().rev() {
            let Write { core, time, chain, values: (before, after) } = write;
            told +=
                &format!("{text}: {before} -> {after}, core {} at instruction {time}\n", self.number(*core));
            told += &self.chain_text(*core, chain);
        }
        if count > writes.len() as u64 {
            told += &format!("… {} earlier writes\n", count - writes.len() as u64);
        }
        Ok(told)
    }
}
