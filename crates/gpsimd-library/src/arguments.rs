//! What an op takes against what it is given: how many arguments, of which kind, of which element type.
//!
//! Unaware of how arguments are written.

use std::collections::BTreeSet;

use gpsimd_device::{CHECKS, Code, Dtype};
use gpsimd_schema::{ArgType, Signature};
use miette::Diagnostic;

use crate::Op;

/// Why an argument does not fit.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ArgumentError {
    /// Too many inputs or too few.
    #[error("{found} inputs are given, {op} takes {wanted}")]
    #[diagnostic(code(run::input_count), help("{signature}"))]
    Count {
        /// The op.
        op: String,
        /// Given.
        found: usize,
        /// Taken: `2`, or `1 to 2` where some have defaults.
        wanted: String,
        /// How Python calls it.
        signature: String,
    },
    /// A number where the op takes something else, or the other way round.
    #[error("input {index} is {text:?}, the op's parameter {name} is {}", article(*.wanted))]
    #[diagnostic(code(run::input_type), help("give {} there", forms(*.wanted)))]
    Kind {
        /// Position, from 0.
        index: usize,
        /// As given.
        text: String,
        /// The parameter.
        name: String,
        /// What it takes.
        wanted: ArgType,
    },
    /// An element type that does not exist.
    #[error("{text:?} is no element type of the device")]
    #[diagnostic(code(run::dtype), help("int8, uint8, int16, int32, int64, float16, bfloat16 or float32"))]
    Dtype {
        /// As given.
        text: String,
    },
    /// A check that does not exist.
    #[error("--allow {name:?}: there is no such check")]
    #[diagnostic(code(run::allow), help("the checks are: {}", .known.join(", ")))]
    Allow {
        /// As given.
        name: String,
        /// All checks.
        known: Vec<&'static str>,
    },
}

/// `float32`.
///
/// # Errors
/// [`ArgumentError::Dtype`].
pub fn dtype(text: &str) -> Result<Dtype, ArgumentError> {
    Dtype::from_name(text).ok_or_else(|| ArgumentError::Dtype { text: text.to_owned() })
}

/// The checks of these names, with or without `run::`.
///
/// # Errors
/// [`ArgumentError::Allow`].
pub fn checks(names: &[String]) -> Result<BTreeSet<Code>, ArgumentError> {
    let find = |name: &String| {
        let entry = CHECKS.iter().find(|entry| entry.name == name || entry.name == format!("run::{name}"));
        entry.map(|entry| entry.code).ok_or_else(|| ArgumentError::Allow {
            name: name.clone(),
            known: CHECKS.iter().map(|entry| entry.name).collect(),
        })
    };
    names.iter().map(find).collect()
}

/// `an int`.
fn article(ty: ArgType) -> String {
    let name = ty.schema_name();
    format!("{} {name}", if name.starts_with('i') { "an" } else { "a" })
}

/// What can be given for a type.
fn forms(ty: ArgType) -> &'static str {
    match ty {
        ArgType::Tensor => {
            "a tensor: x.npy, or one made up, such as rand:2x3, arange:6:int32, zeros:4 or ones:4"
        }
        ArgType::Int | ArgType::LongLong => "a whole number, such as 3",
        ArgType::Float | ArgType::Scalar => "a number, such as 0.5",
    }
}

/// Whether an op takes so many inputs; those at the end may have defaults.
///
/// # Errors
/// [`ArgumentError::Count`].
pub fn count(op: &str, signature: &Signature, found: usize) -> Result<(), ArgumentError> {
    let params = &signature.params;
    if params.len() == found {
        return Ok(());
    }
    let least = params.iter().rposition(|param| param.default.is_none()).map_or(0, |last| last + 1);
    let wanted =
        if least == params.len() { least.to_string() } else { format!("{least} to {}", params.len()) };
    Err(ArgumentError::Count { op: op.to_owned(), found, wanted, signature: signature.python_call() })
}

impl Op {
    /// Whether it takes so many inputs, as far as that is known.
    ///
    /// # Errors
    /// [`ArgumentError::Count`].
    pub fn check_count(&self, found: usize) -> Result<(), ArgumentError> {
        self.signature.as_ref().map_or(Ok(()), |signature| count(&self.kernel, signature, found))
    }

    /// The defaults of parameters at the end that get nothing: as Python fills in what a caller leaves out. None if one of
    /// them has no default.
    pub fn defaults(&self, given: usize) -> Vec<String> {
        let params = self.signature.as_ref().and_then(|signature| signature.params.get(given..));
        let texts = params.unwrap_or_default().iter().map(|param| Some(param.default.as_ref()?.to_string()));
        texts.collect::<Option<_>>().unwrap_or_default()
    }

    /// The name of a parameter, its own or `input2`, and its type if that is known.
    pub fn parameter(&self, index: usize) -> (String, Option<ArgType>) {
        let param = self.signature.as_ref().and_then(|signature| signature.params.get(index));
        let name = param.and_then(|param| param.name.clone()).unwrap_or_else(|| format!("input{index}"));
        (name, param.map(|param| param.ty))
    }
}
