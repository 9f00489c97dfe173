//! A bus without its memory, laid aside while nobody executes.
//!
//! Unaware of why a core pauses. What an instruction alone needs is not in it: between two of them there is nothing of the kind.

use crate::call::shared::SharedMemory;
use crate::cores::bus::Bus;
use crate::cores::notes::Notes;
use crate::memory::private::Memory;
use crate::memory::view::{View, Writes};

/// What is to be kept of a bus.
#[derive(Clone, Default)]
pub struct Aside {
    multicore: bool,
    notes: Notes,
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
        let Aside { multicore, notes, writes } = aside;
        Bus { notes, ..Bus::new(memory, View::with(shared, writes), multicore) }
    }

    /// Between two instructions: what is to be kept of the bus without its memory.
    pub fn lay_aside(self) -> Aside {
        Aside { multicore: self.multicore, notes: self.notes, writes: self.view.into_writes() }
    }
}
