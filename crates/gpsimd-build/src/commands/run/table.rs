//! What each core did as a table, and the output's first elements.
//!
//! Unaware of findings.

use gpsimd_device::{CoreReport, Ending, RunReport, Tensor};

use super::ending;
use crate::cli::Run;

/// What the kernel printed.
pub(super) fn printed(report: &RunReport, arguments: &Run) -> String {
    let mut text = if arguments.raw { String::new() } else { report.text() };
    for core in report.cores.iter().filter(|core| core.text_dropped > 0) {
        text += &format!("P{}: … {} more bytes of text were not kept\n", core.core, core.text_dropped);
    }
    text
}

/// What each core did, all of them, how that differs from the last run, and what came out.
pub(super) fn text(report: &RunReport, arguments: &Run, since: &str) -> String {
    let mut text = String::new();
    text += "core  outcome    instructions  cycles (est.)  window loads  stores  moves  DMA  bytes     stack  TCM\n";
    for core in &report.cores {
        let counters = &core.counters;
        text += &format!(
            "{:<5} {:10} {:>12}  {:>13}  {:>12}  {:>6}  {:>5}  {:>3}  {:<8}  {:>5}  {}\n",
            core.core,
            ending(core.outcome),
            counters.instructions,
            core.cycles,
            counters.window_loads,
            counters.window_stores,
            counters.window_misses,
            counters.dma_transfers,
            counters.dma_bytes,
            core.stack_high_water,
            core.tcm_high_water,
        );
    }
    text += &total(&report.cores);
    text += since;
    if !report.cores.iter().all(|core| core.outcome == Ending::Completed) {
        // zeros that nobody computed would pass for a result
        let file = arguments.output.as_ref();
        let file = file.map_or_else(String::new, |path| format!("; {} is not written", path.display()));
        return text + &format!("{}: no output, for it did not end well on every core{file}\n", report.op);
    }
    let spec = &report.output.spec;
    let shape: Vec<String> = spec.shape.iter().map(ToString::to_string).collect();
    let place = match &arguments.output {
        Some(path) if report.has_failed() => format!("not written to {}", path.display()),
        Some(path) => path.display().to_string(),
        None if report.has_failed() => format!("{}, not to be trusted", head(&report.output)),
        None => head(&report.output),
    };
    text += &format!("{} -> {} [{}] {place}\n", report.op, spec.dtype, shape.join(", "));
    text
}

/// What several cores come to: the slowest is what one waits for.
fn total(cores: &[CoreReport]) -> String {
    let Some(slowest) = cores.iter().rev().max_by_key(|core| core.cycles).filter(|_| cores.len() > 1) else {
        return String::new();
    };
    let instructions: u64 = cores.iter().map(|core| core.counters.instructions).sum();
    let cycles: u64 = cores.iter().map(|core| core.cycles).sum();
    format!(
        "slowest: core {} with {} cycles; all cores: {instructions} instructions, {cycles} cycles\n",
        slowest.core, slowest.cycles
    )
}

/// The first elements of the output, for a run without `-o`: integers as such, floats in their shortest form.
fn head(tensor: &Tensor) -> String {
    const SHOWN: usize = 6;
    let size = tensor.spec.dtype.size();
    let count = tensor.data.len() / size;
    let shown: Vec<String> =
        tensor.data.chunks_exact(size).take(SHOWN).map(|bytes| tensor.spec.dtype.show(bytes)).collect();
    format!("= [{}{}]", shown.join(", "), if count > SHOWN { ", …" } else { "" })
}
