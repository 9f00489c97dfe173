//! Where the model puts the blocks that the runtime hands out: apart from each other, freed ones left alone for a while.
//!
//! Who gets memory, and how much, the runtime decides by its own bookkeeping, as on the device; only the place is chosen
//! here. Unaware of heaps and of what blocks hold.

use std::collections::VecDeque;

/// The part of a memory in which blocks are placed.
#[derive(Debug, Clone)]
pub struct Arena {
    start: u32,
    end: u32,
    /// Blocks in address order, freed ones included: first byte, first byte behind.
    taken: Vec<(u32, u32)>,
    /// First bytes of freed blocks, oldest first.
    resting: VecDeque<u32>,
    /// Whether a block has less room around it than was asked for.
    crowded: bool,
}

impl Arena {
    /// Most freed blocks that are left alone.
    const RESTING: usize = 256;

    /// An empty arena from `start` up to `end`.
    pub fn new(start: u32, end: u32) -> Arena {
        Arena { start, end, taken: Vec::new(), resting: VecDeque::new(), crowded: false }
    }

    /// Forgets all blocks.
    pub fn clear(&mut self) {
        *self = Arena::new(self.start, self.end);
    }

    /// Whether a block has less room around it than was asked for.
    pub fn is_crowded(&self) -> bool {
        self.crowded
    }

    /// A place for `len` bytes at a multiple of `align`, with `guard` free bytes on either side. Where there is no such
    /// place, blocks that were freed longest ago are given up, then the guard shrinks.
    pub fn place(&mut self, len: u32, align: u32, guard: u32) -> Option<u32> {
        if let Some(at) = self.fit(len, align, guard) {
            return Some(at);
        }
        while let Some(oldest) = self.resting.pop_front() {
            self.taken.retain(|(start, _)| *start != oldest);
            if let Some(at) = self.fit(len, align, guard) {
                return Some(at);
            }
        }
        self.crowded = true;
        [guard / 4, 0].into_iter().find_map(|guard| self.fit(len, align, guard))
    }

    /// Lets a block rest; its bytes are not handed out again before there is need.
    pub fn rest(&mut self, at: u32) {
        self.resting.push_back(at);
        if self.resting.len() > Self::RESTING
            && let Some(oldest) = self.resting.pop_front()
        {
            self.taken.retain(|(start, _)| *start != oldest);
        }
    }

    fn fit(&mut self, len: u32, align: u32, guard: u32) -> Option<u32> {
        let align = align.max(1).checked_next_power_of_two()?;
        let mut from = self.start;
        for (index, next) in
            self.taken.iter().map(|(start, _)| *start).chain([self.end]).enumerate().collect::<Vec<_>>()
        {
            let at = from.checked_add(guard)?.checked_next_multiple_of(align)?;
            let end = at.checked_add(len)?;
            if end.checked_add(guard)? <= next {
                self.taken.insert(index, (at, end));
                return Some(at);
            }
            from = self.taken.get(index).map_or(self.end, |(_, end)| *end);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_apart_and_aligned() {
        let mut arena = Arena::new(100, 1000);
        let places = [(64, 64), (10, 8), (64, 64)].map(|(len, align)| arena.place(len, align, 32));
        assert_eq!(places, [Some(192), Some(136), Some(320)]);
        assert!(!arena.is_crowded());
    }

    #[test]
    fn freed_blocks_rest_until_there_is_need() {
        let mut arena = Arena::new(0, 400);
        let first = arena.place(100, 4, 20).unwrap();
        let second = arena.place(100, 4, 20).unwrap();
        arena.rest(first);
        assert!(arena.place(100, 4, 20).unwrap() > second, "the freed one is left alone");
        arena.rest(second);
        assert_eq!(arena.place(200, 4, 20), Some(first), "and given up when nothing else is left");
        assert!(!arena.is_crowded());
    }

    #[test]
    fn guards_shrink_before_a_block_is_refused() {
        let mut arena = Arena::new(0, 256);
        assert_eq!(arena.place(120, 8, 64), Some(64));
        assert!(!arena.is_crowded());
        assert_eq!(arena.place(64, 8, 64), Some(0));
        assert!(arena.is_crowded());
        assert_eq!(arena.place(200, 8, 64), None);
    }
}
