//! What can be said of a kernel for eight cores before anyone runs it: from the functions that it refers to.
//!
//! Unaware of how a run would go; the same faults have checks there (`run::fresh_tensor`, `run::accessor_on_cores`,
//! `run::stream_on_cores`). Facts: user-api.md §7.

use std::path::PathBuf;

use gpsimd_codegen::Op;
use gpsimd_image::References;

use crate::words::error::{EngineError, Problem};

/// A mistake that shows in the names a kernel refers to.
struct Rule {
    code: &'static str,
    /// Part of a mangled name.
    part: &'static str,
    /// Whether referring to such a name is the mistake, or not doing so.
    is_forbidden: bool,
    message: &'static str,
    help: &'static str,
}

const RULES: &[Rule] = &[
    Rule {
        code: "run::fresh_tensor",
        part: "get_dst_tensor",
        is_forbidden: false,
        message: "returns a tensor of its own, and each of the eight cores would copy its own over the whole output",
        help: "write to get_dst_tensor() and return that",
    },
    Rule {
        code: "run::accessor_on_cores",
        part: "check_accessor",
        is_forbidden: true,
        message: "uses element accessors, and with several cores only TCM accessors give defined results",
        help: "copy blocks with tcm_accessor() and work on them in TCM",
    },
    Rule {
        code: "run::stream_on_cores",
        part: "StreamAccessor",
        is_forbidden: true,
        message: "uses stream accessors, and with several cores only TCM accessors give defined results",
        help: "copy blocks with tcm_accessor() and work on them in TCM",
    },
];

/// Warnings about the kernels of these ops; empty when there are none.
///
/// # Errors
/// [`EngineError::Io`] and [`EngineError::Stage`] when an object cannot be read.
pub(crate) fn warnings(ops: &[Op], objects: &[PathBuf]) -> Result<String, EngineError> {
    let read = |object: &PathBuf| std::fs::read(object).map_err(EngineError::io("cannot read", object));
    let bytes = objects.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let references = References::of(bytes.iter().map(Vec::as_slice)).map_err(|error| EngineError::Stage {
        path: objects.first().cloned().unwrap_or_default(),
        problem: Problem::new(error),
    })?;
    let mut text = String::new();
    for op in ops {
        let names = references.from(&op.kernel_symbol());
        let is_broken = |rule: &&Rule| names.iter().any(|name| name.contains(rule.part)) == rule.is_forbidden;
        for Rule { code, message, help, .. } in RULES.iter().filter(is_broken) {
            text += &format!("warning[{code}]: {} {message}\n  help: {help}\n", op.kernel);
        }
    }
    Ok(text)
}
