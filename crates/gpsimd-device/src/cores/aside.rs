//! What a bus notes of a call, laid aside while nobody executes.
//!
//! Unaware of why a core pauses. What an instruction alone needs is not in it: between two of them there is nothing of the kind.

use std::collections::HashMap;

use crate::call::shared::SharedMemory;
use crate::cores::bus::Bus;
use crate::cores::definedness::Definedness;
use crate::cores::streams::Streams;
use crate::cores::touches::Touches;
use crate::memory::heap::Chain;
use crate::memory::private::Memory;
use crate::memory::view::{View, Writes};
use crate::report::counters::Counters;

/// The notes of a bus.
#[derive(Clone, Default)]
pub struct Aside {
    multicore: bool,
    definedness: Definedness,
    touches: Touches,
    own: Touches,
    owners: HashMap<usize, Chain>,
    last_own: (usize, usize),
    streams: Streams,
    counters: Counters,
    scalar_reads: Vec<u8>,
    /// What the core wrote to the tensors.
    writes: Writes,
}

impl Aside {
    /// Bytes that the core's writes to tensors, and what they lie over, come to.
    pub fn view<'a>(&mut self, shared: &'a SharedMemory) -> View<'a> {
        View::with(shared, std::mem::take(&mut self.writes))
    }

    /// Puts a view back.
    pub fn keep(&mut self, view: View<'_>) {
        self.writes = view.into_writes();
    }
}

impl<'a> Bus<'a> {
    /// The bus goes on with what was laid aside.
    pub fn resume(memory: &'a mut Memory, shared: &'a SharedMemory, aside: Aside) -> Bus<'a> {
        let Aside {
            multicore,
            definedness,
            touches,
            own,
            owners,
            last_own,
            streams,
            counters,
            scalar_reads,
            writes,
        } = aside;
        Bus {
            definedness,
            touches,
            own,
            owners,
            last_own,
            streams,
            counters,
            scalar_reads,
            ..Bus::new(memory, View::with(shared, writes), multicore)
        }
    }

    /// Between two instructions: what is to be kept of the bus without its memory.
    pub fn lay_aside(self) -> Aside {
        let Bus {
            view,
            multicore,
            definedness,
            touches,
            own,
            owners,
            last_own,
            streams,
            counters,
            scalar_reads,
            ..
        } = self;
        let writes = view.into_writes();
        Aside {
            multicore,
            definedness,
            touches,
            own,
            owners,
            last_own,
            streams,
            counters,
            scalar_reads,
            writes,
        }
    }
}
