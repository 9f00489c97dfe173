//! IEEE 754 single precision in integers: the four rounding modes, exception flags, NaN propagation.
//!
//! Unaware of registers and instructions. Host floating point rounds to nearest only and hides its flags, so every result
//! is computed exactly as `significand * 2^exponent` and rounded once, in [`round`]. Operations whose result is known to
//! be the host's are taken from the host ([`Env::fast`]).

/// Rounding modes, by their FCR encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounding {
    Nearest,
    Zero,
    Up,
    Down,
}

/// FSR flag bits.
pub(crate) mod flag {
    pub const INEXACT: u32 = 1 << 7;
    pub const UNDERFLOW: u32 = 1 << 8;
    pub const OVERFLOW: u32 = 1 << 9;
    pub const INVALID: u32 = 1 << 11;
}

/// Rounding mode in force and flags raised so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Env {
    pub rounding: Rounding,
    pub flags: u32,
}

const SIGN: u32 = 1 << 31;
const INFINITY: u32 = 0x7f80_0000;
const QUIET: u32 = 1 << 22;
const DEFAULT_NAN: u32 = 0x7fc0_0000;

/// An operand taken apart; `Finite` is never zero, its value is `sig * 2^exp`.
#[derive(Debug, Clone, Copy)]
enum Value {
    Zero { neg: bool },
    Finite { neg: bool, sig: u64, exp: i32 },
    Infinite { neg: bool },
    Nan,
}

fn unpack(x: u32) -> Value {
    let neg = x & SIGN != 0;
    let fraction = u64::from(x & 0x7f_ffff);
    match (x >> 23 & 0xff, fraction) {
        (0, 0) => Value::Zero { neg },
        (0, f) => Value::Finite { neg, sig: f, exp: -149 },
        (255, 0) => Value::Infinite { neg },
        (255, _) => Value::Nan,
        (e, f) => Value::Finite { neg, sig: f | 1 << 23, exp: e as i32 - 150 },
    }
}

pub(crate) fn is_nan(x: u32) -> bool {
    x & !SIGN > INFINITY
}

fn is_signaling(x: u32) -> bool {
    is_nan(x) && x & QUIET == 0
}

fn signed(neg: bool, magnitude: u32) -> u32 {
    magnitude | if neg { SIGN } else { 0 }
}

/// -x, except that a NaN keeps its sign.
fn negate_number(x: u32) -> u32 {
    if is_nan(x) { x } else { x ^ SIGN }
}

impl Env {
    /// The environment given by the control and status registers.
    pub fn new(fcr: u32, fsr: u32) -> Self {
        let rounding = match fcr & 3 {
            0 => Rounding::Nearest,
            1 => Rounding::Zero,
            2 => Rounding::Up,
            _ => Rounding::Down,
        };
        Self { rounding, flags: fsr }
    }

    /// The host's result, if rounding to nearest cannot raise a flag that is not up already: inexactness was seen before and
    /// the result is an ordinary normal number (so no operand was NaN or infinite).
    #[inline(always)]
    fn fast(&self, result: f32) -> Option<u32> {
        let quick = self.flags & flag::INEXACT != 0 && self.rounding == Rounding::Nearest;
        // Strictly above the smallest normal: below, tininess before and after rounding differ.
        (quick && result.is_normal() && result.abs() > f32::MIN_POSITIVE).then(|| result.to_bits())
    }

    /// a + b
    #[inline(always)]
    pub fn add(&mut self, a: u32, b: u32) -> u32 {
        match self.fast(f32::from_bits(a) + f32::from_bits(b)) {
            Some(bits) => bits,
            None => self.add_slow(a, b),
        }
    }

    /// a - b
    #[inline(always)]
    pub fn sub(&mut self, a: u32, b: u32) -> u32 {
        self.add(a, negate_number(b))
    }

    /// a * b
    #[inline(always)]
    pub fn mul(&mut self, a: u32, b: u32) -> u32 {
        match self.fast(f32::from_bits(a) * f32::from_bits(b)) {
            Some(bits) => bits,
            None => self.mul_slow(a, b),
        }
    }

    /// a * b + c, rounded once.
    #[inline(always)]
    pub fn mul_add(&mut self, a: u32, b: u32, c: u32) -> u32 {
        self.mul_add_slow(a, b, c)
    }

    /// c - a * b, rounded once.
    #[inline(always)]
    pub fn mul_sub(&mut self, a: u32, b: u32, c: u32) -> u32 {
        self.mul_add(negate_number(a), b, c)
    }

    #[inline(never)]
    fn add_slow(&mut self, a: u32, b: u32) -> u32 {
        match (unpack(a), unpack(b)) {
            (Value::Nan, _) | (_, Value::Nan) => self.propagate(a, b),
            (Value::Infinite { neg: x }, Value::Infinite { neg: y }) if x != y => self.invalid(),
            (Value::Infinite { neg }, _) | (_, Value::Infinite { neg }) => signed(neg, INFINITY),
            (x, y) => self.sum(x, y),
        }
    }

    #[inline(never)]
    fn mul_slow(&mut self, a: u32, b: u32) -> u32 {
        let neg = (a ^ b) & SIGN != 0;
        match (unpack(a), unpack(b)) {
            (Value::Nan, _) | (_, Value::Nan) => self.propagate(a, b),
            (Value::Infinite { .. }, Value::Zero { .. }) | (Value::Zero { .. }, Value::Infinite { .. }) => {
                self.invalid()
            }
            (Value::Infinite { .. }, _) | (_, Value::Infinite { .. }) => signed(neg, INFINITY),
            (Value::Finite { sig: x, exp: i, .. }, Value::Finite { sig: y, exp: j, .. }) => {
                self.round(neg, u128::from(x * y), i + j, false)
            }
            _ => signed(neg, 0),
        }
    }

    #[inline(never)]
    fn mul_add_slow(&mut self, a: u32, b: u32, c: u32) -> u32 {
        let neg = (a ^ b) & SIGN != 0;
        let product = match (unpack(a), unpack(b)) {
            (Value::Nan, _) | (_, Value::Nan) => Value::Nan,
            (Value::Infinite { .. }, Value::Zero { .. }) | (Value::Zero { .. }, Value::Infinite { .. }) => {
                if is_nan(c) {
                    self.flags |= flag::INVALID;
                    return c | QUIET;
                }
                return self.invalid();
            }
            (Value::Infinite { .. }, _) | (_, Value::Infinite { .. }) => Value::Infinite { neg },
            (Value::Finite { sig: x, exp: i, .. }, Value::Finite { sig: y, exp: j, .. }) => {
                Value::Finite { neg, sig: x * y, exp: i + j }
            }
            _ => Value::Zero { neg },
        };
        match (product, unpack(c)) {
            (Value::Nan, _) | (_, Value::Nan) => {
                let nan = if is_nan(a) || is_nan(b) { self.propagate(a, b) } else { 0 };
                self.propagate(nan, c)
            }
            (Value::Infinite { neg: x }, Value::Infinite { neg: y }) if x != y => self.invalid(),
            (Value::Infinite { neg }, _) | (_, Value::Infinite { neg }) => signed(neg, INFINITY),
            (x, y) => self.sum(x, y),
        }
    }

    /// The NaN that an operation on `a` and `b`, at least one of them NaN, gives.
    fn propagate(&mut self, a: u32, b: u32) -> u32 {
        if is_signaling(a) || is_signaling(b) {
            self.flags |= flag::INVALID;
        }
        QUIET | if is_nan(b) { b } else { a }
    }

    fn invalid(&mut self) -> u32 {
        self.flags |= flag::INVALID;
        DEFAULT_NAN
    }

    /// Sum of two numbers that are zero or finite.
    fn sum(&mut self, a: Value, b: Value) -> u32 {
        let cancelled = self.rounding == Rounding::Down;
        let (a, b) = match (a, b) {
            (Value::Zero { neg: x }, Value::Zero { neg: y }) => {
                return signed(if x == y { x } else { cancelled }, 0);
            }
            (Value::Finite { neg, sig, exp }, Value::Zero { .. })
            | (Value::Zero { .. }, Value::Finite { neg, sig, exp }) => {
                return self.round(neg, u128::from(sig), exp, false);
            }
            (Value::Finite { neg, sig, exp }, Value::Finite { neg: n, sig: s, exp: e }) if exp >= e => {
                ((neg, sig, exp), (n, s, e))
            }
            (Value::Finite { neg, sig, exp }, Value::Finite { neg: n, sig: s, exp: e }) => {
                ((n, s, e), (neg, sig, exp))
            }
            // The callers dealt with infinities and NaNs.
            _ => return DEFAULT_NAN,
        };
        // `a` has the larger exponent. It moves up as far as 48 significant bits allow; what `b` has below is only a hint.
        let distance = (a.2 - b.2) as u32;
        let up = distance.min(76);
        let down = (distance - up).min(63);
        let (big, small) = (i128::from(a.1) << up, i128::from(b.1));
        let rest = small & ((1 << down) - 1) != 0;
        let small = small >> down;
        let (big, small) = (if a.0 { -big } else { big }, if b.0 { -small } else { small });
        let mut sum = big + small;
        if rest {
            // The exact sum lies between `sum` and its neighbour on b's side; keep the one nearer to zero.
            if a.0 != b.0 {
                sum += if b.0 { -1 } else { 1 };
            }
        } else if sum == 0 {
            return signed(cancelled, 0);
        }
        self.round(sum < 0, sum.unsigned_abs(), a.2 - up as i32, rest)
    }

    /// The one rounding step: `sig * 2^exp`, or slightly more in magnitude when `more`, to single precision.
    fn round(&mut self, neg: bool, sig: u128, exp: i32, more: bool) -> u32 {
        if sig == 0 && !more {
            return signed(neg, 0);
        }
        let top = 127 - sig.leading_zeros() as i32 + exp;
        let lsb = (top - 23).max(-149);
        let (kept, inexact, up) = self.drop_bits(neg, sig, lsb - exp, more);
        let kept = kept as u32 + u32::from(up);
        // Tiny after rounding: as if the exponent had no lower bound, the rounded value is below the smallest normal.
        let tiny = top < -126 && {
            let (unbounded, _, up) = self.drop_bits(neg, sig, top - 23 - exp, more);
            !(top == -127 && unbounded + u128::from(up) == 1 << 24)
        };
        if inexact {
            self.flags |= flag::INEXACT | if tiny { flag::UNDERFLOW } else { 0 };
        }
        let magnitude = match kept.checked_sub(1 << 23) {
            None => u64::from(kept),
            // A carry out of the significand moves into the exponent by itself.
            Some(fraction) => (((lsb + 150) as u64) << 23) + u64::from(fraction),
        };
        if magnitude < u64::from(INFINITY) {
            return signed(neg, magnitude as u32);
        }
        self.flags |= flag::OVERFLOW | flag::INEXACT;
        let to_infinity = match self.rounding {
            Rounding::Nearest => true,
            Rounding::Zero => false,
            Rounding::Up => !neg,
            Rounding::Down => neg,
        };
        signed(neg, if to_infinity { INFINITY } else { INFINITY - 1 })
    }

    /// `sig >> count` (or `<< -count`), whether anything was lost, and whether the rounding mode adds one.
    fn drop_bits(&self, neg: bool, sig: u128, count: i32, more: bool) -> (u128, bool, bool) {
        let (kept, half, below) = match count {
            ..=0 => (sig << (-count).min(127), false, more),
            1..=127 => {
                let half = sig >> (count - 1) & 1 != 0;
                (sig >> count, half, more || sig & ((1 << (count - 1)) - 1) != 0)
            }
            128 => (0, sig >> 127 != 0, more || sig << 1 != 0),
            _ => (0, false, more || sig != 0),
        };
        let up = match self.rounding {
            Rounding::Nearest => half && (below || kept & 1 != 0),
            Rounding::Zero => false,
            Rounding::Up => !neg && (half || below),
            Rounding::Down => neg && (half || below),
        };
        (kept, half || below, up)
    }

    /// `x * 2^scale` as a 32-bit integer, rounded as `rounding` says; out of range saturates. The unsigned conversion of
    /// what rounds to a negative number is invalid and gives what the signed one would.
    pub fn round_to_int(&mut self, x: u32, scale: u8, rounding: Rounding, range: IntRange) -> u32 {
        let highest = match range {
            IntRange::Signed => i128::from(i32::MAX),
            IntRange::Unsigned => i128::from(u32::MAX),
        };
        let lowest = i128::from(i32::MIN);
        let (neg, sig, exp) = match unpack(x) {
            Value::Zero { .. } => return 0,
            Value::Nan => {
                self.flags |= flag::INVALID;
                return highest as u32;
            }
            Value::Infinite { neg } => {
                self.flags |= flag::INVALID;
                return if neg { lowest } else { highest } as u32;
            }
            Value::Finite { neg, sig, exp } => (neg, sig, exp + i32::from(scale)),
        };
        // The scaled operand is a single-precision number too, and may overflow.
        if 63 - sig.leading_zeros() as i32 + exp > 127 {
            self.flags |= flag::OVERFLOW | flag::INEXACT;
        }
        let rule = Env { rounding, flags: 0 };
        // Anything at 2^64 or more is out of range whatever its bits.
        let (kept, inexact, up) = rule.drop_bits(neg, u128::from(sig), -exp.min(64), false);
        let magnitude = (kept + u128::from(up)) as i128;
        let value = if neg { -magnitude } else { magnitude };
        let representable = lowest <= value && value <= highest;
        if !representable || (value < 0 && range == IntRange::Unsigned) {
            self.flags |= flag::INVALID;
        } else if inexact {
            self.flags |= flag::INEXACT;
        }
        value.clamp(lowest, highest) as u32
    }

    /// `value * 2^-scale` in single precision.
    pub fn integer(&mut self, value: i64, scale: u8) -> u32 {
        self.round(value < 0, u128::from(value.unsigned_abs()), -i32::from(scale), false)
    }

    /// Compares; `quiet` says whether a quiet NaN is no reason for the invalid flag. `None` is unordered.
    pub fn compare(&mut self, a: u32, b: u32, quiet: bool) -> Option<std::cmp::Ordering> {
        let order = f32::from_bits(a).partial_cmp(&f32::from_bits(b));
        if order.is_none() && (!quiet || is_signaling(a) || is_signaling(b)) {
            self.flags |= flag::INVALID;
        }
        order
    }
}

/// Range of a conversion to integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IntRange {
    Signed,
    Unsigned,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_conversions_of_negative_numbers() {
        // What rounds to nothing is not negative any more.
        let rows = [
            (-0.75f32, 0, 0u32, flag::INEXACT),
            (-0.75, 1, -1i32 as u32, flag::INVALID),
            (-1.0, 0, -1i32 as u32, flag::INVALID),
            (-0.0, 0, 0, 0),
            (1.5, 0, 1, flag::INEXACT),
            (f32::NEG_INFINITY, 0, 0x8000_0000, flag::INVALID),
        ];
        for (x, scale, want, flags) in rows {
            let mut env = Env { rounding: Rounding::Zero, flags: 0 };
            let value = env.round_to_int(x.to_bits(), scale, Rounding::Zero, IntRange::Unsigned);
            assert_eq!((value, env.flags), (want, flags), "{x} * 2^{scale}");
        }
    }
}
