//! Multiplication and division.

use crate::bus::Bus;
use crate::core::{Core, Done};
use crate::fault::FaultKind;
use crate::op::{Insn, Op};

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, _: &mut B, insn: &Insn) -> Done {
    match insn.op {
        Op::Mull { r, s, t } => core.set_ar(r, core.ar(s).wrapping_mul(core.ar(t))),
        // MULUH/MULSH: the upper word of the 64-bit product.
        Op::Muluh { r, s, t } => {
            core.set_ar(r, ((u64::from(core.ar(s)) * u64::from(core.ar(t))) >> 32) as u32)
        }
        Op::Mulsh { r, s, t } => {
            let product = i64::from(core.ar(s) as i32) * i64::from(core.ar(t) as i32);
            core.set_ar(r, (product >> 32) as u32);
        }
        // MUL16U/MUL16S: low halves only.
        Op::Mul16u { r, s, t } => core.set_ar(r, (core.ar(s) & 0xffff) * (core.ar(t) & 0xffff)),
        Op::Mul16s { r, s, t } => {
            core.set_ar(r, (i32::from(core.ar(s) as i16) * i32::from(core.ar(t) as i16)) as u32);
        }
        Op::Quou { r, s, t } => return divide(core, r, s, t, |a, b| a / b),
        Op::Remu { r, s, t } => return divide(core, r, s, t, |a, b| a % b),
        // QUOS/REMS: the most negative value by -1 gives itself, remainder 0.
        Op::Quos { r, s, t } => {
            return divide(core, r, s, t, |a, b| (a as i32).wrapping_div(b as i32) as u32);
        }
        Op::Rems { r, s, t } => {
            return divide(core, r, s, t, |a, b| (a as i32).wrapping_rem(b as i32) as u32);
        }
        // The index in the parent module sends nothing else here.
        _ => {}
    }
    Ok(())
}

/// ar <- as `by` at, unless at is zero.
#[inline(always)]
fn divide(core: &mut Core, r: u8, s: u8, t: u8, by: impl Fn(u32, u32) -> u32) -> Done {
    let divisor = core.ar(t);
    if divisor == 0 {
        return Err(core.fail(FaultKind::DivideByZero));
    }
    core.set_ar(r, by(core.ar(s), divisor));
    Ok(())
}
