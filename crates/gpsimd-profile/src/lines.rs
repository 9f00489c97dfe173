//! A profile as tables of lines and functions, and as source text with what every line cost.
//!
//! Unaware of how counts came about and of where the text goes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gpsimd_device::Profile;

use crate::cost::{Cost, by, percent};
use crate::sources::Sources;

/// Rows of a table on the screen.
const SHOWN: usize = 15;

/// A source file and a line of it; 0 for none.
type Line = (String, u32);

/// The lines and functions that cost most, as tables.
pub fn text(profiles: &[Profile]) -> String {
    let mut whole = Cost::default();
    for spot in profiles.iter().flat_map(|profile| &profile.spots) {
        whole.add(spot.counters, spot.cycles);
    }
    let instructions = whole.counters.instructions;
    let mut text = format!("profile: {instructions} instructions, {} cycles (est.)\n", whole.cycles);
    let float: u64 = profiles.iter().map(|profile| profile.float_instructions).sum();
    if float > 0 {
        let share = percent(float, instructions);
        let _ = writeln!(
            text,
            "{share:.1} % of the instructions emulate float; the vendor's compiler has a unit for that"
        );
    }
    let lines = by(profiles, |spot| match spot.line {
        0 => format!("{} (no line)", spot.function),
        line => format!("{}:{line} in {}", spot.file, spot.function),
    });
    table(&mut text, "line", lines, whole.cycles);
    table(&mut text, "function", by(profiles, |spot| spot.function.clone()), whole.cycles);
    text
}

fn table(text: &mut String, title: &str, costs: BTreeMap<String, Cost>, whole: u64) {
    let mut rows: Vec<(String, Cost)> = costs.into_iter().collect();
    rows.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.cycles));
    let _ = writeln!(
        text,
        "\n share  cycles (est.)  instructions     loads    stores  window loads  stores  moves  DMA  bytes     {title}"
    );
    for (name, Cost { counters, cycles }) in rows.iter().take(SHOWN) {
        let _ = writeln!(
            text,
            "{:5.1}%  {cycles:>13}  {:>12}  {:>8}  {:>8}  {:>12}  {:>6}  {:>5}  {:>3}  {:<8}  {name}",
            percent(*cycles, whole),
            counters.instructions,
            counters.loads,
            counters.stores,
            counters.window_loads,
            counters.window_stores,
            counters.window_misses,
            counters.dma_transfers,
            counters.dma_bytes,
        );
    }
    if let Some(rest) = rows.get(SHOWN..).filter(|rest| !rest.is_empty()) {
        let cycles: u64 = rest.iter().map(|(_, cost)| cost.cycles).sum();
        let _ = writeln!(text, "{:5.1}%  {cycles:>13}  in {} more", percent(cycles, whole), rest.len());
    }
}

/// Every source file that can be read, line by line, with what each cost; of another only the lines that ran.
pub fn annotated(profiles: &[Profile], sources: &Sources) -> String {
    let lines = by(profiles, |spot| -> Line { (spot.file.clone(), spot.line) });
    let whole: u64 = lines.values().map(|cost| cost.cycles).sum();
    let mut files: BTreeMap<&str, BTreeMap<u32, Cost>> = BTreeMap::new();
    for ((file, line), cost) in &lines {
        files.entry(file).or_default().insert(*line, *cost);
    }
    let mut text = String::new();
    for (file, costs) in files {
        let source = sources.text(file).unwrap_or_default();
        let source: Vec<&str> = source.lines().collect();
        let _ = writeln!(text, "== {}", if file.is_empty() { "no line information" } else { file });
        let _ = writeln!(text, " share  cycles (est.)  instructions   line");
        let last = costs.keys().next_back().copied().unwrap_or(0).max(source.len() as u32);
        for line in 0..=last {
            let shown = line.checked_sub(1).and_then(|at| source.get(at as usize));
            match (costs.get(&line), shown) {
                (None, None) => {}
                (None, Some(shown)) => {
                    let _ = writeln!(text, "{:37}{line:>5}  {shown}", "");
                }
                (Some(Cost { counters, cycles }), shown) => {
                    let (share, shown) = (percent(*cycles, whole), shown.copied().unwrap_or_default());
                    let instructions = counters.instructions;
                    let _ =
                        writeln!(text, "{share:5.1}%  {cycles:>13}  {instructions:>12}  {line:>5}  {shown}");
                }
            }
        }
        text.push('\n');
    }
    text
}
