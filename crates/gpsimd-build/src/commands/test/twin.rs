//! The library's native twin as a reference: in a process of its own, which is asked over its pipes.
//!
//! Unaware of how twins are built, and of what is compared. The other end is `twin.cpp`, compiled when it is needed: a tool
//! without an interpreter of its own loads no library of the machine.

use std::fmt::Write as _;
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use gpsimd_device::{Arg, Dtype, Tensor, TensorSpec, Value};
use gpsimd_test::Reference;
use miette::Diagnostic;
use tempfile::TempDir;

use super::asked::Asked;

/// Why there is no twin to ask.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum TwinError {
    /// The library has none beside it.
    #[error("there is no {}", .0.display())]
    #[diagnostic(
        code(test::no_twin),
        help("build the library with --native, or give the sources instead of the library")
    )]
    Missing(PathBuf),
    /// The machine's compiler or the twin did not do it.
    #[error("{} cannot be asked: {said}", .path.display())]
    #[diagnostic(code(test::twin), help("build the library again, with --native"))]
    Refused {
        /// The twin.
        path: PathBuf,
        /// Whose words these are, the error does not say: the compiler's, the system's, or the twin's.
        said: String,
    },
}

/// A twin that is loaded, and one of its ops.
pub struct Twin {
    kernel: String,
    cores: u32,
    process: Asked,
    /// Holds the program while it runs.
    _program: TempDir,
}

impl Twin {
    /// Starts a process that has the twin at `path` loaded.
    ///
    /// # Errors
    /// [`TwinError`].
    pub fn start(path: &Path, compiler: &Path, kernel: &str, cores: u32) -> Result<Twin, TwinError> {
        if !path.is_file() {
            return Err(TwinError::Missing(path.to_owned()));
        }
        let refused = |said| TwinError::Refused { path: path.to_owned(), said };
        let failed = |error: std::io::Error| refused(error.to_string());
        let program = program(compiler).map_err(refused)?;
        let twin = path.canonicalize().map_err(failed)?;
        let process = Asked::start(Command::new(program.path().join("twin")).arg(twin)).map_err(failed)?;
        let mut twin = Twin { kernel: kernel.to_owned(), cores, process, _program: program };
        twin.answer(0).map_err(refused)?;
        Ok(twin)
    }

    fn ask(&mut self, args: &[Arg], output: &TensorSpec) -> std::io::Result<()> {
        let given: Vec<(TensorSpec, Vec<u8>)> = args.iter().map(wire).collect();
        let mut line = format!("{} {} {}", self.kernel, self.cores, given.len() + 1);
        for spec in std::iter::once(output).chain(given.iter().map(|(spec, _)| spec)) {
            let _ = write!(line, " {} {}", number(spec.dtype), spec.shape.len());
            for extent in &spec.shape {
                let _ = write!(line, " {extent}");
            }
        }
        line.push('\n');
        self.process.questions.write_all(line.as_bytes())?;
        for (_, data) in &given {
            self.process.questions.write_all(data)?;
        }
        self.process.questions.flush()
    }

    /// At most so many bytes of result; a refusal is an error.
    fn answer(&mut self, most: usize) -> Result<Vec<u8>, String> {
        /// Of a refusal.
        const LONGEST: usize = 1 << 16;
        let ended = || {
            "the twin ended, as a kernel that goes where nothing is ends this machine's process".to_owned()
        };
        let mut line = String::new();
        let read = self.process.answers.by_ref().take(64).read_line(&mut line);
        if read.map_err(|error| error.to_string())? == 0 {
            return Err(ended());
        }
        let numbers = line.trim_end().split_once(' ');
        let parsed = numbers.and_then(|(status, bytes)| Some((status.parse().ok()?, bytes.parse().ok()?)));
        let (status, bytes): (i32, usize) = parsed.ok_or("the twin's process gives no answer")?;
        if bytes > most.max(LONGEST) {
            return Err("the twin's process gives too long an answer".to_owned());
        }
        let mut data = vec![0; bytes];
        self.process.answers.read_exact(&mut data).map_err(|_| ended())?;
        match status {
            0 => Ok(data),
            _ => Err(String::from_utf8_lossy(&data).trim_end().to_owned()),
        }
    }
}

impl Reference for Twin {
    fn output(&mut self, args: &[Arg], output: &TensorSpec) -> Result<Tensor, String> {
        self.ask(args, output).map_err(|error| error.to_string())?;
        let elements = output.check().map_err(|error| error.to_string())?;
        let data = self.answer(elements as usize * output.dtype.size())?;
        Tensor::new(output.dtype, output.shape.clone(), data).map_err(|error| error.to_string())
    }
}

/// The program that loads twins, compiled by this machine's compiler.
fn program(compiler: &Path) -> Result<TempDir, String> {
    let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
    let source = directory.path().join("twin.cpp");
    std::fs::write(&source, include_str!("twin.cpp")).map_err(|error| error.to_string())?;
    let mut compile = Command::new(compiler);
    compile.args(["-std=c++14", "-O1", "-o"]).arg(directory.path().join("twin")).arg(source).arg("-ldl");
    let said = compile.output().map_err(|error| format!("{}: {error}", compiler.display()))?;
    match said.status.success() {
        true => Ok(directory),
        false => Err(String::from_utf8_lossy(&said.stderr).into_owned()),
    }
}

/// An argument as it travels: numbers are tensors of one element.
fn wire(arg: &Arg) -> (TensorSpec, Vec<u8>) {
    let one = |dtype, bytes: &[u8]| (TensorSpec::new(dtype, [1]), bytes.to_vec());
    match &arg.value {
        Value::Tensor(tensor) | Value::Scalar(tensor) => (tensor.spec.clone(), tensor.data.clone()),
        Value::Int(value) => one(Dtype::Int32, &value.to_le_bytes()),
        Value::LongLong(value) => one(Dtype::Int64, &value.to_le_bytes()),
        Value::Float(value) => one(Dtype::Float32, &value.to_le_bytes()),
    }
}

/// PyTorch's number of an element type (c10/core/ScalarType.h).
fn number(dtype: Dtype) -> u32 {
    match dtype {
        Dtype::Uint8 => 0,
        Dtype::Int8 => 1,
        Dtype::Int16 => 2,
        Dtype::Int32 => 3,
        Dtype::Int64 => 4,
        Dtype::Float16 => 5,
        Dtype::Float32 => 6,
        Dtype::Bfloat16 => 15,
    }
}
