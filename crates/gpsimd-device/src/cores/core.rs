//! One core: sets up a run of a library's entry or of a launcher, and hands back everything it did.
//!
//! Unaware of the other cores and of symbols.
//! Facts: spec `customop-abi.md` §3.4, `lsp-and-memory.md` §13.5.

use std::collections::{BTreeMap, HashMap};

use xtensa_iss::{Cpu, Fault, FaultKind, State};

use crate::checked::objects::Variable;
use crate::cores::bus::Bus;
use crate::cores::incident::Log;
use crate::cores::pending::Returns;
use crate::cores::profile::Profile;
use crate::cores::run::{Ended, Function, Limits, Record, Running, Text};
use crate::cores::streams::Stream;
use crate::cores::touches::Touch;
use crate::memory::heap::{Block, Chain, Freed, Kind};
use crate::memory::private::{HbmStack, Memory};
use crate::memory::view::{View, Writes};
use crate::memory::watch::{Job, Watch};
use crate::parts::firmware::Service;
use crate::parts::map;
use crate::report::counters::Counters;

/// Special register CPENABLE.
const CPENABLE: usize = 224;

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

/// Everything one core did in one run.
pub struct Run {
    /// Number of the core.
    pub core: u8,
    /// How it ended.
    pub ended: Ended,
    /// Where it ended, unless it returned.
    pub chain: Chain,
    /// The addresses of the loop that it was in, if it would not end.
    pub looped: Vec<u32>,
    /// Incidents.
    pub log: Log,
    /// Output.
    pub text: Text,
    /// Counts.
    pub counters: Counters,
    /// Who answers for the counts, if that was asked.
    pub profile: Option<Box<Profile>>,
    /// Sampled call chains of element accesses.
    pub samples: BTreeMap<Chain, u64>,
    /// Whether it aborted in the compiler's division routine.
    pub divided_by_zero: bool,
    /// Buffers that served one tensor at once, if they are streams'.
    pub streams: Vec<(Stream, Stream)>,
    /// Places that touched tensors.
    pub touches: Vec<Touch>,
    /// Places that wrote tensors in the core's own memory; the region is the offset of the block.
    pub own: Vec<Touch>,
    /// Who allocated these blocks.
    pub owners: HashMap<usize, Chain>,
    /// Tensor bytes written.
    pub writes: Writes,
    /// Per region, which of its first eight bytes were read (scalars only).
    pub scalar_reads: Vec<u8>,
    /// Blocks still live, by heap.
    pub blocks: [Vec<Block>; 3],
    /// Blocks that were given back, by heap; only the last ones.
    pub freed: [Vec<Freed>; 3],
    /// Who allocated and who gave back, for blocks of the C heap.
    pub(crate) returns: Returns,
    /// Whether blocks lie closer together than their checks want it.
    pub crowded: bool,
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
    /// Variables that incidents name.
    pub variables: Vec<Variable>,
    /// Call blocks that the runtime acknowledged.
    pub responses: u32,
    /// Whether it was a checked build.
    pub is_checked: bool,
}

impl Core {
    /// A core with memory ready and nothing run yet.
    pub fn new(memory: Memory, config: xtensa_iss::Config) -> Core {
        let config = xtensa_iss::Config { prid: memory.core.into(), ..config };
        Core { cpu: Cpu::new(config), memory, functions: Vec::new(), earlier: Log::default() }
    }

    /// Watches functions of the runtime, if they are all there is to know of blocks: then blocks lie apart.
    pub fn watch(&mut self, functions: impl IntoIterator<Item = (u32, Job)>) {
        let memory = &mut self.memory;
        let mut page = std::mem::take(&mut memory.firmware);
        let code = |at: u32| memory.image.peek(at.wrapping_sub(memory.image_base) as usize);
        let watch = Watch::new(functions, code, &mut page);
        memory.firmware = page;
        if watch.is_complete() {
            memory.watch = watch;
            memory.keep_apart();
        }
    }

    /// Runs `entry(argument)`, or an op's launcher without one, on a fresh local stack against the tensors behind `view`.
    pub fn run(
        &mut self,
        entry: u32,
        argument: Option<u32>,
        view: View<'_>,
        multicore: bool,
        limits: Limits<'_>,
    ) -> Run {
        self.prepare(entry, argument);
        let mut bus = Bus::new(&mut self.memory, view, multicore);
        // What precedes the call is not the op's.
        bus.profile = (limits.profile && argument.is_none()).then(|| Box::new(Profile::of(bus.memory)));
        let earlier = std::mem::take(&mut self.earlier);
        let mut running = Running::new(&mut self.cpu, bus, &mut self.functions, earlier);
        let ended = running.run(limits);
        conclude(running, ended)
    }

    /// Sets up `entry(argument)`, or an op's launcher without one, on a fresh local stack.
    pub(super) fn prepare(&mut self, entry: u32, argument: Option<u32>) {
        self.memory.begin_call();
        if argument.is_none() {
            self.memory.begin_op();
        }
        self.reset();
        let ret = Service::Return.address(self.memory.firmware_base);
        self.cpu.call4(entry, ret, argument.as_slice());
    }

    /// Memory, registered functions, incidents of the boot, and what executes.
    pub(super) fn into_parts(self) -> (Memory, Vec<Function>, Log, Cpu) {
        (self.memory, self.functions, self.earlier, self.cpu)
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

/// What a run that has ended comes to.
pub(super) fn conclude(mut running: Running<'_, '_>, ended: Ended) -> Run {
    let chain = match ended {
        Ended::Returned(_) => Chain::new(),
        Ended::Fault(Fault { kind: FaultKind::Fetch { .. }, .. }) => running.chain_of_jump(),
        _ => running.chain(),
    };
    let executed = running.cpu.instructions();
    let looped = match ended {
        Ended::Budget | Ended::Idle(_) => running.loop_of(),
        _ => Vec::new(),
    };
    let divided_by_zero = ended == Ended::Aborted && running.is_division_trap();
    running.bus.settle_spot(running.cpu.pc());
    running.bus.settle_call();
    running.cpu.tell_tallies(&mut running.bus);
    let Running { mut bus, record, .. } = running;
    let Record { log, text, samples, returns, stops, pending: _ } = record;
    let profile = bus.profile.take();
    let mut counters = bus.notes.counters;
    counters.instructions = executed.saturating_sub(stops);
    let (scalar_reads, writes) = (bus.notes.scalar_reads, bus.view.into_writes());
    let (touches, streams) = (bus.notes.touches.into_entries(), bus.notes.streams.into_conflicts());
    let (own, owners, memory) = (bus.notes.own.into_entries(), bus.notes.owners, bus.memory);
    memory.look_at_heaps();
    counters.window_misses = memory.registers.take_reprogrammed();
    let variables = std::mem::take(&mut memory.named);
    let heap = |kind: Kind| &memory.heaps[kind as usize];
    let freed = |kind: Kind| if profile.is_some() { heap(kind).freed().to_vec() } else { Vec::new() };
    let freed = Kind::ALL.map(freed);
    Run {
        core: memory.core,
        ended,
        chain,
        looped,
        log,
        text,
        counters,
        profile,
        samples,
        divided_by_zero,
        touches,
        own,
        owners,
        streams,
        writes,
        scalar_reads,
        blocks: Kind::ALL.map(|kind| heap(kind).blocks().to_vec()),
        freed,
        returns,
        crowded: memory.is_crowded(),
        tcm_high_water: heap(Kind::Tcm).high_water(),
        hbm_high_water: heap(Kind::Hbm).high_water(),
        heaps_followed: Kind::ALL.iter().all(|kind| heap(*kind).is_followed()),
        stack_high_water: (memory.layout.stack_top - map::DATARAM) - memory.stack_low as u32,
        hbm_stack: memory.hbm_stack,
        variables,
        responses: memory.registers.responses(),
        is_checked: memory.is_checked,
    }
}
