//! Errors as Python gets them: the document that `--json` has, for the package to make its exception of.
//!
//! Unaware of what is refused.

use miette::{Diagnostic, Report};
use pyo3::{PyErr, create_exception, exceptions::PyException};
use serde_json::{Value, json};

create_exception!(gpsimd_build, Refusal, PyException, "Its text is the `error` of a `--json` answer.");

/// For `map_err`, of anything that has a code.
pub fn refuse(error: impl Into<Report>) -> PyErr {
    Refusal::new_err(document(error.into().as_ref()).to_string())
}

/// A warning in one piece, as the package's errors are.
pub fn text(warning: &dyn Diagnostic) -> String {
    let code = warning.code().map(|code| format!("{code}: ")).unwrap_or_default();
    let help = warning.help().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    format!("{code}{warning}{help}")
}

fn document(error: &dyn Diagnostic) -> Value {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let detail: Vec<String> = causes.map(ToString::to_string).collect();
    json!({
        "code": error.code().map(|code| code.to_string()),
        "headline": error.to_string(),
        "detail": (!detail.is_empty()).then(|| detail.join("\n")),
        "remedy": error.help().map(|help| help.to_string()),
        "related": error.related().into_iter().flatten().map(document).collect::<Vec<_>>(),
    })
}
