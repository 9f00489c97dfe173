//! The bus of one core: routes every load and store to the memory it means, and checks it there.
//!
//! Legal accesses to private memory take a straight path. Anything else is refused first, so that the core stops before
//! the instruction and its call chain can be read; the host then repeats that one instruction with [`Bus::lenient`] set,
//! where the access is recorded as an incident and carried out as harmlessly as possible. Unaware of symbols and reports.
//! Facts: spec `lsp-and-memory.md` §13.1, `device-runtime.md` §9, §10.5.

use xtensa_iss::{At, Bulk, BusFault, FETCH_BYTES, Layout, Reach, Tally, Undefined, Use};

use crate::cores::incident::{Actor, History, Incident, Near, What};
use crate::cores::notes::Notes;
use crate::cores::profile::Profile;
use crate::memory::heap::{Chain, Kind};
use crate::memory::private::Memory;
use crate::memory::ram::{ACCESS, STALE};
use crate::memory::view::View;
use crate::parts::map;
use crate::parts::registers;

/// Asks the host to repeat the instruction leniently.
pub(crate) const ATTENTION: BusFault = BusFault::Device(0);

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

/// A place of the program that touches a tensor for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touched {
    /// Where, which tensor, and whether it writes.
    pub place: (u32, usize, bool),
    /// First byte and first byte behind.
    pub span: (usize, usize),
    /// Whether nobody had written them.
    pub blank: bool,
}

/// What a transfer touched of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transferred {
    /// The tensor.
    pub region: usize,
    /// Whether it wrote.
    pub wrote: bool,
    /// First byte and first byte behind.
    pub span: (usize, usize),
    /// The bytes read that nobody had written, from the first to behind the last.
    pub blank: Option<(usize, usize)>,
}

impl Place {
    /// The place `count` bytes on.
    pub(crate) fn skip(self, count: usize) -> Place {
        match self {
            Place::Image(offset) => Place::Image(offset + count),
            Place::Scratch(offset) => Place::Scratch(offset + count),
            Place::Dataram(offset) => Place::Dataram(offset + count),
            other => other,
        }
    }
}

/// Memory of one core, its view of the tensors, and what it did with both.
pub struct Bus<'a> {
    /// Private memory.
    pub memory: &'a mut Memory,
    /// Shared tensors.
    pub view: View<'a>,
    /// What outlasts an instruction.
    pub notes: Notes,
    /// Whether several cores run the call.
    pub multicore: bool,
    /// Whether accesses are being repeated: incidents are recorded and nothing is refused.
    pub lenient: bool,
    /// Whether nothing is to be noticed: the host looks at the call chain.
    pub quiet: bool,
    /// Incidents of the repeated instruction, each with what is known of the memory concerned, and with the call chain that
    /// is to be blamed, if that is not the instruction's own.
    pub incidents: Vec<(Incident, History, Chain)>,
    /// Heap and descriptor that the repeated instruction handed out.
    pub handed_out: Option<(Kind, usize)>,
    /// What DMA transfers of the repeated instruction touched of tensors.
    pub transferred: Vec<Transferred>,
    /// A place that writes a tensor in the core's own memory, which the repeated instruction is, with the bytes it touches.
    pub touched_own: Option<(u32, usize, (usize, usize))>,
    /// A place that touches a tensor, which the repeated instruction is, with the bytes it touches.
    pub touched: Option<Touched>,
    /// Code bytes that DMA transfers changed: NX address and length.
    pub code_changed: Option<(u32, u32)>,
    /// Who is to answer for them, if that was asked.
    pub profile: Option<Box<Profile>>,
    /// Whether the repeated instruction is one of the element accesses whose call chain is sampled.
    pub sampled: bool,
    pub(crate) buffer: (Vec<u8>, Vec<bool>),
}

impl<'a> Bus<'a> {
    /// The bus of a core for one call.
    pub fn new(memory: &'a mut Memory, view: View<'a>, multicore: bool) -> Bus<'a> {
        let regions = view.shared().regions().len();
        Bus {
            memory,
            view,
            notes: Notes::of(regions),
            multicore,
            lenient: false,
            quiet: false,
            incidents: Vec::new(),
            handed_out: None,
            transferred: Vec::new(),
            touched_own: None,
            touched: None,
            code_changed: None,
            profile: None,
            sampled: false,
            buffer: Default::default(),
        }
    }

    /// Runs `look` with checks off and leaves no trace of it: for reading the call chain.
    pub fn quietly<R>(&mut self, look: impl FnOnce(&mut Self) -> R) -> R {
        let (counters, lenient, seen) = (self.notes.counters, self.lenient, self.incidents.len());
        (self.lenient, self.quiet) = (true, true);
        let profile = self.profile.take();
        let result = look(self);
        (self.notes.counters, self.profile) = (counters, profile);
        (self.lenient, self.quiet) = (lenient, false);
        self.incidents.truncate(seen);
        result
    }

    /// Refuses an access, or records it in the repetition.
    pub(crate) fn report(
        &mut self,
        what: What,
        write: bool,
        actor: Actor,
        near: Near,
        len: usize,
    ) -> Result<(), BusFault> {
        self.report_block(what, write, actor, (near, History::default()), len)
    }

    /// As [`Bus::report`], with the history of the block concerned.
    pub(crate) fn report_block(
        &mut self,
        what: What,
        write: bool,
        actor: Actor,
        (near, history): (Near, History),
        len: usize,
    ) -> Result<(), BusFault> {
        if !self.lenient {
            return Err(ATTENTION);
        }
        self.incidents.push((Incident { what, write, actor, near, len: len as u32 }, history, Chain::new()));
        Ok(())
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
        // Nothing but the core itself sees a split-load library: it lies below the banks.
        let bank = self.memory.image_base.checked_sub(map::BANKS);
        if let Some(offset) = bank
            .map(|bank| map::block_soc(core) + u64::from(bank))
            .and_then(|image| within(image, self.memory.image.size() as u64))
        {
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

    /// SoC address behind an NX address in a window; `Err(Some(n))` for window `n` never programmed, `Err(None)` outside.
    pub(crate) fn window(&self, addr: u32) -> Result<u64, Option<usize>> {
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

    /// Offset of an address in the image, if that is a split-load library, which no window shows.
    fn split_library(&self, addr: u32) -> Option<usize> {
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        (self.memory.image_base < map::BANKS && offset < self.memory.image.size()).then_some(offset)
    }

    /// Offset in the image of static data that a call before has changed.
    fn old_static_data<const N: usize>(&self, addr: u32) -> Option<usize> {
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        let states = self.memory.image.states::<N>(offset)?;
        states.iter().any(|state| state & STALE != 0).then_some(offset)
    }

    /// The instruction at `pc` answers for what was counted since the last time.
    #[inline(always)]
    fn blame(&mut self, pc: u32) {
        if self.profile.is_some() {
            self.settle_spot(pc);
        }
    }

    #[inline(never)]
    pub(crate) fn settle_spot(&mut self, pc: u32) {
        if let Some(profile) = &mut self.profile {
            self.notes.counters.window_misses = self.memory.registers.reprogrammed();
            profile.settle_spot(pc, &self.notes.counters);
        }
    }

    /// The running function answers for what was counted since the last time.
    #[inline(always)]
    pub(crate) fn settle_call(&mut self) {
        if let Some(profile) = &mut self.profile {
            self.notes.counters.window_misses = self.memory.registers.reprogrammed();
            profile.settle_call(&self.notes.counters);
        }
    }

    #[inline(always)]
    fn load<const N: usize>(&mut self, at: At, addr: u32) -> Result<[u8; N], BusFault> {
        if !self.memory.stale {
            let offset = addr.wrapping_sub(map::DATARAM) as usize;
            if let Some(value) = self.memory.dataram.load(offset) {
                self.notes.counters.loads += 1;
                self.blame(at.pc);
                return Ok(value);
            }
        }
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        if let Some(value) = self.memory.image.load(offset) {
            self.notes.counters.loads += 1;
            self.blame(at.pc);
            return Ok(value);
        }
        let value = self.load_elsewhere(at, addr)?;
        self.notes.counters.loads += 1;
        self.blame(at.pc);
        Ok(value)
    }

    #[inline(never)]
    fn load_elsewhere<const N: usize>(&mut self, at: At, addr: u32) -> Result<[u8; N], BusFault> {
        let offset = addr.wrapping_sub(map::DATARAM) as usize;
        if offset < self.memory.dataram.size() {
            return self.load_ram(Place::Dataram(offset));
        }
        if let Some(offset) = self.old_static_data::<N>(addr) {
            return self.load_ram(Place::Image(offset));
        }
        let offset = addr.wrapping_sub(map::REGISTERS);
        if offset < map::REGISTERS_LEN {
            if offset == registers::INSN_AVAIL {
                self.memory.note_stack(at.sp);
            }
            let word = if N == 4 { self.memory.registers.load(offset) } else { None };
            return word.map(|word| truncate(word.to_le_bytes())).ok_or(BusFault::Denied);
        }
        if let Some(offset) = self.split_library(addr) {
            return self.load_ram(Place::Image(offset));
        }
        if addr < map::DATARAM {
            self.report(What::Null, false, Actor::Cpu, Near::Nx { addr }, N)?;
            return Ok([0; N]);
        }
        let at_firmware = addr.wrapping_sub(self.memory.firmware_base) as usize;
        if let Some(bytes) = self.memory.firmware.get(at_firmware..).and_then(|rest| rest.first_chunk::<N>())
        {
            return Ok(*bytes);
        }
        match self.window(addr) {
            Ok(soc) => {
                let value = self.load_soc(at, soc)?;
                self.notes.counters.window_loads += 1;
                Ok(value)
            }
            Err(Some(_)) => {
                self.report(What::WindowUnset, false, Actor::Cpu, Near::Nx { addr }, N)?;
                Ok([0; N])
            }
            Err(None) => Err(BusFault::Unmapped),
        }
    }

    #[inline(always)]
    fn store<const N: usize>(&mut self, at: At, addr: u32, value: [u8; N]) -> Result<(), BusFault> {
        if !self.memory.stale {
            let offset = addr.wrapping_sub(map::DATARAM) as usize;
            if self.memory.dataram.store(offset, value) {
                if offset < self.memory.stack_guard && addr >= self.memory.layout.stack_floor {
                    self.note_low_store(at, addr, N)?;
                }
                self.notes.counters.stores += 1;
                self.blame(at.pc);
                return Ok(());
            }
        }
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        if self.memory.image.store(offset, value) {
            self.notes.counters.stores += 1;
            self.blame(at.pc);
            return Ok(());
        }
        self.store_elsewhere(at, addr, value)?;
        self.notes.counters.stores += 1;
        self.blame(at.pc);
        Ok(())
    }

    /// A store to the stack that is lower than all before it; in a checked build any one, which must not be to a frame that
    /// has ended. Bytes right below the stack pointer are the caller's save area.
    #[inline(never)]
    fn note_low_store(&mut self, at: At, addr: u32, len: usize) -> Result<(), BusFault> {
        const SAVE_AREA: u32 = 16;
        let memory = &mut *self.memory;
        memory.stack_low = memory.stack_low.min(addr.wrapping_sub(map::DATARAM) as usize);
        if !memory.is_checked {
            memory.stack_guard = memory.stack_low;
            return Ok(());
        }
        let is_local = (memory.layout.stack_floor..memory.layout.stack_top).contains(&at.sp);
        if !is_local || addr >= at.sp.saturating_sub(SAVE_AREA) || self.quiet {
            return Ok(());
        }
        self.report(What::Below, true, Actor::Cpu, Near::Stack { addr }, len)
    }

    #[inline(never)]
    fn store_elsewhere<const N: usize>(&mut self, at: At, addr: u32, value: [u8; N]) -> Result<(), BusFault> {
        if let Some(offset) = self.old_static_data::<N>(addr) {
            return self.store_ram(Place::Image(offset), value);
        }
        let offset = addr.wrapping_sub(map::DATARAM) as usize;
        if offset < self.memory.dataram.size() {
            self.store_ram(Place::Dataram(offset), value)?;
            if offset < self.memory.stack_guard && addr >= self.memory.layout.stack_floor {
                self.note_low_store(at, addr, N)?;
            }
            return Ok(());
        }
        let offset = addr.wrapping_sub(map::REGISTERS);
        if offset < map::REGISTERS_LEN {
            let word =
                value.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes)).ok_or(BusFault::Denied)?;
            return if self.memory.registers.store(offset, word) { Ok(()) } else { Err(BusFault::Unmapped) };
        }
        if let Some(offset) = self.split_library(addr) {
            return self.store_ram(Place::Image(offset), value);
        }
        if addr < map::DATARAM {
            return self.report(What::Null, true, Actor::Cpu, Near::Nx { addr }, N);
        }
        match self.window(addr) {
            Ok(soc) => {
                self.store_soc(at, soc, value)?;
                self.notes.counters.window_stores += 1;
                Ok(())
            }
            Err(Some(_)) => self.report(What::WindowUnset, true, Actor::Cpu, Near::Nx { addr }, N),
            Err(None) if self.memory.store_shadow(addr, &value) => Ok(()),
            Err(None) => Err(BusFault::Unmapped),
        }
    }
}

/// The first `N` bytes of a word.
pub(crate) fn truncate<const N: usize>(word: [u8; 4]) -> [u8; N] {
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
    fn store8(&mut self, at: At, addr: u32, value: u8) -> Result<(), BusFault> {
        self.store(at, addr, [value])
    }
    #[inline(always)]
    fn store16(&mut self, at: At, addr: u32, value: u16) -> Result<(), BusFault> {
        self.store(at, addr, value.to_le_bytes())
    }
    #[inline(always)]
    fn store32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.store(at, addr, value.to_le_bytes())
    }

    #[inline(always)]
    fn literal32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        match self.memory.image.load(offset) {
            Some(value) => Ok(u32::from_le_bytes(value)),
            None => self.load32(at, addr),
        }
    }

    fn bulk(&mut self, what: Bulk, accesses: u64) -> bool {
        self.move_many(what, accesses)
    }

    fn length(&mut self, addr: u32, most: u64) -> Option<u32> {
        self.find_zero(addr, most)
    }

    #[inline(always)]
    fn is_profiled(&self) -> bool {
        self.profile.is_some()
    }

    #[inline(always)]
    fn is_timed(&self) -> bool {
        self.profile.as_ref().is_none_or(|profile| !profile.is_full())
    }

    #[inline(always)]
    fn entered(&mut self, pc: u32, site: u32) {
        self.settle_call();
        self.profile.iter_mut().for_each(|profile| profile.entered(pc, site));
    }

    fn executed(&mut self, pcs: impl Iterator<Item = u32>) {
        if let Some(profile) = &mut self.profile {
            profile.executed(pcs);
        }
    }

    #[inline(always)]
    fn passed(&mut self, instructions: u64) {
        self.profile.iter_mut().for_each(|profile| profile.passed(instructions));
    }

    fn tallied(&mut self, pc: u32, tally: Tally) {
        self.profile.iter_mut().for_each(|profile| profile.tallied(pc, tally));
    }

    fn computed(&mut self, pc: u32, site: u32, instructions: u64) {
        if !self.is_timed() {
            self.settle_spot(pc);
            self.profile.iter_mut().for_each(|profile| profile.computed_aside(pc, site, instructions));
            return;
        }
        self.entered(pc, site);
        self.profile.iter_mut().for_each(|profile| profile.computed(pc, instructions));
        self.settle_spot(pc);
        self.left();
    }

    #[inline(always)]
    fn left(&mut self) {
        self.settle_call();
        self.profile.iter_mut().for_each(|profile| profile.left());
    }

    fn layout(&self) -> Layout {
        self.reachable()
    }

    fn reach(&mut self) -> Reach<'_> {
        self.reach_now()
    }

    fn reached(&mut self, loads: u64, stores: u64) {
        self.count_reached(loads, stores);
    }

    fn constant32(&mut self, addr: u32) -> Option<u32> {
        self.constant(addr)
    }

    fn track(&mut self, on: bool) {
        self.notes.definedness.tracking = on;
    }

    fn undefined(&mut self, addr: u32, size: u8) -> Undefined {
        self.undefined_at(addr, size)
    }

    fn set_undefined(&mut self, addr: u32, size: u8, undefined: Undefined) {
        self.keep_undefined(addr, size, undefined);
    }

    fn use_undefined(&mut self, _: At, what: Use, undefined: Undefined) -> Result<(), BusFault> {
        self.judge_undefined(what, undefined)
    }

    #[inline(always)]
    fn frame_left(&mut self, from: u32, to: u32) {
        self.leave_frame(from, to);
    }

    fn fetch(&mut self, addr: u32, into: &mut [u8; FETCH_BYTES]) -> Result<usize, BusFault> {
        let at = addr.wrapping_sub(self.memory.firmware_base) as usize;
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
        self.memory.watch.cover(addr, &mut into[..n]);
        Ok(n)
    }
}
