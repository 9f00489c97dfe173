//! Element types: the eight the device accepts, with their wire codes, widths and array names.
//!
//! Unaware of tensors, memory and files.
//! Facts: spec `customop-abi.md` §6, `device-runtime.md` §16.

use std::fmt;

/// Element type of a tensor, as the custom-op runtime accepts it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// Signed byte (`kChar`).
    Int8,
    /// Unsigned byte (`kByte`).
    Uint8,
    /// 16-bit integer (`kShort`).
    Int16,
    /// Brain float (`kBFloat16`).
    Bfloat16,
    /// IEEE half (`kHalf`).
    Float16,
    /// 32-bit integer (`kInt`).
    Int32,
    /// IEEE single (`kFloat`).
    Float32,
    /// 64-bit integer (`kLong`).
    Int64,
}

impl Dtype {
    /// Every accepted type, in wire-code order.
    pub const ALL: [Dtype; 8] = [
        Dtype::Int8,
        Dtype::Uint8,
        Dtype::Int16,
        Dtype::Bfloat16,
        Dtype::Float16,
        Dtype::Int32,
        Dtype::Float32,
        Dtype::Int64,
    ];

    /// The byte that stands for this type in an argument descriptor.
    pub fn isa_code(self) -> u8 {
        match self {
            Dtype::Int8 => 0x2,
            Dtype::Uint8 => 0x3,
            Dtype::Int16 => 0x4,
            Dtype::Bfloat16 => 0x6,
            Dtype::Float16 => 0x7,
            Dtype::Int32 => 0x8,
            Dtype::Float32 => 0xA,
            Dtype::Int64 => 0xC,
        }
    }

    /// The type with this wire code, if the runtime accepts it.
    pub fn from_isa_code(code: u8) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.isa_code() == code)
    }

    /// Bytes of one element: 1, 2, 4 or 8.
    pub fn size(self) -> usize {
        match self {
            Dtype::Int8 | Dtype::Uint8 => 1,
            Dtype::Int16 | Dtype::Bfloat16 | Dtype::Float16 => 2,
            Dtype::Int32 | Dtype::Float32 => 4,
            Dtype::Int64 => 8,
        }
    }

    /// The array-library name: `int8`, `bfloat16`, `float32`, …
    pub fn name(self) -> &'static str {
        match self {
            Dtype::Int8 => "int8",
            Dtype::Uint8 => "uint8",
            Dtype::Int16 => "int16",
            Dtype::Bfloat16 => "bfloat16",
            Dtype::Float16 => "float16",
            Dtype::Int32 => "int32",
            Dtype::Float32 => "float32",
            Dtype::Int64 => "int64",
        }
    }

    /// One element as text: integers as such, floats in their shortest form; nothing if the bytes are not one.
    pub fn show(self, bytes: &[u8]) -> String {
        let two = || <[u8; 2]>::try_from(bytes).ok();
        let four = || <[u8; 4]>::try_from(bytes).ok();
        let text = match self {
            Dtype::Int8 => bytes.first().map(|byte| byte.cast_signed().to_string()),
            Dtype::Uint8 => bytes.first().map(u8::to_string),
            Dtype::Int16 => two().map(|bytes| i16::from_le_bytes(bytes).to_string()),
            Dtype::Int32 => four().map(|bytes| i32::from_le_bytes(bytes).to_string()),
            Dtype::Int64 => {
                <[u8; 8]>::try_from(bytes).ok().map(|bytes| i64::from_le_bytes(bytes).to_string())
            }
            Dtype::Bfloat16 => two().map(|bytes| short(half::bf16::from_le_bytes(bytes).to_f32())),
            Dtype::Float16 => two().map(|bytes| short(half::f16::from_le_bytes(bytes).to_f32())),
            Dtype::Float32 => four().map(|bytes| short(f32::from_le_bytes(bytes))),
        };
        text.unwrap_or_default()
    }

    /// The bytes of an element that is written so; nothing if it is none of the type.
    pub fn read(self, text: &str) -> Option<Vec<u8>> {
        let float = || text.parse::<f32>().ok();
        Some(match self {
            Dtype::Int8 => text.parse::<i8>().ok()?.to_le_bytes().to_vec(),
            Dtype::Uint8 => text.parse::<u8>().ok()?.to_le_bytes().to_vec(),
            Dtype::Int16 => text.parse::<i16>().ok()?.to_le_bytes().to_vec(),
            Dtype::Int32 => text.parse::<i32>().ok()?.to_le_bytes().to_vec(),
            Dtype::Int64 => text.parse::<i64>().ok()?.to_le_bytes().to_vec(),
            Dtype::Bfloat16 => half::bf16::from_f32(float()?).to_le_bytes().to_vec(),
            Dtype::Float16 => half::f16::from_f32(float()?).to_le_bytes().to_vec(),
            Dtype::Float32 => float()?.to_le_bytes().to_vec(),
        })
    }

    /// The inverse of [`Dtype::name`].
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.into_iter().find(|dtype| dtype.name() == name)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A float as Python writes it: with an exponent where the digits would be many.
fn short(value: f32) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-4..1e16).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_short_and_of_their_kind() {
        let rows = [
            (Dtype::Float32, 0.1_f32.to_le_bytes().to_vec(), "0.1"),
            (Dtype::Float32, 1e-38_f32.to_le_bytes().to_vec(), "1e-38"),
            (Dtype::Float32, (-3e20_f32).to_le_bytes().to_vec(), "-3e20"),
            (Dtype::Float32, f32::NAN.to_le_bytes().to_vec(), "NaN"),
            (Dtype::Float32, 7.0_f32.to_le_bytes().to_vec(), "7"),
            (Dtype::Int32, (-7_i32).to_le_bytes().to_vec(), "-7"),
            (Dtype::Int8, vec![0xff], "-1"),
            (Dtype::Uint8, vec![0xff], "255"),
            (Dtype::Int64, i64::MIN.to_le_bytes().to_vec(), "-9223372036854775808"),
            (Dtype::Float16, half::f16::from_f32(0.5).to_le_bytes().to_vec(), "0.5"),
            (Dtype::Bfloat16, half::bf16::from_f32(-2.0).to_le_bytes().to_vec(), "-2"),
        ];
        for (dtype, bytes, want) in rows {
            assert_eq!(dtype.show(&bytes), want);
            assert!(want == "NaN" || dtype.read(want) == Some(bytes), "{want}");
        }
    }

    #[test]
    fn wire_codes_are_the_accept_set() {
        let accepted: Vec<u8> = (0..=255).filter(|code| Dtype::from_isa_code(*code).is_some()).collect();
        assert_eq!(accepted, [2, 3, 4, 6, 7, 8, 10, 12]);
    }

    #[test]
    fn names_and_codes_round_trip() {
        for dtype in Dtype::ALL {
            assert_eq!(Dtype::from_isa_code(dtype.isa_code()), Some(dtype));
            assert_eq!(Dtype::from_name(dtype.name()), Some(dtype));
        }
        assert_eq!(Dtype::from_name("float64"), None);
    }
}
