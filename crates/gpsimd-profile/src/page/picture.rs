//! Tensors as small pictures: a grid of cells in nine shades, as SVG whose colours the page's style gives.
//!
//! Unaware of what a tensor is for.

use std::fmt::Write as _;

use gpsimd_device::{Dtype, Tensor};

/// Most cells in a row and in a column.
const MOST: usize = 64;
/// Shades that are told apart; the middle one is zero where there are both signs.
const SHADES: usize = 9;

/// Cells of a picture: rows of equal length.
pub(crate) struct Grid {
    width: usize,
    cells: Vec<f64>,
    /// What of the tensor is shown.
    pub what: String,
}

/// The elements of a tensor as numbers.
pub(crate) fn numbers(tensor: &Tensor) -> Vec<f64> {
    let size = tensor.spec.dtype.size();
    tensor.data.chunks_exact(size).map(|bytes| number(tensor.spec.dtype, bytes).unwrap_or(f64::NAN)).collect()
}

fn number(dtype: Dtype, bytes: &[u8]) -> Option<f64> {
    let two = || <[u8; 2]>::try_from(bytes).ok();
    let four = || <[u8; 4]>::try_from(bytes).ok();
    Some(match dtype {
        Dtype::Int8 => f64::from(bytes.first()?.cast_signed()),
        Dtype::Uint8 => f64::from(*bytes.first()?),
        Dtype::Int16 => f64::from(i16::from_le_bytes(two()?)),
        Dtype::Int32 => f64::from(i32::from_le_bytes(four()?)),
        Dtype::Int64 => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
        Dtype::Bfloat16 => half::bf16::from_le_bytes(two()?).to_f64(),
        Dtype::Float16 => half::f16::from_le_bytes(two()?).to_f64(),
        Dtype::Float32 => f64::from(f32::from_le_bytes(four()?)),
    })
}

impl Grid {
    /// Of a tensor's elements: its first plane, by its last two dimensions; one dimension is wrapped.
    pub fn of(shape: &[u64], values: &[f64]) -> Grid {
        let (rows, columns, mut what) = match *shape {
            [] => (1, values.len(), String::new()),
            [length] => {
                let columns = (length as usize).clamp(1, MOST);
                let what =
                    if columns < length as usize { format!("{columns} in a row") } else { String::new() };
                ((length as usize).div_ceil(columns), columns, what)
            }
            [ref before @ .., rows, columns] => {
                let planes: u64 = before.iter().product();
                let what = if planes > 1 { format!("the first of {planes} planes") } else { String::new() };
                (rows as usize, columns as usize, what)
            }
        };
        let (down, across) = (rows.div_ceil(MOST).max(1), columns.div_ceil(MOST).max(1));
        if down > 1 || across > 1 {
            let _ = write!(what, "{}one of {}", if what.is_empty() { "" } else { ", " }, down * across);
        }
        let cell = |row: usize, column: usize| values.get(row * columns + column).copied();
        let mut cells = Vec::new();
        let width = columns.div_ceil(across);
        for row in (0..rows).step_by(down).take(MOST) {
            cells.extend((0..columns).step_by(across).filter_map(|column| cell(row, column)));
        }
        Grid { width: width.max(1), cells, what }
    }

    /// As SVG: one path a shade.
    pub fn svg(&self) -> String {
        let finite = || self.cells.iter().copied().filter(|value| value.is_finite());
        let (least, most) =
            finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)));
        let is_signed = least < 0.0 && most > 0.0;
        let reach = least.abs().max(most.abs());
        let shade = |value: f64| -> usize {
            if !value.is_finite() {
                return SHADES;
            }
            let part = match () {
                () if is_signed => (value / reach + 1.0) / 2.0,
                () if most > least => (value - least) / (most - least),
                () => 0.5,
            };
            ((part * SHADES as f64) as usize).min(SHADES - 1)
        };
        let mut paths = vec![String::new(); SHADES + 1];
        let rows = self.cells.len().div_ceil(self.width);
        for (row, cells) in self.cells.chunks(self.width).enumerate() {
            let mut from = 0;
            while let Some(first) = cells.get(from) {
                let level = shade(*first);
                let run = cells[from..].iter().take_while(|value| shade(**value) == level).count();
                let _ = write!(paths[level], "M{from} {row}h{run}v1h-{run}z");
                from += run;
            }
        }
        let kind = if is_signed { "signed" } else { "plain" };
        let (width, height) = (self.width, rows.max(1));
        let mut svg = format!(
            "<svg class=\"picture {kind}\" viewBox=\"0 0 {width} {height}\" role=\"img\" shape-rendering=\"crispEdges\">"
        );
        for (level, path) in paths.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let _ = write!(svg, "<path class=\"s{level}\" d=\"{path}\"/>");
        }
        svg + "</svg>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_of_one_shade_are_one_stretch() {
        let svg = Grid::of(&[2, 3], &[-1.0, -1.0, 1.0, 0.0, f64::NAN, 1.0]).svg();
        assert!(svg.contains("viewBox=\"0 0 3 2\"") && svg.contains("class=\"picture signed\""), "{svg}");
        assert!(svg.contains("<path class=\"s0\" d=\"M0 0h2v1h-2z\"/>"), "{svg}");
        assert!(svg.contains("<path class=\"s9\" d=\"M1 1h1v1h-1z\"/>"), "{svg}");
        assert!(svg.contains("<path class=\"s8\" d=\"M2 0h1v1h-1zM2 1h1v1h-1z\"/>"), "{svg}");
    }

    #[test]
    fn large_tensors_are_thinned_out() {
        let values = vec![1.0; 200 * 300];
        let grid = Grid::of(&[200, 300], &values);
        assert!(grid.width <= MOST && grid.cells.len() <= MOST * MOST && grid.what.contains("one of"));
        assert_eq!(Grid::of(&[70], &vec![0.0; 70]).width, 64);
        assert!(Grid::of(&[2, 2, 2], &[0.0; 8]).what.contains("planes"));
    }
}
