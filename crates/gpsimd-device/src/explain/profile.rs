//! From the addresses that answer for counts to functions and lines.
//!
//! Unaware of how counts came about and of how a profile is shown.

use super::evidence::Program;
use super::symbols::{Frame, Symbols};
use crate::cores::core::Run;
use crate::cores::profile;
use crate::parts::map;
use crate::report::profile::{Call, Estimate, Profile, Spot};

/// Library functions of the compiler that compute with floats, without a unit for them.
const FLOAT: [&str; 10] = ["add", "sub", "mul", "div", "neg", "fix", "float", "extend", "trunc", "pow"];
/// Their comparisons.
const COMPARE: [&str; 7] = ["eq", "ne", "lt", "le", "gt", "ge", "unord"];

/// The profiles of the runs that have one.
pub(super) fn profiles(runs: &[Run], programs: &[Program<'_>]) -> Vec<Profile> {
    let both = runs.iter().zip(programs);
    both.filter_map(|(run, program)| Some(of_core(run.core, run.profile.as_deref()?, &program.symbols)))
        .collect()
}

fn of_core(core: u8, counted: &profile::Profile, symbols: &Symbols<'_>) -> Profile {
    let (mut estimate, mut float_instructions) = (Estimate::default(), 0);
    let spots = counted.spots().into_iter().map(|profile::Spot { pc, counters }| {
        if symbols.function_or_label(pc).is_some_and(|name| is_float(&name)) {
            float_instructions += counters.instructions;
        }
        let Frame { function, file, line, .. } = place(pc, symbols);
        Spot { pc, function, file, line, counters, cycles: estimate.next(counters) }
    });
    let spots = spots.collect();
    let mut estimate = Estimate::default();
    let calls = counted.calls().iter().enumerate().map(|(at, call)| Call {
        parent: (at > 0).then_some(call.parent),
        function: if at == 0 { "device".to_owned() } else { name(call.entry, symbols) },
        calls: call.calls,
        counters: call.counters,
        cycles: estimate.next(call.counters),
    });
    Profile { core, spots, calls: calls.collect(), float_instructions }
}

/// The author's frame of an instruction, else its innermost.
fn place(pc: u32, symbols: &Symbols<'_>) -> Frame {
    let mut frames = symbols.frames(pc);
    if frames.is_empty() {
        let function = name(pc, symbols);
        return Frame { function, file: String::new(), line: 0, column: 0, inlined: false };
    }
    let author = frames.iter().position(|frame| !frame.is_runtime());
    frames.swap_remove(author.unwrap_or(0))
}

fn name(pc: u32, symbols: &Symbols<'_>) -> String {
    match symbols.function_or_label(pc) {
        Some(name) => name,
        None if map::is_firmware(pc) => "firmware".to_owned(),
        None => format!("{pc:#010x}"),
    }
}

/// Whether a function is one of those that stand in for a floating-point unit: `__addsf3`, `__floatsidf`, `__eqsf2`.
fn is_float(name: &str) -> bool {
    let Some(name) = name.strip_prefix("__") else { return false };
    let begins = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    (name.contains("sf") || name.contains("df")) && (begins(&FLOAT) || begins(&COMPARE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_emulate_float() {
        let rows = [
            ("__addsf3", true),
            ("__floatunsidf", true),
            ("__eqsf2", true),
            ("__unorddf2", true),
            ("__truncdfsf2", true),
            ("__divsi3", false),
            ("__muldi3", false),
            ("addsf", false),
            ("relu_forward", false),
        ];
        for (name, want) in rows {
            assert_eq!(is_float(name), want, "{name}");
        }
    }
}
