//! A profile as tables of lines and functions, and as source text with what every line cost.
//!
//! Unaware of how counts came about and of where the text goes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gpsimd_device::report::counters::Cycles;
use gpsimd_device::report::profile::Part;
use gpsimd_device::{Profile, RunReport, Sources};

use crate::advice::{Advice, advice};
use crate::cost::{Cost, by, by_line, percent};

/// Rows of a table on the screen.
const SHOWN: usize = 15;

/// A source file and a line of it; 0 for none.
type Place = (String, u32);

/// Where the time goes, the lines and functions that cost most, and what would gain most.
pub fn text(report: &RunReport) -> String {
    let profiles = &report.profiles;
    let mut spent = Cycles::default();
    report.cores.iter().for_each(|core| spent += core.spent);
    let instructions: u64 = report.cores.iter().map(|core| core.counters.instructions).sum();
    let mut text = format!("profile: {instructions} instructions, {} cycles (est.)\n", spent.sum());
    text += &spent_on(profiles, spent);
    let float: u64 = profiles.iter().map(|profile| profile.float_instructions).sum();
    if float > 0 {
        let share = percent(float, instructions);
        let _ = writeln!(
            text,
            "{share:.1} % of the instructions emulate float; the vendor's compiler has a unit for that"
        );
    }
    let lines = by_line(profiles, |line| match line.line {
        0 => "before and after the kernel".to_owned(),
        number => format!("{}:{number} in {}", shown(&line.file), line.function),
    });
    table(&mut text, "line, with what it calls", lines, spent.sum());
    table(&mut text, "function", by(profiles, |spot| spot.function.clone()), spent.sum());
    text + &advice_text(&advice(report))
}

/// What the cycles of all cores are spent on.
fn spent_on(profiles: &[Profile], spent: Cycles) -> String {
    let of = |wanted: &[Part]| -> u64 {
        let lines = profiles.iter().flat_map(|profile| &profile.lines);
        lines.filter(|line| wanted.contains(&line.part)).map(|line| line.cycles).sum()
    };
    let kinds = [
        ("instructions", spent.instructions),
        ("of these, emulating float", of(&[Part::Float])),
        ("of these, emulating double", of(&[Part::Double])),
        ("waiting for loads from device memory", spent.window_loads),
        ("stores to device memory", spent.window_stores),
        ("moving windows", spent.window_moves),
        ("waiting for DMA to start and end", spent.dma_wait),
        ("waiting while DMA copies", spent.dma_copy),
    ];
    let row = |(what, cycles): (&str, u64)| match cycles {
        0 => String::new(),
        cycles => format!("{:5.1}%  {cycles:>13}  {what}\n", percent(cycles, spent.sum())),
    };
    kinds.into_iter().map(row).collect()
}

/// A path as one typed it.
fn shown(file: &str) -> &str {
    file.trim_start_matches("./")
}

/// What would gain most, if anything would.
pub fn advice_text(all: &[Advice]) -> String {
    let mut text = String::new();
    for Advice { message, instead, file, line, function, percent, .. } in all {
        if text.is_empty() {
            text += "\nwhat the slowest core would save, at most (est.):\n";
        }
        let place =
            if *line == 0 { String::new() } else { format!("{}:{line} in {function}: ", shown(file)) };
        let _ = writeln!(text, "{percent:>3} %  {place}{message}\n       instead: {instead}");
    }
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

/// The author's source files, line by line, with what each cost, what it calls included; of one that cannot be read only the
/// lines that ran.
pub fn annotated(profiles: &[Profile], sources: &Sources) -> String {
    let lines = by_line(profiles, |line| -> Place { (line.file.clone(), line.line) });
    let whole: u64 = lines.values().map(|cost| cost.cycles).sum();
    let mut files: BTreeMap<&str, BTreeMap<u32, Cost>> = BTreeMap::new();
    for ((file, line), cost) in &lines {
        files.entry(file).or_default().insert(*line, *cost);
    }
    let mut text = String::new();
    for (file, costs) in files {
        let source = sources.text(file).unwrap_or_default();
        let source: Vec<&str> = source.lines().collect();
        let _ = writeln!(text, "== {}", if file.is_empty() { "before and after the kernel" } else { file });
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
