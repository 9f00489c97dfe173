//! Arithmetic, division and conditional moves on address registers.

use crate::core::{Core, Done};
use crate::fault::FaultKind;

/// Copies `bit` into everything above it.
#[inline(always)]
pub(crate) fn sign_extend(value: u32, bit: u32) -> u32 {
    let up = 31 - (bit & 31);
    ((value << up) as i32 >> up) as u32
}

/// Saturates to -2^bit ..= 2^bit - 1.
#[inline(always)]
pub(crate) fn clamp(value: u32, bit: u32) -> u32 {
    let bound = 1i32 << (bit & 31);
    (value as i32).clamp(-bound, bound - 1) as u32
}

/// Sign bits below the top one; 31 for 0 and -1.
#[inline(always)]
pub(crate) fn sign_bits(value: u32) -> u32 {
    (value ^ ((value as i32 >> 31) as u32)).leading_zeros() - 1
}

/// `ar <- value` if the condition holds.
#[inline(always)]
pub(crate) fn move_if(core: &mut Core, condition: bool, r: u8, value: u32) {
    let value = if condition { value } else { core.ar(r) };
    core.set_ar(r, value);
}

/// `ar <- result`, unless the divisor is zero.
#[inline(always)]
pub(crate) fn divide(core: &mut Core, r: u8, divisor: u32, result: impl FnOnce() -> u32) -> Done {
    if divisor == 0 {
        return Err(core.fail(FaultKind::DivideByZero));
    }
    core.set_ar(r, result());
    Ok(())
}
