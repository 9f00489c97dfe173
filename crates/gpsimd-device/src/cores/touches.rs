//! Places of the program that touch tensors, and which bytes each of them touched.
//!
//! Kept for what can only be judged when all cores have ended: races, gaps, element types. Unaware of names and lines.

use std::collections::HashMap;

use crate::cores::incident::Actor;
use crate::memory::heap::Chain;

/// One place of the program with one tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    /// Where, outermost call last.
    pub chain: Chain,
    /// The tensor.
    pub region: usize,
    /// Whether it wrote.
    pub wrote: bool,
    /// By instruction or by transfer.
    pub actor: Actor,
    /// The first time: first byte and first byte behind.
    pub first: (usize, usize),
    /// First byte touched and first byte behind the last one.
    pub span: (usize, usize),
    /// Runs of bytes that were read before this core, or anybody before the call, had written them.
    pub blank: Vec<(usize, usize)>,
}

impl Touch {
    /// Most runs of blank bytes kept per place.
    const RUNS: usize = 1000;

    fn add_blank(&mut self, (from, to): (usize, usize)) {
        let room = self.blank.len() < Self::RUNS;
        match self.blank.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ if room => self.blank.push((from, to)),
            _ => {}
        }
    }
}

/// What a place is known by before its call chain is.
type Place = (u32, usize, bool);

/// Everything one core touched, in order of first appearance.
#[derive(Debug, Clone, Default)]
pub struct Touches {
    entries: Vec<Touch>,
    instructions: HashMap<Place, usize>,
    transfers: HashMap<(Chain, usize, bool), usize>,
    last: Option<(Place, usize)>,
}

impl Touches {
    /// Most places kept per core.
    const LIMIT: usize = 1000;

    /// An instruction at `pc` touches `len` bytes at `offset`; `false` if the place is new, so that its call chain is wanted.
    #[inline]
    pub fn instruction(&mut self, place: Place, offset: usize, len: usize) -> bool {
        let index = match self.last {
            Some((last, index)) if last == place => index,
            _ => match self.instructions.get(&place) {
                Some(&index) => index,
                None => return self.entries.len() >= Self::LIMIT,
            },
        };
        self.last = Some((place, index));
        if let Some(touch) = self.entries.get_mut(index) {
            touch.span = (touch.span.0.min(offset), touch.span.1.max(offset + len));
        }
        true
    }

    /// A place that [`Touches::instruction`] did not know.
    pub fn found(&mut self, place: Place, chain: Chain, span: (usize, usize)) {
        let (_, region, wrote) = place;
        self.instructions.insert(place, self.entries.len());
        let actor = Actor::Cpu;
        self.entries.push(Touch { chain, region, wrote, actor, first: span, span, blank: Vec::new() });
    }

    /// A transfer touches a tensor; `blank` are the bytes of it that nobody had written.
    pub fn transfer(
        &mut self,
        chain: &[u32],
        (region, wrote): (usize, bool),
        span: (usize, usize),
        blank: Option<(usize, usize)>,
    ) {
        let key = (chain.to_vec(), region, wrote);
        let index = match self.transfers.get(&key) {
            Some(&index) => index,
            None if self.entries.len() >= Self::LIMIT => return,
            None => {
                let (chain, actor) = (key.0.clone(), Actor::Dma);
                self.transfers.insert(key, self.entries.len());
                self.entries.push(Touch {
                    chain,
                    region,
                    wrote,
                    actor,
                    first: span,
                    span,
                    blank: Vec::new(),
                });
                self.entries.len() - 1
            }
        };
        let Some(touch) = self.entries.get_mut(index) else { return };
        touch.span = (touch.span.0.min(span.0), touch.span.1.max(span.1));
        if let Some(run) = blank {
            touch.add_blank(run);
        }
    }

    /// The instruction at a known place reads bytes that nobody had written.
    pub fn blank(&mut self, place: Place, run: (usize, usize)) {
        let touch = self.instructions.get(&place).and_then(|&index| self.entries.get_mut(index));
        if let Some(touch) = touch {
            touch.add_blank(run);
        }
    }

    /// All of them.
    pub fn into_entries(self) -> Vec<Touch> {
        self.entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_apart_and_spans_grow() {
        let mut touches = Touches::default();
        let place = (0x100, 1, true);
        assert!(!touches.instruction(place, 8, 4), "new");
        touches.found(place, vec![0x100, 0x200], (8, 12));
        assert!(touches.instruction(place, 20, 4) && touches.instruction(place, 4, 4));
        for (from, to) in [(0, 4), (4, 8), (16, 20)] {
            touches.transfer(&[0x300], (0, false), (from, to), Some((from, to)));
        }
        let entries = touches.into_entries();
        assert_eq!((entries[0].span, entries[1].span), ((4, 24), (0, 20)));
        assert_eq!(entries[1].blank, [(0, 8), (16, 20)]);
    }
}
