//! Single-precision floating point: registers f0..f15, control FCR, status FSR.

use std::cmp::Ordering;

use super::memory::{load32, store32};
use crate::bus::{At, Bus};
use crate::core::{Core, Done, Leave};
use crate::fp::{Env, IntRange, Rounding};

/// What a comparison makes of a NaN: a quiet one minds only signaling NaNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Quiet,
    Signaling,
}

/// `ff <- memory`, then the address register is the address.
#[inline(always)]
pub(crate) fn load_update<B: Bus>(core: &mut Core, bus: &mut B, at: At, f: u8, s: u8, addr: u32) -> Done {
    let bits = load32(core, bus, at, addr)?;
    core.set_fr(f, bits);
    core.set_ar(s, addr);
    Ok(())
}

/// The address register changes with the store or not at all.
#[inline(always)]
pub(crate) fn store_update<B: Bus>(core: &mut Core, bus: &mut B, at: At, f: u8, s: u8, addr: u32) -> Done {
    let stored = store32(core, bus, at, addr, core.fr(f));
    if stored != Err(Leave::Fault) {
        core.set_ar(s, addr);
    }
    stored
}

#[inline(always)]
pub(crate) fn compute(core: &mut Core, r: u8, operation: impl Fn(&mut Env, &dyn Fn(u8) -> u32) -> u32) {
    let mut env = Env::new(core.state.fcr, core.state.fsr);
    let bits = operation(&mut env, &|f| core.fr(f));
    core.state.fsr = env.flags;
    core.set_fr(r, bits);
}

#[inline(always)]
pub(crate) fn to_int(core: &mut Core, r: u8, s: u8, scale: u32, rounding: Rounding, range: IntRange) {
    let mut env = Env::new(core.state.fcr, core.state.fsr);
    let value = env.round_to_int(core.fr(s), scale as u8, rounding, range);
    core.state.fsr = env.flags;
    core.set_ar(r, value);
}

#[inline(always)]
pub(crate) fn compare(
    core: &mut Core,
    r: u8,
    s: u8,
    t: u8,
    kind: Comparison,
    holds: impl Fn(Option<Ordering>) -> bool,
) {
    let mut env = Env::new(core.state.fcr, core.state.fsr);
    let order = env.compare(core.fr(s), core.fr(t), kind == Comparison::Quiet);
    core.state.fsr = env.flags;
    core.set_br(r, holds(order));
}

#[inline(always)]
pub(crate) fn move_if(core: &mut Core, condition: bool, r: u8, s: u8) {
    let bits = if condition { core.fr(s) } else { core.fr(r) };
    core.set_fr(r, bits);
}
