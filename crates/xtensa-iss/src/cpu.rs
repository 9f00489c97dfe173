//! `Cpu`: one core as its host sees it. Set registers, run, look at why it stopped.
//!
//! Unaware of what the memory behind the bus is and of how blocks are decoded.

use crate::blocks::BlockCache;
use crate::bus::{Bus, Undefined};
use crate::config::Config;
use crate::core::Core;
use crate::fault::{Fault, Stop};
use crate::shadow::Shadow;
use crate::state::{State, ps};

/// One Xtensa core; the crate's page shows one at work.
#[derive(Debug)]
pub struct Cpu {
    core: Core,
    blocks: BlockCache,
}

/// One core's registers at some moment, with which of their bits hold no value.
#[derive(Debug, Clone)]
pub struct Moment {
    state: State,
    shadow: Box<Shadow>,
}

impl Moment {
    /// The registers.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl Cpu {
    /// A core with [`State::default`] registers.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self { core: Core::new(config), blocks: BlockCache::new() }
    }

    /// Runs until `budget` more instructions are done or something stops the core earlier.
    pub fn run<B: Bus>(&mut self, bus: &mut B, budget: u64) -> Stop {
        self.blocks.run(&mut self.core, bus, budget)
    }

    /// A copy of all registers.
    #[must_use]
    pub fn state(&self) -> State {
        self.core.snapshot()
    }

    /// Replaces all registers.
    pub fn set_state(&mut self, state: &State) {
        self.core.restore(state);
    }

    /// All registers, and which of their bits hold no value: what a core goes on from.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment { state: self.core.snapshot(), shadow: self.core.shadow.clone() }
    }

    /// Goes back to a moment. Memory is the host's to put back; what was decoded from it is forgotten.
    pub fn go_to(&mut self, moment: &Moment) {
        self.core.restore(&moment.state);
        self.core.shadow.clone_from(&moment.shadow);
        self.forget_code();
    }

    /// Forgets everything decoded: the next instruction is fetched anew.
    pub fn forget_code(&mut self) {
        self.blocks.flush(&mut self.core);
    }

    /// How often everything decoded was forgotten: whenever the program has changed its own code, and at times besides. Who
    /// puts memory back behind the core's back must have it forgotten again if this has grown meanwhile.
    #[must_use]
    pub fn times_forgotten(&self) -> u64 {
        self.blocks.flushes
    }

    /// Address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u32 {
        self.core.state.pc
    }

    /// Moves the next instruction.
    pub fn set_pc(&mut self, pc: u32) {
        self.core.state.pc = pc;
    }

    /// Register `a0..a15` (`r & 15`) of the visible window.
    #[must_use]
    pub fn ar(&self, r: u8) -> u32 {
        self.core.ar(r)
    }

    /// Sets register `a0..a15` (`r & 15`) of the visible window.
    pub fn set_ar(&mut self, r: u8, value: u32) {
        self.core.set_ar(r, value);
        let base = self.core.state.window_base;
        self.core.shadow.set_ar(base, r & 15, Undefined::default());
    }

    /// Stack limit; 0 for none.
    #[must_use]
    pub fn isl(&self) -> u32 {
        self.core.state.isl
    }

    /// Sets the stack limit; 0 for none.
    pub fn set_isl(&mut self, limit: u32) {
        self.core.state.isl = limit;
    }

    /// Instructions completed since the start.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.core.state.instructions
    }

    /// Instructions completed plus the cycles added by the host.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.core.state.cycles
    }

    /// Calls of library functions that the host computed.
    #[must_use]
    pub fn native_calls(&self) -> u64 {
        self.core.native_calls
    }

    /// Lets time pass for something the host did on the program's behalf (a DMA transfer, a bus stall).
    pub fn add_cycles(&mut self, cycles: u64) {
        self.core.state.cycles = self.core.state.cycles.wrapping_add(cycles);
    }

    /// Prepares a windowed call (CALL4) of the function at `entry` with up to six word arguments, as if made by an
    /// instruction that lies right before `ret`; run to continue. Once pc is `ret`, `a6` holds the result
    /// ([`Cpu::call_result`]). The running frame needs no save area of its own, only a stack pointer in `a1`.
    ///
    /// RETW takes the two top address bits from the returning function's own pc, so `ret` must lie in the same 1 GiB as
    /// the function, else the return goes elsewhere. Arguments after the sixth belong on the stack and are ignored here.
    pub fn call4(&mut self, entry: u32, ret: u32, args: &[u32]) {
        self.core.set_ar(4, 1 << 30 | ret & 0x3fff_ffff);
        for (r, &arg) in (6u8..12).zip(args) {
            self.core.set_ar(r, arg);
        }
        let s = &mut self.core.state;
        s.ps = s.ps & !ps::CALLINC | 1 << ps::CALLINC_SHIFT;
        s.pc = entry;
    }

    /// What the function called by [`Cpu::call4`] returned.
    #[must_use]
    pub fn call_result(&self) -> u32 {
        self.core.ar(6)
    }

    /// Writes every live frame but the running one to its save area, as `xthal_window_spill` does, so that memory alone
    /// describes the call chain.
    ///
    /// # Errors
    /// A save area is not writable, or the windows are inconsistent.
    pub fn spill_windows<B: Bus>(&mut self, bus: &mut B) -> Result<(), Fault> {
        let spilled = self.core.spill_all(bus);
        if std::mem::take(&mut self.core.spilled_into_code) {
            self.blocks.flush(&mut self.core);
        }
        spilled
    }

    /// Call chain from the running function outwards: `(pc, sp)`, at most `limit` entries. The first pc is the next
    /// instruction, the others are return addresses. Changes nothing; stops where memory is unreadable or the stack
    /// pointer does not grow.
    pub fn call_chain<B: Bus>(&self, bus: &mut B, limit: usize) -> Vec<(u32, u32)> {
        self.core.call_chain(bus, limit)
    }

    /// Tells the bus which instructions ran of those that it was told as [`Bus::passed`], each time once. Only at the end of
    /// a profile is it told about all.
    pub fn tell_tallies<B: Bus>(&mut self, bus: &mut B) {
        self.blocks.tell_tallies(bus);
    }

    /// Tells the core that someone else (DMA, a loader, a window that moved) changed memory that may hold code. Stores of
    /// the program itself are noticed without help.
    pub fn invalidate_code(&mut self, addr: u32, len: u32) {
        self.blocks.invalidate(&mut self.core, addr, len);
    }
}
