//! Loads and stores of one core in each kind of memory, with the checks that belong to it.
//!
//! The straight path for legal accesses to private memory is in [`crate::cores::bus`]; what arrives here is rare or needs a look:
//! tensors, device memory, DMA registers, bookkeeping, and everything illegal. Unaware of NX addresses.

use xtensa_iss::{At, BusFault};

use crate::call::shared::Role;
use crate::cores::bus::{ATTENTION, Bus, Place, Touched, truncate};
use crate::cores::incident::{Actor, History, Near, What};
use crate::memory::heap::Kind;
use crate::memory::ram::{ACCESS, FREED, INIT, LOCKED, REDZONE, Ram, STALE, WATCHED};
use crate::parts::map;
use crate::parts::sdma;

/// Element accesses per sampled call chain.
const SAMPLE_EVERY: u64 = 1024;

/// Bytes before the first one in a redzone; none if there is none.
fn redzone(states: &[u8]) -> usize {
    states.iter().position(|state| state & REDZONE != 0).unwrap_or(0)
}

impl Bus<'_> {
    pub(crate) fn load_soc<const N: usize>(&mut self, at: At, soc: u64) -> Result<[u8; N], BusFault> {
        match self.locate(soc).0 {
            Place::Tensor(region, offset) => self.load_tensor(at, region, offset),
            Place::Scratch(offset) => {
                let value = self.load_ram(Place::Scratch(offset))?;
                self.scratch_element(offset)?;
                Ok(value)
            }
            place @ (Place::Image(_) | Place::Dataram(_)) => self.load_ram(place),
            Place::Apb(offset) => {
                let word =
                    self.queue_register(offset).map_or(0, |(queue, register)| queue.register(register));
                Ok(truncate(word.to_le_bytes()))
            }
            Place::Nowhere => {
                let near = self.near_soc(soc);
                let what = self.outside(near);
                self.report(what, false, Actor::Cpu, near, N)?;
                Ok([0; N])
            }
        }
    }

    /// Outside, or just past a scalar by less than a wider scalar.
    fn outside(&self, near: Near) -> What {
        match near {
            Near::Tensor { region, offset: 0..8 } if self.role(region) == Some(Role::Scalar) => {
                What::ScalarWidth
            }
            _ => What::Outside,
        }
    }

    fn role(&self, region: usize) -> Option<Role> {
        self.view.shared().regions().get(region).map(|region| region.role)
    }

    fn load_tensor<const N: usize>(
        &mut self,
        at: At,
        region: usize,
        offset: usize,
    ) -> Result<[u8; N], BusFault> {
        let role = self.role(region);
        let loaded = self.view.load::<N>(region, offset);
        if loaded.as_ref().is_some_and(|loaded| loaded.initialised < N) {
            self.unwritten()?;
        }
        if role == Some(Role::Scalar) {
            for byte in (offset..offset + N).take_while(|byte| *byte < 8) {
                self.notes.scalar_reads[region] |= 1 << byte;
            }
        } else {
            self.touch(at.pc, region, false, offset, N)?;
            self.count_element()?;
        }
        let Some(loaded) = loaded else {
            // A word whose first bytes are the tensor's last: copy loops read whole words, so this is not an overrun.
            let mut value = [0; N];
            for (i, byte) in value.iter_mut().enumerate() {
                *byte = self.view.load::<1>(region, offset + i).map_or(0, |loaded| loaded.data[0]);
            }
            return Ok(value);
        };
        // All bytes, not any: a partly written word is padding or the end of a copy.
        if loaded.initialised == 0 && !self.quiet {
            match &mut self.touched {
                Some(touched) => touched.blank = true,
                None => self.notes.touches.blank((at.pc, region, false), (offset, offset + N)),
            }
        }
        Ok(loaded.data)
    }

    /// An access to a tensor in the core's own device memory, unless it is the stack.
    fn scratch_element(&mut self, offset: usize) -> Result<(), BusFault> {
        if self.memory.in_hbm_stack(offset) { Ok(()) } else { self.count_element() }
    }

    /// Counts an element access. The call chain of every so many is sampled, to tell where most of them come from.
    fn count_element(&mut self) -> Result<(), BusFault> {
        if self.notes.counters.element_accesses % SAMPLE_EVERY == SAMPLE_EVERY - 1 {
            if !self.lenient {
                return Err(ATTENTION);
            }
            self.sampled = true;
        }
        self.notes.counters.element_accesses += 1;
        Ok(())
    }

    /// Remembers the place of the program that touches a tensor; where it is new, its call chain is asked for.
    fn touch(
        &mut self,
        pc: u32,
        region: usize,
        wrote: bool,
        offset: usize,
        len: usize,
    ) -> Result<(), BusFault> {
        if self.notes.touches.instruction((pc, region, wrote), offset, len) {
            return Ok(());
        }
        if !self.lenient {
            return Err(ATTENTION);
        }
        self.touched =
            Some(Touched { place: (pc, region, wrote), span: (offset, offset + len), blank: false });
        Ok(())
    }

    /// Remembers the place of the program that writes a tensor in the core's own memory.
    fn touch_own(&mut self, pc: u32, offset: usize, len: usize) -> Result<(), BusFault> {
        let (first, size) = self.notes.last_own;
        if offset.wrapping_sub(first) >= size {
            if self.memory.in_hbm_stack(offset) {
                return Ok(());
            }
            let blocks = self.memory.heaps[Kind::Hbm as usize].blocks();
            let Some(block) = blocks.iter().find(|block| block.holds(offset)) else { return Ok(()) };
            self.notes.last_own = (block.offset as usize, block.len as usize);
        }
        let (block, _) = self.notes.last_own;
        let at = offset - block;
        if self.notes.own.instruction((pc, block, true), at, len) {
            return Ok(());
        }
        if !self.lenient {
            return Err(ATTENTION);
        }
        self.touched_own = Some((pc, block, (at, at + len)));
        Ok(())
    }

    /// Who allocated a block of device memory that is written.
    pub(crate) fn note_owner(&mut self, block: usize) {
        let blocks = self.memory.heaps[Kind::Hbm as usize].blocks();
        if let Some(found) = blocks.iter().find(|found| found.offset as usize == block) {
            self.notes.owners.insert(block, found.site.clone());
        }
    }

    pub(crate) fn ram(&mut self, place: Place) -> Option<(&mut Ram, usize)> {
        match place {
            Place::Image(offset) => Some((&mut self.memory.image, offset)),
            Place::Scratch(offset) => Some((&mut self.memory.scratch, offset)),
            Place::Dataram(offset) => Some((&mut self.memory.dataram, offset)),
            Place::Tensor(..) | Place::Apb(_) | Place::Nowhere => None,
        }
    }

    /// Reads the heaps again if `place` is in a pool whose bookkeeping moved on.
    pub(crate) fn refresh(&mut self, place: Place) {
        if !self.memory.stale {
            if let Place::Scratch(_) = place {
                self.memory.open_scratch();
            }
            return;
        }
        let in_pool = |kind: Kind, offset: usize| {
            let (pool, len) = self.memory.heaps[kind as usize].pool();
            map::DATARAM.wrapping_add(offset as u32).wrapping_sub(pool) < len
        };
        let concerned = match place {
            Place::Scratch(_) => true,
            Place::Dataram(offset) => in_pool(Kind::Tcm, offset) || in_pool(Kind::Libc, offset),
            _ => false,
        };
        if concerned {
            self.memory.look_at_heaps();
        }
    }

    pub(crate) fn load_ram<const N: usize>(&mut self, place: Place) -> Result<[u8; N], BusFault> {
        self.refresh(place);
        let Some((ram, offset)) = self.ram(place) else { return Err(BusFault::Unmapped) };
        let (Some(value), Some(states)) = (ram.peek::<N>(offset), ram.states::<N>(offset)) else {
            return Err(BusFault::Unmapped);
        };
        let any = states.iter().fold(0, |any, state| any | state);
        if any & STALE != 0 {
            self.old(place, N)?;
            return Ok(value);
        }
        // A word that is partly the program's is the end of a copy, not a fault.
        let what = match () {
            () if any & REDZONE != 0 => What::Redzone { is_whole: any & ACCESS == 0 },
            () if any & ACCESS == 0 && any & FREED != 0 => What::Freed,
            () if any & ACCESS == 0 => What::Outside,
            () if states.iter().any(|state| state & (ACCESS | INIT) == ACCESS) => {
                self.unwritten()?;
                return Ok(value);
            }
            () => return Ok(value),
        };
        let near = self.near_place(place.skip(redzone(&states)), what);
        self.report_block(what, false, Actor::Cpu, near, N)?;
        Ok(value)
    }

    /// Bytes are read that have become old: static data, or a stream's buffer.
    fn old(&mut self, place: Place, len: usize) -> Result<(), BusFault> {
        let offset = match place {
            Place::Dataram(offset) => offset,
            Place::Image(offset) => {
                let addr = self.memory.image_base.wrapping_add(offset as u32);
                self.report(What::Kept, false, Actor::Cpu, Near::Nx { addr }, len)?;
                self.memory.image.renew(offset, len);
                return Ok(());
            }
            _ => return Ok(()),
        };
        let (near, history) = self.near_place(Place::Dataram(offset), What::Stale);
        let hit = self.notes.streams.at(offset).map(|stream| stream.overwritten.clone()).unwrap_or_default();
        self.report_block(What::Stale, false, Actor::Cpu, (near, History { hit, ..history }), len)?;
        // once for each time that the tensor is written
        if let Near::Block { len, offset: within, .. } = near {
            self.memory.dataram.renew(offset - within as usize, len as usize);
        }
        Ok(())
    }

    pub(crate) fn store_soc<const N: usize>(
        &mut self,
        at: At,
        soc: u64,
        value: [u8; N],
    ) -> Result<(), BusFault> {
        match self.locate(soc).0 {
            Place::Tensor(region, offset) => self.store_tensor(at, region, offset, value),
            Place::Scratch(offset) => {
                self.scratch_element(offset)?;
                self.touch_own(at.pc, offset, N)?;
                self.outdate(Place::Scratch(offset), N)?;
                self.store_ram(Place::Scratch(offset), value)?;
                if let Some(stack) = &mut self.memory.hbm_stack
                    && (offset as u32).wrapping_sub(stack.offset) < stack.len
                {
                    stack.low = stack.low.min(offset as u32);
                }
                Ok(())
            }
            place @ (Place::Image(_) | Place::Dataram(_)) => self.store_ram(place, value),
            Place::Apb(offset) => {
                let word = value
                    .first_chunk::<4>()
                    .map(|bytes| u32::from_le_bytes(*bytes))
                    .ok_or(BusFault::Denied)?;
                self.store_queue_register(offset, word)
            }
            Place::Nowhere => {
                let near = self.near_soc(soc);
                let what = self.outside(near);
                self.report(what, true, Actor::Cpu, near, N)
            }
        }
    }

    fn store_tensor<const N: usize>(
        &mut self,
        at: At,
        region: usize,
        offset: usize,
        value: [u8; N],
    ) -> Result<(), BusFault> {
        let near = Near::Tensor { region, offset: offset as i64 };
        if self.role(region) != Some(Role::Output) {
            self.report(What::Input, true, Actor::Cpu, near, N)?;
        }
        self.touch(at.pc, region, true, offset, N)?;
        self.outdate(Place::Tensor(region, offset), N)?;
        self.count_element()?;
        if !self.view.store(region, offset, value) {
            let end = self.view.shared().regions().get(region).map_or(0, |region| region.byte_len());
            self.report(What::Outside, true, Actor::Cpu, Near::Tensor { region, offset: end as i64 }, N)?;
            for (i, byte) in value.into_iter().enumerate() {
                self.view.store(region, offset + i, [byte]);
            }
        }
        Ok(())
    }

    pub(crate) fn store_ram<const N: usize>(&mut self, place: Place, value: [u8; N]) -> Result<(), BusFault> {
        self.refresh(place);
        let Some((ram, offset)) = self.ram(place) else { return Err(BusFault::Unmapped) };
        let states = ram.states::<N>(offset).ok_or(BusFault::Unmapped)?;
        if states.iter().any(|state| state & STALE != 0) {
            ram.renew(offset, N);
            return self.store_ram(place, value);
        }
        let (any, all) = states.iter().fold((0, !0), |(any, all), state| (any | state, all & state));
        if any & WATCHED != 0 && all & ACCESS != 0 {
            return self.store_bookkeeping(offset, value);
        }
        let what = match () {
            () if any & LOCKED != 0 => What::Code,
            () if any & REDZONE != 0 => What::Redzone { is_whole: true },
            () if all & ACCESS == 0 && any & FREED != 0 => What::Freed,
            () if all & ACCESS == 0 => What::Outside,
            () => {
                ram.poke(offset, &value);
                return Ok(());
            }
        };
        let near = self.near_place(place.skip(redzone(&states)), what);
        self.report_block(what, true, Actor::Cpu, near, N)?;
        // Carried out byte by byte where it does no harm.
        if let Some((ram, offset)) = self.ram(place) {
            for (i, byte) in value.into_iter().enumerate() {
                ram.store(offset + i, [byte]);
            }
        }
        Ok(())
    }

    fn store_bookkeeping<const N: usize>(&mut self, offset: usize, value: [u8; N]) -> Result<(), BusFault> {
        let mut word = [0; 4];
        for (to, from) in word.iter_mut().zip(value) {
            *to = from;
        }
        let addr = map::DATARAM.wrapping_add(offset as u32);
        let handed_out = self.memory.bookkeeping(addr, u32::from_le_bytes(word));
        if handed_out.is_some() {
            if !self.lenient {
                return Err(ATTENTION);
            }
            self.handed_out = handed_out;
        }
        self.memory.dataram.poke(offset, &value);
        Ok(())
    }

    fn queue_register(&mut self, offset: u32) -> Option<(&mut sdma::Queue, u32)> {
        let core = self.memory.core;
        let (m2s, s2m) = (map::m2s_offset(core), map::s2m_offset(core));
        if offset.wrapping_sub(m2s) < sdma::QUEUE_LEN {
            Some((&mut self.memory.sdma.m2s, offset - m2s))
        } else if offset.wrapping_sub(s2m) < sdma::QUEUE_LEN {
            Some((&mut self.memory.sdma.s2m, offset - s2m))
        } else {
            None
        }
    }

    fn store_queue_register(&mut self, offset: u32, value: u32) -> Result<(), BusFault> {
        let lenient = self.lenient;
        let Some((queue, register)) = self.queue_register(offset) else {
            return self.report(
                What::Outside,
                true,
                Actor::Cpu,
                Near::Nx { addr: map::WINDOWS.wrapping_add(offset) },
                4,
            );
        };
        if register != sdma::DOORBELL {
            queue.store(register, value);
            return Ok(());
        }
        // The transfer happens in the repetition, when its incidents can be recorded with the call chain.
        if !lenient {
            return Err(ATTENTION);
        }
        queue.store(register, value);
        self.run_transfers();
        Ok(())
    }
}
