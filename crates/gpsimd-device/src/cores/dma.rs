//! The copies that the DMA engine makes for one core, checked at both ends.
//!
//! Copies carry "nobody wrote this" along instead of reporting it, so that moving a half-filled buffer is fine and
//! only what reaches the output, or is computed with, is reported. Unaware of ring registers.
//! Facts: spec `device-runtime.md` §13.4, §13.9.

use crate::call::shared::Role;
use xtensa_iss::BusFault;

use crate::cores::bus::{ATTENTION, Bus, Place, Transferred};
use crate::cores::incident::{Actor, Near, What};
use crate::cores::streams::Far;
use crate::memory::heap::{Chain, Kind};
use crate::memory::ram::{ACCESS, FREED, INIT, LOCKED, REDZONE, STALE};
use crate::parts::map;
use crate::parts::sdma::{Descriptor, Slot, Stopped};

impl Bus<'_> {
    /// Does every transfer that both queues have a descriptor for.
    pub(crate) fn run_transfers(&mut self) {
        loop {
            let slot = match self.memory.sdma.next_slot() {
                Ok(Some(slot)) => slot,
                Ok(None) => return,
                Err(why) => return self.stopped(why, 0),
            };
            if let Err(addr) = self.transfer(slot) {
                let why = self.memory.sdma.stop(Stopped::BadRing { addr });
                return self.stopped(why, addr);
            }
        }
    }

    fn stopped(&mut self, why: Stopped, addr: u64) {
        let near = self.near_soc(addr);
        // Lenient by construction: doorbells run in the repetition.
        let _ = self.report(What::DmaStopped(why), true, Actor::Dma, near, 0);
    }

    fn transfer(&mut self, slot: Slot) -> Result<(), u64> {
        let tx = Descriptor::decode(self.ring_entry(slot.tx)?);
        let rx_bytes = self.ring_entry(slot.rx)?;
        let rx = Descriptor::decode(rx_bytes);
        let len = tx.len.min(rx.len) as usize;
        let (mut data, mut init) = std::mem::take(&mut self.buffer);
        data.resize(len, 0);
        init.resize(len, false);
        self.begin_transfer();
        self.read(tx.addr, &mut data, &mut init);
        self.write(rx.addr, &data, &init);
        self.buffer = (data, init);
        self.note_stream(tx.addr, rx.addr, len);
        self.notes.counters.dma_transfers += 1;
        self.notes.counters.dma_bytes += len as u64;
        let completion = self.dataram_offset(slot.completion)?;
        self.memory.dataram.poke(completion, &Descriptor::completion(rx_bytes));
        Ok(())
    }

    /// A transfer between a block of TCM and a tensor may be a stream's, and one to a tensor outdates what streams hold.
    fn note_stream(&mut self, from: u64, to: u64, len: usize) {
        let (local, far, writes) = match (self.locate(from).0, self.locate(to).0) {
            (far, Place::Dataram(local)) => (local, far, false),
            (Place::Dataram(local), far) => (local, far, true),
            _ => return,
        };
        let Some((tensor, at)) = self.far(far) else { return };
        let block = self.memory.heaps[Kind::Tcm as usize].blocks().iter().find(|block| block.holds(local));
        if let Some(block) = block {
            self.notes.streams.used(block, local - block.offset as usize, tensor, (at, at + len), writes);
        }
        if writes {
            // Lenient by construction: doorbells run in the repetition.
            let _ = self.outdate(far, len);
            if let Far::Block(block) = tensor {
                let chain: Chain = self.notes.definedness.frames.iter().map(|(pc, _)| *pc).collect();
                self.notes.own.transfer(&chain, (block as usize, true), (at, at + len), None);
                self.note_owner(block as usize);
            }
        }
    }

    /// The tensor that a place in device memory is in, and the offset in it.
    fn far(&self, place: Place) -> Option<(Far, usize)> {
        match place {
            Place::Tensor(region, offset) => Some((Far::Region(region), offset)),
            Place::Scratch(at) => {
                let blocks = self.memory.heaps[Kind::Hbm as usize].blocks();
                let block = blocks.iter().find(|block| block.holds(at))?;
                Some((Far::Block(block.offset), at - block.offset as usize))
            }
            _ => None,
        }
    }

    /// Bytes of a tensor are written: a stream that holds them in its buffer has old ones from now on.
    pub(crate) fn outdate(&mut self, place: Place, len: usize) -> Result<(), BusFault> {
        if self.notes.streams.is_empty() {
            return Ok(());
        }
        let Some((tensor, at)) = self.far(place) else { return Ok(()) };
        if !self.notes.streams.hold(tensor, at, at + len) {
            return Ok(());
        }
        if !self.lenient {
            return Err(ATTENTION);
        }
        let writer: Chain = self.notes.definedness.frames.iter().map(|(pc, _)| *pc).collect();
        for (offset, len) in self.notes.streams.overwrite(tensor, at, at + len, &writer) {
            self.memory.dataram.outdate(offset, len);
        }
        Ok(())
    }

    /// Rings and completions lie in the core's data RAM.
    fn dataram_offset(&mut self, soc: u64) -> Result<usize, u64> {
        match self.locate(soc) {
            (Place::Dataram(offset), _) => Ok(offset),
            _ => Err(soc),
        }
    }

    fn ring_entry(&mut self, soc: u64) -> Result<[u8; 16], u64> {
        let offset = self.dataram_offset(soc)?;
        self.memory.dataram.peek(offset).ok_or(soc)
    }

    fn read(&mut self, soc: u64, data: &mut [u8], init: &mut [bool]) {
        let mut done = 0;
        while done < data.len() {
            let at = soc.wrapping_add(done as u64);
            let (place, reach) = self.locate(at);
            let n = (data.len() - done).min(usize::try_from(reach.max(1)).unwrap_or(usize::MAX));
            let (data, init) = (&mut data[done..done + n], &mut init[done..done + n]);
            let start = done;
            done += n;
            self.refresh(place);
            match place {
                Place::Tensor(region, offset) => {
                    self.view.read_range(region, offset, data, init);
                    self.read_undefined(place, start, init);
                    let first = if holds_all(init) { None } else { init.iter().position(|init| !init) };
                    let blank = first.map(|first| {
                        let last = init.iter().rposition(|init| !init).unwrap_or(first);
                        (offset + first, offset + last + 1)
                    });
                    let span = (offset, offset + n);
                    self.transferred.push(Transferred { region, wrote: false, span, blank });
                }
                Place::Image(offset) | Place::Scratch(offset) | Place::Dataram(offset) => {
                    let ram = match place {
                        Place::Image(_) => &self.memory.image,
                        Place::Scratch(_) => &self.memory.scratch,
                        _ => &self.memory.dataram,
                    };
                    let Some((from, states)) = ram.range(offset, n) else { continue };
                    data.copy_from_slice(from);
                    for (init, state) in init.iter_mut().zip(states) {
                        *init = state & (INIT | ACCESS) != ACCESS;
                    }
                    let is_closed = |state: &u8| state & (ACCESS | STALE) == 0;
                    let any_closed = states.iter().fold(false, |any, state| any | is_closed(state));
                    let bad = if any_closed { states.iter().position(is_closed) } else { None };
                    if let Some(bad) = bad {
                        let count = states.iter().filter(|state| is_closed(state)).count();
                        let what = closed(states[bad]);
                        self.report_ram(what, false, place, bad, count);
                    }
                    self.read_undefined(place, start, init);
                }
                Place::Apb(_) | Place::Nowhere => {
                    data.fill(0);
                    // Reported once, here; not again where the zeros end up.
                    init.fill(true);
                    let near = self.near_soc(at);
                    let _ = self.report(What::Outside, false, Actor::Dma, near, n);
                }
            }
        }
    }

    fn write(&mut self, soc: u64, data: &[u8], init: &[bool]) {
        let mut done = 0;
        while done < data.len() {
            let at = soc.wrapping_add(done as u64);
            let (place, reach) = self.locate(at);
            let n = (data.len() - done).min(usize::try_from(reach.max(1)).unwrap_or(usize::MAX));
            let (data, init) = (&data[done..done + n], &init[done..done + n]);
            let start = done;
            done += n;
            self.refresh(place);
            match place {
                Place::Tensor(region, offset) => {
                    let near = Near::Tensor { region, offset: offset as i64 };
                    if self
                        .view
                        .shared()
                        .regions()
                        .get(region)
                        .is_some_and(|region| region.role != Role::Output)
                    {
                        let _ = self.report(What::Input, true, Actor::Dma, near, n);
                    } else {
                        self.report_transfer((region, offset), start, init);
                    }
                    self.view.write_range(region, offset, data, init);
                    self.write_undefined(place, start, init);
                    let span = (offset, offset + n);
                    self.transferred.push(Transferred { region, wrote: true, span, blank: None });
                }
                Place::Image(offset) | Place::Scratch(offset) | Place::Dataram(offset) => {
                    self.write_ram(place, offset, data, init);
                    self.write_undefined(place, start, init);
                }
                Place::Apb(_) | Place::Nowhere => {
                    let near = self.near_soc(at);
                    let _ = self.report(What::Outside, true, Actor::Dma, near, n);
                }
            }
        }
    }

    fn write_ram(&mut self, place: Place, offset: usize, data: &[u8], init: &[bool]) {
        let ram = match place {
            Place::Image(_) => &mut self.memory.image,
            Place::Scratch(_) => &mut self.memory.scratch,
            _ => &mut self.memory.dataram,
        };
        let Some((to, states)) = ram.range_mut(offset, data.len()) else { return };
        let (mut bad, mut first) = (0, None);
        // values into plain memory, as nearly always: many bytes at once
        let is_plain = |state: u8| state & (STALE | ACCESS | LOCKED) == ACCESS;
        let all_plain = holds_all(init) && states.iter().fold(true, |all, state| all & is_plain(*state));
        if all_plain {
            to.copy_from_slice(data);
            states.iter_mut().for_each(|state| *state |= INIT);
        }
        let one_by_one = if all_plain { 0 } else { data.len() };
        for (i, (state, (to, (from, init)))) in
            states.iter_mut().zip(to.iter_mut().zip(data.iter().zip(init))).enumerate().take(one_by_one)
        {
            if *state & STALE != 0 {
                *state = *state & !STALE | ACCESS;
            }
            if *state & ACCESS == 0 || *state & LOCKED != 0 {
                bad += 1;
                first = first.or(Some((i, *state)));
                continue;
            }
            *to = *from;
            *state = if *init { *state | INIT } else { *state & !INIT };
        }
        if let Place::Image(_) = place {
            self.code_changed = Some((self.memory.image_base.wrapping_add(offset as u32), data.len() as u32));
        }
        if let Some((i, state)) = first {
            let what = if state & LOCKED != 0 { What::Code } else { closed(state) };
            self.report_ram(what, true, place, i, bad);
        }
    }

    fn report_ram(&mut self, what: What, write: bool, place: Place, skip: usize, count: usize) {
        let near = self.near_place(place.skip(skip), what);
        let _ = self.report_block(what, write, Actor::Dma, near, count);
    }
}

/// Whether every byte of a transfer holds a value; looks at many of them at once.
pub(super) fn holds_all(init: &[bool]) -> bool {
    init.chunks(4096).all(|part| part.iter().fold(true, |all, init| all & init))
}

/// Why a byte cannot be accessed.
fn closed(state: u8) -> What {
    match () {
        () if state & REDZONE != 0 => What::Redzone { is_whole: true },
        () if state & FREED != 0 => What::Freed,
        () => What::Outside,
    }
}

/// Whether a SoC address is in any core's data RAM aperture; for explaining accesses to another core's.
pub fn dataram_owner(soc: u64) -> Option<u8> {
    (0..map::CORES as u8).find(|core| soc.wrapping_sub(map::dataram_soc(*core)) < 0x1_0000)
}
