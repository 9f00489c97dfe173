//! Single-precision floating point.

use super::control;
use crate::bus::Bus;
use crate::core::{Core, Done};
use crate::op::Insn;

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn) -> Done {
    control::execute(core, bus, insn)
}
