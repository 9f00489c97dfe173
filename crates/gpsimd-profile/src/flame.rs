//! A flame graph: every way of calls as wide as the cycles spent on it, all cores together, callers on top of what they call.
//!
//! SVG without scripts, for viewers and for the page. What is too narrow to be seen is not drawn: the row below its caller is
//! empty there, as it is for the caller's own cycles. Unaware of source lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gpsimd_device::Profile;

use crate::cost::percent;
use crate::page::{escaped, hue};

/// Units across, and of a row.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
/// What is narrower is not drawn, and what is too narrow for a few letters has no name.
const NARROW: f64 = 0.5;
const NAMED: f64 = 24.0;
/// Units of a letter.
const LETTER: f64 = 6.7;
/// Rows drawn.
const DEPTH: usize = 64;

const STYLE: &str = "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#111;pointer-events:none}\
    rect{stroke:#fff;stroke-width:.5}\
    .c0{fill:#8db0d3}.c1{fill:#f7b978}.c2{fill:#93c98a}.c3{fill:#d3abc9}.c4{fill:#f4de86}.c5{fill:#a5d3cf}";

/// A function on one way of calls.
#[derive(Default)]
struct Node {
    /// Cycles of itself and of what it calls.
    cycles: u64,
    callees: BTreeMap<String, usize>,
}

/// All ways of calls; the first is the device.
struct Tree(Vec<Node>);

impl Tree {
    fn of(profiles: &[Profile]) -> Tree {
        let mut tree = Tree(vec![Node::default()]);
        for profile in profiles {
            // Callers come first, so that theirs are known.
            let mut places: Vec<usize> = Vec::with_capacity(profile.calls.len());
            let mut spent: Vec<u64> = profile.calls.iter().map(|call| call.cycles).collect();
            for call in &profile.calls {
                let parent = call.parent.and_then(|parent| places.get(parent)).copied();
                places.push(parent.map_or(0, |parent| tree.callee(parent, &call.function)));
            }
            for (at, call) in profile.calls.iter().enumerate().rev() {
                tree.0[places[at]].cycles += spent[at];
                if let Some(parent) = call.parent.filter(|parent| *parent < at) {
                    spent[parent] += spent[at];
                }
            }
        }
        tree
    }

    fn callee(&mut self, caller: usize, function: &str) -> usize {
        if let Some(&known) = self.0[caller].callees.get(function) {
            return known;
        }
        let new = self.0.len();
        self.0.push(Node::default());
        self.0[caller].callees.insert(function.to_owned(), new);
        new
    }
}

/// A rectangle to be drawn: the node, its name, its row, where it begins.
type Drawn<'t> = (usize, &'t str, usize, f64);

/// The picture for a file of its own.
pub fn flame(profiles: &[Profile]) -> String {
    let (inside, height) = inside(profiles);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\">\
         <style>{STYLE}</style><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{inside}</svg>\n"
    )
}

/// The picture inside a page, whose colours it takes; nothing without a profile.
pub(crate) fn drawn(profiles: &[Profile]) -> Option<String> {
    let (inside, height) = inside(profiles);
    let svg = || {
        format!(
            "<svg class=\"flame\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"flame graph\">{inside}</svg>"
        )
    };
    (!profiles.is_empty()).then(svg)
}

fn inside(profiles: &[Profile]) -> (String, f64) {
    let tree = Tree::of(profiles);
    let all = tree.0[0].cycles;
    let across = |cycles: u64| cycles as f64 * WIDTH / all.max(1) as f64;
    let (mut svg, mut rows) = (String::new(), 1);
    let mut waiting: Vec<Drawn<'_>> = vec![(0, "device", 0, 0.0)];
    while let Some((at, name, row, from)) = waiting.pop() {
        let node = &tree.0[at];
        let (width, y) = (across(node.cycles), row as f64 * ROW);
        rows = rows.max(row + 1);
        let hint = format!("{name}: {} cycles, {:.1} %", node.cycles, percent(node.cycles, all));
        let _ = write!(
            svg,
            "<rect class=\"c{}\" x=\"{from:.1}\" y=\"{y}\" width=\"{width:.1}\" height=\"{}\"><title>{}</title></rect>",
            hue(name),
            ROW - 1.0,
            escaped(&hint)
        );
        if width >= NAMED {
            let label = cut(name, ((width - 6.0) / LETTER) as usize);
            let _ =
                write!(svg, "<text x=\"{:.1}\" y=\"{}\">{}</text>", from + 3.0, y + 12.0, escaped(&label));
        }
        let mut next = from;
        for (function, &callee) in &node.callees {
            let width = across(tree.0[callee].cycles);
            if width >= NARROW && row + 1 < DEPTH {
                waiting.push((callee, function, row + 1, next));
            }
            next += width;
        }
    }
    (svg, rows as f64 * ROW)
}

/// As many letters as there is room for.
fn cut(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    let kept: String = name.chars().take(room.saturating_sub(1)).collect();
    kept + "…"
}

#[cfg(test)]
mod tests {
    use gpsimd_device::report::profile::Call;

    use super::*;

    fn profile(core: u8, calls: &[(Option<usize>, &str, u64)]) -> Profile {
        let call = |&(parent, function, cycles): &(Option<usize>, &str, u64)| Call {
            parent,
            function: function.to_owned(),
            calls: 1,
            counters: Default::default(),
            cycles,
        };
        Profile {
            core,
            spots: Vec::new(),
            calls: calls.iter().map(call).collect(),
            lines: Vec::new(),
            float_instructions: 0,
            spans: Vec::new(),
            blocks: Vec::new(),
            is_cut: false,
        }
    }

    #[test]
    fn widths_are_cycles_and_cores_are_one() {
        let first = profile(0, &[(None, "device", 10), (Some(0), "op", 20), (Some(1), "f<int>", 30)]);
        let second = profile(1, &[(None, "device", 0), (Some(0), "op", 40), (Some(1), "g", 0)]);
        let svg = flame(&[first, second]);
        for hint in
            ["device: 100 cycles, 100.0 %", "op: 90 cycles, 90.0 %", "f&lt;int&gt;: 30 cycles, 30.0 %"]
        {
            assert!(svg.contains(&format!("<title>{hint}</title>")), "{hint}\n{svg}");
        }
        assert!(!svg.contains("g: 0 cycles"), "nobody would see it\n{svg}");
        assert!(svg.contains("width=\"1080.0\"") && svg.contains("width=\"360.0\""), "{svg}");
        assert_eq!(svg.matches("<rect class").count(), 3);
        assert!(drawn(&[]).is_none());
    }

    #[test]
    fn a_call_that_is_its_own_caller_is_drawn_once() {
        let svg = flame(&[profile(0, &[(None, "device", 1), (Some(1), "odd", 1)])]);
        assert!(svg.contains("device: "), "{svg}");
    }
}
