//! What a piece of the program is for, by the names of the functions it goes through.
//!
//! Unaware of addresses and counts.

use crate::explain::symbols::Frame;
use crate::report::profile::Part;

/// Library functions of the compiler that compute with floats, without a unit for them.
const FLOAT: [&str; 10] = ["add", "sub", "mul", "div", "neg", "fix", "float", "extend", "trunc", "pow"];
/// Their comparisons.
const COMPARE: [&str; 7] = ["eq", "ne", "lt", "le", "gt", "ge", "unord"];

/// Functions of the library by a part of their names, and what they are for; the first that fits.
const LIBRARY: [(&str, Part); 16] = [
    ("StreamAccessor", Part::Stream),
    ("TensorStream", Part::Stream),
    ("tensor_to_tcm", Part::Transfer),
    ("tcm_to_tensor", Part::Transfer),
    ("neuron_memcpy", Part::Transfer),
    ("TensorAccessor", Part::Accessor),
    ("TensorElementReference", Part::Accessor),
    ("unbuffered_accessor", Part::Accessor),
    ("tcm_malloc", Part::Memory),
    ("tcm_free", Part::Memory),
    ("neuron_dataram_", Part::Memory),
    ("neuron_hbm_", Part::Memory),
    ("_libc_heap_", Part::Memory),
    ("operator new", Part::Memory),
    ("operator delete", Part::Memory),
    ("neuron_translate", Part::Accessor),
];

/// What a library function of this name is for.
pub(super) fn named(name: &str) -> Option<Part> {
    if is_float(name) {
        return Some(if name.contains("df") { Part::Double } else { Part::Float });
    }
    LIBRARY.iter().find(|(part, _)| name.contains(part)).map(|(_, part)| *part)
}

/// What an instruction is for, by its frames, innermost first: those before the author's say it, the outermost first.
pub(super) fn inlined(frames: &[Frame]) -> Part {
    let author = frames.iter().position(|frame| !frame.is_runtime()).unwrap_or(frames.len());
    match frames.get(..author).unwrap_or_default() {
        [] => Part::Own,
        own => own.iter().rev().find_map(|frame| named(&frame.function)).unwrap_or(Part::Library),
    }
}

/// Whether a function is one of those that stand in for a floating-point unit: `__addsf3`, `__floatsidf`, `__eqsf2`.
pub(super) fn is_float(name: &str) -> bool {
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
