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

#[cfg(test)]
mod tests {
    use super::*;

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
