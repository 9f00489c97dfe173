//! The bus of one core: routes every load and store to the memory it means, and checks it there.
//!
//! Legal accesses to private memory take a straight path. Anything else is refused first, so that the core stops before
//! the instruction and its call chain can be read; the host then repeats that one instruction with [`Bus::lenient`] set,
//! where the access is recorded as an incident and carried out as harmlessly as possible. Unaware of symbols and reports.
//! Facts: spec `lsp-and-memory.md` §13.1, `device-runtime.md` §9, §10.5.

use xtensa_iss::{At, BusFault, FETCH_BYTES};

use crate::counters::Counters;
use crate::heap::Kind;
use crate::incident::{Actor, Incident, Near, What};
use crate::map;
use crate::memory::Memory;
use crate::ram::{ACCESS, FREED, INIT, LOCKED, Ram, WATCHED};
use crate::registers;
use crate::sdma;
use crate::shared::Role;
use crate::view::View;

/// Asks the host to repeat the instruction leniently.
const ATTENTION: BusFault = BusFault::Device(0);
/// Element accesses per sampled call chain.
const SAMPLE_EVERY: u64 = 1024;

/// What answers at a SoC address, with the bytes up to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A shared tensor: region and offset.
    Tensor(usize, usize),
    /// The core's code image: offset.
    Image(usize),
    /// The core's HBM scratch: offset.
    Scratch(usize),
    /// The core's data RAM: offset.
    Dataram(usize),
    /// DMA registers: offset in the aperture.
    Apb(u32),
    /// Nothing the core may use.
    Nowhere,
}

/// Memory of one core, its view of the tensors, and what it did with both.
pub struct Bus<'a> {
    /// Private memory.
    pub memory: &'a mut Memory,
    /// Shared tensors.
    pub view: View<'a>,
    /// Whether several cores run the call.
    pub multicore: bool,
    /// Whether accesses are being repeated: incidents are recorded and nothing is refused.
    pub lenient: bool,
    /// Incidents of the repeated instruction.
    pub incidents: Vec<Incident>,
    /// Heap and descriptor that the repeated instruction handed out.
    pub handed_out: Option<(Kind, usize)>,
    /// Tensors that DMA transfers of the repeated instruction touched, and whether they wrote.
    pub transferred: Vec<(usize, bool)>,
    /// Code bytes that DMA transfers changed: NX address and length.
    pub code_changed: Option<(u32, u32)>,
    /// Counts.
    pub counters: Counters,
    /// Whether the repeated instruction is one of the element accesses whose call chain is sampled.
    pub sampled: bool,
    /// Per region, which of its first eight bytes were read (scalars only).
    pub scalar_reads: Vec<u8>,
    shared_element: Vec<bool>,
    pub(crate) buffer: (Vec<u8>, Vec<bool>),
}

impl<'a> Bus<'a> {
    /// The bus of a core for one call.
    pub fn new(memory: &'a mut Memory, view: View<'a>, multicore: bool) -> Bus<'a> {
        let regions = view.shared().regions().len();
        Bus {
            memory,
            view,
            multicore,
            lenient: false,
            incidents: Vec::new(),
            handed_out: None,
            transferred: Vec::new(),
            code_changed: None,
            counters: Counters::default(),
            sampled: false,
            scalar_reads: vec![0; regions],
            shared_element: vec![false; regions],
            buffer: Default::default(),
        }
    }

    /// Runs `look` with checks off and leaves no trace of it: for reading the call chain.
    pub fn quietly<R>(&mut self, look: impl FnOnce(&mut Self) -> R) -> R {
        let (counters, lenient, seen) = (self.counters, self.lenient, self.incidents.len());
        self.lenient = true;
        let result = look(self);
        self.counters = counters;
        self.lenient = lenient;
        self.incidents.truncate(seen);
        result
    }

    fn refuse(&mut self, incident: Incident) -> Result<(), BusFault> {
        if !self.lenient {
            return Err(ATTENTION);
        }
        self.incidents.push(incident);
        Ok(())
    }

    pub(crate) fn report(
        &mut self,
        what: What,
        write: bool,
        actor: Actor,
        near: Near,
        len: usize,
    ) -> Result<(), BusFault> {
        self.refuse(Incident { what, write, actor, near, len: len as u32 })
    }

    /// Where a SoC address leads, for this core, and how many bytes from there on lead to the same place.
    pub fn locate(&mut self, soc: u64) -> (Place, u64) {
        if let Some((region, offset)) = self.view.find(soc) {
            let len = self.view.shared().regions().get(region).map_or(0, |region| region.byte_len());
            return (Place::Tensor(region, offset), len - offset as u64);
        }
        let core = self.memory.core;
        let within = |base: u64, len: u64| Some(soc.wrapping_sub(base)).filter(|offset| *offset < len);
        if let Some(offset) = within(map::scratch_soc(core), u64::from(map::SCRATCH_LEN)) {
            return (Place::Scratch(offset as usize), u64::from(map::SCRATCH_LEN) - offset);
        }
        let image = map::block_soc(core) + u64::from(self.memory.image_base - map::BANKS);
        if let Some(offset) = within(image, self.memory.image.size() as u64) {
            return (Place::Image(offset as usize), self.memory.image.size() as u64 - offset);
        }
        if let Some(offset) = within(map::dataram_soc(core), self.memory.dataram.size() as u64) {
            return (Place::Dataram(offset as usize), self.memory.dataram.size() as u64 - offset);
        }
        if let Some(offset) = within(map::APB_BASE, u64::from(map::WINDOW_LEN)) {
            return (Place::Apb(offset as u32), u64::from(map::WINDOW_LEN) - offset);
        }
        (Place::Nowhere, self.view.shared().gap(soc))
    }

    /// What lies near a SoC address in no memory.
    pub(crate) fn near_soc(&self, soc: u64) -> Near {
        match self.view.shared().nearest(soc, map::TENSOR_GUARD) {
            Some((region, _)) => {
                let base = self.view.shared().regions().get(region).map_or(0, |region| region.base);
                Near::Tensor { region, offset: soc.wrapping_sub(base) as i64 }
            }
            None => Near::Soc { addr: soc },
        }
    }

    /// The heap block nearest to an offset in a heap's pool, if the pool covers it.
    pub(crate) fn near_block(&self, kind: Kind, offset: u32) -> Option<Near> {
        let heap = &self.memory.heaps[kind as usize];
        let distance = |block: &crate::heap::Block| {
            let (start, end) = (i64::from(block.offset), i64::from(block.offset) + i64::from(block.len));
            let at = i64::from(offset);
            if at >= end { at - end } else { start - at }
        };
        let block = heap.blocks().iter().min_by_key(|block| distance(block))?;
        Some(Near::Block { heap: kind, len: block.len, offset: i64::from(offset) - i64::from(block.offset) })
    }

    pub(crate) fn near_dataram(&self, offset: usize) -> Near {
        let addr = map::DATARAM.wrapping_add(offset as u32);
        let pool = [Kind::Tcm, Kind::Libc].into_iter().find_map(|kind| {
            let (pool, len) = self.memory.heaps[kind as usize].pool();
            // An overrun of the last block leaves the pool; the data RAM behind it is still best explained by the block.
            let at = addr.wrapping_sub(pool);
            (at < len + 0x400).then(|| self.near_block(kind, at)).flatten()
        });
        pool.unwrap_or(Near::Dataram { addr })
    }

    pub(crate) fn near_scratch(&self, offset: usize) -> Near {
        let soc = map::scratch_soc(self.memory.core) + offset as u64;
        self.near_block(Kind::Hbm, offset as u32).unwrap_or(Near::Soc { addr: soc })
    }

    /// SoC address behind an NX address in a window; `Err(Some(n))` for window `n` never programmed, `Err(None)` outside.
    fn window(&self, addr: u32) -> Result<u64, Option<usize>> {
        let offset = addr.wrapping_sub(map::WINDOWS);
        if offset < map::WINDOW_LEN * map::WINDOW_COUNT as u32 {
            let n = (offset / map::WINDOW_LEN) as usize;
            let base = self.memory.registers.mem_window(n).ok_or(Some(n))?;
            return Ok(base + u64::from(offset % map::WINDOW_LEN));
        }
        let offset = addr.wrapping_sub(map::PINNED);
        if offset < 2 * map::PINNED_LEN {
            let n = (offset / map::PINNED_LEN) as usize;
            return Ok(self.memory.registers.tpb_window(n) + u64::from(offset % map::PINNED_LEN));
        }
        Err(None)
    }

    #[inline(always)]
    fn load<const N: usize>(&mut self, at: At, addr: u32) -> Result<[u8; N], BusFault> {
        if !self.memory.stale {
            let offset = addr.wrapping_sub(map::DATARAM) as usize;
            if let Some(value) = self.memory.dataram.load(offset) {
                self.counters.loads += 1;
                return Ok(value);
            }
        }
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        if let Some(value) = self.memory.image.load(offset) {
            self.counters.loads += 1;
            return Ok(value);
        }
        let value = self.load_elsewhere(at, addr)?;
        self.counters.loads += 1;
        Ok(value)
    }

    #[inline(never)]
    fn load_elsewhere<const N: usize>(&mut self, at: At, addr: u32) -> Result<[u8; N], BusFault> {
        let offset = addr.wrapping_sub(map::DATARAM) as usize;
        if offset < self.memory.dataram.size() {
            return self.load_ram(Place::Dataram(offset));
        }
        let offset = addr.wrapping_sub(map::REGISTERS);
        if offset < map::REGISTERS_LEN {
            if offset == registers::INSN_AVAIL {
                self.memory.note_stack(at.sp);
            }
            let word = if N == 4 { self.memory.registers.load(offset) } else { None };
            return word.map(|word| truncate(word.to_le_bytes())).ok_or(BusFault::Denied);
        }
        if addr < map::DATARAM {
            self.report(What::Null, false, Actor::Cpu, Near::Nx { addr }, N)?;
            return Ok([0; N]);
        }
        let at_firmware = addr.wrapping_sub(map::FIRMWARE) as usize;
        if let Some(bytes) = self.memory.firmware.get(at_firmware..).and_then(|rest| rest.first_chunk::<N>())
        {
            return Ok(*bytes);
        }
        match self.window(addr) {
            Ok(soc) => {
                let value = self.load_soc(soc)?;
                self.counters.window_loads += 1;
                Ok(value)
            }
            Err(Some(_)) => {
                self.report(What::WindowUnset, false, Actor::Cpu, Near::Nx { addr }, N)?;
                Ok([0; N])
            }
            Err(None) => Err(BusFault::Unmapped),
        }
    }

    fn load_soc<const N: usize>(&mut self, soc: u64) -> Result<[u8; N], BusFault> {
        match self.locate(soc).0 {
            Place::Tensor(region, offset) => self.load_tensor(region, offset),
            Place::Scratch(offset) => {
                self.scratch_element(offset)?;
                self.load_ram(Place::Scratch(offset))
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

    fn load_tensor<const N: usize>(&mut self, region: usize, offset: usize) -> Result<[u8; N], BusFault> {
        let near = Near::Tensor { region, offset: offset as i64 };
        let role = self.role(region);
        if role == Some(Role::Scalar) {
            for byte in (offset..offset + N).take_while(|byte| *byte < 8) {
                self.scalar_reads[region] |= 1 << byte;
            }
        } else {
            self.touch_element(near, region, false, N)?;
            self.count_element()?;
        }
        let Some(loaded) = self.view.load::<N>(region, offset) else {
            // A word whose first bytes are the tensor's last: copy loops read whole words, so this is not an overrun.
            let mut value = [0; N];
            for (i, byte) in value.iter_mut().enumerate() {
                *byte = self.view.load::<1>(region, offset + i).map_or(0, |loaded| loaded.data[0]);
            }
            return Ok(value);
        };
        // All bytes, not any: a partly written word is padding or the end of a copy.
        if loaded.initialised == 0 {
            self.report(What::Uninitialised, false, Actor::Cpu, near, N)?;
        }
        Ok(loaded.data)
    }

    /// An access to a tensor in the core's own device memory, unless it is the stack.
    fn scratch_element(&mut self, offset: usize) -> Result<(), BusFault> {
        let stack = self.memory.hbm_stack;
        if stack.is_some_and(|stack| (offset as u32).wrapping_sub(stack.offset) < stack.len) {
            return Ok(());
        }
        self.count_element()
    }

    /// Counts an element access. The call chain of every so many is sampled, to tell where most of them come from.
    fn count_element(&mut self) -> Result<(), BusFault> {
        if self.counters.element_accesses % SAMPLE_EVERY == SAMPLE_EVERY - 1 {
            if !self.lenient {
                return Err(ATTENTION);
            }
            self.sampled = true;
        }
        self.counters.element_accesses += 1;
        Ok(())
    }

    fn touch_element(&mut self, near: Near, region: usize, write: bool, len: usize) -> Result<(), BusFault> {
        if self.multicore && !self.shared_element[region] {
            self.report(What::SharedElement, write, Actor::Cpu, near, len)?;
            self.shared_element[region] = true;
        }
        Ok(())
    }

    fn ram(&mut self, place: Place) -> Option<(&mut Ram, usize)> {
        match place {
            Place::Image(offset) => Some((&mut self.memory.image, offset)),
            Place::Scratch(offset) => Some((&mut self.memory.scratch, offset)),
            Place::Dataram(offset) => Some((&mut self.memory.dataram, offset)),
            Place::Tensor(..) | Place::Apb(_) | Place::Nowhere => None,
        }
    }

    pub(crate) fn near_place(&self, place: Place) -> Near {
        match place {
            Place::Tensor(region, offset) => Near::Tensor { region, offset: offset as i64 },
            Place::Image(offset) => Near::Nx { addr: self.memory.image_base.wrapping_add(offset as u32) },
            Place::Scratch(offset) => self.near_scratch(offset),
            Place::Dataram(offset) => self.near_dataram(offset),
            Place::Apb(offset) => Near::Nx { addr: map::WINDOWS.wrapping_add(offset) },
            Place::Nowhere => Near::Nx { addr: 0 },
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

    fn load_ram<const N: usize>(&mut self, place: Place) -> Result<[u8; N], BusFault> {
        self.refresh(place);
        let Some((ram, offset)) = self.ram(place) else { return Err(BusFault::Unmapped) };
        let (Some(value), Some(states)) = (ram.peek::<N>(offset), ram.states::<N>(offset)) else {
            return Err(BusFault::Unmapped);
        };
        let any = states.iter().fold(0, |any, state| any | state);
        // A word that is partly the program's and partly written is the end of a copy or padding, not a fault.
        let what = match () {
            () if any & ACCESS == 0 && any & FREED != 0 => What::Freed,
            () if any & ACCESS == 0 => What::Outside,
            () if any & INIT == 0 => What::Uninitialised,
            () => return Ok(value),
        };
        let near = self.near_place(place);
        self.report(what, false, Actor::Cpu, near, N)?;
        Ok(value)
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, addr: u32, value: [u8; N]) -> Result<(), BusFault> {
        if !self.memory.stale {
            let offset = addr.wrapping_sub(map::DATARAM) as usize;
            if self.memory.dataram.store(offset, value) {
                self.counters.stores += 1;
                if offset < self.memory.stack_low {
                    self.lower_stack(addr, offset);
                }
                return Ok(());
            }
        }
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        if self.memory.image.store(offset, value) {
            self.counters.stores += 1;
            return Ok(());
        }
        self.store_elsewhere(addr, value)?;
        self.counters.stores += 1;
        Ok(())
    }

    #[inline(always)]
    fn lower_stack(&mut self, addr: u32, offset: usize) {
        if addr >= self.memory.layout.stack_floor {
            self.memory.stack_low = offset;
        }
    }

    #[inline(never)]
    fn store_elsewhere<const N: usize>(&mut self, addr: u32, value: [u8; N]) -> Result<(), BusFault> {
        let offset = addr.wrapping_sub(map::DATARAM) as usize;
        if offset < self.memory.dataram.size() {
            self.store_ram(Place::Dataram(offset), value)?;
            if offset < self.memory.stack_low {
                self.lower_stack(addr, offset);
            }
            return Ok(());
        }
        let offset = addr.wrapping_sub(map::REGISTERS);
        if offset < map::REGISTERS_LEN {
            let word =
                value.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)).ok_or(BusFault::Denied)?;
            return if self.memory.registers.store(offset, word) { Ok(()) } else { Err(BusFault::Unmapped) };
        }
        if addr < map::DATARAM {
            return self.report(What::Null, true, Actor::Cpu, Near::Nx { addr }, N);
        }
        match self.window(addr) {
            Ok(soc) => {
                self.store_soc(soc, value)?;
                self.counters.window_stores += 1;
                Ok(())
            }
            Err(Some(_)) => self.report(What::WindowUnset, true, Actor::Cpu, Near::Nx { addr }, N),
            Err(None) => Err(BusFault::Unmapped),
        }
    }

    fn store_soc<const N: usize>(&mut self, soc: u64, value: [u8; N]) -> Result<(), BusFault> {
        match self.locate(soc).0 {
            Place::Tensor(region, offset) => self.store_tensor(region, offset, value),
            Place::Scratch(offset) => {
                self.scratch_element(offset)?;
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
        region: usize,
        offset: usize,
        value: [u8; N],
    ) -> Result<(), BusFault> {
        let near = Near::Tensor { region, offset: offset as i64 };
        if self.role(region) != Some(Role::Output) {
            self.report(What::Input, true, Actor::Cpu, near, N)?;
        }
        self.touch_element(near, region, true, N)?;
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

    fn store_ram<const N: usize>(&mut self, place: Place, value: [u8; N]) -> Result<(), BusFault> {
        self.refresh(place);
        let Some((ram, offset)) = self.ram(place) else { return Err(BusFault::Unmapped) };
        let states = ram.states::<N>(offset).ok_or(BusFault::Unmapped)?;
        let (any, all) = states.iter().fold((0, !0), |(any, all), state| (any | state, all & state));
        if any & WATCHED != 0 && all & ACCESS != 0 {
            return self.store_bookkeeping(offset, value);
        }
        let what = match () {
            () if any & LOCKED != 0 => What::Code,
            () if all & ACCESS == 0 && any & FREED != 0 => What::Freed,
            () if all & ACCESS == 0 => What::Outside,
            () => {
                ram.poke(offset, &value);
                return Ok(());
            }
        };
        let near = self.near_place(place);
        self.report(what, true, Actor::Cpu, near, N)?;
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

/// The first `N` bytes of a word.
fn truncate<const N: usize>(word: [u8; 4]) -> [u8; N] {
    let mut bytes = [0; N];
    for (to, from) in bytes.iter_mut().zip(word) {
        *to = from;
    }
    bytes
}

impl xtensa_iss::Bus for Bus<'_> {
    #[inline(always)]
    fn load8(&mut self, at: At, addr: u32) -> Result<u8, BusFault> {
        self.load(at, addr).map(|[byte]| byte)
    }
    #[inline(always)]
    fn load16(&mut self, at: At, addr: u32) -> Result<u16, BusFault> {
        self.load(at, addr).map(u16::from_le_bytes)
    }
    #[inline(always)]
    fn load32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.load(at, addr).map(u32::from_le_bytes)
    }
    #[inline(always)]
    fn store8(&mut self, _: At, addr: u32, value: u8) -> Result<(), BusFault> {
        self.store(addr, [value])
    }
    #[inline(always)]
    fn store16(&mut self, _: At, addr: u32, value: u16) -> Result<(), BusFault> {
        self.store(addr, value.to_le_bytes())
    }
    #[inline(always)]
    fn store32(&mut self, _: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.store(addr, value.to_le_bytes())
    }

    #[inline(always)]
    fn literal32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        match self.memory.image.load(offset) {
            Some(value) => Ok(u32::from_le_bytes(value)),
            None => self.load32(at, addr),
        }
    }

    fn fetch(&mut self, addr: u32, into: &mut [u8; FETCH_BYTES]) -> Result<usize, BusFault> {
        let at = addr.wrapping_sub(map::FIRMWARE) as usize;
        let image = addr.wrapping_sub(self.memory.image_base) as usize;
        let bytes = if let Some(rest) = self.memory.firmware.get(at..) {
            rest
        } else if image < self.memory.image.size() {
            let (data, state) =
                self.memory.image.range(image, self.memory.image.size() - image).ok_or(BusFault::Unmapped)?;
            if state.first().is_none_or(|state| state & ACCESS == 0) {
                return Err(BusFault::Unmapped);
            }
            data
        } else {
            return Err(BusFault::Unmapped);
        };
        let n = bytes.len().min(FETCH_BYTES);
        if n == 0 {
            return Err(BusFault::Unmapped);
        }
        into[..n].copy_from_slice(&bytes[..n]);
        Ok(n)
    }
}
