//! Execution: what each instruction does, one arm each, in a module per class.
//!
//! Each class handles its own variants of [`Op`] and passes the others on to the next class; after inlining this is one jump
//! table. A module reads top to bottom like the manual's chapter of that class.

mod alu;
mod boolean;
mod control;
mod float;
mod memory;
mod muldiv;
mod registers;
mod shift;
mod window;

use crate::bus::Bus;
use crate::core::{Core, Done};
use crate::op::Insn;

/// Executes one instruction. `core.state.pc` is neither read nor, but for jumps, written.
#[inline(always)]
pub(crate) fn execute<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn) -> Done {
    alu::execute(core, bus, insn)
}
