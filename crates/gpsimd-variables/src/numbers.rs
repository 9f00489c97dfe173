//! Numbers of the device's C++: how they convert, how they compute, how they are written.
//!
//! Unaware of where they come from. `int` has 32 bits, `long long` 64, `char` is unsigned; signed overflow wraps, as the
//! device's instructions do.

use crate::error::EvaluateError;
use crate::types::{Number, NumberKind};

/// A number of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) number: Number,
    /// As memory has it, other bits zero.
    pub(crate) bits: u64,
}

/// Operators of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Scalar {
    pub(crate) fn new(number: Number, bits: u64) -> Scalar {
        let mask = u64::MAX >> (64 - 8 * u32::from(number.bytes.clamp(1, 8)));
        Scalar { number, bits: bits & mask }
    }

    pub(crate) fn truth(value: bool) -> Scalar {
        Scalar::new(Number::BOOL, value.into())
    }

    pub(crate) fn float(value: f64) -> Scalar {
        Scalar::new(Number::DOUBLE, value.to_bits())
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self.number.kind, NumberKind::Float | NumberKind::Half | NumberKind::BFloat16)
    }

    /// The value of an integer.
    pub(crate) fn integer(self) -> i128 {
        match self.number.kind {
            NumberKind::Signed => {
                let unused = 64 - 8 * u32::from(self.number.bytes);
                (((self.bits << unused) as i64) >> unused).into()
            }
            _ if self.is_float() => self.real() as i128,
            _ => self.bits.into(),
        }
    }

    /// The value as the widest floating-point number.
    pub(crate) fn real(self) -> f64 {
        match (self.number.kind, self.number.bytes) {
            (NumberKind::Float, 4) => f32::from_bits(self.bits as u32).into(),
            (NumberKind::Float, _) => f64::from_bits(self.bits),
            (NumberKind::Half, _) => half::f16::from_bits(self.bits as u16).to_f64(),
            (NumberKind::BFloat16, _) => half::bf16::from_bits(self.bits as u16).to_f64(),
            _ => self.integer() as f64,
        }
    }

    pub(crate) fn is_true(self) -> bool {
        match self.is_float() {
            true => self.real() != 0.0,
            false => self.bits != 0,
        }
    }

    /// The same number as another type, as `static_cast` converts.
    pub(crate) fn cast(self, to: Number) -> Scalar {
        let bits = match (to.kind, to.bytes) {
            (NumberKind::Bool, _) => self.is_true().into(),
            (NumberKind::Float, 4) => self.narrow().to_bits().into(),
            (NumberKind::Half, _) => half::f16::from_f32(self.narrow()).to_bits().into(),
            (NumberKind::BFloat16, _) => half::bf16::from_f32(self.narrow()).to_bits().into(),
            (NumberKind::Float, _) => self.real().to_bits(),
            (NumberKind::Signed, _) if self.is_float() => self.real() as i64 as u64,
            _ if self.is_float() => self.real() as u64,
            _ => self.integer() as u64,
        };
        Scalar::new(to, bits)
    }

    /// The value as a `float`; an integer rounds once, not by way of the wider type.
    fn narrow(self) -> f32 {
        if self.is_float() { self.real() as f32 } else { self.integer() as f32 }
    }

    /// The type that arithmetic gives a number of this type.
    fn promoted(self) -> Number {
        match (self.number.kind, self.number.bytes) {
            (NumberKind::Float, _) | (NumberKind::Signed | NumberKind::Unsigned, 4 | 8) => self.number,
            // the SDK's operators go by way of float
            (NumberKind::Half | NumberKind::BFloat16, _) => Number::FLOAT,
            _ => Number::INT,
        }
    }

    pub(crate) fn negated(self) -> Scalar {
        let own = self.cast(self.promoted());
        match own.is_float() {
            true => Scalar::float(-own.real()).cast(own.number),
            false => Scalar::new(own.number, own.bits.wrapping_neg()),
        }
    }

    /// `~x`; none for a floating-point number.
    pub(crate) fn complemented(self) -> Option<Scalar> {
        let own = self.cast(self.promoted());
        (!own.is_float()).then(|| Scalar::new(own.number, !own.bits))
    }

    /// Computes with the usual conversions; none where the operator does not take floating-point numbers.
    pub(crate) fn combined(self, with: Binary, other: Scalar) -> Result<Option<Scalar>, EvaluateError> {
        let (mine, its) = (self.promoted(), other.promoted());
        if matches!(with, Binary::Shl | Binary::Shr) {
            return Ok(self.cast(mine).shifted(with, other));
        }
        let common = common(mine, its);
        let (a, b) = (self.cast(common), other.cast(common));
        if let Some(truth) = compared(a, with, b) {
            return Ok(Some(Scalar::truth(truth)));
        }
        match common.kind {
            NumberKind::Float => Ok(real(a, with, b)),
            _ => integral(a, with, b).map(Some),
        }
    }

    fn shifted(self, with: Binary, by: Scalar) -> Option<Scalar> {
        if self.is_float() || by.is_float() {
            return None;
        }
        // the shifter looks at the low bits only
        let by = (by.bits as u32) % (8 * u32::from(self.number.bytes));
        let bits = match with {
            Binary::Shl => self.bits << by,
            _ => (self.integer() >> by) as u64,
        };
        Some(Scalar::new(self.number, bits))
    }

    /// As the value of a variable: `-3`, `1.5`, `true`, `97 'a'`.
    pub(crate) fn text(self) -> String {
        match (self.number.kind, self.number.bytes) {
            (NumberKind::Bool, _) if self.bits == 0 => "false".to_owned(),
            (NumberKind::Bool, _) if self.bits == 1 => "true".to_owned(),
            (NumberKind::Bool, _) => format!("true ({})", self.bits),
            (NumberKind::Char, _) => match char::from(self.bits as u8) {
                shown if shown.is_ascii_graphic() || shown == ' ' => format!("{} '{shown}'", self.bits),
                other if other.is_ascii() => format!("{} '{}'", self.bits, other.escape_default()),
                _ => self.bits.to_string(),
            },
            (NumberKind::Float, 4) => real_text(f32::from_bits(self.bits as u32)),
            (NumberKind::Float, _) => real_text(f64::from_bits(self.bits)),
            (NumberKind::Half, _) => real_text(half::f16::from_bits(self.bits as u16).to_f32()),
            (NumberKind::BFloat16, _) => real_text(half::bf16::from_bits(self.bits as u16).to_f32()),
            _ => self.integer().to_string(),
        }
    }
}

/// The shortest text that reads back as the same number.
pub(crate) fn real_text(value: impl Into<f64> + std::fmt::Display + std::fmt::LowerExp + Copy) -> String {
    let wide: f64 = value.into();
    match wide.abs() {
        _ if wide.is_nan() => "nan".to_owned(),
        size if size != 0.0 && size.is_finite() && !(1e-5..1e10).contains(&size) => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// The usual arithmetic conversions of two promoted types.
fn common(a: Number, b: Number) -> Number {
    let floats = |n: Number| n.kind == NumberKind::Float;
    match (floats(a), floats(b)) {
        (true, true) => Number { bytes: a.bytes.max(b.bytes), ..a },
        (true, false) => a,
        (false, true) => b,
        (false, false) if a.bytes != b.bytes => {
            if a.bytes > b.bytes {
                a
            } else {
                b
            }
        }
        (false, false) if a.kind == NumberKind::Unsigned => a,
        (false, false) => b,
    }
}

fn compared(a: Scalar, with: Binary, b: Scalar) -> Option<bool> {
    let order = match a.is_float() {
        true => a.real().partial_cmp(&b.real()),
        false => Some(a.integer().cmp(&b.integer())),
    };
    Some(match with {
        Binary::Eq => order.is_some_and(std::cmp::Ordering::is_eq),
        Binary::Ne => !order.is_some_and(std::cmp::Ordering::is_eq),
        Binary::Lt => order.is_some_and(std::cmp::Ordering::is_lt),
        Binary::Le => order.is_some_and(std::cmp::Ordering::is_le),
        Binary::Gt => order.is_some_and(std::cmp::Ordering::is_gt),
        Binary::Ge => order.is_some_and(std::cmp::Ordering::is_ge),
        _ => return None,
    })
}

fn real(a: Scalar, with: Binary, b: Scalar) -> Option<Scalar> {
    // computed at the wider precision and rounded once: the same result for these four
    let (x, y) = (a.real(), b.real());
    let result = match with {
        Binary::Add => x + y,
        Binary::Sub => x - y,
        Binary::Mul => x * y,
        Binary::Div => x / y,
        _ => return None,
    };
    Some(Scalar::float(result).cast(a.number))
}

fn integral(a: Scalar, with: Binary, b: Scalar) -> Result<Scalar, EvaluateError> {
    let (x, y) = (a.integer(), b.integer());
    let bits = match with {
        Binary::Add => x.wrapping_add(y),
        Binary::Sub => x.wrapping_sub(y),
        Binary::Mul => x.wrapping_mul(y),
        Binary::Div => x.checked_div(y).ok_or(EvaluateError::Division)?,
        Binary::Rem => x.checked_rem(y).ok_or(EvaluateError::Division)?,
        Binary::And => x & y,
        Binary::Or => x | y,
        _ => x ^ y,
    };
    Ok(Scalar::new(a.number, bits as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(value: i32) -> Scalar {
        Scalar::new(Number::INT, value as u32 as u64)
    }

    #[test]
    fn arithmetic_is_that_of_the_device() {
        let unsigned = |value: u32| Scalar::new(Number::UNSIGNED, value.into());
        let float = |value: f32| Scalar::new(Number::FLOAT, value.to_bits().into());
        let long = |value: i64| Scalar::new(Number::LONG, value as u64);
        let rows = [
            (int(7), Binary::Div, int(-2), "-3"),
            (int(7), Binary::Rem, int(-2), "1"),
            (int(-1), Binary::Shr, int(1), "-1"),
            (int(-1), Binary::Lt, unsigned(1), "false"),
            (int(i32::MAX), Binary::Add, int(1), "-2147483648"),
            (int(i32::MAX), Binary::Add, long(1), "2147483648"),
            (float(0.1), Binary::Add, float(0.2), "0.3"),
            (float(0.1), Binary::Add, Scalar::float(0.2), "0.30000000149011613"),
            (int(1), Binary::Div, float(4.0), "0.25"),
            (unsigned(0), Binary::Sub, int(1), "4294967295"),
            (float(f32::NAN), Binary::Eq, float(f32::NAN), "false"),
        ];
        for (a, with, b, want) in rows {
            let got = a.combined(with, b).expect("no division by zero").expect("a number");
            assert_eq!(got.text(), want, "{} {with:?} {}", a.text(), b.text());
        }
        assert_eq!(int(1).combined(Binary::Div, int(0)), Err(EvaluateError::Division));
        assert_eq!(float(1.0).combined(Binary::Rem, int(2)), Ok(None));
    }

    #[test]
    fn numbers_convert_as_casts_do() {
        let byte = Number { kind: NumberKind::Unsigned, bytes: 1 };
        let rows = [
            (int(300).cast(byte), "44"),
            (int(-1).cast(Number::UNSIGNED), "4294967295"),
            (Scalar::float(-1.9).cast(Number::INT), "-1"),
            (int(16_777_217).cast(Number::FLOAT), "16777216"),
            (int(2).cast(Number::BOOL), "true"),
            (int(97).cast(Number::CHAR), "97 'a'"),
            (int(10).cast(Number::CHAR), "10 '\\n'"),
            (Scalar::float(1e-30).cast(Number::FLOAT), "1e-30"),
        ];
        for (got, want) in rows {
            assert_eq!(got.text(), want);
        }
    }
}
