//! A profile for people and for viewers: text, annotated source, folded calls, speedscope's format.
//!
//! Unaware of how counts came about.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gpsimd_device::report::counters::Counters;
use gpsimd_device::{Profile, RunReport};
use miette::Result;
use serde_json::{Value, json};

use crate::cli::Format;
use crate::files::{create_directory, write};

/// Rows of a table on the screen.
const SHOWN: usize = 15;

/// What something cost on all cores.
#[derive(Debug, Default, Clone, Copy)]
struct Cost {
    counters: Counters,
    cycles: u64,
}

impl Cost {
    fn add(&mut self, counters: Counters, cycles: u64) {
        self.counters += counters;
        self.cycles += cycles;
    }
}

/// A source file and a line of it; 0 for none.
type Line = (String, u32);

/// Writes the files that were asked for, named after the op; what belongs on the screen.
pub fn show(report: &RunReport, formats: &[Format], directory: &Path) -> Result<String> {
    let profiles = &report.profiles;
    let mut said = String::new();
    for format in formats {
        let (suffix, text) = match format {
            Format::Text => {
                said += &text(profiles);
                continue;
            }
            Format::Annotated => ("annotated.txt", annotated(profiles)),
            Format::Speedscope => ("speedscope.json", format!("{:#}\n", speedscope(&report.op, profiles))),
            Format::Folded => ("folded", folded(profiles)),
        };
        if !directory.as_os_str().is_empty() {
            create_directory(directory)?;
        }
        let path = directory.join(format!("{}.{suffix}", report.op));
        write(&path, text.as_bytes())?;
        let _ = writeln!(said, "profile: {}", path.display());
    }
    Ok(said)
}

/// Costs of all cores, by what `key` makes of a place.
fn by<K: Ord>(
    profiles: &[Profile],
    key: impl Fn(&gpsimd_device::report::profile::Spot) -> K,
) -> BTreeMap<K, Cost> {
    let mut costs: BTreeMap<K, Cost> = BTreeMap::new();
    for spot in profiles.iter().flat_map(|profile| &profile.spots) {
        costs.entry(key(spot)).or_default().add(spot.counters, spot.cycles);
    }
    costs
}

fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn text(profiles: &[Profile]) -> String {
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
fn annotated(profiles: &[Profile]) -> String {
    let lines = by(profiles, |spot| -> Line { (spot.file.clone(), spot.line) });
    let whole: u64 = lines.values().map(|cost| cost.cycles).sum();
    let mut files: BTreeMap<&str, BTreeMap<u32, Cost>> = BTreeMap::new();
    for ((file, line), cost) in &lines {
        files.entry(file).or_default().insert(*line, *cost);
    }
    let mut text = String::new();
    for (file, costs) in files {
        let source = std::fs::read_to_string(file).unwrap_or_default();
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

/// Positions of the calls that lead to one, outermost first, itself last.
fn way(profile: &Profile, call: usize) -> Vec<usize> {
    let parent = |at: &usize| profile.calls.get(*at).and_then(|call| call.parent);
    let mut way: Vec<usize> = std::iter::successors(Some(call), parent).collect();
    way.reverse();
    way
}

/// A line for every way of calls: its functions from the outermost on, and the cycles of the last.
fn folded(profiles: &[Profile]) -> String {
    let mut text = String::new();
    for profile in profiles {
        for (at, _) in profile.calls.iter().enumerate().filter(|(_, call)| call.cycles > 0) {
            let names = way(profile, at).into_iter().map(|at| profile.calls[at].function.replace(';', ":"));
            let names: Vec<String> = names.collect();
            let _ = writeln!(text, "core {};{} {}", profile.core, names.join(";"), profile.calls[at].cycles);
        }
    }
    text
}

/// <https://www.speedscope.app/file-format-schema.json>: one sampled profile a core, weighted by estimated cycles.
fn speedscope(op: &str, profiles: &[Profile]) -> Value {
    let mut frames: BTreeMap<&str, usize> = BTreeMap::new();
    let names = profiles.iter().flat_map(|profile| &profile.calls).map(|call| call.function.as_str());
    for name in names {
        frames.entry(name).or_default();
    }
    for (number, place) in frames.values_mut().enumerate() {
        *place = number;
    }
    let cores = profiles.iter().map(|profile| {
        let spent = profile.calls.iter().enumerate().filter(|(_, call)| call.cycles > 0);
        let (samples, weights): (Vec<Vec<usize>>, Vec<u64>) = spent
            .map(|(at, call)| {
                let frame = |at: usize| frames[profile.calls[at].function.as_str()];
                (way(profile, at).into_iter().map(frame).collect(), call.cycles)
            })
            .unzip();
        let end: u64 = weights.iter().sum();
        json!({
            "type": "sampled", "name": format!("core {}", profile.core), "unit": "none",
            "startValue": 0, "endValue": end, "samples": samples, "weights": weights,
        })
    });
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": op,
        "exporter": concat!("gpsimd-build ", env!("CARGO_PKG_VERSION")),
        "activeProfileIndex": 0,
        "shared": { "frames": frames.keys().map(|name| json!({ "name": name })).collect::<Vec<_>>() },
        "profiles": cores.collect::<Vec<_>>(),
    })
}
