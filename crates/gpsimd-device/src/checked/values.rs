//! Types and values as instrumented code hands them to its handlers, and how they are printed.
//!
//! Unaware of what is wrong with them.

use std::fmt;

use super::peek::Peek;

/// Longest name of a type that is read.
const NAME_LIMIT: u32 = 256;

/// What kind of number a type holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Two's complement.
    Signed,
    /// Without sign.
    Unsigned,
    /// Floating point.
    Float,
    /// No number.
    Other,
}

/// A type descriptor: kind, width, and a name in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type {
    /// What kind of number.
    pub kind: Kind,
    /// Width of a value.
    pub bits: u32,
    /// As the compiler spells it, in quotes.
    pub name: String,
}

impl Type {
    /// The descriptor at an address.
    pub fn read(addr: u32, memory: &dyn Peek) -> Option<Type> {
        let word = memory.word(addr)?;
        let (kind, info) = (word & 0xFFFF, word >> 16);
        let name = memory.text(addr.checked_add(4)?, NAME_LIMIT)?;
        let (kind, bits) = match kind {
            0 if info & 1 != 0 => (Kind::Signed, 1u32.checked_shl(info >> 1)?),
            0 => (Kind::Unsigned, 1u32.checked_shl(info >> 1)?),
            1 => (Kind::Float, info),
            _ => (Kind::Other, 0),
        };
        Some(Type { kind, bits, name })
    }
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// With or without sign, of up to 64 bits.
    Integer(i128),
    /// Floating point.
    Float(f64),
}

impl Value {
    /// The value that a handler was given as `handle`: itself if it fits a word, else its address.
    pub fn read(ty: &Type, handle: u32, memory: &dyn Peek) -> Option<Value> {
        let wide = || Some(u64::from_le_bytes(memory.peek(handle, 8)?.try_into().ok()?));
        Some(match (ty.kind, ty.bits) {
            (Kind::Float, 32) => Value::Float(f32::from_bits(handle).into()),
            (Kind::Float, 64) => Value::Float(f64::from_bits(wide()?)),
            (Kind::Signed, bits @ 1..=32) => {
                let unused = 32 - bits;
                Value::Integer((((handle << unused) as i32) >> unused).into())
            }
            (Kind::Unsigned, bits @ 1..=32) => {
                let unused = 32 - bits;
                Value::Integer(((handle << unused) >> unused).into())
            }
            (Kind::Signed, 64) => Value::Integer((wide()? as i64).into()),
            (Kind::Unsigned, 64) => Value::Integer(wide()?.into()),
            _ => return None,
        })
    }

    /// Below zero.
    pub fn is_negative(self) -> bool {
        match self {
            Value::Integer(value) => value < 0,
            Value::Float(value) => value < 0.0,
        }
    }

    /// -1, by which dividing may overflow.
    pub fn is_minus_one(self) -> bool {
        self == Value::Integer(-1)
    }

    /// An integer of this or more.
    pub fn is_at_least(self, bound: u32) -> bool {
        matches!(self, Value::Integer(value) if value >= i128::from(bound))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Value::Integer(value) => write!(f, "{value}"),
            Value::Float(value) if value.is_nan() => {
                f.write_str(if value.is_sign_negative() { "-nan" } else { "nan" })
            }
            Value::Float(value)
                if value == 0.0 || (1e-5..1e6).contains(&value.abs()) || value.is_infinite() =>
            {
                write!(f, "{value}")
            }
            // as C prints it: a sign and at least two digits behind the e
            Value::Float(value) => {
                let text = format!("{value:.5e}");
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let digits = digits.trim_end_matches('0').trim_end_matches('.');
                let (sign, exponent) =
                    exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
                write!(f, "{digits}e{sign}{exponent:0>2}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_c_prints_them() {
        let rows = [
            (Value::Integer(-7), "-7"),
            (Value::Float(133.5), "133.5"),
            (Value::Float(0.0), "0"),
            (Value::Float(2147483648.0), "2.14748e+09"),
            (Value::Float(-1e-7), "-1e-07"),
            (Value::Float(f64::INFINITY), "inf"),
            (Value::Float(f64::NAN), "nan"),
        ];
        for (value, want) in rows {
            assert_eq!(value.to_string(), want);
        }
    }
}
