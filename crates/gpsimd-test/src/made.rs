//! Tensors made up from a few words, `rand:2x3:float32:7`: the same words make the same tensor everywhere, so a case that failed
//! can be told in one line.
//!
//! Unaware of ops and of who reads the words.

use std::fmt;

use gpsimd_device::{Dtype, ShapeError, Tensor, TensorSpec};
use serde::Serialize;

/// What the elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Numbers in [-1, 1); integers in [-100, 100).
    Rand,
    /// Those, and every third one of what programs stumble over: NaN, infinities, -0, subnormals, the ends of the range.
    Unusual,
    /// NaN alone; integers 0.
    Nan,
    /// Their own positions.
    Arange,
    /// 0.
    Zeros,
    /// 1.
    Ones,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 6] = [Kind::Rand, Kind::Unusual, Kind::Nan, Kind::Arange, Kind::Zeros, Kind::Ones];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Rand => "rand",
            Kind::Unusual => "unusual",
            Kind::Nan => "nan",
            Kind::Arange => "arange",
            Kind::Zeros => "zeros",
            Kind::Ones => "ones",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether a seed makes a difference.
    fn is_seeded(self) -> bool {
        matches!(self, Kind::Rand | Kind::Unusual)
    }
}

/// A tensor to make up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What its elements are.
    pub kind: Kind,
    /// Type and shape.
    pub spec: TensorSpec,
    /// Other numbers of the same kind.
    pub seed: u32,
}

impl fmt::Display for Made {
    /// The words, with what is usual left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape: Vec<String> = self.spec.shape.iter().map(u64::to_string).collect();
        write!(f, "{}:{}", self.kind.name(), shape.join("x"))?;
        match (self.spec.dtype, self.seed) {
            (Dtype::Float32, 0) => Ok(()),
            (dtype, 0) => write!(f, ":{dtype}"),
            (dtype, seed) => write!(f, ":{dtype}:{seed}"),
        }
    }
}

impl Made {
    /// The tensor, as the `call`th call gets it, counted from 0.
    ///
    /// # Errors
    /// A shape without a wire form.
    pub fn tensor(&self, call: u32) -> Result<Tensor, ShapeError> {
        let count = u64::from(self.spec.check()?);
        let mut data = Vec::with_capacity(self.spec.byte_len() as usize);
        // far from the positions of other calls
        let turn = if self.kind.is_seeded() { u64::from(call) + (u64::from(self.seed) << 16) } else { 0 };
        for position in 0..count {
            self.element(position + (turn << 32), &mut data);
        }
        Ok(Tensor { spec: self.spec.clone(), data })
    }

    fn element(&self, position: u64, data: &mut Vec<u8>) {
        let dtype = self.spec.dtype;
        #[allow(clippy::cast_precision_loss)] // positions beyond 2^53 do not fit a tensor
        let value = match self.kind {
            Kind::Unusual if hash(position).is_multiple_of(3) => {
                return unusual(dtype, hash(position) / 3, data);
            }
            Kind::Rand | Kind::Unusual => noise(position),
            Kind::Nan => f64::NAN,
            Kind::Arange => (position as u32).into(),
            Kind::Zeros => 0.0,
            Kind::Ones => 1.0,
        };
        encode(dtype, value, data);
    }
}

/// SplitMix64 of a position: looks random and is the same every time.
fn hash(position: u64) -> u64 {
    let mut bits = position.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A number in [-1, 1).
fn noise(position: u64) -> f64 {
    #[allow(clippy::cast_precision_loss)] // 24 bits fit
    let unit = (hash(position) >> 40) as f64 / f64::from(1 << 24);
    2.0 * unit - 1.0
}

/// Appends `value` as an element; integers are cut, noise spreads over their range.
fn encode(dtype: Dtype, value: f64, data: &mut Vec<u8>) {
    #[allow(clippy::cast_possible_truncation)] // made-up values may be cut
    let (float, whole) =
        (value as f32, if value.abs() < 1.0 { (value * 100.0) as i64 } else { value as i64 });
    let whole = if value == 1.0 { 1 } else { whole };
    match dtype {
        Dtype::Float32 => data.extend(float.to_le_bytes()),
        Dtype::Bfloat16 => data.extend(half::bf16::from_f32(float).to_le_bytes()),
        Dtype::Float16 => data.extend(half::f16::from_f32(float).to_le_bytes()),
        Dtype::Int8 | Dtype::Uint8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => {
            data.extend(&whole.to_le_bytes()[..dtype.size()]);
        }
    }
}

/// Encodings that programs stumble over, by a float's sign, exponent and fraction; for integers the ends of the range.
fn unusual(dtype: Dtype, which: u64, data: &mut Vec<u8>) {
    // bits of the exponent and of the fraction
    let (exponent, fraction) = match dtype {
        Dtype::Float32 => (8, 23),
        Dtype::Float16 => (5, 10),
        Dtype::Bfloat16 => (8, 7),
        Dtype::Int8 | Dtype::Uint8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => {
            let bits = 8 * dtype.size() as u32;
            let ends = [0, 1, u64::MAX, 1 << (bits - 1), (1 << (bits - 1)) - 1];
            let end = ends[which as usize % ends.len()];
            return data.extend(&end.to_le_bytes()[..dtype.size()]);
        }
    };
    let (top, ones) = ((1_u64 << exponent) - 1, (1_u64 << fraction) - 1);
    let magnitudes = [
        top << fraction | 1 << (fraction - 1), // NaN
        top << fraction,                       // infinity
        0,                                     // zero
        1,                                     // the smallest subnormal
        ones,                                  // the largest
        1 << fraction,                         // the smallest normal
        (top - 1) << fraction | ones,          // the largest finite
        (top >> 1) << fraction,                // one
    ];
    let magnitude = magnitudes[which as usize / 2 % magnitudes.len()];
    let bits = magnitude | (which % 2) << (exponent + fraction);
    data.extend(&bits.to_le_bytes()[..dtype.size()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(kind: Kind, seed: u32) -> Vec<f32> {
        let spec = TensorSpec::new(Dtype::Float32, [200]);
        let tensor = Made { kind, spec, seed }.tensor(0).expect("a shape");
        tensor.to_f32().expect("floats")
    }

    #[test]
    fn the_words_leave_out_what_is_usual() {
        let rows = [
            (Dtype::Float32, 0, "rand:2x3"),
            (Dtype::Int8, 0, "rand:2x3:int8"),
            (Dtype::Float32, 7, "rand:2x3:float32:7"),
        ];
        for (dtype, seed, want) in rows {
            let made = Made { kind: Kind::Rand, spec: TensorSpec::new(dtype, [2, 3]), seed };
            assert_eq!(made.to_string(), want);
        }
    }

    #[test]
    fn unusual_floats_are_all_there() {
        let found = floats(Kind::Unusual, 0);
        type Named = (&'static str, fn(&f32) -> bool);
        let is: [Named; 6] = [
            ("NaN", |x| x.is_nan()),
            ("infinity", |x| *x == f32::INFINITY),
            ("-infinity", |x| *x == f32::NEG_INFINITY),
            ("-0", |x| x.to_bits() == 1 << 31),
            ("subnormal", |x| x.is_subnormal()),
            ("usual", |x| x.is_normal() && x.abs() < 1.0),
        ];
        for (name, is) in is {
            assert!(found.iter().any(is), "{name}");
        }
    }

    #[test]
    fn seeds_and_calls_make_others() {
        assert_eq!(floats(Kind::Rand, 1), floats(Kind::Rand, 1));
        assert_ne!(floats(Kind::Rand, 1), floats(Kind::Rand, 2));
        assert!(floats(Kind::Nan, 0).iter().all(|x| x.is_nan()));
    }
}
