//! Single-precision arithmetic that the compiler calls on a core without it: the host's result, which is the same by IEEE
//! 754, and the instructions that the compiler's own code takes to get there.
//!
//! The counts follow from which way that code goes: which operand is larger, how far significands move, whether they
//! carry, whether the result is rounded up, whether it was a tie. NaNs, infinities, and products and quotients that are
//! or come from subnormal numbers are left to that code. Unaware of calls.

use std::cmp::Ordering;

use super::Outcome;

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
/// The bit that a significand has and its encoding has not.
const HIDDEN: u32 = 1 << 23;

pub(super) fn exponent(x: u32) -> u32 {
    x >> 23 & 0xff
}

/// NaN or infinite.
pub(super) fn is_special(x: u32) -> bool {
    x & INFINITY == INFINITY
}

pub(super) fn is_nan(x: u32) -> bool {
    x & !SIGN > INFINITY
}

/// Significand and exponent, by which subnormal numbers are no exception.
fn unpack(x: u32) -> (u32, u32) {
    match exponent(x) {
        0 => (x & (HIDDEN - 1), 1),
        e => (x & (HIDDEN - 1) | HIDDEN, e),
    }
}

/// What moves out below when a significand moves down by less than 32.
fn lost(significand: u32, down: u32) -> u32 {
    (u64::from(significand) << 32 >> down) as u32
}

/// Instructions from the rounding step to the return: nothing to add, one added, a tie made even.
fn rounding(below: u32) -> u64 {
    match below {
        0x8000_0000 => 7,
        0x8000_0001.. => 5,
        _ => 2,
    }
}

pub(super) fn add(a: u32, b: u32) -> Option<Outcome> {
    if is_special(a) || is_special(b) {
        return None;
    }
    let sum = f32::from_bits(a) + f32::from_bits(b);
    match (a ^ b) & SIGN {
        0 => Outcome::new(sum.to_bits(), 6 + add_magnitudes(a, b)?),
        // Three more lead to the subtraction, behind its own beginning.
        _ => Outcome::new(sum.to_bits(), 9 + subtract_magnitudes(a & !SIGN, b & !SIGN)),
    }
}

pub(super) fn sub(a: u32, b: u32) -> Option<Outcome> {
    if is_special(a) || is_special(b) {
        return None;
    }
    let difference = f32::from_bits(a) - f32::from_bits(b);
    match (a ^ b) & SIGN {
        0 => Outcome::new(difference.to_bits(), 6 + subtract_magnitudes(a & !SIGN, b & !SIGN)),
        _ => Outcome::new(difference.to_bits(), 9 + add_magnitudes(a, b)?),
    }
}

/// From the exponents on, for operands of one sign. A sum that carries into infinity is left alone.
fn add_magnitudes(a: u32, b: u32) -> Option<u64> {
    let (x, y) = (exponent(a), exponent(b));
    let a_first = x >= y;
    let (large, small) = if a_first { (a, b) } else { (b, a) };
    let ((significand, at), (other, other_at)) = (unpack(large), unpack(small));
    // Three for the exponents, one to ask whether the smaller is normal, then as many as it takes to unpack it.
    let unpacking = match (a_first, exponent(small), exponent(large)) {
        (true, 0, 0) => return Some(9),
        (true, 0, _) => 5,
        (false, 0, _) => 4,
        _ => 3,
    };
    let mut count = 4 + unpacking + 2;
    let down = at - other_at;
    if down >= 32 {
        return Some(count + if a_first { 1 } else { 2 });
    }
    count += if a_first { 7 } else { 6 };
    let (sum, below) = (significand + (other >> down), lost(other, down));
    if sum < 2 * HIDDEN {
        return Some(count + rounding(below));
    }
    if at >= 254 {
        return None;
    }
    count += if a_first { 2 } else { 0 };
    Some(
        count
            + match (sum & 1, below) {
                (0, _) => 8,
                (_, 0) => 12,
                _ => 10,
            },
    )
}

/// From the exponents on, for the magnitudes of operands of one sign.
fn subtract_magnitudes(a: u32, b: u32) -> u64 {
    let a_first = a >= b;
    let (large, small) = if a_first { (a, b) } else { (b, a) };
    let ((significand, at), (other, other_at)) = (unpack(large), unpack(small));
    let unpacking = match (exponent(small), exponent(large)) {
        (0, _) if a == b => return 7,
        (0, 0) => 4,
        (0, _) => 6,
        _ => 3,
    };
    let mut count = 4 + unpacking + 2;
    let down = at - other_at;
    if down >= 32 {
        return count + if a_first { 1 } else { 3 };
    }
    count += if a_first { 10 } else { 12 };
    let below = lost(other, down).wrapping_neg();
    let difference = significand - (other >> down) - u32::from(below != 0);
    if exponent(large) == 0 || difference >= HIDDEN {
        return count + rounding(below);
    }
    // The leading bit is gone: the result moves up.
    count += if a_first { 3 } else { 2 };
    let at = at - 1;
    let up = match (difference, below) {
        (0, 0) => return count + 3,
        (0, _) => {
            count += 5;
            at.min(24)
        }
        _ => {
            let zeros = (difference << 9).leading_zeros();
            count += if zeros >= at { 5 } else { 4 };
            if zeros >= at { at } else { zeros + 1 }
        }
    };
    count + 8 + rounding((u64::from(below) << up) as u32)
}

pub(super) fn mul(a: u32, b: u32) -> Option<Outcome> {
    if is_special(a) || is_special(b) {
        return None;
    }
    let bits = (f32::from_bits(a) * f32::from_bits(b)).to_bits();
    match (exponent(a), exponent(b)) {
        (0, _) if a & !SIGN == 0 => return Outcome::new(bits, 15),
        (1.., 0) if b & !SIGN == 0 => return Outcome::new(bits, 16),
        (0, _) | (_, 0) => return None,
        _ => {}
    }
    let ((x, at), (y, other_at)) = (unpack(a), unpack(b));
    let product = u64::from(x) * u64::from(y);
    let (x0, x1, y0, y1) = (x & 0xffff, x >> 16, y & 0xffff, y >> 16);
    let carries = ((x0 * y1 + x1 * y0) << 16).checked_add(x0 * y0).is_none();
    let is_long = product >> 47 != 0;
    let exponent = (at + other_at + u32::from(is_long)).checked_sub(128)?;
    if exponent >= 254 {
        return None;
    }
    let below = (product << if is_long { 8 } else { 9 }) as u32;
    let count = 41
        + u64::from(carries)
        + 2 * u64::from(is_long)
        + match below {
            0x8000_0000 => 6,
            0x8000_0001.. => 3,
            _ => 0,
        };
    Outcome::new(bits, count + 6)
}

/// The quotient, which the routine finds bit by bit: a bit that is one takes two instructions more.
pub(super) fn div(a: u32, b: u32) -> Option<Outcome> {
    if is_special(a) || is_special(b) || exponent(b) == 0 {
        return None;
    }
    let bits = (f32::from_bits(a) / f32::from_bits(b)).to_bits();
    match exponent(a) {
        0 if a & !SIGN == 0 => return Outcome::new(bits, 15),
        0 => return None,
        _ => {}
    }
    let ((x, at), (y, other_at)) = (unpack(a), unpack(b));
    // Of equal significands, too, the first is doubled; then all bits are one, and rounding makes them none.
    let is_doubled = x <= y;
    let exponent = (at + 126).checked_sub(other_at + u32::from(is_doubled))?;
    if exponent >= 254 {
        return None;
    }
    let (x, y) = (u64::from(x) << if is_doubled { 24 } else { 23 }, u64::from(y));
    let quotient = (x / y).min(0x00ff_ffff);
    let rest = (x - quotient * y) << 1;
    let count = if is_doubled { 22 } else { 20 }
        + 23 * 5
        + 2 * u64::from((quotient & 0x007f_ffff).count_ones())
        + match rest.cmp(&y) {
            Ordering::Less => 1,
            Ordering::Equal => 6,
            Ordering::Greater => 3,
        };
    Outcome::new(bits, 3 + count + 6)
}

/// Zero if equal.
pub(super) fn equal(a: u32, b: u32) -> Option<Outcome> {
    match () {
        () if a != b => Outcome::new(((a | b) << 1 != 0).into(), 8),
        () if is_special(a) => Outcome::new(is_nan(a).into(), 10),
        () => Outcome::new(0, 6),
    }
}

/// Instructions from the first test for infinite operands to the end of both, or the count at which a NaN returns.
fn special(a: u32, b: u32) -> Result<u64, u64> {
    let mut count = 3;
    for (x, test) in [(a, 0), (b, 1)] {
        count += test;
        if is_special(x) {
            count += 2;
            if is_nan(x) {
                return Err(count + 2);
            }
        }
    }
    Ok(count)
}

/// 1 if `a` is greater than `b`, else 0; `nan` if they are not ordered.
pub(super) fn greater_or_not_above(a: u32, b: u32, nan: u32) -> Option<Outcome> {
    let count = match special(a, b) {
        Ok(count) => count,
        Err(count) => return Outcome::new(nan, count),
    };
    match ((a ^ b) & SIGN, a & SIGN) {
        (0, 0) => Outcome::new((a > b).into(), count + 6),
        (0, _) => Outcome::new((a < b).into(), count + 6),
        (_, 0) => Outcome::new(((a | b) << 1 != 0).into(), count + 9),
        _ => Outcome::new(0, count + 5),
    }
}

/// -1 if `a` is less than `b`, else 0; `nan` if they are not ordered.
pub(super) fn less_or_not_below(a: u32, b: u32, nan: u32) -> Option<Outcome> {
    let count = match special(a, b) {
        Ok(count) => count,
        Err(count) => return Outcome::new(nan, count),
    };
    let minus = |holds: bool| if holds { u32::MAX } else { 0 };
    match ((a ^ b) & SIGN, a & SIGN) {
        (0, 0) => Outcome::new(minus(a < b), count + 6),
        (0, _) => Outcome::new(minus(a > b), count + 6),
        (_, 0) => Outcome::new(0, count + 5),
        _ => Outcome::new(minus((a | b) << 1 != 0), count + 9),
    }
}

/// 1 if one is a NaN.
pub(super) fn unordered(a: u32, b: u32) -> Option<Outcome> {
    match special(a, b) {
        Ok(count) => Outcome::new(0, count + 2),
        Err(count) => Outcome::new(1, count),
    }
}

/// Towards zero; what does not fit saturates, a NaN to the end that its sign names.
pub(super) fn to_int(a: u32) -> Option<Outcome> {
    let end = if a & SIGN != 0 { SIGN } else { !SIGN };
    let bits = exponent(a) as i32 - 126;
    match () {
        () if is_nan(a) => None,
        () if is_special(a) => Outcome::new(end, 10),
        () if bits >= 32 => Outcome::new(end, 11),
        () if bits < 1 => Outcome::new(0, 9),
        () => Outcome::new(f32::from_bits(a) as i32 as u32, 14),
    }
}

/// Towards zero; a negative number wraps around, what does not fit saturates.
pub(super) fn to_unsigned(a: u32) -> Option<Outcome> {
    let is_negative = a & SIGN != 0;
    let end = if is_negative { SIGN } else { u32::MAX };
    let bits = exponent(a) as i32 - 126;
    let magnitude = f32::from_bits(a & !SIGN) as u32;
    match () {
        () if is_nan(a) => Outcome::new(u32::MAX, 7),
        () if is_special(a) => Outcome::new(end, 10),
        () if bits > 32 => Outcome::new(end, 11),
        () if bits < 1 => Outcome::new(0, 9),
        () if bits == 32 => Outcome::new(if is_negative { end } else { magnitude }, 14),
        () if is_negative => Outcome::new(magnitude.wrapping_neg(), 16),
        () => Outcome::new(magnitude, 16),
    }
}

pub(super) fn from_int(a: u32) -> Option<Outcome> {
    if a == 0 {
        return Outcome::new(0, 3);
    }
    Outcome::new((a as i32 as f32).to_bits(), 17 + rounded(a, a & SIGN != 0))
}

pub(super) fn from_unsigned(a: u32) -> Option<Outcome> {
    if a == 0 {
        return Outcome::new(0, 3);
    }
    Outcome::new((a as f32).to_bits(), 17 + rounded(a, false))
}

/// Instructions that rounding an integer takes beyond none.
fn rounded(value: u32, is_negative: bool) -> u64 {
    let magnitude = if is_negative { value.wrapping_neg() } else { value };
    rounding(magnitude << magnitude.leading_zeros() << 24) - 2
}
