//! What kernels use of elements that the documents do not settle: it works here, and each kind is said once.
//!
//! Debug information names every function that was used, inlined ones too. Unaware of ops. Facts: user-api.md §5.1;
//! device-runtime.md §6.2.

use std::path::PathBuf;

use crate::ask::functions::{Function, functions};
use crate::words::error::EngineError;

/// A use of an element `a[i]`, and what is documented instead.
struct Kind {
    is_used: fn(&Function) -> bool,
    what: &'static str,
    instead: &'static str,
}

const KINDS: &[Kind] = &[
    Kind {
        is_used: |function| {
            is_of_elements(function) && function.name.starts_with("operator at::detail::Widened<")
        },
        what: "an element of half or bfloat16 is read as float",
        instead: "at::Half h = a[i]; float v = h;",
    },
    Kind {
        is_used: |function| {
            let name = function.name.split('<').next().unwrap_or_default();
            matches!(name, "max" | "min") && function.text.contains("TensorElementReference<")
        },
        what: "std::max or std::min takes an element and a number",
        instead: "float v = a[i]; std::max(v, 2.f)",
    },
    Kind {
        is_used: |function| {
            const STEPS: &[&str] = &["++", "--", "%=", "&=", "|=", "^=", "<<=", ">>="];
            let sign = function.name.strip_prefix("operator").unwrap_or_default();
            is_of_elements(function) && STEPS.contains(&sign)
        },
        what: "an element is changed in place by ++, --, %= or an operator on bits",
        instead: "a[i] = a[i] + 1",
    },
];

fn is_of_elements(function: &Function) -> bool {
    function.text.contains("at::TensorElementReference<")
}

/// One line for each kind that the objects use.
///
/// # Errors
/// An object that cannot be read.
pub(crate) fn notes(objects: &[PathBuf]) -> Result<String, EngineError> {
    let used = functions(objects)?;
    let is_used = |kind: &&Kind| used.iter().any(kind.is_used);
    let note = |kind: &Kind| {
        format!(
            "note[compile::undocumented]: {}; it works here, the documents do not say that it does with the vendor's headers\n    help: documented is {}\n",
            kind.what, kind.instead
        )
    };
    Ok(KINDS.iter().filter(is_used).map(note).collect())
}
