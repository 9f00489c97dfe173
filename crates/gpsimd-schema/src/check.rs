//! Both steps in one, for a caller that has the text: parse, then lower, with a report that points into it.
//!
//! Unaware of files and terminals.

use crate::error::{SchemaError, SyntaxError};
use crate::lower::lower;
use crate::parser::parse;
use crate::refusal::LowerError;
use crate::signature::Signature;
use miette::Diagnostic;
use thiserror::Error;

/// A schema that the device cannot run, with every reason.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[error("the device cannot run `{}`: {} {}", .text.trim(), .causes.len(), if .causes.len() == 1 { "reason" } else { "reasons" })]
#[diagnostic(code(schema::refused))]
pub struct Refusal {
    /// The schema as given.
    #[source_code]
    pub text: String,
    /// The reasons; never empty.
    #[related]
    pub causes: Vec<Cause>,
}

/// One reason against a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
pub enum Cause {
    /// The text is no schema.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Syntax(#[from] SyntaxError),
    /// The device cannot do what it asks for.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Device(#[from] LowerError),
}

/// The device signature of a schema's text.
///
/// ```
/// use gpsimd_schema::{signature, ArgType};
/// let found = signature("my::clip(Tensor a, number lo, int n=1) -> Tensor")?;
/// assert_eq!(found.params[1].ty, ArgType::Scalar);
/// assert_eq!(found.to_string(), "my::clip(Tensor a, Scalar lo, int n=1) -> (Tensor)");
///
/// let refusal = signature("clip(Tensor? a, int[] n) -> ()").unwrap_err();
/// assert_eq!(refusal.causes.len(), 4); // no namespace, optional, list, no result
/// # Ok::<(), gpsimd_schema::Refusal>(())
/// ```
///
/// # Errors
/// The syntax error, or all that the device cannot do.
pub fn signature(text: &str) -> Result<Signature, Refusal> {
    let refusal = |causes| Refusal { text: text.to_owned(), causes };
    let schema = parse(text).map_err(|SchemaError { cause, .. }| refusal(vec![cause.into()]))?;
    lower(&schema).map_err(|errors| refusal(errors.into_iter().map(Cause::from).collect()))
}
