//! One core in the middle of a call: goes on by instructions, can be looked at and put back to where it was.
//!
//! Executes as any run does, one instruction after the other, with nothing translated and nothing computed by the host: the
//! same instructions have always the same effects, so the number of those executed is a time that one can return to.
//! Unaware of other cores, of names and lines, and of who asks.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use xtensa_iss::{Cpu, Fault, FaultKind, State, Stop};

use crate::call::shared::SharedMemory;
use crate::cores::aside::Aside;
use crate::cores::bus::{Bus, Place};
use crate::cores::core::{Core, Run, conclude};
use crate::cores::observed::{Lookout, Observed, Range, TOUCH};
use crate::cores::run::{Ended, Function, Record, Running, Text};
use crate::memory::private::Memory;
use crate::memory::ram::INIT;
use crate::memory::view::{View, Writes};

/// Instructions between two looks at the stop flag.
const SLICE: u64 = 1 << 16;

/// Why a core pauses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// So many instructions are done.
    Reached,
    /// Before an instruction that was looked out for.
    Trap,
    /// Behind an instruction that touched watched bytes.
    Touched(Touched),
    /// Behind an instruction that a run would report.
    Incident,
    /// Somebody wants it to.
    Stopped,
    /// The call has come to its end here.
    Ended,
}

/// An instruction that touched watched bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Its address.
    pub pc: u32,
    /// The ranges, as they were given.
    pub ranges: Vec<usize>,
    /// What the first of them held before.
    pub before: Bytes,
}

/// Bytes of memory, and which of them hold a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The bytes.
    pub data: Vec<u8>,
    /// Which hold a value.
    pub is_set: Vec<bool>,
}

/// A core in the middle of a call.
pub struct Paused {
    cpu: Cpu,
    /// The instructions that were hidden from what is decoded now.
    hidden: BTreeSet<u32>,
    rest: Rest,
}

/// Where a core was, to be returned to.
#[derive(Clone)]
pub struct Moment {
    registers: xtensa_iss::Moment,
    rest: Rest,
}

/// All of a core but its registers.
#[derive(Clone)]
struct Rest {
    memory: Memory,
    functions: Vec<Function>,
    aside: Aside,
    record: Record,
    ended: Option<Ended>,
}

impl Moment {
    /// Instructions executed until then.
    pub fn time(&self) -> u64 {
        self.registers.state().instructions
    }
}

impl Core {
    /// The core about to run an op's launcher, paused before its first instruction.
    pub fn pause(mut self, launcher: u32, shared: &SharedMemory, multicore: bool) -> Paused {
        self.prepare(launcher, None);
        let (mut memory, functions, earlier, cpu) = self.into_parts();
        let aside = Bus::new(&mut memory, View::new(shared), multicore).lay_aside();
        let record = Record { log: earlier, ..Record::default() };
        let rest = Rest { memory, functions, aside, record, ended: None };
        Paused { cpu, hidden: BTreeSet::new(), rest }
    }
}

impl Paused {
    /// Number of the core.
    pub fn core(&self) -> u8 {
        self.rest.memory.core
    }

    /// Instructions executed.
    pub fn time(&self) -> u64 {
        self.cpu.instructions()
    }

    /// Address of the next instruction.
    pub fn pc(&self) -> u32 {
        self.cpu.pc()
    }

    /// Register `a0..a15` of the running function.
    pub fn register(&self, number: u8) -> u32 {
        self.cpu.ar(number)
    }

    /// All registers.
    pub fn state(&self) -> State {
        self.cpu.state()
    }

    /// How the call ended here, if it did.
    pub fn ended(&self) -> Option<&Ended> {
        self.rest.ended.as_ref()
    }

    /// Private memory, with windows, queues and heaps.
    pub fn memory(&self) -> &Memory {
        &self.rest.memory
    }

    /// What the program printed.
    pub fn text(&self) -> &Text {
        &self.rest.record.text
    }

    /// Where it is, to be returned to.
    pub fn moment(&self) -> Moment {
        Moment { registers: self.cpu.moment(), rest: self.rest.clone() }
    }

    /// Returns to a moment.
    pub fn go_to(&mut self, moment: &Moment) {
        self.cpu.go_to(&moment.registers);
        self.hidden.clear();
        self.rest = moment.rest.clone();
    }

    /// Goes on until there are `until` instructions done or something was met that is looked out for.
    pub fn advance(
        &mut self,
        shared: &SharedMemory,
        lookout: &Lookout,
        until: u64,
        stop: &AtomicBool,
    ) -> Halt {
        loop {
            let now = self.time();
            if self.rest.ended.is_some() {
                return Halt::Ended;
            }
            if now >= until {
                return Halt::Reached;
            }
            if stop.load(Ordering::Relaxed) {
                return Halt::Stopped;
            }
            self.hide(&lookout.traps);
            if let Some(halt) = self.run(shared, lookout, SLICE.min(until - now)) {
                return halt;
            }
        }
    }

    /// Executes one instruction and looks out for nothing.
    pub fn step(&mut self, shared: &SharedMemory) -> Halt {
        if self.rest.ended.is_some() {
            return Halt::Ended;
        }
        let nothing = Lookout::default();
        self.hide(&nothing.traps);
        self.run(shared, &nothing, 1).unwrap_or(Halt::Reached)
    }

    /// Hides these instructions, and shows all others.
    fn hide(&mut self, traps: &BTreeSet<u32>) {
        if self.hidden != *traps {
            self.hidden.clone_from(traps);
            self.cpu.forget_code();
        }
    }

    fn run(&mut self, shared: &SharedMemory, lookout: &Lookout, most: u64) -> Option<Halt> {
        let mut ended = None;
        let halt = self.with(shared, |running| {
            let known = if lookout.incidents { running.record.log.seen() } else { 0 };
            let mut hits = Vec::new();
            let Running { cpu, bus, .. } = running;
            let mut observed = Observed { bus, lookout, hits: &mut hits };
            let mut stop = cpu.run(&mut observed, most);
            let is_alarm = match stop {
                Stop::Fault(Fault { pc, kind: FaultKind::Illegal { .. } }) if lookout.traps.contains(&pc) => {
                    return Some(Halt::Trap);
                }
                Stop::Fault(Fault { kind: FaultKind::Bus { fault: TOUCH, .. }, .. }) => true,
                Stop::Simcall => !lookout.ranges.is_empty(),
                _ => false,
            };
            let pc = running.cpu.pc();
            let before: Vec<Bytes> = match is_alarm {
                true => lookout.ranges.iter().map(|range| bytes(&running.bus, range)).collect(),
                false => Vec::new(),
            };
            if is_alarm && stop != Stop::Simcall {
                stop = running.cpu.run(&mut running.bus, 1);
            } else {
                hits.clear();
            }
            ended = running.answer(stop);
            let is_other = |(index, range): (usize, &Range)| {
                let changed =
                    range.writes && before.get(index).is_some_and(|old| *old != bytes(&running.bus, range));
                (changed && !hits.contains(&index)).then_some(index)
            };
            let others: Vec<usize> = lookout.ranges.iter().enumerate().filter_map(is_other).collect();
            hits.extend(others);
            let first = hits.first().and_then(|first| before.get(*first)).cloned();
            if let Some(before) = first {
                return Some(Halt::Touched(Touched { pc, ranges: hits, before }));
            }
            (lookout.incidents && running.record.log.seen() > known).then_some(Halt::Incident)
        });
        self.rest.ended = ended;
        match (halt, &self.rest.ended) {
            (None, Some(_)) => Some(Halt::Ended),
            (halt, _) => halt,
        }
    }

    /// The run that this is the state of; what is not put back is gone.
    fn running<'s>(&'s mut self, shared: &'s SharedMemory) -> Running<'s, 's> {
        let Rest { memory, functions, aside, record, ended: _ } = &mut self.rest;
        Running {
            cpu: &mut self.cpu,
            bus: Bus::resume(memory, shared, std::mem::take(aside)),
            functions,
            record: std::mem::take(record),
        }
    }

    /// The run that this is the state of, for as long as `act` takes.
    fn with<R>(&mut self, shared: &SharedMemory, act: impl FnOnce(&mut Running<'_, '_>) -> R) -> R {
        let mut running = self.running(shared);
        let result = act(&mut running);
        let Running { bus, record, .. } = running;
        let aside = bus.lay_aside();
        (self.rest.aside, self.rest.record) = (aside, record);
        result
    }

    /// The call chain from the next instruction outwards: `(pc, sp)`, return addresses as the program sees them.
    pub fn frames(&mut self, shared: &SharedMemory) -> Vec<(u32, u32)> {
        self.with(shared, |running| running.frames())
    }

    /// What answers at an NX address.
    pub fn place(&mut self, shared: &SharedMemory, addr: u32) -> Place {
        self.with(shared, |running| running.bus.place(addr)).unwrap_or(Place::Nowhere)
    }

    /// What answers at a SoC address.
    pub fn device_place(&mut self, shared: &SharedMemory, soc: u64) -> Place {
        self.with(shared, |running| running.bus.locate(soc).0)
    }

    /// Bytes at a place; those beyond the end of its memory are missing.
    pub fn read(&mut self, shared: &SharedMemory, place: Place, len: usize) -> Bytes {
        let range = Range { place, len, reads: false, writes: false };
        self.with(shared, |running| bytes(&running.bus, &range))
    }

    /// Writes bytes at a place, whatever may be done there; says whether it could.
    pub fn write(&mut self, shared: &SharedMemory, place: Place, data: &[u8]) -> bool {
        let memory = &mut self.rest.memory;
        let (ram, at) = match place {
            Place::Tensor(region, offset) => {
                let room = shared.regions().get(region).map_or(0, |region| region.byte_len() as usize);
                if offset.checked_add(data.len()).is_none_or(|end| end > room) {
                    return false;
                }
                let mut view = self.rest.aside.view(shared);
                view.write_range(region, offset, data, &vec![true; data.len()]);
                self.rest.aside.keep(view);
                return true;
            }
            Place::Image(offset) => (&mut memory.image, offset),
            Place::Scratch(offset) => (&mut memory.scratch, offset),
            Place::Dataram(offset) => (&mut memory.dataram, offset),
            Place::Apb(_) | Place::Nowhere => return false,
        };
        let fits = ram.range(at, data.len()).is_some();
        ram.poke(at, data);
        self.cpu.forget_code();
        fits
    }

    /// Gives register `a0..a15` of the running function a value.
    pub fn set_register(&mut self, number: u8, value: u32) {
        self.cpu.set_ar(number, value);
    }

    /// What it wrote to the tensors.
    pub fn writes(&mut self, shared: &SharedMemory) -> Writes {
        let written = self.rest.aside.view(shared).into_writes();
        self.rest.aside.keep(View::with(shared, written.clone()));
        written
    }

    /// What the core did, as if the call ended here.
    pub fn run_so_far(&mut self, shared: &SharedMemory) -> Run {
        let moment = self.moment();
        let ended = self.rest.ended.clone().unwrap_or(Ended::Cancelled);
        let run = conclude(self.running(shared), ended);
        self.go_to(&moment);
        run
    }

    /// All that makes the core's future: two equal ones run on identically.
    pub fn picture(&mut self, shared: &SharedMemory) -> Vec<u8> {
        let mut picture = format!("{:?}", self.cpu.state()).into_bytes();
        let memory = &mut self.rest.memory;
        picture.extend(format!("{:?}{:?}{:?}", memory.registers, memory.sdma, memory.heaps).bytes());
        for ram in [&mut memory.dataram, &mut memory.image, &mut memory.scratch] {
            // what was never touched says nothing
            let used = ram.both().iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            picture.extend(ram.both().get(..used).unwrap_or_default());
        }
        for region in 0..shared.regions().len() {
            let len = shared.regions()[region].byte_len() as usize;
            let Bytes { data, is_set } = self.read(shared, Place::Tensor(region, 0), len);
            picture.extend(data);
            picture.extend(is_set.iter().map(|is_set| u8::from(*is_set)));
        }
        picture
    }
}

/// What a range holds.
fn bytes(bus: &Bus<'_>, range: &Range) -> Bytes {
    let Range { place, len, .. } = *range;
    let (ram, at) = match place {
        Place::Tensor(region, offset) => {
            let room = bus.view.shared().regions().get(region).map_or(0, |region| region.byte_len() as usize);
            let len = len.min(room.saturating_sub(offset));
            let mut found = Bytes { data: vec![0; len], is_set: vec![false; len] };
            bus.view.read_range(region, offset, &mut found.data, &mut found.is_set);
            return found;
        }
        Place::Image(offset) => (&bus.memory.image, offset),
        Place::Scratch(offset) => (&bus.memory.scratch, offset),
        Place::Dataram(offset) => (&bus.memory.dataram, offset),
        Place::Apb(_) | Place::Nowhere => return Bytes::default(),
    };
    let len = len.min(ram.size().saturating_sub(at));
    let Some((data, states)) = ram.range(at, len) else { return Bytes::default() };
    Bytes { data: data.to_vec(), is_set: states.iter().map(|state| state & INIT != 0).collect() }
}
