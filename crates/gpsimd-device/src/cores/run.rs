//! One run of one core: slices, repeated instructions and firmware services.
//!
//! Unaware of how a run is set up and of what its records mean.
//! Facts: spec `customop-abi.md` §3.2-§3.4.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use xtensa_iss::{BusFault, Cpu, Fault, FaultKind, Stop, ps};

use crate::cores::bus::{Bus, Touched, Transferred};
use crate::cores::incident::Log;
use crate::cores::pending::{Pending, Returns};
use crate::memory::heap::Chain;
use crate::parts::firmware::{self, Service};
use crate::parts::map;

/// Instructions between two looks at the stop flag.
const SLICE: u64 = 1 << 20;
/// So many instructions make a run a long one; well below a slice, since others may wait.
const LONG: u64 = 1 << 16;
/// Frames of a call chain that are kept.
const CHAIN_LIMIT: usize = 24;
/// Bytes of text kept per core and call.
const TEXT_LIMIT: usize = 1 << 20;
/// Longest registered name; the generator allows 31 characters.
const NAME_LIMIT: usize = 256;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The function returned this value.
    Returned(u32),
    /// The program ended itself: `exit`, `abort` or a failed assertion.
    Aborted,
    /// A handler of a checked build that has no way back found something.
    Judged,
    /// An instruction could not be executed.
    Fault(Fault),
    /// The instruction budget was used up.
    Budget,
    /// For so many instructions nothing has left the core.
    Idle(u64),
    /// The caller's stop flag was set.
    Cancelled,
}

/// A function that the library registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Operator name.
    pub name: String,
    /// NX address of its launcher.
    pub launcher: u32,
}

/// Text the program wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// Everything written to file descriptors 1 and 2, in order.
    pub bytes: Vec<u8>,
    /// Bytes not kept.
    pub dropped: u64,
    /// Who wrote first.
    pub first: Chain,
}

/// Limits and shared flags of a run.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Most instructions.
    pub budget: u64,
    /// Most instructions in which nothing leaves the core.
    pub idle: u64,
    /// Set from outside to end the run early.
    pub stop: &'a AtomicBool,
    /// Told the instructions executed so far, slice by slice.
    pub executed: &'a AtomicU64,
    /// Whether every instruction is to answer for what it costs.
    pub profile: bool,
    /// Called when a run turns out to be long, and then slice by slice.
    pub beat: &'a dyn Fn(),
}

/// One run in progress.
pub(crate) struct Running<'s, 'a> {
    pub cpu: &'s mut Cpu,
    pub bus: Bus<'a>,
    pub functions: &'s mut Vec<Function>,
    pub record: Record,
}

/// What becomes of a run, besides what its bus notes.
#[derive(Clone, Default)]
pub(crate) struct Record {
    pub log: Log,
    pub text: Text,
    pub samples: BTreeMap<Chain, u64>,
    /// Watched calls in progress, innermost last.
    pub pending: Vec<Pending>,
    /// Who allocated and who gave back, for blocks of the C heap.
    pub returns: Returns,
    /// Instructions that only watching executed.
    pub stops: u64,
}

impl<'s, 'a> Running<'s, 'a> {
    /// A run about to start; `earlier` are incidents that belong to its report.
    pub fn new(
        cpu: &'s mut Cpu,
        bus: Bus<'a>,
        functions: &'s mut Vec<Function>,
        earlier: Log,
    ) -> Running<'s, 'a> {
        Running { cpu, bus, functions, record: Record { log: earlier, ..Record::default() } }
    }

    /// Runs until something ends it.
    pub fn run(&mut self, limits: Limits<'_>) -> Ended {
        let (mut progress, mut since) = (self.progress(), self.cpu.instructions());
        let mut due = LONG;
        loop {
            let executed = self.cpu.instructions();
            let now = self.progress();
            if now != progress {
                (progress, since) = (now, executed);
            } else if executed - since >= limits.idle {
                return Ended::Idle(executed - since);
            }
            limits.executed.store(executed, Ordering::Relaxed);
            if executed >= due {
                (limits.beat)();
                due = executed - executed % SLICE + SLICE;
            }
            if limits.stop.load(Ordering::Relaxed) {
                return Ended::Cancelled;
            }
            let left = limits.budget.saturating_sub(executed);
            if left == 0 {
                return Ended::Budget;
            }
            // Whole slices end at fixed instruction counts, so that a budget ends a run at the same place every time.
            let slice = match executed {
                0..LONG => LONG - executed,
                LONG..SLICE => SLICE - executed,
                _ => SLICE,
            };
            let stop = self.cpu.run(&mut self.bus, left.min(slice));
            if let Some(ended) = self.answer(stop) {
                return ended;
            }
        }
    }

    /// Does what the core stopped for; how the run ended, if that ends it.
    pub fn answer(&mut self, mut stop: Stop) -> Option<Ended> {
        if let Stop::Fault(Fault { kind: FaultKind::Bus { fault: BusFault::Device(_), .. }, .. }) = stop {
            stop = self.repeat();
        }
        match stop {
            Stop::Budget => None,
            Stop::Simcall => self.serve(),
            Stop::Break { .. }
            | Stop::Syscall
            | Stop::Wait
            | Stop::Fault(Fault { kind: FaultKind::Illegal { bytes: [0, 0, 0] }, .. }) => {
                Some(Ended::Aborted)
            }
            Stop::Fault(fault) => Some(Ended::Fault(fault)),
        }
    }

    /// A number that changes whenever something has left the core. Accesses count as long as there are not absurdly more of
    /// them than bytes to access: a loop that reads one element for ever goes nowhere, too.
    fn progress(&self) -> u64 {
        const FREE: u64 = 10_000_000;
        const PER_BYTE: u64 = 10_000;
        let counters = &self.bus.notes.counters;
        let accesses = counters.window_loads + counters.window_stores + counters.dma_transfers;
        let bytes: u64 = self.bus.view.shared().regions().iter().map(|region| region.byte_len()).sum();
        let text = self.record.text.bytes.len() as u64 + self.record.text.dropped;
        accesses.min(FREE.saturating_add(bytes.saturating_mul(PER_BYTE))).wrapping_add(text)
    }

    /// The addresses that a run which does not end goes through: those of its loop, if that is not very long.
    pub fn loop_of(&mut self) -> Vec<u32> {
        /// Instructions followed, one by one.
        const STEPS: u32 = 100_000;
        let mut seen = BTreeSet::new();
        let profile = self.bus.profile.take();
        for _ in 0..STEPS {
            seen.insert(self.cpu.state().pc);
            if !matches!(self.cpu.run(&mut self.bus, 1), Stop::Budget) {
                break;
            }
        }
        self.bus.profile = profile;
        seen.into_iter().collect()
    }

    /// The call chain at the pc.
    pub fn chain(&mut self) -> Chain {
        self.frames().into_iter().map(|(pc, _)| pc).collect()
    }

    /// The call chain with each frame's stack pointer.
    pub fn frames(&mut self) -> Vec<(u32, u32)> {
        let cpu = &*self.cpu;
        let mut frames = self.bus.quietly(|bus| cpu.call_chain(bus, CHAIN_LIMIT));
        self.with_returns(&mut frames);
        frames
    }

    /// The chain at a pc with no code. If a CALLX led there, its return address waits where the callee's ENTRY, which never
    /// ran, would have found it; the caller is in the chain by that alone.
    pub fn chain_of_jump(&mut self) -> Chain {
        let mut chain = self.chain();
        let increment = (self.cpu.state().ps & ps::CALLINC) >> ps::CALLINC_SHIFT;
        let waiting = self.cpu.ar(4 * increment as u8);
        // Bits 30 and 31 hold the increment; the caller runs in the quarter of the images.
        let back = waiting & 0x3FFF_FFFF | map::BANKS & 0xC000_0000;
        let is_callx = |bytes: &[u8]| {
            bytes[0] & 0xCF == 0xC0 && bytes[0] & 0x30 != 0 && bytes[1] & 0xF0 == 0 && bytes[2] == 0
        };
        if increment != 0 && self.bus.memory.peek(back.wrapping_sub(3), 3).is_some_and(is_callx) {
            chain.insert(1.min(chain.len()), back);
        }
        chain
    }

    /// The compiler's division routines trap with an illegal instruction that the text "DIV0" follows.
    pub fn is_division_trap(&self) -> bool {
        self.bus.memory.peek(self.cpu.pc().wrapping_add(3), 4) == Some(b"DIV0")
    }

    fn collect(&mut self, frames: &[(u32, u32)]) {
        let chain: Chain = frames.iter().map(|(pc, _)| *pc).collect();
        for (incident, history, moved) in std::mem::take(&mut self.bus.incidents) {
            let blamed = if moved.is_empty() { &chain } else { &moved };
            self.record.log.add(incident, blamed, history.among(frames));
        }
    }

    /// Repeats the refused instruction leniently and records what it did.
    fn repeat(&mut self) -> Stop {
        let frames = self.frames();
        let chain: Chain = frames.iter().map(|(pc, _)| *pc).collect();
        self.bus.notes.definedness.frames.clone_from(&frames);
        self.bus.lenient = true;
        let stop = self.cpu.run(&mut self.bus, 1);
        self.bus.lenient = false;
        self.collect(&frames);
        if let Some((heap, descriptor)) = self.bus.handed_out.take() {
            self.bus.memory.heaps[heap as usize].set_site(descriptor, &chain);
        }
        if std::mem::take(&mut self.bus.sampled) && self.record.samples.len() < Log::LIMIT {
            *self.record.samples.entry(chain.clone()).or_default() += 1;
        }
        for Transferred { region, wrote, span, blank } in std::mem::take(&mut self.bus.transferred) {
            self.bus.notes.touches.transfer(&chain, (region, wrote), span, blank);
        }
        if let Some(Touched { place, span, blank }) = self.bus.touched.take() {
            self.bus.notes.touches.found(place, chain.clone(), span);
            if blank {
                self.bus.notes.touches.blank(place, span);
            }
        }
        if let Some((pc, block, span)) = self.bus.touched_own.take() {
            self.bus.notes.own.found((pc, block, true), chain.clone(), span);
            self.bus.note_owner(block);
        }
        if let Some((addr, len)) = self.bus.code_changed.take() {
            self.cpu.invalidate_code(addr, len);
        }
        stop
    }

    /// Does what the stub at the pc stands for. The stub's arguments are a2 and on; its result is a2.
    fn serve(&mut self) -> Option<Ended> {
        let firmware = self.bus.memory.firmware_base;
        if let Some(stage) = self.bus.memory.watch.stage(self.cpu.pc(), firmware) {
            self.watched(stage);
            return None;
        }
        let Some(service) = Service::stopped_at(self.cpu.pc(), firmware) else {
            return if self.bus.memory.is_checked { self.serve_checked() } else { Some(Ended::Aborted) };
        };
        let (a2, a3, a4) = (self.cpu.ar(2), self.cpu.ar(3), self.cpu.ar(4));
        let memory = &mut *self.bus.memory;
        let layout = memory.layout;
        let result = match service {
            Service::Return => return Some(Ended::Returned(self.cpu.call_result())),
            Service::Register => {
                if a2 == firmware::HANDLE && self.functions.len() < usize::from(u8::MAX) {
                    self.functions.push(Function { name: memory.string(a3, NAME_LIMIT), launcher: a4 });
                    firmware::SUCCESS
                } else {
                    firmware::FAILURE
                }
            }
            Service::GetLibc => firmware::libc(&memory.string(a2, NAME_LIMIT), firmware),
            Service::GetDataScratch => {
                memory.poke(a2, &layout.scratch.to_le_bytes());
                memory.poke(a3, &layout.scratch_len.to_le_bytes());
                0
            }
            Service::GetHbmScratch => {
                memory.poke(a2, &map::scratch_soc(memory.core).to_le_bytes());
                memory.poke(a3, &map::SCRATCH_LEN.to_le_bytes());
                0
            }
            Service::GetDmaQueue => {
                memory.poke(a2, &map::m2s_offset(memory.core).to_le_bytes());
                memory.poke(a3, &map::s2m_offset(memory.core).to_le_bytes());
                0
            }
            Service::Write => {
                if self.record.text.first.is_empty() {
                    self.record.text.first = self.chain();
                }
                let memory = &mut *self.bus.memory;
                let room = TEXT_LIMIT - self.record.text.bytes.len();
                let kept = room.min(a4 as usize);
                match memory.peek(a3, kept) {
                    Some(bytes) => {
                        self.record.text.bytes.extend_from_slice(bytes);
                        self.record.text.dropped += (a4 as usize - kept) as u64;
                        a4
                    }
                    None => u32::MAX,
                }
            }
            Service::Exit => return Some(Ended::Aborted),
        };
        self.cpu.set_ar(2, result);
        None
    }
}
