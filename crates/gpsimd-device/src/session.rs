//! A call whose cores stand still: each can be taken on and put back by itself, for they share nothing that changes.
//!
//! Unaware of how the library was loaded, and of names and lines.

use std::sync::atomic::AtomicBool;

use crate::call::placed::Placed;
use crate::call::shared::{Region, SharedMemory};
use crate::cores::bus::Place;
use crate::cores::observed::Lookout;
use crate::cores::paused::{Bytes, Halt, Moment, Paused};
use crate::explain::evidence::Program;
use crate::explain::summary;
use crate::load::way::Launch;
use crate::memory::view::{self, Merged};
use crate::report::RunReport;
use crate::report::costs::Costs;

/// A call in the middle of its execution.
pub struct Session {
    op: String,
    call: Placed,
    cores: Vec<Paused>,
    costs: Costs,
}

impl Session {
    pub(crate) fn new(op: &str, call: Placed, launches: Vec<Launch>, costs: Costs) -> Session {
        let pause = |Launch { core, launcher, multicore }| core.pause(launcher, &call.shared, multicore);
        let cores = launches.into_iter().map(pause).collect();
        Session { op: op.to_owned(), call, cores, costs }
    }

    /// The operator's kernel.
    pub fn op(&self) -> &str {
        &self.op
    }

    /// The tensors, as placed.
    pub fn regions(&self) -> &[Region] {
        self.shared().regions()
    }

    /// Index of the output among the tensors.
    pub fn output(&self) -> usize {
        self.call.output
    }

    fn shared(&self) -> &SharedMemory {
        &self.call.shared
    }

    /// The cores that run the call, in order.
    pub fn cores(&self) -> &[Paused] {
        &self.cores
    }

    /// A core.
    pub fn core(&self, index: usize) -> Option<&Paused> {
        self.cores.get(index)
    }

    /// As [`Paused::advance`].
    pub fn advance(&mut self, index: usize, lookout: &Lookout, until: u64, stop: &AtomicBool) -> Halt {
        self.of(index, Halt::Ended, |core, shared| core.advance(shared, lookout, until, stop))
    }

    /// As [`Paused::step`].
    pub fn step(&mut self, index: usize) -> Halt {
        self.of(index, Halt::Ended, Paused::step)
    }

    /// As [`Paused::frames`].
    pub fn frames(&mut self, index: usize) -> Vec<(u32, u32)> {
        self.of(index, Vec::new(), Paused::frames)
    }

    /// As [`Paused::place`].
    pub fn place(&mut self, index: usize, addr: u32) -> Place {
        self.of(index, Place::Nowhere, |core, shared| core.place(shared, addr))
    }

    /// As [`Paused::device_place`].
    pub fn device_place(&mut self, index: usize, soc: u64) -> Place {
        self.of(index, Place::Nowhere, |core, shared| core.device_place(shared, soc))
    }

    /// As [`Paused::read`].
    pub fn read(&mut self, index: usize, place: Place, len: usize) -> Bytes {
        self.of(index, Bytes::default(), |core, shared| core.read(shared, place, len))
    }

    /// As [`Paused::write`].
    pub fn write(&mut self, index: usize, place: Place, data: &[u8]) -> bool {
        self.of(index, false, |core, shared| core.write(shared, place, data))
    }

    /// As [`Paused::set_register`].
    pub fn set_register(&mut self, index: usize, number: u8, value: u32) {
        self.of(index, (), |core, _| core.set_register(number, value));
    }

    /// As [`Paused::moment`].
    pub fn moment(&self, index: usize) -> Option<Moment> {
        self.core(index).map(Paused::moment)
    }

    /// As [`Paused::go_to`].
    pub fn go_to(&mut self, index: usize, moment: &Moment) {
        self.of(index, (), |core, _| core.go_to(moment));
    }

    /// As [`Paused::picture`].
    pub fn picture(&mut self, index: usize) -> Vec<u8> {
        self.of(index, Vec::new(), Paused::picture)
    }

    fn of<R>(&mut self, index: usize, none: R, act: impl FnOnce(&mut Paused, &SharedMemory) -> R) -> R {
        let core = self.cores.get_mut(index);
        core.map_or(none, |core| act(core, &self.call.shared))
    }

    /// A tensor as all cores together have made it so far.
    pub fn tensor(&mut self, region: usize) -> Merged {
        let cores = self.cores.iter_mut();
        let writes: Vec<_> = cores.map(|core| (core.core(), core.writes(&self.call.shared))).collect();
        view::merge(&self.call.shared, region, &writes)
    }

    /// The report, as if the call ended here.
    pub fn report(&mut self, programs: &[Program<'_>]) -> RunReport {
        let shared = &self.call.shared;
        let runs = self.cores.iter_mut().map(|core| core.run_so_far(shared)).collect();
        summary::report(&self.op, &self.call, runs, programs, &self.costs)
    }
}
