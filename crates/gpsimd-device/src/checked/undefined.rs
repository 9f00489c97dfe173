//! What a `__ubsan_handle_*` call says: which rule was broken, in the words that programmers know from their host.
//!
//! Unaware of cores and of where the call came from; memory is whatever reads bytes. The layouts are those that GCC 12 emits
//! for a target of 32-bit pointers: a source location of three words, then pointers to type descriptors.

use super::peek::Peek;
use super::values::{Kind, Type, Value};
use crate::report::checks::Code;

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Verdict {
    /// Which check found it.
    pub code: Code,
    /// What happened, with its values.
    pub message: String,
}

/// Bytes of a source location, with which the data of nearly every handler begins.
const LOCATION: u32 = 12;
/// Kinds of use that a failed pointer check names, by number.
const USES: [&str; 12] = [
    "load of",
    "store to",
    "reference binding to",
    "member access within",
    "member call on",
    "constructor call on",
    "downcast of",
    "downcast of",
    "upcast of",
    "cast to virtual base of",
    "binding to",
    "dynamic operation on",
];

/// The verdict of handler `number` (`sdk/src/checked/handlers.S`) called with `arguments`; `None` for an unknown handler or
/// data that cannot be read.
pub fn verdict(number: u32, arguments: [u32; 3], memory: &dyn Peek) -> Option<Verdict> {
    let call = Handler { data: arguments[0], first: arguments[1], second: arguments[2], memory };
    let (code, message) = match number {
        32 => call.pointer()?,
        33 => call.overflow("+")?,
        34 => call.overflow("-")?,
        35 => call.overflow("*")?,
        36 => call.negation()?,
        37 => call.division()?,
        38 => call.shift()?,
        39 => call.index()?,
        40 => (Code::Unreachable, "execution reached an unreachable program point".into()),
        41 => (
            Code::MissingReturn,
            "execution reached the end of a value-returning function without returning a value".into(),
        ),
        42 => {
            let bound = call.value(call.field(0)?, call.first)?;
            (Code::VlaBound, format!("variable length array bound evaluates to non-positive value {bound}"))
        }
        43 => {
            let (from, to) = (call.value(call.field(0)?, call.first)?, call.ty(call.field(1)?)?);
            let message = format!("{from} is outside the range of representable values of type {}", to.name);
            (Code::FloatCast, message)
        }
        44 => {
            let (value, ty) = (call.value(call.field(0)?, call.first)?, call.ty(call.field(0)?)?);
            let message = format!("load of value {value}, which is not a valid value for type {}", ty.name);
            (Code::InvalidValue, message)
        }
        45 => {
            // the location of the attribute comes before the argument's number
            let index = memory.word(call.data.checked_add(2 * LOCATION)?)?;
            let message =
                format!("null pointer passed as argument {index}, which is declared to never be null");
            (Code::NullArgument, message)
        }
        46 => {
            (Code::NullArgument, "null pointer returned from function declared to never return null".into())
        }
        47 => (Code::PointerOverflow, call.pointer_overflow()),
        48 => {
            let name = if memory.word(call.data.checked_add(LOCATION)?)? & 0xFF == 0 { "ctz" } else { "clz" };
            (Code::InvalidBuiltin, format!("passing zero to {name}(), which is not a valid argument"))
        }
        _ => return None,
    };
    Some(Verdict { code, message })
}

/// A handler's call.
struct Handler<'a> {
    data: u32,
    first: u32,
    second: u32,
    memory: &'a dyn Peek,
}

impl Handler<'_> {
    /// The word behind the location.
    fn field(&self, index: u32) -> Option<u32> {
        self.memory.word(self.data.checked_add(LOCATION + 4 * index)?)
    }

    fn ty(&self, addr: u32) -> Option<Type> {
        Type::read(addr, self.memory)
    }

    fn value(&self, ty: u32, handle: u32) -> Option<Value> {
        Value::read(&self.ty(ty)?, handle, self.memory)
    }

    fn pointer(&self) -> Option<(Code, String)> {
        let (ty, checks) = (self.ty(self.field(0)?)?, self.field(1)?);
        let (log_alignment, kind) = (checks & 0xFF, checks >> 8 & 0xFF);
        let name = ty.name;
        let usage = USES.get(kind as usize).copied().unwrap_or("use of");
        let (pointer, alignment) = (self.first, 1u32.checked_shl(log_alignment).unwrap_or(1));
        Some(if pointer == 0 {
            (Code::Null, format!("{usage} null pointer of type {name}"))
        } else if pointer & (alignment - 1) != 0 {
            let message = format!(
                "{usage} misaligned address {pointer:#x} for type {name}, which requires {alignment} byte alignment"
            );
            (Code::Misaligned, message)
        } else {
            let message =
                format!("{usage} address {pointer:#x} with insufficient space for an object of type {name}");
            (Code::ObjectSize, message)
        })
    }

    fn overflow(&self, sign: &str) -> Option<(Code, String)> {
        let ty = self.field(0)?;
        let (left, right) = (self.value(ty, self.first)?, self.value(ty, self.second)?);
        let ty = self.ty(ty)?;
        let kind = if ty.kind == Kind::Unsigned { "unsigned" } else { "signed" };
        let message = format!(
            "{kind} integer overflow: {left} {sign} {right} cannot be represented in type {}",
            ty.name
        );
        Some((Code::Overflow, message))
    }

    fn negation(&self) -> Option<(Code, String)> {
        let value = self.value(self.field(0)?, self.first)?;
        let ty = self.ty(self.field(0)?)?.name;
        let message = format!(
            "negation of {value} cannot be represented in type {ty}; cast to an unsigned type to negate this value to itself"
        );
        Some((Code::Overflow, message))
    }

    fn division(&self) -> Option<(Code, String)> {
        let ty = self.field(0)?;
        let (left, right) = (self.value(ty, self.first)?, self.value(ty, self.second)?);
        if right.is_minus_one() {
            let ty = self.ty(ty)?.name;
            return Some((
                Code::Overflow,
                format!("division of {left} by -1 cannot be represented in type {ty}"),
            ));
        }
        Some((Code::DivideByZero, "division by zero".into()))
    }

    fn shift(&self) -> Option<(Code, String)> {
        let (left, right) = (self.field(0)?, self.field(1)?);
        let (value, places) = (self.value(left, self.first)?, self.value(right, self.second)?);
        let ty = self.ty(left)?;
        let message = if places.is_negative() {
            format!("shift exponent {places} is negative")
        } else if places.is_at_least(ty.bits) {
            format!("shift exponent {places} is too large for {}-bit type {}", ty.bits, ty.name)
        } else if value.is_negative() {
            format!("left shift of negative value {value}")
        } else {
            format!("left shift of {value} by {places} places cannot be represented in type {}", ty.name)
        };
        Some((Code::Shift, message))
    }

    fn index(&self) -> Option<(Code, String)> {
        let (array, index) = (self.ty(self.field(0)?)?, self.value(self.field(1)?, self.first)?);
        Some((Code::ArrayIndex, format!("index {index} out of bounds for type {}", array.name)))
    }

    fn pointer_overflow(&self) -> String {
        let (base, result) = (self.first, self.second);
        match (base, result) {
            (0, 0) => "applying zero offset to null pointer".into(),
            (0, _) => format!("applying non-zero offset {result} to null pointer"),
            (_, 0) => {
                format!("applying non-zero offset to non-null pointer {base:#010x} produced null pointer")
            }
            // whether the offset was signed is in the direction: the pointer crossed the middle, or wrapped around
            _ if (base as i32 >= 0) == (result as i32 >= 0) && result < base => {
                format!("addition of unsigned offset to {base:#010x} overflowed to {result:#010x}")
            }
            _ if (base as i32 >= 0) == (result as i32 >= 0) => {
                format!("subtraction of unsigned offset from {base:#010x} overflowed to {result:#010x}")
            }
            _ => format!("pointer index expression with base {base:#010x} overflowed to {result:#010x}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes at an address.
    struct Bytes(u32, Vec<u8>);

    impl Peek for Bytes {
        fn peek(&self, addr: u32, len: usize) -> Option<Vec<u8>> {
            let at = addr.checked_sub(self.0)? as usize;
            Some(self.1.get(at..at + len)?.to_vec())
        }
    }

    const BASE: u32 = 0x1000;
    const INT: u32 = BASE + 0x100;
    const UNSIGNED_CHAR: u32 = BASE + 0x140;
    const ARRAY: u32 = BASE + 0x180;
    const DOUBLE: u32 = BASE + 0x1C0;
    const LONG_LONG: u32 = BASE + 0x200;
    const WIDE: u32 = BASE + 0x240;
    const REAL: u32 = BASE + 0x250;

    /// Handler data at `BASE` with these words behind the location, and the types above.
    fn memory(fields: &[u32]) -> Bytes {
        let mut bytes = vec![0; 0x300];
        let mut put = |at: u32, what: &[u8]| {
            let at = (at - BASE) as usize;
            bytes[at..at + what.len()].copy_from_slice(what);
        };
        for (word, at) in fields.iter().zip((LOCATION..).step_by(4)) {
            put(BASE + at, &word.to_le_bytes());
        }
        put(INT, b"\0\0\x0B\0'int'\0");
        put(UNSIGNED_CHAR, b"\0\0\x06\0'unsigned char'\0");
        put(ARRAY, b"\xFF\xFF\0\0'int [4]'\0");
        put(DOUBLE, b"\x01\0\x40\0'double'\0");
        put(LONG_LONG, b"\0\0\x0D\0'long long int'\0");
        put(WIDE, &(i64::MIN).to_le_bytes());
        put(REAL, &(3e20f64).to_le_bytes());
        Bytes(BASE, bytes)
    }

    #[test]
    fn verdicts() {
        let rows: &[(u32, &[u32], [u32; 2], &str)] = &[
            (32, &[INT, 0x0002], [0, 0], "load of null pointer of type 'int'"),
            (
                32,
                &[INT, 0x0102],
                [0x8_0001, 0],
                "store to misaligned address 0x80001 for type 'int', which requires 4 byte alignment",
            ),
            (
                32,
                &[INT, 0x0002],
                [0x8_0004, 0],
                "load of address 0x80004 with insufficient space for an object of type 'int'",
            ),
            (
                33,
                &[INT],
                [0x7FFF_FFFF, 1],
                "signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'",
            ),
            (
                36,
                &[LONG_LONG],
                [WIDE, 0],
                "negation of -9223372036854775808 cannot be represented in type 'long long int'; cast to an unsigned type to negate this value to itself",
            ),
            (
                37,
                &[INT],
                [0x8000_0000, !0],
                "division of -2147483648 by -1 cannot be represented in type 'int'",
            ),
            (37, &[INT], [7, 0], "division by zero"),
            (38, &[INT, INT], [1, 40], "shift exponent 40 is too large for 32-bit type 'int'"),
            (38, &[INT, INT], [1, !0], "shift exponent -1 is negative"),
            (38, &[INT, INT], [!0, 3], "left shift of negative value -1"),
            (38, &[INT, INT], [9, 30], "left shift of 9 by 30 places cannot be represented in type 'int'"),
            (39, &[ARRAY, INT], [4, 0], "index 4 out of bounds for type 'int [4]'"),
            (
                43,
                &[DOUBLE, INT],
                [REAL, 0],
                "3e+20 is outside the range of representable values of type 'int'",
            ),
            (
                44,
                &[UNSIGNED_CHAR],
                [0xFFFF_FF05, 0],
                "load of value 5, which is not a valid value for type 'unsigned char'",
            ),
            (
                45,
                &[0, 0, 0, 2],
                [0, 0],
                "null pointer passed as argument 2, which is declared to never be null",
            ),
            (48, &[1], [0, 0], "passing zero to clz(), which is not a valid argument"),
        ];
        for (number, fields, [first, second], want) in rows {
            let found = verdict(*number, [BASE, *first, *second], &memory(fields));
            assert_eq!(found.map(|verdict| verdict.message).as_deref(), Some(*want), "{number}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_cannot_be_read() {
        let empty = Bytes(BASE, Vec::new());
        for number in (0..64).filter(|number| ![40, 41, 46, 47].contains(number)) {
            assert_eq!(verdict(number, [BASE, 1, 2], &empty), None, "{number}");
        }
    }
}
