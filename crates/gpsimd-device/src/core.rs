//! One core: sets up a run of a library's entry or of a launcher, and hands back everything it did.
//!
//! Unaware of the other cores and of symbols.
//! Facts: spec `customop-abi.md` §3.4, `lsp-and-memory.md` §13.5.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64};

use xtensa_iss::{Cpu, Fault, FaultKind, State};

use crate::bus::Bus;
use crate::counters::Counters;
use crate::firmware::Service;
use crate::heap::{Block, Kind};
use crate::incident::{Chain, Log};
use crate::map;
use crate::memory::{HbmStack, Memory};
use crate::session::Session;
use crate::view::{View, Writes};

/// Special register CPENABLE.
const CPENABLE: usize = 224;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The function returned this value.
    Returned(u32),
    /// The program ended itself: `exit`, `abort` or a failed assertion.
    Aborted,
    /// An instruction could not be executed.
    Fault(Fault),
    /// The instruction budget was used up.
    Budget,
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
}

/// One core with its loaded library.
#[derive(Debug)]
pub struct Core {
    /// Private memory.
    pub memory: Memory,
    /// What the library registered when it was booted.
    pub functions: Vec<Function>,
    /// Incidents that belong to the next run's report: those of the boot.
    pub earlier: Log,
    cpu: Cpu,
}

/// Limits and shared flags of a run.
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    /// Most instructions.
    pub budget: u64,
    /// Set from outside to end the run early.
    pub stop: &'a AtomicBool,
    /// Told the instructions executed so far, slice by slice.
    pub executed: &'a AtomicU64,
}

/// Everything one core did in one run.
pub struct Run {
    /// Number of the core.
    pub core: u8,
    /// How it ended.
    pub ended: Ended,
    /// Where it ended, unless it returned.
    pub chain: Chain,
    /// Incidents.
    pub log: Log,
    /// Output.
    pub text: Text,
    /// Counts.
    pub counters: Counters,
    /// Sampled call chains of element accesses.
    pub samples: BTreeMap<Chain, u64>,
    /// Whether it aborted in the compiler's division routine.
    pub divided_by_zero: bool,
    /// Places that moved tensor data by DMA while several cores ran: call chain, region, wrote.
    pub transfers: BTreeSet<(Chain, usize, bool)>,
    /// Tensor bytes written.
    pub writes: Writes,
    /// Per region, which of its first eight bytes were read (scalars only).
    pub scalar_reads: Vec<u8>,
    /// TCM blocks still live.
    pub tcm_blocks: Vec<Block>,
    /// Most TCM bytes live at once.
    pub tcm_high_water: u32,
    /// Most HBM heap bytes live at once.
    pub hbm_high_water: u32,
    /// Whether the runtime's heaps could be followed.
    pub heaps_followed: bool,
    /// Most bytes of local stack in use.
    pub stack_high_water: u32,
    /// The stack in device memory, if one was taken.
    pub hbm_stack: Option<HbmStack>,
    /// Call blocks that the runtime acknowledged.
    pub responses: u32,
}

impl Core {
    /// A core with memory ready and nothing run yet.
    pub fn new(memory: Memory) -> Core {
        let config = xtensa_iss::Config { prid: memory.core.into(), ..Default::default() };
        Core { cpu: Cpu::new(config), memory, functions: Vec::new(), earlier: Log::default() }
    }

    /// Runs `entry(argument)` on a fresh local stack against the tensors behind `view`.
    pub fn run(
        &mut self,
        entry: u32,
        argument: Option<u32>,
        view: View<'_>,
        multicore: bool,
        limits: Limits<'_>,
    ) -> Run {
        self.memory.begin_call();
        self.reset();
        let ret = Service::Return.address(self.memory.firmware_base);
        self.cpu.call4(entry, ret, argument.as_slice());
        let core = self.memory.core;
        let bus = Bus::new(&mut self.memory, view, multicore);
        let earlier = std::mem::take(&mut self.earlier);
        let mut session = Session::new(&mut self.cpu, bus, &mut self.functions, earlier);
        let ended = session.run(limits);
        let chain = match ended {
            Ended::Returned(_) => Chain::new(),
            Ended::Fault(Fault { kind: FaultKind::Fetch { .. }, .. }) => session.chain_of_jump(),
            _ => session.chain(),
        };
        let divided_by_zero = ended == Ended::Aborted && session.is_division_trap();
        let Session { cpu, bus, log, text, transfers, samples, .. } = session;
        let mut counters = bus.counters;
        counters.instructions = cpu.instructions();
        let (scalar_reads, writes) = (bus.scalar_reads, bus.view.into_writes());
        self.memory.look_at_heaps();
        counters.window_misses = self.memory.registers.take_reprogrammed();
        let heap = |kind: Kind| &self.memory.heaps[kind as usize];
        Run {
            core,
            ended,
            chain,
            log,
            text,
            counters,
            samples,
            divided_by_zero,
            transfers,
            writes,
            scalar_reads,
            tcm_blocks: heap(Kind::Tcm).blocks().to_vec(),
            tcm_high_water: heap(Kind::Tcm).high_water(),
            hbm_high_water: heap(Kind::Hbm).high_water(),
            heaps_followed: Kind::ALL.iter().all(|kind| heap(*kind).is_followed()),
            stack_high_water: (self.memory.layout.stack_top - map::DATARAM) - self.memory.stack_low as u32,
            hbm_stack: self.memory.hbm_stack,
            responses: self.memory.registers.responses(),
        }
    }

    /// Forgets what was decoded from code bytes that somebody else has changed.
    pub fn code_changed(&mut self, addr: u32, len: u32) {
        self.cpu.invalidate_code(addr, len);
    }

    fn reset(&mut self) {
        let mut state = State { isl: self.memory.layout.stack_floor, ..State::default() };
        state.plain[CPENABLE] = 0xFF;
        self.cpu.set_state(&state);
        self.cpu.set_ar(1, self.memory.layout.stack_top);
    }
}
