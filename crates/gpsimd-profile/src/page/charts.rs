//! The two charts of time: what each core did when, and which blocks of local memory lived when.
//!
//! Unaware of the page around them.

use std::fmt::Write as _;

use gpsimd_device::Profile;
use gpsimd_device::memory::heap::Kind;
use gpsimd_device::report::profile::{Doing, Span};

/// Units of a chart across.
const WIDTH: f64 = 1000.0;
/// Units of a row, and of the gap below it.
const ROW: f64 = 9.0;
/// Rows of calls shown.
const DEPTH: usize = 5;
/// What is narrower is drawn with its neighbour.
const NARROW: f64 = 0.5;
/// Stretches drawn for a core.
const MOST: usize = 3000;
/// Bytes of the pool that blocks of TCM are in.
const TCM: f64 = 16384.0;

/// Text inside XML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A rectangle with a hint.
struct Bar {
    class: String,
    row: usize,
    from: f64,
    to: f64,
    hint: String,
}

/// Calls, transfers and window moves of a core, over the time of the slowest.
pub(crate) fn timeline(profile: &Profile, end: u64) -> String {
    let scale = |cycles: u64| cycles as f64 * WIDTH / end.max(1) as f64;
    let mut ends: Vec<u64> = Vec::new();
    let mut bars: Vec<Bar> = Vec::new();
    for Span { what, begin, len } in &profile.spans {
        let (row, class, name) = match what {
            Doing::Call(at) => {
                while ends.last().is_some_and(|last| last <= begin) {
                    ends.pop();
                }
                let depth = ends.len();
                ends.push(begin + len);
                let name = profile.calls.get(*at).map_or("", |call| call.function.as_str());
                (depth, format!("call c{}", hue(name)), name.to_owned())
            }
            Doing::Transfer { bytes, .. } => (DEPTH, "dma".to_owned(), format!("DMA, {bytes} bytes")),
            Doing::Window(_) => (DEPTH + 1, "window".to_owned(), "window moved".to_owned()),
        };
        if row > DEPTH + 1 || matches!(what, Doing::Call(_)) && row >= DEPTH {
            continue;
        }
        let (from, to) = (scale(*begin), scale(begin + len));
        if to - from < NARROW
            && let Some(last) = bars.iter_mut().rev().find(|bar| bar.row == row)
            && from - last.to < NARROW
        {
            last.to = last.to.max(to);
            continue;
        }
        if bars.len() < MOST {
            bars.push(Bar { class, row, from, to, hint: format!("{name}: {len} cycles from {begin} on") });
        }
    }
    svg(&bars, DEPTH + 2, &format!("core {}", profile.core))
}

/// One of a few colours for a function, the same everywhere.
pub(crate) fn hue(name: &str) -> u32 {
    const COLOURS: u32 = 6;
    name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into())) % COLOURS
}

fn svg(bars: &[Bar], rows: usize, name: &str) -> String {
    let height = rows as f64 * (ROW + 1.0);
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {height}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{name}\">"
    );
    for Bar { class, row, from, to, hint } in bars {
        let (y, width) = (*row as f64 * (ROW + 1.0), (to - from).max(NARROW));
        let hint = escaped(hint);
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{y:.0}\" width=\"{width:.1}\" height=\"{ROW}\"><title>{hint}</title></rect>"
        );
    }
    svg + "</svg>"
}

/// Blocks of TCM: across when they lived, down where they lay. Nothing where there were none.
pub(crate) fn memory(profile: &Profile, instructions: u64) -> Option<String> {
    const HEIGHT: f64 = 120.0;
    let blocks = || profile.blocks.iter().filter(|block| block.heap == Kind::Tcm);
    let first = blocks().map(|block| block.offset).min()?;
    let last = blocks().map(|block| block.offset + block.len).max()?;
    let span = f64::from(last - first).max(TCM);
    let scale = |at: u64| at as f64 * WIDTH / instructions.max(1) as f64;
    let mut svg = format!(
        "<svg class=\"chart memory\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"TCM of core {}\">",
        profile.core
    );
    for block in blocks() {
        let (from, to) = (scale(block.born), scale(block.died.unwrap_or(instructions)));
        let (y, height) =
            (f64::from(block.offset - first) * HEIGHT / span, f64::from(block.len) * HEIGHT / span);
        let place = block.site.as_ref().filter(|site| site.line > 0);
        let place = place.map_or_else(String::new, |site| format!(" from {}:{}", site.file, site.line));
        let end = if block.died.is_some() { "" } else { ", never freed" };
        let hint = escaped(&format!("{} bytes{place}{end}", block.len));
        let class = if block.died.is_some() { "block" } else { "block kept" };
        let _ = write!(
            svg,
            "<rect class=\"{class}\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{hint}</title></rect>",
            (to - from).max(1.0),
            height.max(1.5)
        );
    }
    Some(svg + "</svg>")
}
