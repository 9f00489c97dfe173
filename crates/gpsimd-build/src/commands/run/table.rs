//! What each core did as a table, and the output's first elements.
//!
//! Unaware of findings.

use gpsimd_device::{CoreReport, Dtype, Ending, RunReport, Tensor};

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

/// What each core did, and what came out.
pub(super) fn text(report: &RunReport, arguments: &Run) -> String {
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
        tensor.data.chunks_exact(size).take(SHOWN).map(|bytes| element(tensor.spec.dtype, bytes)).collect();
    format!("= [{}{}]", shown.join(", "), if count > SHOWN { ", …" } else { "" })
}

/// One element as text; nothing if the bytes are not one.
fn element(dtype: Dtype, bytes: &[u8]) -> String {
    let two = || <[u8; 2]>::try_from(bytes).ok();
    let four = || <[u8; 4]>::try_from(bytes).ok();
    let text = match dtype {
        Dtype::Int8 => bytes.first().map(|byte| byte.cast_signed().to_string()),
        Dtype::Uint8 => bytes.first().map(u8::to_string),
        Dtype::Int16 => two().map(|bytes| i16::from_le_bytes(bytes).to_string()),
        Dtype::Int32 => four().map(|bytes| i32::from_le_bytes(bytes).to_string()),
        Dtype::Int64 => <[u8; 8]>::try_from(bytes).ok().map(|bytes| i64::from_le_bytes(bytes).to_string()),
        Dtype::Bfloat16 => two().map(|bytes| short(half::bf16::from_le_bytes(bytes).to_f32())),
        Dtype::Float16 => two().map(|bytes| short(half::f16::from_le_bytes(bytes).to_f32())),
        Dtype::Float32 => four().map(|bytes| short(f32::from_le_bytes(bytes))),
    };
    text.unwrap_or_default()
}

/// A float as Python writes it: with an exponent where the digits would be many.
fn short(value: f32) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-4..1e16).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_short_and_of_their_kind() {
        let rows = [
            (Dtype::Float32, 0.1_f32.to_le_bytes().to_vec(), "0.1"),
            (Dtype::Float32, 1e-38_f32.to_le_bytes().to_vec(), "1e-38"),
            (Dtype::Float32, (-3e20_f32).to_le_bytes().to_vec(), "-3e20"),
            (Dtype::Float32, f32::NAN.to_le_bytes().to_vec(), "NaN"),
            (Dtype::Float32, 7.0_f32.to_le_bytes().to_vec(), "7"),
            (Dtype::Int32, (-7_i32).to_le_bytes().to_vec(), "-7"),
            (Dtype::Int8, vec![0xff], "-1"),
            (Dtype::Uint8, vec![0xff], "255"),
            (Dtype::Int64, i64::MIN.to_le_bytes().to_vec(), "-9223372036854775808"),
            (Dtype::Float16, half::f16::from_f32(0.5).to_le_bytes().to_vec(), "0.5"),
            (Dtype::Bfloat16, half::bf16::from_f32(-2.0).to_le_bytes().to_vec(), "-2"),
        ];
        for (dtype, bytes, want) in rows {
            assert_eq!(element(dtype, &bytes), want);
        }
    }
}
