//! Many bytes at once, for copies and fills that the host does on the program's behalf.
//!
//! Only in private memory, and only where every byte would take the straight path of [`crate::cores::bus`]; whatever else
//! there is, the program's own instructions meet it. Unaware of which function it is for.

use std::ops::Range;

use xtensa_iss::Bulk;

use crate::cores::bus::Bus;
use crate::memory::ram::{INIT, Ram, ok_to_load, ok_to_store};
use crate::parts::map;

/// One of the memories that a program reaches without a window, and a part of it.
enum Part {
    Dataram(Range<usize>),
    Image(Range<usize>),
}

impl Bus<'_> {
    /// Does what so many plain accesses would, and counts them; nothing, if one of them is not plain.
    pub(crate) fn move_many(&mut self, what: Bulk, accesses: u64) -> bool {
        let (to, len) = match what {
            Bulk::Copy { to, len, .. } | Bulk::Fill { to, len, .. } => (to, len),
        };
        let Some(target) = self.part(to, len) else { return false };
        if !self.may_store(&target, to, len) {
            return false;
        }
        match what {
            Bulk::Fill { value, .. } => {
                let Some((data, state)) = self.target(&target) else { return false };
                data.fill(value);
                state.iter_mut().for_each(|state| *state |= INIT);
            }
            Bulk::Copy { from, .. } => {
                let Some(source) = self.part(from, len) else { return false };
                let Some(bytes) = self.readable(&source).map(<[u8]>::to_vec) else { return false };
                let Some((data, state)) = self.target(&target) else { return false };
                data.copy_from_slice(&bytes);
                state.iter_mut().for_each(|state| *state |= INIT);
                self.notes.counters.loads += accesses;
            }
        }
        self.notes.counters.stores += accesses;
        if let Part::Dataram(range) = target
            && to >= self.memory.layout.stack_floor
            && range.start < self.memory.stack_guard
        {
            self.memory.stack_low = self.memory.stack_low.min(range.start);
            self.memory.stack_guard = self.memory.stack_low;
        }
        true
    }

    /// Bytes before the first zero, at most `most`, if all are readable; counts the loads.
    pub(crate) fn find_zero(&mut self, addr: u32, most: u64) -> Option<u32> {
        let part = self.part(addr, 1)?;
        let (ram, start) = match &part {
            Part::Dataram(range) => (&self.memory.dataram, range.start),
            Part::Image(range) => (&self.memory.image, range.start),
        };
        let (data, state) = ram.range(start, ram.size() - start)?;
        let within = usize::try_from(most).ok()?.saturating_add(1);
        let len = data.iter().take(within).position(|byte| *byte == 0)?;
        if !state.get(..=len)?.iter().all(|state| ok_to_load([*state])) {
            return None;
        }
        self.notes.counters.loads += len as u64 + 1;
        u32::try_from(len).ok()
    }

    fn part(&self, addr: u32, len: u32) -> Option<Part> {
        let within = |base: u32, ram: &Ram| {
            let start = addr.wrapping_sub(base) as usize;
            let end = start.checked_add(len as usize)?;
            (end <= ram.size()).then_some(start..end)
        };
        match within(map::DATARAM, &self.memory.dataram) {
            // Heaps whose bookkeeping moved on are looked at by the next access.
            Some(_) if self.memory.stale => None,
            Some(range) => Some(Part::Dataram(range)),
            None => within(self.memory.image_base, &self.memory.image).map(Part::Image),
        }
    }

    /// Whether every byte is plain, and the part is not stack at one end and something else at the other.
    fn may_store(&self, part: &Part, to: u32, len: u32) -> bool {
        let floor = self.memory.layout.stack_floor;
        let (ram, range) = match part {
            Part::Dataram(_) if to < floor && to + len > floor => return false,
            // A checked build looks at every store to the stack.
            Part::Dataram(range)
                if to >= floor && self.memory.is_checked && range.start < self.memory.stack_guard =>
            {
                return false;
            }
            Part::Dataram(range) => (&self.memory.dataram, range),
            Part::Image(range) => (&self.memory.image, range),
        };
        let states = ram.range(range.start, range.len());
        states.is_some_and(|(_, states)| states.iter().all(|state| ok_to_store([*state])))
    }

    fn readable(&self, part: &Part) -> Option<&[u8]> {
        let (ram, range) = match part {
            Part::Dataram(range) => (&self.memory.dataram, range),
            Part::Image(range) => (&self.memory.image, range),
        };
        let (data, states) = ram.range(range.start, range.len())?;
        states.iter().all(|state| ok_to_load([*state])).then_some(data)
    }

    fn target(&mut self, part: &Part) -> Option<(&mut [u8], &mut [u8])> {
        match part {
            Part::Dataram(range) => self.memory.dataram.range_mut(range.start, range.len()),
            Part::Image(range) => self.memory.image.range_mut(range.start, range.len()),
        }
    }
}
