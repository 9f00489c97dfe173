//! What the calls of the runtime's allocators mean: blocks get places apart from each other, and every one given back is
//! judged.
//!
//! The runtime's bookkeeping sees its own addresses and decides as on the device; the program sees the model's. Unaware of
//! how calls are noticed, which is [`crate::memory::watch`]'s, and of names and lines.

use crate::checked::Verdict;
use crate::cores::bus::Place;
use crate::cores::incident::{Actor, History, Incident, Log, Near, What};
use crate::cores::pending::Pending;
use crate::cores::run::Running;
use crate::memory::heap::{Block, Chain, Freed, HBM_POOL, Kind};
use crate::memory::watch::{Job, Stage};
use crate::parts::{firmware, map};
use crate::report::checks::Code;

/// Alignment of a block when none is asked for.
const DEFAULT_ALIGNMENT: u32 = 64;
/// Bytes of a stub: ENTRY and SIMCALL.
const STUB_LEN: u32 = 6;
/// Instructions that watching adds to a call, and to a call that is followed to its end.
const STOPS: (u64, u64) = (2, 3);

impl Running<'_, '_> {
    /// Moves a watched call on. The stub's arguments are a2 and on.
    pub fn watched(&mut self, stage: Stage) {
        match stage {
            Stage::Called(stub) => self.cpu.set_pc(stub),
            Stage::Begun(at, job) => {
                let mut site = self.chain();
                if let Some(first) = site.first_mut() {
                    *first = at;
                }
                let stub = self.cpu.pc().wrapping_sub(STUB_LEN);
                self.cpu.set_pc(at);
                self.record.stops += STOPS.0;
                if let Some(profile) = &mut self.bus.profile {
                    profile.watched(at, stub);
                }
                self.begun(job, site);
            }
            Stage::Ended => {
                self.record.stops += STOPS.1 - STOPS.0;
                if let Some(profile) = &mut self.bus.profile {
                    profile.unwatched(self.bus.memory.firmware_base + firmware::WATCH_RETURN);
                }
                let Some(call) = self.record.pending.pop() else { return };
                self.cpu.set_pc(self.back(call.back));
                self.ended(&call);
            }
        }
    }

    /// Puts the places that pending calls really return to into the frames of a call chain.
    pub fn with_returns(&self, frames: &mut [(u32, u32)]) {
        let stub = self.bus.memory.firmware_base + firmware::WATCH_RETURN;
        let mut pending = self.record.pending.iter().rev();
        for (pc, _) in frames.iter_mut().filter(|(pc, _)| *pc == stub) {
            *pc = pending.next().map_or(stub, |call| self.back(call.back));
        }
    }

    /// The address that a return address stands for: bits 30 and 31 of it hold the call's increment.
    fn back(&self, address: u32) -> u32 {
        address & 0x3FFF_FFFF | self.bus.memory.firmware_base & 0xC000_0000
    }

    fn begun(&mut self, job: Job, site: Chain) {
        let arguments = [2, 3, 4, 5, 6].map(|register| self.cpu.ar(register));
        match job {
            Job::Allocate(_) => {}
            Job::Measure(kind) => {
                let Some(block) = self.block(kind, arguments) else { return };
                self.pass(kind, block.runtime);
            }
            Job::Release(kind) => {
                let runtime = self.release(kind, arguments, &site);
                self.pass(kind, runtime.unwrap_or(0));
                return;
            }
            Job::ClosedStream => {
                let message =
                    "a closed stream is used: what is read is 0, what is written is lost".to_owned();
                self.record.log.judge(Verdict { code: Code::ClosedStream, message }, site);
                return;
            }
            Job::SizedDelete => {
                let block = self.block(Kind::Libc, arguments);
                if let Some(block) = block.filter(|block| block.len != arguments[1]) {
                    let near = Near::Block { heap: Kind::Libc, len: block.len, offset: 0, hit: None };
                    self.note(What::SizedDelete, near, arguments[1], &site, block.site);
                }
                return;
            }
        }
        let back = self.cpu.ar(0);
        let stub = self.bus.memory.firmware_base + firmware::WATCH_RETURN;
        self.cpu.set_ar(0, back & 0xC000_0000 | stub & 0x3FFF_FFFF);
        self.record.pending.push(Pending { job, back, arguments, site });
    }

    fn ended(&mut self, call: &Pending) {
        let result = (4 * (call.back >> 30) + 2) as u8;
        if self.cpu.ar(result) != 0 {
            return;
        }
        let [first, second, third, ..] = call.arguments;
        match call.job {
            Job::Allocate(kind) => {
                let Some(runtime) = self.pointer(kind, second) else { return };
                let align = if third == 0 { DEFAULT_ALIGNMENT } else { third };
                let (site, born) = (call.site.clone(), self.cpu.instructions());
                let block = Block { offset: 0, len: first, site, descriptor: 0, runtime, born };
                let placed = self.bus.memory.hand_out(kind, block, align);
                // No room at all: the program sees what it would see of a full heap.
                let Some(offset) = placed else { return self.cpu.set_ar(result, u32::MAX) };
                match kind {
                    Kind::Hbm => {
                        let soc = map::scratch_soc(self.bus.memory.core) + u64::from(offset);
                        self.bus.memory.poke(second, &soc.to_le_bytes());
                    }
                    Kind::Tcm | Kind::Libc => {
                        self.bus.memory.poke(second, &(map::DATARAM + offset).to_le_bytes());
                    }
                }
            }
            Job::Measure(kind) => {
                let size = if kind == Kind::Hbm { third } else { second };
                let len = self.bus.memory.peek(size, 4).and_then(|bytes| bytes.first_chunk::<4>());
                let len = len.map(|bytes| u32::from_le_bytes(*bytes));
                if let (Some(len), Some(block)) = (len, self.block(kind, call.arguments)) {
                    self.bus.memory.open(kind, &block, len);
                }
            }
            Job::Release(_) | Job::SizedDelete | Job::ClosedStream => {}
        }
    }

    /// The block to give back, as the runtime knows it; nothing, and an incident, if there is none.
    fn release(&mut self, kind: Kind, arguments: [u32; 5], site: &Chain) -> Option<u32> {
        let offset = self.offset(kind, arguments);
        let now = self.cpu.instructions();
        if let Some(block) = offset.and_then(|offset| self.bus.memory.take_back(kind, offset, site, now)) {
            if kind == Kind::Libc && self.record.returns.len() < Log::LIMIT {
                self.record.returns.entry((block.site.clone(), site.clone())).or_insert(block.len);
            }
            if kind == Kind::Tcm {
                self.bus.notes.streams.freed(block.offset, now);
            }
            return Some(block.runtime);
        }
        if arguments[0] == 0 && (kind != Kind::Hbm || arguments[1] == 0) {
            return None;
        }
        let heaps = &self.bus.memory.heaps;
        let freed = offset.and_then(|offset| {
            let same = |freed: &&Freed| freed.block.offset == offset;
            heaps[kind as usize].freed().iter().rev().find(same)
        });
        if let Some(freed) = freed {
            let near = Near::Block { heap: kind, len: freed.block.len, offset: 0, hit: None };
            let history = History::from(freed);
            self.note(What::DoubleFree, near, 0, site, history);
            return None;
        }
        let (near, history) = match offset {
            Some(offset) if kind == Kind::Hbm => {
                self.bus.near_place(Place::Scratch(offset as usize), What::WrongFree(kind))
            }
            Some(offset) => self.bus.near_place(Place::Dataram(offset as usize), What::WrongFree(kind)),
            None if kind == Kind::Hbm => {
                let soc = u64::from(arguments[0]) | u64::from(arguments[1]) << 32;
                (self.bus.near_soc(soc), History::default())
            }
            None => (Near::Nx { addr: arguments[0] }, History::default()),
        };
        self.note(What::WrongFree(kind), near, 0, site, history);
        None
    }

    fn note(&mut self, what: What, near: Near, len: u32, site: &[u32], history: impl Into<History>) {
        self.record.log.add(
            Incident { what, write: false, actor: Actor::Cpu, near, len },
            site,
            history.into(),
        );
    }

    /// Gives a function the address that the runtime knows; 0 is none.
    fn pass(&mut self, kind: Kind, runtime: u32) {
        match kind {
            Kind::Hbm => {
                let soc = map::scratch_soc(self.bus.memory.core) + u64::from(runtime.wrapping_sub(HBM_POOL));
                let soc = if runtime == 0 { 0 } else { soc };
                self.cpu.set_ar(2, soc as u32);
                self.cpu.set_ar(3, (soc >> 32) as u32);
            }
            Kind::Tcm | Kind::Libc => self.cpu.set_ar(2, runtime),
        }
    }

    /// The live block that a pointer argument names.
    fn block(&self, kind: Kind, arguments: [u32; 5]) -> Option<Block> {
        let offset = self.offset(kind, arguments)?;
        self.bus.memory.heaps[kind as usize].blocks().iter().find(|block| block.offset == offset).cloned()
    }

    /// Offset in the memory of a heap that a pointer argument means.
    fn offset(&self, kind: Kind, [low, high, ..]: [u32; 5]) -> Option<u32> {
        let (offset, len) = match kind {
            Kind::Hbm => {
                let soc = u64::from(low) | u64::from(high) << 32;
                (soc.wrapping_sub(map::scratch_soc(self.bus.memory.core)), map::SCRATCH_LEN)
            }
            Kind::Tcm | Kind::Libc => {
                (u64::from(low).wrapping_sub(map::DATARAM.into()), self.bus.memory.layout.len)
            }
        };
        u32::try_from(offset).ok().filter(|offset| *offset < len)
    }

    /// The address that the runtime stored at `at`, as its bookkeeping has it.
    fn pointer(&self, kind: Kind, at: u32) -> Option<u32> {
        let bytes = self.bus.memory.peek(at, if kind == Kind::Hbm { 8 } else { 4 })?;
        match kind {
            Kind::Hbm => {
                let soc = u64::from_le_bytes(*bytes.first_chunk()?);
                let offset = soc.wrapping_sub(map::scratch_soc(self.bus.memory.core));
                Some(HBM_POOL.wrapping_add(u32::try_from(offset).ok()?))
            }
            Kind::Tcm | Kind::Libc => Some(u32::from_le_bytes(*bytes.first_chunk()?)),
        }
    }
}
