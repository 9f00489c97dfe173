//! Two runs of one op side by side: what came out, what it cost, and which lines became dearer.
//!
//! A line is known by its function and its text, so that one that has moved is still the same. Unaware of which builds these
//! are.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gpsimd_device::report::counters::{Counters, Cycles};
use gpsimd_device::{RunReport, Sources};
use serde::Serialize;

use crate::cost::by_line;

/// Lines that are listed.
const SHOWN: usize = 8;

/// A number, then and now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "RunChange")]
pub struct Change {
    /// Of what.
    pub what: String,
    /// In the run that is compared with.
    pub before: u64,
    /// In this run.
    pub after: u64,
}

/// Two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "RunComparison")]
pub struct Comparison {
    /// Elements of the output that differ; none if the outputs are of different types or shapes.
    pub different: Option<u64>,
    /// Elements of this output.
    pub elements: u64,
    /// Estimated cycles of the slowest core, instructions and the other counts of all cores.
    pub numbers: Vec<Change>,
    /// Lines whose estimated cycles changed, on all cores, what became dearer first.
    pub lines: Vec<Change>,
}

/// `after` compared with `before`, each with the sources of its library. Lines need profiles of both.
pub fn compare(before: (&RunReport, &Sources), after: (&RunReport, &Sources)) -> Comparison {
    let (old, new) = (before.0, after.0);
    let size = new.output.spec.dtype.size();
    let pairs = old.output.data.chunks(size).zip(new.output.data.chunks(size));
    let different = pairs.filter(|(a, b)| a != b).count() as u64;
    let [costs, now] = [before, after].map(|(report, sources)| lines(report, sources));
    let mut names: Vec<&String> = costs.keys().chain(now.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let cost = |costs: &BTreeMap<String, u64>, name: &str| costs.get(name).copied().unwrap_or(0);
    let line =
        |what: &String| Change { what: what.clone(), before: cost(&costs, what), after: cost(&now, what) };
    let mut lines: Vec<Change> =
        names.into_iter().map(line).filter(|line| line.before != line.after).collect();
    lines.sort_by_key(|line| i128::from(line.before) - i128::from(line.after));
    Comparison {
        different: (old.output.spec == new.output.spec).then_some(different),
        elements: (new.output.data.len() / size) as u64,
        numbers: numbers(old)
            .into_iter()
            .zip(numbers(new))
            .map(|((what, before), (_, after))| Change { what: what.to_owned(), before, after })
            .collect(),
        lines,
    }
}

/// Cycles of every line of the author's, by function and text.
fn lines(report: &RunReport, sources: &Sources) -> BTreeMap<String, u64> {
    let mut costs = BTreeMap::new();
    for ((file, line, function), cost) in
        by_line(&report.profiles, |line| (line.file.clone(), line.line, line.function.clone()))
    {
        let text = sources.line(&file, line).map(|text| text.trim().to_owned());
        let name = match (line, text) {
            (0, _) => "before and after the kernel".to_owned(),
            (_, Some(text)) => format!("{function}: {text}"),
            (line, None) => format!("{function}: line {line} of {}", file.trim_start_matches("./")),
        };
        *costs.entry(name).or_insert(0) += cost.cycles;
    }
    costs
}

fn numbers(report: &RunReport) -> [(&'static str, u64); 10] {
    let (mut all, mut spent) = (Counters::default(), Cycles::default());
    for core in &report.cores {
        all += core.counters;
        spent += core.spent;
    }
    [
        ("cycles (est.), slowest core", report.cores.iter().map(|core| core.cycles).max().unwrap_or(0)),
        ("cycles (est.), all cores", spent.sum()),
        ("instructions", all.instructions),
        ("loads", all.loads),
        ("stores", all.stores),
        ("window loads", all.window_loads),
        ("window stores", all.window_stores),
        ("window moves", all.window_misses),
        ("DMA transfers", all.dma_transfers),
        ("DMA bytes", all.dma_bytes),
    ]
}

impl Comparison {
    /// As tables; `before` and `after` are the names of the builds.
    pub fn text(&self, before: &str, after: &str) -> String {
        let mut text = format!("\ncompared with {before}:\n");
        match self.different {
            None => text += "the outputs are of different types or shapes\n",
            Some(0) => text += "the outputs are equal\n",
            Some(count) => {
                let _ = writeln!(text, "{count} of {} elements of the outputs differ", self.elements);
            }
        }
        let _ = writeln!(text, "        before          after    change  ({before}, then {after})");
        let changed = self.numbers.iter().filter(|number| number.before + number.after > 0);
        changed.for_each(|number| row(&mut text, number));
        let dearer: Vec<&Change> = self.lines.iter().filter(|line| line.after > line.before).collect();
        let cheaper: Vec<&Change> = self.lines.iter().rev().filter(|line| line.after < line.before).collect();
        for (title, lines) in [("lines that became dearer", dearer), ("lines that became cheaper", cheaper)] {
            if !lines.is_empty() {
                let _ = writeln!(text, "{title} (cycles, est., what they call included):");
            }
            lines.iter().take(SHOWN).for_each(|line| row(&mut text, line));
            if let Some(more) = lines.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                let _ = writeln!(text, "{:>42}{more} more", "");
            }
        }
        text
    }
}

fn row(text: &mut String, Change { what, before, after }: &Change) {
    let change = match (before, after) {
        _ if before == after => "=".to_owned(),
        (0, _) => "new".to_owned(),
        (_, 0) => "gone".to_owned(),
        _ => format!("{:+.1}%", (*after as f64 / *before as f64 - 1.0) * 100.0),
    };
    let _ = writeln!(text, "{before:>14} {after:>14} {change:>9}  {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_in_words() {
        let change = |what: &str, before, after| Change { what: what.to_owned(), before, after };
        let comparison = Comparison {
            different: Some(3),
            elements: 10,
            numbers: vec![change("instructions", 200, 100), change("loads", 0, 0)],
            lines: vec![change("k: slow();", 10, 30), change("k: fast();", 50, 0)],
        };
        let text = comparison.text("old", "new");
        assert!(text.contains("3 of 10 elements"), "{text}");
        assert!(text.contains("           200            100    -50.0%  instructions"), "{text}");
        assert!(!text.contains("loads"), "{text}");
        assert!(text.contains("            10             30   +200.0%  k: slow();"), "{text}");
        assert!(text.contains("            50              0      gone  k: fast();"), "{text}");
    }
}
