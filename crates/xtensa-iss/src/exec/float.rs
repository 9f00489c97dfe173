//! Single-precision floating point: registers f0..f15, control FCR, status FSR.

use std::cmp::Ordering;

use super::memory::{address, load32, store32};
use crate::bus::Bus;
use crate::core::{Core, Done, Leave};
use crate::fp::{Env, IntRange, Rounding};
use crate::op::{Insn, Op};

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn) -> Done {
    match insn.op {
        Op::Lsi { t, s, offset } => load(core, bus, insn, t, address(core, s, offset))?,
        Op::Ssi { t, s, offset } => store(core, bus, insn, t, address(core, s, offset))?,
        // The updating forms write the address back; LSIU and LSXU use it before.
        Op::Lsiu { t, s, offset } => {
            let addr = address(core, s, offset);
            load(core, bus, insn, t, addr)?;
            core.set_ar(s, addr);
        }
        Op::Ssiu { t, s, offset } => {
            let addr = address(core, s, offset);
            store_and_update(core, bus, insn, t, s, addr)?;
        }
        Op::Lsx { r, s, t } => load(core, bus, insn, r, core.ar(s).wrapping_add(core.ar(t)))?,
        Op::Ssx { r, s, t } => store(core, bus, insn, r, core.ar(s).wrapping_add(core.ar(t)))?,
        Op::Lsxu { r, s, t } => {
            let addr = core.ar(s).wrapping_add(core.ar(t));
            load(core, bus, insn, r, addr)?;
            core.set_ar(s, addr);
        }
        Op::Ssxu { r, s, t } => {
            let addr = core.ar(s).wrapping_add(core.ar(t));
            store_and_update(core, bus, insn, r, s, addr)?;
        }
        Op::AddS { r, s, t } => compute(core, r, |env, f| env.add(f(s), f(t))),
        // a - b is a + (-b) but for a NaN's sign.
        Op::SubS { r, s, t } => compute(core, r, |env, f| env.sub(f(s), f(t))),
        Op::MulS { r, s, t } => compute(core, r, |env, f| env.mul(f(s), f(t))),
        // MADD.S fr, fs, ft: fr + fs * ft, one rounding; MSUB.S subtracts the product.
        Op::MaddS { r, s, t } => compute(core, r, |env, f| env.mul_add(f(s), f(t), f(r))),
        Op::MsubS { r, s, t } => compute(core, r, |env, f| env.mul_sub(f(s), f(t), f(r))),
        Op::MovS { r, s } => core.set_fr(r, core.fr(s)),
        Op::AbsS { r, s } => core.set_fr(r, core.fr(s) & 0x7fff_ffff),
        Op::NegS { r, s } => core.set_fr(r, core.fr(s) ^ 0x8000_0000),
        Op::RoundS { r, s, scale } => to_int(core, r, s, scale, Rounding::Nearest, IntRange::Signed),
        Op::TruncS { r, s, scale } => to_int(core, r, s, scale, Rounding::Zero, IntRange::Signed),
        Op::FloorS { r, s, scale } => to_int(core, r, s, scale, Rounding::Down, IntRange::Signed),
        Op::CeilS { r, s, scale } => to_int(core, r, s, scale, Rounding::Up, IntRange::Signed),
        Op::UtruncS { r, s, scale } => to_int(core, r, s, scale, Rounding::Zero, IntRange::Unsigned),
        Op::FloatS { r, s, scale } => {
            let value = i64::from(core.ar(s) as i32);
            compute(core, r, |env, _| env.integer(value, scale));
        }
        Op::UfloatS { r, s, scale } => {
            let value = i64::from(core.ar(s));
            compute(core, r, |env, _| env.integer(value, scale));
        }
        // RFR ar, fs / WFR fr, as: bits, unchanged.
        Op::Rfr { r, s } => core.set_ar(r, core.fr(s)),
        Op::Wfr { r, s } => core.set_fr(r, core.ar(s)),
        // Comparisons into a boolean: ordered (O) or unordered-or (U).
        Op::UnS { r, s, t } => compare(core, r, s, t, true, |o| o.is_none()),
        Op::OeqS { r, s, t } => compare(core, r, s, t, true, |o| o == Some(Ordering::Equal)),
        Op::UeqS { r, s, t } => compare(core, r, s, t, true, |o| matches!(o, None | Some(Ordering::Equal))),
        Op::OltS { r, s, t } => compare(core, r, s, t, false, |o| o == Some(Ordering::Less)),
        Op::UltS { r, s, t } => compare(core, r, s, t, true, |o| matches!(o, None | Some(Ordering::Less))),
        Op::OleS { r, s, t } => {
            compare(core, r, s, t, false, |o| matches!(o, Some(Ordering::Less | Ordering::Equal)));
        }
        Op::UleS { r, s, t } => compare(core, r, s, t, true, |o| o != Some(Ordering::Greater)),
        // Conditional moves: the condition is an address register or a boolean.
        Op::MoveqzS { r, s, t } => move_if(core, core.ar(t) == 0, r, s),
        Op::MovnezS { r, s, t } => move_if(core, core.ar(t) != 0, r, s),
        Op::MovltzS { r, s, t } => move_if(core, (core.ar(t) as i32) < 0, r, s),
        Op::MovgezS { r, s, t } => move_if(core, core.ar(t) as i32 >= 0, r, s),
        Op::MovfS { r, s, t } => move_if(core, !core.br(t), r, s),
        Op::MovtS { r, s, t } => move_if(core, core.br(t), r, s),
        // The index in the parent module sends nothing else here.
        _ => {}
    }
    Ok(())
}

impl Core {
    #[inline(always)]
    fn fr(&self, f: u8) -> u32 {
        self.state.fr[usize::from(f & 15)]
    }

    #[inline(always)]
    fn set_fr(&mut self, f: u8, bits: u32) {
        self.state.fr[usize::from(f & 15)] = bits;
    }
}

#[inline(always)]
fn load<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, f: u8, addr: u32) -> Done {
    let bits = load32(core, bus, insn, addr)?;
    core.set_fr(f, bits);
    Ok(())
}

#[inline(always)]
fn store<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, f: u8, addr: u32) -> Done {
    store32(core, bus, insn, addr, core.fr(f))
}

/// The address register changes with the store or not at all.
#[inline(always)]
fn store_and_update<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, f: u8, s: u8, addr: u32) -> Done {
    let stored = store(core, bus, insn, f, addr);
    if stored != Err(Leave::Fault) {
        core.set_ar(s, addr);
    }
    stored
}

#[inline(always)]
fn compute(core: &mut Core, r: u8, operation: impl Fn(&mut Env, &dyn Fn(u8) -> u32) -> u32) {
    let mut env = Env::new(core.state.fcr, core.state.fsr);
    let bits = operation(&mut env, &|f| core.fr(f));
    core.state.fsr = env.flags;
    core.set_fr(r, bits);
}

#[inline(always)]
fn to_int(core: &mut Core, r: u8, s: u8, scale: u8, rounding: Rounding, range: IntRange) {
    let mut env = Env::new(core.state.fcr, core.state.fsr);
    let value = env.round_to_int(core.fr(s), scale, rounding, range);
    core.state.fsr = env.flags;
    core.set_ar(r, value);
}

#[inline(always)]
fn compare(core: &mut Core, r: u8, s: u8, t: u8, quiet: bool, holds: impl Fn(Option<Ordering>) -> bool) {
    let mut env = Env::new(core.state.fcr, core.state.fsr);
    let order = env.compare(core.fr(s), core.fr(t), quiet);
    core.state.fsr = env.flags;
    core.set_br(r, holds(order));
}

#[inline(always)]
fn move_if(core: &mut Core, condition: bool, r: u8, s: u8) {
    let bits = if condition { core.fr(s) } else { core.fr(r) };
    core.set_fr(r, bits);
}
