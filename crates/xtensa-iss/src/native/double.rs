//! Double-precision arithmetic that the compiler calls: the host's result, and the instructions that the compiler's own code
//! takes to get there, which works on two words.
//!
//! As for single precision, the counts follow from which way that code goes; NaNs, infinite results, and products and
//! quotients that are or come from subnormal numbers are left to it. Unaware of calls.

use std::cmp::Ordering;

use super::{Outcome, single};

const SIGN: u64 = 1 << 63;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;
/// The bit that a significand has and its encoding has not.
const HIDDEN: u64 = 1 << 52;

fn high(x: u64) -> u32 {
    (x >> 32) as u32
}

fn low(x: u64) -> u32 {
    x as u32
}

fn exponent(x: u64) -> u32 {
    high(x) >> 20 & 0x7ff
}

/// NaN or infinite.
fn is_special(x: u64) -> bool {
    x & INFINITY == INFINITY
}

fn is_nan(x: u64) -> bool {
    x & !SIGN > INFINITY
}

/// Significand and exponent, by which subnormal numbers are no exception.
fn unpack(x: u64) -> (u64, u32) {
    match exponent(x) {
        0 => (x & (HIDDEN - 1), 1),
        e => (x & (HIDDEN - 1) | HIDDEN, e),
    }
}

/// What moves out below when a significand moves down by less than 64: 32 bits, the last of which stands for all behind.
fn lost(significand: u64, down: u32) -> u32 {
    let moved = u128::from(significand) << 64 >> down;
    (moved >> 32) as u32 | u32::from(moved as u32 != 0)
}

fn carries(a: u32, b: u32) -> u64 {
    u64::from(a.checked_add(b).is_none())
}

/// Instructions from the rounding step of a sum to the return. One added to a low word may make its high word's part of it.
fn rounding(below: u32, low: u32) -> u64 {
    match (below, low) {
        (..0x8000_0000, _) => 2,
        (_, u32::MAX) => 5,
        (0x8000_0000, _) => 8,
        _ => 6,
    }
}

pub(super) fn add(a: u64, b: u64) -> Option<Outcome> {
    if is_special(a) || is_special(b) {
        return None;
    }
    let sum = (f64::from_bits(a) + f64::from_bits(b)).to_bits();
    match (a ^ b) & SIGN {
        0 => Outcome::double(sum, 4 + add_magnitudes(a & !SIGN, b & !SIGN)?),
        // Three more lead to the subtraction, behind its own beginning.
        _ => Outcome::double(sum, 7 + subtract_magnitudes(a & !SIGN, b & !SIGN)),
    }
}

pub(super) fn sub(a: u64, b: u64) -> Option<Outcome> {
    if is_special(a) || is_special(b) {
        return None;
    }
    let difference = (f64::from_bits(a) - f64::from_bits(b)).to_bits();
    match (a ^ b) & SIGN {
        0 => Outcome::double(difference, 4 + subtract_magnitudes(a & !SIGN, b & !SIGN)),
        _ => Outcome::double(difference, 7 + add_magnitudes(a & !SIGN, b & !SIGN)?),
    }
}

/// Instructions to move the smaller significand down by `down`, from the test for 32 on; `Err` if it vanishes and what is left
/// of the function is that.
fn moving(other: u64, down: u32, near: u64, vanished: u64) -> Result<u64, u64> {
    match down {
        0..32 => Ok(near),
        // What leaves the last word is remembered if there is any.
        32..64 => Ok(7 + if low(other) & ((1 << (down - 32)) - 1) != 0 { 2 } else { 0 }),
        _ => Err(vanished),
    }
}

/// From the tests for special operands on. A sum that carries into infinity is left alone.
fn add_magnitudes(a: u64, b: u64) -> Option<u64> {
    let (x, y) = (exponent(a), exponent(b));
    let a_first = x >= y;
    let (large, small) = if a_first { (a, b) } else { (b, a) };
    let ((significand, at), (other, other_at)) = (unpack(large), unpack(small));
    let unpacking = match (a_first, exponent(small), exponent(large)) {
        (true, 0, 0) => return Some(5 + 8 + carries(low(a), low(b))),
        (true, 0, _) => 6,
        (false, 0, _) => 5,
        _ => 4,
    };
    let mut count = 5 + unpacking + 2;
    let down = at - other_at;
    let (near, vanished) = if a_first { (5, 2) } else { (4, 4) };
    count += match moving(other, down, near, vanished) {
        Ok(moving) => moving,
        Err(vanished) => return Some(count + vanished),
    };
    let (moved, below) = (other >> down, lost(other, down));
    let sum = significand + moved;
    count += 5 + carries(low(significand), low(moved));
    if sum < 2 * HIDDEN {
        return Some(count + rounding(below, low(sum)));
    }
    if at >= 0x7fe {
        return None;
    }
    count += if a_first { 2 } else { 0 };
    Some(
        count
            + match (sum & 1, low(sum >> 1), below) {
                (0, ..) => 10,
                (_, u32::MAX, _) => 13,
                (_, _, 0) => 15,
                _ => 13,
            },
    )
}

/// From the tests for special operands on, for the magnitudes of operands of one sign.
fn subtract_magnitudes(a: u64, b: u64) -> u64 {
    let a_first = a > b;
    let (large, small) = if a_first { (a, b) } else { (b, a) };
    let mut count = 5 + match (a_first, high(a) == high(b)) {
        _ if a == b => return 5 + 6,
        (true, false) => 1,
        (true, true) => 3,
        (false, false) => 0,
        (false, true) => 2,
    };
    let ((significand, at), (other, other_at)) = (unpack(large), unpack(small));
    let unpacking = match (exponent(small), exponent(large)) {
        (0, 1..) => 6,
        _ => 4,
    };
    count += unpacking + 2;
    let down = at - other_at;
    let (near, vanished) = if a_first { (5, 2) } else { (7, 5) };
    count += match moving(other, down, near, vanished) {
        Ok(moving) => moving,
        Err(vanished) => return count + vanished,
    };
    let (moved, below) = (other >> down, lost(other, down).wrapping_neg());
    count += 5 + u64::from(low(significand) < low(moved)) + 2;
    let difference = significand - moved - u64::from(below != 0);
    count += if below != 0 { 3 } else { 0 };
    if exponent(large) == 0 || difference >= HIDDEN {
        return count + rounding(below, low(difference));
    }
    // The leading bit is gone: the result moves up, as far as its exponent allows.
    count += if a_first { 1 } else { 0 };
    let at = at - 1;
    let (zeros, stops) = match high(difference) {
        0 => {
            let zeros = low(difference).leading_zeros() + 21;
            (zeros, at < zeros)
        }
        top => {
            let zeros = (top << 12).leading_zeros();
            (zeros + 1, zeros >= at)
        }
    };
    let up = if stops { at } else { zeros };
    count += if stops { 17 } else { 15 };
    let moved = (u128::from(difference) << 32 | u128::from(below)) << up;
    count + rounding(moved as u32, (moved >> 32) as u32)
}

/// The instructions that multiply two numbers of two words by digits of 16 bits, to the test of the product's first bit:
/// each carry is one, and so is each of the two that note what is below the third word.
fn product_of_digits(x: u64, y: u64) -> u64 {
    let digits = |v: u64| [0, 16, 32, 48].map(|at| v >> at & 0xffff);
    let ([x0, x1, x2, x3], [y0, y1, y2, y3]) = (digits(x), digits(y));
    let split = |sum: u64| (low(sum), sum >> 32);
    let first = x0 * y1 + x1 * y0;
    let (lowest, c0) = split(u64::from(low(first << 16)) + x0 * y0);
    let (second, c1) = split((first >> 16) + c0 + x0 * y2 + x1 * y1 + x2 * y0);
    let sticky = u32::from(lowest != 0);
    let third = x0 * y3 + x1 * y2 + x2 * y1 + x3 * y0;
    let (_, c2) = split(u64::from(second | sticky) + u64::from(low(third << 16)));
    let (fourth, c3) = split((third >> 16) + c1 + c2 + x1 * y3 + x2 * y2 + x3 * y1);
    let fifth = x2 * y3 + x3 * y2;
    let (_, c4) = split(u64::from(fourth) + u64::from(low(fifth << 16)));
    let carries = [first >> 32, c0, c1, third >> 32, c2, c3, fifth >> 32, c4];
    84 + carries.iter().sum::<u64>() + 2 * u64::from(sticky)
}

pub(super) fn mul(a: u64, b: u64) -> Option<Outcome> {
    if is_special(a) || is_special(b) {
        return None;
    }
    let bits = (f64::from_bits(a) * f64::from_bits(b)).to_bits();
    match (exponent(a), exponent(b)) {
        (0, _) if a & !SIGN == 0 => return Outcome::double(bits, 17),
        (1.., 0) if b & !SIGN == 0 => return Outcome::double(bits, 18),
        (0, _) | (_, 0) => return None,
        _ => {}
    }
    let ((x, at), (y, other_at)) = (unpack(a), unpack(b));
    let product = u128::from(x) * u128::from(y);
    let is_long = product >> 105 != 0;
    let exponent = (at + other_at + u32::from(is_long)).checked_sub(0x400)?;
    if exponent >= 0x7fe {
        return None;
    }
    let up = if is_long { 11 } else { 12 };
    let noted = (product >> 32) as u32 | u32::from(low(product as u64) != 0);
    let (below, word) = (noted << up, (product >> (64 - up)) as u32);
    let count = product_of_digits(x, y)
        + if is_long { 0 } else { 2 }
        + 8
        + match (below, word) {
            (..0x8000_0000, _) => 1,
            (_, u32::MAX) => 5,
            (0x8000_0000, _) => 8,
            _ => 5,
        };
    Outcome::double(bits, count + 6)
}

pub(super) fn div(a: u64, b: u64) -> Option<Outcome> {
    if is_special(a) || is_special(b) || exponent(b) == 0 {
        return None;
    }
    let bits = (f64::from_bits(a) / f64::from_bits(b)).to_bits();
    match exponent(a) {
        0 if a & !SIGN == 0 => return Outcome::double(bits, 17),
        0 => return None,
        _ => {}
    }
    let ((x, at), (y, other_at)) = (unpack(a), unpack(b));
    let (x_high, y_high, y_low) = (high(x), high(y), low(y));
    let is_less = x < y;
    let exponent = (at + 0x3fe).checked_sub(other_at + u32::from(is_less))?;
    if exponent >= 0x7fe {
        return None;
    }
    let mut count = 17
        + match (is_less, x_high == y_high) {
            (false, false) => 0,
            (false, true) => 3,
            (true, true) => 2 + 3,
            (true, false) => 1 + 3,
        };
    let borrows = |rest: u64| u64::from(low(rest) < y_low);
    let x = if is_less { x << 1 } else { x };
    count += 8 + borrows(x);
    let (mut rest, mut quotient) = ((x - y) << 1, 1_u64);
    // Bit by bit, as the routine: how long each takes hangs on both words of what rests.
    for _ in 0..52 {
        let is_one = rest >= y;
        quotient = quotient << 1 | u64::from(is_one);
        count += match (is_one, high(rest) == y_high) {
            (false, false) => 7,
            (false, true) => 10,
            (true, meet) => 12 + u64::from(meet) + borrows(rest),
        };
        rest = if is_one { rest - y } else { rest } << 1;
    }
    let wraps = low(quotient) == u32::MAX;
    count += match (rest.cmp(&y), high(rest) == y_high) {
        (Ordering::Less, false) => 1,
        (Ordering::Less, true) => 3,
        (Ordering::Equal, _) => 6 + if wraps { 2 } else { 3 },
        (Ordering::Greater, meet) => 4 + if meet { 2 } else { 0 } + if wraps { 2 } else { 0 },
    };
    Outcome::double(bits, 4 + count + 7)
}

/// Zero if equal.
pub(super) fn equal(a: u64, b: u64) -> Option<Outcome> {
    match () {
        () if low(a) != low(b) => Outcome::new(1, 4),
        () if a != b => Outcome::new(((a | b) << 1 != 0).into(), 10),
        () if is_special(a) => Outcome::new(is_nan(a).into(), 12),
        () => Outcome::new(0, 7),
    }
}

/// Instructions from the beginning to the end of the tests for infinite operands, or the count at which a NaN returns.
fn special(a: u64, b: u64) -> Result<u64, u64> {
    let mut count = 2;
    for x in [a, b] {
        count += 1;
        if is_special(x) {
            count += 3;
            if is_nan(x) {
                return Err(count + 2);
            }
        }
    }
    Ok(count)
}

/// Whether `a` is less or greater than `b`, which is wanted, and the instructions that find it out.
fn order(a: u64, b: u64, is_wanted: Ordering) -> (bool, u64) {
    if (a ^ b) & SIGN != 0 {
        let is_negative = a & SIGN != 0;
        return match is_negative == (is_wanted == Ordering::Less) {
            true => ((a | b) << 1 != 0, 11),
            false => (false, 5),
        };
    }
    let (m, n) = if a & SIGN == 0 { (a, b) } else { (b, a) };
    let count = match high(m).cmp(&high(n)) {
        Ordering::Less => 6,
        Ordering::Greater => 7,
        Ordering::Equal => 8,
    };
    (m.cmp(&n) == is_wanted, count)
}

/// 1 if `a` is greater than `b`, else 0; `nan` if they are not ordered.
pub(super) fn greater_or_not_above(a: u64, b: u64, nan: u32) -> Option<Outcome> {
    match special(a, b) {
        Ok(count) => {
            let (holds, more) = order(a, b, Ordering::Greater);
            Outcome::new(holds.into(), count + more)
        }
        Err(count) => Outcome::new(nan, count),
    }
}

/// -1 if `a` is less than `b`, else 0; `nan` if they are not ordered.
pub(super) fn less_or_not_below(a: u64, b: u64, nan: u32) -> Option<Outcome> {
    match special(a, b) {
        Ok(count) => {
            let (holds, more) = order(a, b, Ordering::Less);
            Outcome::new(if holds { u32::MAX } else { 0 }, count + more)
        }
        Err(count) => Outcome::new(nan, count),
    }
}

/// 1 if one is a NaN.
pub(super) fn unordered(a: u64, b: u64) -> Option<Outcome> {
    match special(a, b) {
        Ok(count) => Outcome::new(0, count + 2),
        Err(count) => Outcome::new(1, count),
    }
}

/// Towards zero; what does not fit saturates, a NaN to the largest.
pub(super) fn to_int(a: u64) -> Option<Outcome> {
    let end = if a & SIGN != 0 { 1 << 31 } else { i32::MAX as u32 };
    let bits = exponent(a) as i32 - 0x3fe;
    match () {
        () if is_nan(a) => Outcome::new(i32::MAX as u32, 12),
        () if is_special(a) => Outcome::new(end, 11),
        () if bits >= 32 => Outcome::new(end, 12),
        () if bits < 1 => Outcome::new(0, 10),
        () => Outcome::new(f64::from_bits(a) as i32 as u32, 16),
    }
}

/// Towards zero; a negative number wraps around, what does not fit saturates.
pub(super) fn to_unsigned(a: u64) -> Option<Outcome> {
    let is_negative = a & SIGN != 0;
    let end = if is_negative { 1 << 31 } else { u32::MAX };
    let bits = exponent(a) as i32 - 0x3fe;
    let magnitude = f64::from_bits(a & !SIGN) as u32;
    match () {
        () if is_nan(a) => Outcome::new(u32::MAX, 8),
        () if is_special(a) => Outcome::new(end, 11),
        () if bits > 32 => Outcome::new(end, 12),
        () if bits < 1 => Outcome::new(0, 10),
        () if bits == 32 => Outcome::new(if is_negative { end } else { magnitude }, 16),
        () if is_negative => Outcome::new(magnitude.wrapping_neg(), 18),
        () => Outcome::new(magnitude, 18),
    }
}

pub(super) fn from_int(a: u32) -> Option<Outcome> {
    Outcome::double(f64::from(a as i32).to_bits(), if a == 0 { 4 } else { 16 })
}

pub(super) fn from_unsigned(a: u32) -> Option<Outcome> {
    Outcome::double(f64::from(a).to_bits(), if a == 0 { 4 } else { 16 })
}

/// What becomes subnormal, and a NaN, is left alone.
pub(super) fn to_single(a: u64) -> Option<Outcome> {
    let bits = (f64::from_bits(a) as f32).to_bits();
    let below = low(a) << 3;
    match exponent(a) {
        ..=0x361 => Outcome::new(bits, 13),
        0x362..=0x380 => None,
        0x381..=0x47e => Outcome::new(
            bits,
            match below {
                ..0x8000_0000 => 17,
                0x8000_0000 => 22,
                _ => 20,
            },
        ),
        0x7ff if is_nan(a) => None,
        0x7ff => Outcome::new(bits, 19),
        _ => Outcome::new(bits, 16),
    }
}

/// A NaN is left alone.
pub(super) fn from_single(a: u32) -> Option<Outcome> {
    let count = match (single::exponent(a), single::is_special(a)) {
        _ if single::is_nan(a) => return None,
        (0, _) if a << 1 == 0 => 10,
        (0, _) => 19,
        _ => 14,
    };
    Outcome::double(f64::from(f32::from_bits(a)).to_bits(), count)
}
