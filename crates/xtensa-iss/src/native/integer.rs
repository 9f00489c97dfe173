//! 64-bit integer arithmetic that the compiler calls, with the instructions that its own code takes.
//!
//! Unaware of calls.

use super::Outcome;

/// The product of two unsigned words, which the routine adds up from four of halves; a carry costs an instruction.
pub(super) fn product(a: u32, b: u32) -> Option<Outcome> {
    let product = u64::from(a) * u64::from(b);
    let halves = |x: u32| (x & 0xffff, x >> 16);
    let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
    let (middle, first) = (a0 * b1).overflowing_add(a1 * b0);
    let (_, second) = (middle << 16).overflowing_add(a0 * b0);
    let instructions = 18 + u64::from(first) + u64::from(second);
    Some(Outcome { result: (product as u32, Some((product >> 32) as u32)), instructions })
}
