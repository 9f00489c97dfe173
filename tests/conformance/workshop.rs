//! Builds libraries with the tool and loads them on the simulated device.
//!
//! Unaware of what the kernels compute.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

use gpsimd_device::{
    Arg, Config, Control, CoreImage, Dtype, Finding, LoadError, Machine, RunReport, Severity, Tensor,
    TensorSpec,
};
use serde_json::Value;

use crate::bench::{Bench, good, repository};
use crate::expectations::{self, Argument, Array};

/// How many cores a library is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cores {
    /// One core alone.
    One,
    /// All eight.
    Eight,
}

/// What to build.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Recipe {
    /// Kernel source.
    pub source: PathBuf,
    /// `kernel=schema` of every op.
    pub ops: Vec<String>,
    /// For how many cores.
    pub cores: Cores,
    /// Flags after the built-in ones.
    pub cflags: Vec<String>,
    /// Whether the compiler's checks are put in.
    pub is_checked: bool,
}

impl Recipe {
    /// The same, with more compiler flags.
    pub fn with<'f>(mut self, cflags: impl IntoIterator<Item = &'f str>) -> Self {
        self.cflags.extend(cflags.into_iter().map(str::to_owned));
        self
    }

    /// The library, built at most once in this process.
    pub fn build(self) -> Arc<Library> {
        type Slot = Arc<OnceLock<Arc<Library>>>;
        static BUILT: LazyLock<Mutex<HashMap<Recipe, Slot>>> = LazyLock::new(Mutex::default);
        let slot = {
            let mut built = BUILT.lock().expect("no test panics while it looks here");
            built.entry(self.clone()).or_default().clone()
        };
        slot.get_or_init(|| Arc::new(Library::build(&self))).clone()
    }
}

/// A built library.
#[derive(Debug)]
pub struct Library {
    /// Stripped images with the linked ones as debug information, in core order.
    pub images: Vec<CoreImage>,
}

impl Library {
    fn build(recipe: &Recipe) -> Self {
        let bench = Bench::new();
        let mut command = bench.tool();
        command.arg("compile").arg(&recipe.source).args(["--name", "library"]);
        for op in &recipe.ops {
            command.args(["--op", op]);
        }
        if recipe.cores == Cores::Eight {
            command.arg("--multicore");
        }
        if recipe.is_checked {
            command.args(["--sanitize", "address,undefined,pairs"]);
        }
        good(command.arg("--").args(&recipe.cflags));
        let suffixes: Vec<String> = match recipe.cores {
            Cores::One => vec![String::new()],
            Cores::Eight => (0..8).map(|cpu| format!("_cpu{cpu}")).collect(),
        };
        let read = |name: String| std::fs::read(bench.path("build").join(name)).expect("the tool wrote it");
        let image = |suffix: &String| match recipe.is_checked {
            true => CoreImage::new(read(format!("library.checked{suffix}.so"))),
            false => CoreImage {
                bytes: read(format!("library{suffix}.stripped.so")),
                debug: Some(read(format!("library{suffix}.so"))),
            },
        };
        Self { images: suffixes.iter().map(image).collect() }
    }

    /// Booted on the device.
    pub fn boot(&self) -> Result<Machine, LoadError> {
        Machine::boot(self.images.clone(), Config::default())
    }

    /// Booted on the device, which must succeed.
    pub fn machine(&self) -> Machine {
        self.boot().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Booted on the device, and where calls are to be compared (`cargo xtask soak alike`), on one that executes every
    /// instruction, too.
    pub fn twins(&self) -> Twins {
        let executed = Config { native: false, translate: false, ..Config::default() };
        let reference = std::env::var_os("GPSIMD_ALIKE")
            .map(|_| Machine::boot(self.images.clone(), executed).unwrap_or_else(|error| panic!("{error}")));
        Twins { machine: self.machine(), reference }
    }
}

/// A device, and perhaps another one that must say the same.
pub struct Twins {
    machine: Machine,
    reference: Option<Machine>,
}

impl Twins {
    /// Calls an op and waits; the reports are compared.
    pub fn call(&mut self, op: &str, args: Vec<Arg>, output: TensorSpec) -> RunReport {
        let executed =
            self.reference.as_mut().map(|reference| call(reference, op, args.clone(), output.clone()));
        let report = call(&mut self.machine, op, args, output);
        if let Some(executed) = executed {
            assert_eq!(report, executed, "{op}: quick and executed");
        }
        report
    }
}

/// The SDK that the tool builds with here.
pub fn sdk() -> PathBuf {
    std::env::var_os("GPSIMD_SDK_DIR").map_or_else(|| repository().join("sdk"), PathBuf::from)
}

/// The machine's own C++17 compiler, as it compiles shape sources.
pub fn host_compiler() -> Command {
    let mut command = Command::new("c++");
    let started = command.arg("--version").output();
    assert!(started.is_ok(), "these tests need a C++17 compiler called c++: apt install g++");
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-Wall", "-Werror"]);
    command.arg("-I").arg(sdk().join("host")).arg("-I").arg(sdk().join("include"));
    command
}

/// A JSON document of the repository.
pub fn document(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// An array that must be there.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no list"))
}

/// A string that must be there.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// Names of the files of a directory with this extension, in order.
pub fn files(directory: &Path, extension: &str) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut found: Vec<PathBuf> = entries
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension() == Some(OsStr::new(extension)))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no .{extension} in {}", directory.display());
    found
}

fn dtype(dtype: expectations::Dtype) -> Dtype {
    match dtype {
        expectations::Dtype::U8 => Dtype::Uint8,
        expectations::Dtype::I8 => Dtype::Int8,
        expectations::Dtype::I16 => Dtype::Int16,
        expectations::Dtype::I32 => Dtype::Int32,
        expectations::Dtype::I64 => Dtype::Int64,
        expectations::Dtype::F16 => Dtype::Float16,
        expectations::Dtype::BF16 => Dtype::Bfloat16,
        expectations::Dtype::F32 => Dtype::Float32,
    }
}

fn tensor(array: &Array) -> Tensor {
    Tensor::new(dtype(array.dtype), array.shape.clone(), array.bytes.clone())
        .expect("a shape with a wire form")
}

/// A case's arguments as the device takes them, named `a0`, `a1`, ….
pub fn device_arguments(arguments: &[Argument]) -> Vec<Arg> {
    let value = |argument: &Argument| match argument {
        Argument::Tensor(array) => gpsimd_device::Value::Tensor(tensor(array)),
        Argument::Scalar(array) => gpsimd_device::Value::Scalar(tensor(array)),
        Argument::Int(x) => gpsimd_device::Value::Int(*x),
        Argument::Float(x) => gpsimd_device::Value::Float(*x),
        Argument::Long(x) => gpsimd_device::Value::LongLong(*x),
    };
    arguments.iter().enumerate().map(|(k, argument)| Arg::new(format!("a{k}"), value(argument))).collect()
}

/// A case's output as the device takes it.
pub fn device_output(case: &Value) -> TensorSpec {
    let output = &case["output"];
    let element = expectations::Dtype::parse(text(&output["dtype"])).expect("an element type");
    let shape: Vec<u64> = list(&output["shape"]).iter().filter_map(Value::as_u64).collect();
    TensorSpec::new(dtype(element), shape)
}

/// Calls an op and waits.
pub fn call(machine: &mut Machine, op: &str, args: Vec<Arg>, output: TensorSpec) -> RunReport {
    machine
        .call(op, args, output, &Control::default(), |_| {})
        .unwrap_or_else(|error| panic!("{op}: {error}"))
}

/// What is worse than a note.
pub fn faults(report: &RunReport) -> Vec<&Finding> {
    report.findings.iter().filter(|finding| finding.severity != Severity::Note).collect()
}

/// A finding as a line.
pub fn line(finding: &Finding) -> String {
    let site = finding.site.as_ref();
    format!(
        "{} at {}:{} in {}: {} ({}x, cores {:?})",
        finding.code,
        site.map_or("?", |site| &site.file),
        site.map_or(0, |site| site.line),
        site.map_or("?", |site| &site.function),
        finding.message,
        finding.count,
        finding.cores
    )
}
