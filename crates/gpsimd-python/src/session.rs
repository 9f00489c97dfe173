//! A library that stays on the device between calls.
//!
//! Unaware of Python's tensors and of how a library was built.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use gpsimd_device::{Config, Control, Machine, RunReport, TensorSpec, Trace};
use gpsimd_library::{Lane, Library, Ops, ShapeFunctions, Staging, arguments};
use miette::Diagnostic;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use serde_json::json;

use crate::refusal::{refuse, text};
use crate::value::Given;

/// A library on the cores of a simulated device.
#[pyclass(frozen)]
pub struct Session {
    library: Library,
    ops: Ops,
    /// One call at a time: a device has one library's cores.
    machine: Mutex<Machine>,
    /// Its shape functions, from the first question on.
    shapes: Mutex<Option<ShapeFunctions>>,
}

#[pymethods]
impl Session {
    #[new]
    fn new(library: std::path::PathBuf) -> PyResult<Self> {
        let library = Library::find(&library).map_err(refuse)?;
        let mut machine = library
            .loadable(&Staging::by(Lane::Fixed))
            .and_then(|loadable| Ok(loadable.machine(Config::default(), &mut Trace::default())?))
            .map_err(refuse)?;
        machine.load().map_err(refuse)?;
        let kernels = machine.functions().iter().map(|function| function.name.as_str());
        let ops = Ops::of(&library, kernels);
        Ok(Self { library, ops, machine: Mutex::new(machine), shapes: Mutex::default() })
    }

    /// What is worth knowing of the library before it is called.
    fn warnings(&self) -> Vec<String> {
        self.library.stale().iter().map(|stale| text(stale)).collect()
    }

    /// The kernel function of an op.
    fn kernel(&self, name: Option<&str>) -> PyResult<String> {
        Ok(self.ops.find(name).map_err(refuse)?.kernel.clone())
    }

    /// The types of an op's parameters, as schemas name them; none where no schema is known.
    fn types(&self, kernel: &str) -> PyResult<Vec<&'static str>> {
        let op = self.ops.find(Some(kernel)).map_err(refuse)?;
        let params = op.signature.iter().flat_map(|signature| &signature.params);
        Ok(params.map(|param| param.ty.schema_name()).collect())
    }

    /// Type and shape of what the op returns for inputs of these types, shapes and values.
    fn output(&self, kernel: &str, arguments: Vec<Given>) -> PyResult<(&'static str, Vec<u64>)> {
        let op = self.ops.find(Some(kernel)).map_err(refuse)?;
        let texts = arguments.iter().map(Given::described).collect::<PyResult<Vec<_>>>()?;
        let spec = match (&self.library.shapes, &op.qualified) {
            (Some(image), Some(qualified)) => {
                let mut shapes = self.shapes.lock().unwrap_or_else(PoisonError::into_inner);
                let functions = match &mut *shapes {
                    Some(functions) => functions,
                    none => none.insert(ShapeFunctions::open(image).map_err(refuse)?),
                };
                functions.output(qualified, &texts).map_err(refuse)?
            }
            _ => {
                let specs = arguments.iter().map(Given::spec).collect::<PyResult<Vec<_>>>()?;
                let first = specs.into_iter().flatten().next();
                first.ok_or_else(|| refuse(Unknown))?
            }
        };
        Ok((spec.dtype.name(), spec.shape))
    }

    /// Calls the op; gives the output unless a core failed, whether all is well, and the report.
    fn call<'py>(
        &self,
        py: Python<'py>,
        kernel: &str,
        given: Vec<Given>,
        output: (String, Vec<u64>),
        allow: Vec<String>,
        budget: Option<u64>,
    ) -> PyResult<(Option<Bound<'py, PyByteArray>>, bool, Report)> {
        let op = self.ops.find(Some(kernel)).map_err(refuse)?;
        let allowed: BTreeSet<_> = arguments::checks(&allow).map_err(refuse)?;
        op.check_count(given.len()).map_err(refuse)?;
        let args = given
            .into_iter()
            .enumerate()
            .map(|(index, given)| {
                let (name, ty) = op.parameter(index);
                given.argument(index, &name, ty)
            })
            .collect::<PyResult<Vec<_>>>()?;
        let output = TensorSpec::new(arguments::dtype(&output.0).map_err(refuse)?, output.1);
        let control = Control::within(budget);
        let mut stopped = None;
        let called = py.detach(|| {
            let mut machine = self.machine.lock().unwrap_or_else(PoisonError::into_inner);
            // told a few times a second, which is when Ctrl-C is heard
            machine.call(kernel, args, output, &control, |_| {
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    stopped = Some(error);
                    control.stop();
                }
            })
        });
        if let Some(error) = stopped {
            return Err(error);
        }
        let mut report = called.map_err(refuse)?;
        report.allow(&allowed);
        let data = (!report.has_failed()).then(|| PyByteArray::new(py, &report.output.data));
        Ok((data, report.is_clean(), Report(report)))
    }
}

/// No shape function and no tensor to be like.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("the output's shape is not known")]
#[diagnostic(
    code(python::output),
    help("no input is a tensor: say shape=(2, 3), or build the library with a shape source")
)]
struct Unknown;

/// What a call came to.
#[pyclass(frozen)]
pub struct Report(RunReport);

#[pymethods]
impl Report {
    /// `op`, `cores` and `findings` as `run --json` has them.
    fn json(&self) -> PyResult<String> {
        let Report(report) = self;
        let document = json!({ "op": report.op, "cores": report.cores, "findings": report.findings });
        serde_json::to_string(&document).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}
