//! Results side by side: equal but for which NaN, or within some units in the last place.
//!
//! Unaware of where they come from.

use gpsimd_device::{Dtype, Tensor};
use serde::Serialize;

/// How far a result may be from the reference's, in units in the last place, by element type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tolerance {
    /// What was asked for; later entries count.
    pub ulps: Vec<(Dtype, u64)>,
}

impl Tolerance {
    /// For elements of this type; integers are exact unless something else is asked for.
    pub fn of(&self, dtype: Dtype) -> u64 {
        let asked = self.ulps.iter().rev().find(|(known, _)| *known == dtype);
        let usual = match dtype {
            Dtype::Float32 => 4,
            Dtype::Float16 | Dtype::Bfloat16 => 1,
            Dtype::Int8 | Dtype::Uint8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 => 0,
        };
        asked.map_or(usual, |(_, ulps)| *ulps)
    }
}

/// The element that is furthest off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// Where it is.
    pub index: Vec<u64>,
    /// What it is.
    pub got: String,
    /// What it should be.
    pub want: String,
    /// How far apart they are; nothing where one of them is NaN or has no neighbours to count.
    pub ulps: Option<u64>,
    /// Elements that are too far off.
    pub wrong: u64,
    /// All elements.
    pub total: u64,
}

impl std::fmt::Display for Worst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Worst { index, got, want, ulps, wrong, total } = self;
        write!(f, "{wrong} of {total} elements differ; element {index:?} is {got}, not {want}")?;
        match ulps {
            Some(1) => write!(f, " (1 ulp)"),
            Some(ulps) => write!(f, " ({ulps} ulp)"),
            None => Ok(()),
        }
    }
}

/// An element as a number that grows with its value by one for each step of the type; nothing for NaN.
fn steps(dtype: Dtype, bytes: &[u8]) -> Option<i128> {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(wide);
    let width = 8 * bytes.len() as u32;
    let float = |infinity: u64| {
        let sign = 1 << (width - 1);
        let magnitude = bits & (sign - 1);
        (magnitude <= infinity)
            .then(|| if bits & sign == 0 { i128::from(magnitude) } else { -i128::from(magnitude) })
    };
    match dtype {
        Dtype::Float32 => float(0x7f80_0000),
        Dtype::Float16 => float(0x7c00),
        Dtype::Bfloat16 => float(0x7f80),
        Dtype::Uint8 => Some(i128::from(bits)),
        _ => Some(i128::from((bits << (64 - width)) as i64 >> (64 - width))),
    }
}

/// An element in words.
fn text(dtype: Dtype, bytes: &[u8]) -> String {
    let two = || [bytes[0], bytes[1]];
    match (dtype, bytes.len()) {
        (Dtype::Float32, 4) => format!("{:?}", f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])),
        (Dtype::Float16, 2) => format!("{:?}", half::f16::from_le_bytes(two()).to_f32()),
        (Dtype::Bfloat16, 2) => format!("{:?}", half::bf16::from_le_bytes(two()).to_f32()),
        _ => steps(dtype, bytes).unwrap_or_default().to_string(),
    }
}

/// The worst element, if any is further off than `allowed` steps. Any NaN equals any NaN; with no steps allowed -0 is not 0.
pub fn worst(got: &Tensor, want: &Tensor, allowed: u64) -> Option<Worst> {
    let (dtype, size) = (want.spec.dtype, want.spec.dtype.size());
    let mut found: Option<(u64, Option<u64>)> = None;
    let (mut wrong, mut total) = (0, 0);
    for (at, (a, b)) in (0..).zip(got.data.chunks_exact(size).zip(want.data.chunks_exact(size))) {
        total += 1;
        if a == b {
            continue;
        }
        let apart = match (steps(dtype, a), steps(dtype, b)) {
            (None, None) => continue,
            (Some(a), Some(b)) => Some(u64::try_from((a - b).unsigned_abs()).unwrap_or(u64::MAX)),
            _ => None,
        };
        if apart.is_some_and(|apart| apart <= allowed && allowed > 0) {
            continue;
        }
        wrong += 1;
        // where one is NaN, or it is further off than any before
        let is_worse = match (found, apart) {
            (None, _) => true,
            (Some((_, None)), _) => false,
            (Some(_), None) => true,
            (Some((_, Some(before))), Some(apart)) => apart > before,
        };
        if is_worse {
            found = Some((at, apart));
        }
    }
    let (at, ulps) = found?;
    let element = |tensor: &Tensor| text(dtype, &tensor.data[at as usize * size..][..size]);
    Some(Worst {
        index: want.spec.multi_index(at),
        got: element(got),
        want: element(want),
        ulps,
        wrong,
        total,
    })
}

/// Whether some element is NaN; nothing for tensors without.
pub fn has_nan(tensor: &Tensor) -> Option<bool> {
    let is_float = matches!(tensor.spec.dtype, Dtype::Float32 | Dtype::Float16 | Dtype::Bfloat16);
    let mut elements = tensor.data.chunks_exact(tensor.spec.dtype.size());
    is_float.then(|| elements.any(|bytes| steps(tensor.spec.dtype, bytes).is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Tensor {
        Tensor::from_f32(values).expect("a shape")
    }

    #[test]
    fn the_worst_is_told() {
        let next = f32::from_bits(1.0_f32.to_bits() + 1);
        type Row<'a> = (&'a [f32], &'a [f32], u64, Option<&'a str>);
        let rows: [Row<'_>; 7] = [
            (&[1.0, f32::NAN], &[1.0, -f32::NAN], 0, None),
            (&[next], &[1.0], 0, Some("1 of 1 elements differ; element [0] is 1.0000001, not 1.0 (1 ulp)")),
            (&[next], &[1.0], 1, None),
            (&[0.0], &[-0.0], 0, Some("1 of 1 elements differ; element [0] is 0.0, not -0.0 (0 ulp)")),
            (&[0.0], &[-0.0], 1, None),
            (&[2.0, 0.0], &[1.0, f32::NAN], 9, Some("2 of 2 elements differ; element [1] is 0.0, not NaN")),
            (
                &[1e-45, 1.0],
                &[-1e-45, 1.0],
                1,
                Some("1 of 2 elements differ; element [0] is 1e-45, not -1e-45 (2 ulp)"),
            ),
        ];
        for (got, want, allowed, text) in rows {
            let worst = worst(&floats(got), &floats(want), allowed).map(|worst| worst.to_string());
            assert_eq!(worst.as_deref(), text);
        }
    }

    #[test]
    fn integers_count_by_one() {
        for (dtype, bytes, want) in [
            (Dtype::Int8, &[0xff][..], -1),
            (Dtype::Uint8, &[0xff], 255),
            (Dtype::Int64, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], -2),
        ] {
            assert_eq!(steps(dtype, bytes), Some(want));
        }
    }
}
