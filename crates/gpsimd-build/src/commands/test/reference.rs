//! A reference in Python: one process for all cases, which is asked over its pipes.
//!
//! Unaware of what it computes. The other end is `reference.py`.

use std::io::{BufRead as _, Read as _, Write as _};
use std::path::Path;
use std::process::Command;

use gpsimd_device::{Arg, Dtype, Tensor, TensorSpec, Value};
use gpsimd_test::Reference;
use miette::Diagnostic;
use serde::Deserialize;
use serde_json::json;

use super::asked::Asked;

/// Why there is no reference.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ReferenceError {
    /// No such program.
    #[error("cannot start {program}: {source}")]
    #[diagnostic(code(test::python), help("name one with --python, or in $PYTHON"))]
    Python {
        /// What was started.
        program: String,
        /// Why not.
        source: std::io::Error,
    },
    /// Python is there, the function is not.
    #[error("Python does not find {name}: {said}")]
    #[diagnostic(
        code(test::reference_missing),
        help(
            "write MODULE:FUNCTION; modules are looked for here and where that Python looks, and numpy must be there"
        )
    )]
    Missing {
        /// As given.
        name: String,
        /// Python's own words.
        said: String,
    },
}

/// A Python function that can be called.
pub struct Python(Asked);

#[derive(Deserialize)]
struct Answer {
    error: Option<String>,
    #[serde(default)]
    dtype: String,
    #[serde(default)]
    shape: Vec<u64>,
    #[serde(default)]
    bytes: usize,
}

impl Python {
    /// Starts Python and finds the function.
    ///
    /// # Errors
    /// [`ReferenceError`].
    pub fn start(name: &str, program: Option<&Path>) -> Result<Python, ReferenceError> {
        let program =
            program.map(|program| program.as_os_str().to_owned()).or_else(|| std::env::var_os("PYTHON"));
        let program = program.unwrap_or_else(|| "python3".into());
        let failed =
            |source| ReferenceError::Python { program: program.to_string_lossy().into_owned(), source };
        let mut command = Command::new(&program);
        command.args(["-c", include_str!("reference.py"), name]);
        let mut python = Python(Asked::start(&mut command).map_err(failed)?);
        let missing = |said| ReferenceError::Missing { name: name.to_owned(), said };
        match python.answer() {
            Ok(Answer { error: None, .. }) => Ok(python),
            Ok(Answer { error: Some(said), .. }) => Err(missing(said)),
            Err(error) => Err(missing(error)),
        }
    }

    fn ask(&mut self, args: &[Arg], output: &TensorSpec) -> std::io::Result<()> {
        let tensor = |tensor: &Tensor| json!({ "dtype": tensor.spec.dtype, "shape": tensor.spec.shape, "bytes": tensor.data.len() });
        let argument = |arg: &Arg| match &arg.value {
            Value::Tensor(value) => tensor(value),
            Value::Int(value) => json!({ "number": value }),
            Value::LongLong(value) => json!({ "number": value }),
            Value::Float(value) => json!({ "number": value }),
            Value::Scalar(value) => json!({ "number": number(value) }),
        };
        let arguments: Vec<_> = args.iter().map(argument).collect();
        let mut bytes = json!({ "arguments": arguments, "dtype": output.dtype }).to_string().into_bytes();
        bytes.push(b'\n');
        for arg in args {
            if let Value::Tensor(tensor) = &arg.value {
                bytes.extend(&tensor.data);
            }
        }
        self.0.questions.write_all(&bytes)?;
        self.0.questions.flush()
    }

    fn answer(&mut self) -> Result<Answer, String> {
        let mut line = String::new();
        match self.0.answers.read_line(&mut line) {
            Ok(0) => Err("Python ended".to_owned()),
            Ok(_) => serde_json::from_str(&line).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The number of a Scalar.
fn number(tensor: &Tensor) -> serde_json::Value {
    match (tensor.spec.dtype, tensor.data.as_slice()) {
        (Dtype::Float32, &[a, b, c, d]) => json!(f32::from_le_bytes([a, b, c, d])),
        (Dtype::Int64, bytes) => json!(bytes.try_into().map(i64::from_le_bytes).unwrap_or_default()),
        _ => serde_json::Value::Null,
    }
}

impl Reference for Python {
    fn output(&mut self, args: &[Arg], output: &TensorSpec) -> Result<Tensor, String> {
        self.ask(args, output).map_err(|error| error.to_string())?;
        let answer = self.answer()?;
        if let Some(error) = answer.error {
            return Err(error);
        }
        let mut data = vec![0; answer.bytes];
        self.0.answers.read_exact(&mut data).map_err(|error| error.to_string())?;
        let Some(dtype) = Dtype::from_name(&answer.dtype) else {
            return Err(format!("the reference gives {}, which the device has not", answer.dtype));
        };
        Tensor::new(dtype, answer.shape, data).map_err(|error| error.to_string())
    }
}
