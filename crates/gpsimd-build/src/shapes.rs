//! The shape of an op's output, from the shape program that a library was built with.
//!
//! Shape functions run on the host and see shapes, element types and numbers, never a tensor's elements
//! (user-api.md §1). Unaware of kernels and of the device.

use std::path::Path;
use std::process::{Command, Stdio};

use gpsimd_device::{Arg, Dtype, TensorSpec, Value};
use miette::{Diagnostic, Result};
use serde::Deserialize;

/// Why a shape program does not give a shape.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ShapeProgramError {
    /// It cannot be started, for instance because it was built on another kind of machine.
    #[error("cannot start the library's shape program {program}: {source}")]
    #[diagnostic(
        code(run::shape_program),
        help("build the library again on this machine, or say --like N or --shape 2x3")
    )]
    NotStarted {
        /// The program.
        program: String,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// The op's shape function does not accept these inputs.
    #[error("the shape function of {op} refuses these inputs: {said}")]
    #[diagnostic(
        code(run::shape_refused),
        help("give inputs that it accepts; --like N or --shape 2x3 overrides it")
    )]
    Refused {
        /// `ns::op`.
        op: String,
        /// The program's own words.
        said: String,
    },
    /// The program's answer is none.
    #[error("the shape program's answer for {op} cannot be read: {said}")]
    #[diagnostic(
        code(run::shape_answer),
        help("shape sources must not print; --like N or --shape 2x3 overrides them")
    )]
    Answer {
        /// `ns::op`.
        op: String,
        /// What it said instead.
        said: String,
    },
}

#[derive(Deserialize)]
struct Answer {
    output: Output,
}

#[derive(Deserialize)]
struct Output {
    dtype: String,
    shape: Vec<u64>,
}

/// Asks `program` for the output of `op` (`ns::op`); `texts` are the arguments as given on the command line.
///
/// # Errors
/// [`ShapeProgramError`].
pub fn output(program: &Path, op: &str, args: &[Arg], texts: &[String]) -> Result<TensorSpec> {
    let mut command = Command::new(program);
    command.arg("eval").arg(op).stdin(Stdio::null());
    for (arg, text) in args.iter().zip(texts) {
        command.arg(match &arg.value {
            Value::Tensor(tensor) => described(&tensor.spec),
            _ => text.clone(),
        });
    }
    let output = command
        .output()
        .map_err(|source| ShapeProgramError::NotStarted { program: program.display().to_string(), source })?;
    let op = op.to_owned();
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
        let said = if said.is_empty() { output.status.to_string() } else { said };
        return Err(ShapeProgramError::Refused { op, said }.into());
    }
    let said = String::from_utf8_lossy(&output.stdout);
    let answer = read(&said);
    Ok(answer.ok_or_else(|| ShapeProgramError::Answer { op, said: format!("{said:.200?}") })?)
}

/// `float32:2x3`.
fn described(spec: &TensorSpec) -> String {
    let extents: Vec<String> = spec.shape.iter().map(ToString::to_string).collect();
    format!("{}:{}", spec.dtype.name(), extents.join("x"))
}

/// The last line is the answer: a shape function may print before it.
fn read(said: &str) -> Option<TensorSpec> {
    let Answer { output } = serde_json::from_str(said.lines().last()?).ok()?;
    Some(TensorSpec::new(Dtype::from_name(&output.dtype)?, output.shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_the_answer() {
        let answer = "{\"format\":1,\"op\":\"my::f\",\"kernel\":\"f\",\"output\":{\"dtype\":\"int8\",\"shape\":[2,3]}}";
        let want = Some(TensorSpec::new(Dtype::Int8, [2, 3]));
        assert_eq!(read(&format!("{answer}\n")), want);
        assert_eq!(read(&format!("hello\n{answer}\n")), want);
        for other in ["", "hello", "{}", "{\"output\":{\"dtype\":\"int128\",\"shape\":[1]}}"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(described(&TensorSpec::new(Dtype::Float32, [2, 3])), "float32:2x3");
    }
}
