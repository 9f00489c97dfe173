//! Integer arithmetic that the compiler calls, with the instructions that its own code takes.
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
    Outcome::double(product, instructions)
}

/// How far a divisor moves up to stand below the dividend, if it has to; each place is a round of the routine's loop.
fn places(a: u32, b: u32) -> Option<u32> {
    b.leading_zeros().checked_sub(a.leading_zeros()).filter(|places| *places > 0)
}

/// A divisor of zero is left to the routine, which traps.
pub(super) fn unsigned_quotient(a: u32, b: u32) -> Option<Outcome> {
    let quotient = a.checked_div(b)?;
    match places(a, b) {
        _ if b == 1 => Outcome::new(quotient, 4),
        None => Outcome::new(quotient, 9),
        Some(places) => Outcome::new(quotient, 12 + quotient_bits(quotient, places)),
    }
}

pub(super) fn unsigned_remainder(a: u32, b: u32) -> Option<Outcome> {
    let remainder = a.checked_rem(b)?;
    match places(a, b) {
        _ if b == 1 => Outcome::new(remainder, 5),
        None => Outcome::new(remainder, 7 + u64::from(a >= b)),
        Some(places) => Outcome::new(remainder, 10 + remainder_bits(a / b, places)),
    }
}

pub(super) fn quotient(a: u32, b: u32) -> Option<Outcome> {
    let quotient = (b != 0).then(|| (a as i32).wrapping_div(b as i32) as u32)?;
    let (m, n) = ((a as i32).unsigned_abs(), (b as i32).unsigned_abs());
    match places(m, n) {
        _ if n == 1 => Outcome::new(quotient, 9),
        None => Outcome::new(quotient, if m < n { 11 } else { 13 }),
        Some(places) => Outcome::new(quotient, 16 + quotient_bits(m / n, places)),
    }
}

pub(super) fn remainder(a: u32, b: u32) -> Option<Outcome> {
    let remainder = (b != 0).then(|| (a as i32).wrapping_rem(b as i32) as u32)?;
    let (m, n) = ((a as i32).unsigned_abs(), (b as i32).unsigned_abs());
    let sign = u64::from(a >> 31);
    match places(m, n) {
        _ if n == 1 => Outcome::new(remainder, 8),
        None => Outcome::new(remainder, 11 + u64::from(m >= n) + sign),
        Some(places) => Outcome::new(remainder, 14 + remainder_bits(m / n, places) + sign),
    }
}

/// A bit of the quotient is two instructions, the last one is one.
fn quotient_bits(quotient: u32, places: u32) -> u64 {
    u64::from(5 * places + 2 * (quotient >> 1).count_ones() + (quotient & 1))
}

/// A bit of the quotient is one subtraction.
fn remainder_bits(quotient: u32, places: u32) -> u64 {
    u64::from(4 * places + quotient.count_ones())
}
