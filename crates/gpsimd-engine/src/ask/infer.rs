//! Schemas from the kernels themselves, for ops that are given none.
//!
//! Debug information has everything a schema needs, parameter names included. Unaware of how kernels are compiled.

use std::path::PathBuf;

use gpsimd_codegen::ParamDecl;
use gpsimd_image::Linkage;
use gpsimd_schema::{ArgType, Literal, Param, Signature};
use miette::Diagnostic;

use crate::ask::defaults::{defaults, number};
use crate::ask::functions::{Function, functions, nearest};
use crate::ask::not_a_kernel;
use crate::words::error::{EngineError, Problem};
use crate::words::request::{NamedOp, OpRequest};

/// The namespace of ops whose schema was read from a kernel, unless the caller names one.
pub const DEFAULT_NAMESPACE: &str = "my_ops";

/// Why no schema can be read from the kernels.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum InferError {
    #[error("no op is named, and no function looks like a kernel{}", list(.seen))]
    #[diagnostic(
        code(infer::no_kernel),
        help(
            "a kernel is a function at global scope that returns one at::Tensor and takes tensors, scalars, `int64_t` or `double`"
        )
    )]
    NoKernel { seen: Vec<String> },

    #[error("no op is named, and {} functions look like kernels{}", .found.len(), list(.found))]
    #[diagnostic(code(infer::several_kernels), help("name those that are ops:\n{}", .options.join("\n")))]
    SeveralKernels { found: Vec<String>, options: Vec<String> },

    #[error("op {kernel}: no source defines a function of that name{}", list(.seen))]
    #[diagnostic(code(infer::missing), help("{help}"))]
    Missing { kernel: String, seen: Vec<String>, help: String },

    #[error("op {kernel}: no schema can be read from the kernel{}", list(.found))]
    #[diagnostic(
        code(infer::not_a_kernel),
        help(
            "a kernel is a function at global scope that returns one at::Tensor and takes tensors, scalars, `int64_t` or `double`"
        )
    )]
    NotAKernel { kernel: String, found: Vec<String> },

    #[error("op {kernel}: {} overloads could be the kernel{}", .found.len(), list(.found))]
    #[diagnostic(code(infer::overloaded), help("rename all but one of them, or choose one by its schema:\n{}", .options.join("\n")))]
    Overloaded { kernel: String, found: Vec<String>, options: Vec<String> },

    #[error("op {kernel}: no schema can say the default of {parameter}: {written}")]
    #[diagnostic(
        code(infer::default),
        help("write a plain number there, or give the schema with one: --op '{kernel}={schema}'")
    )]
    Default { kernel: String, parameter: String, written: String, schema: String },

    #[error("no schema can be read from objects without debug information")]
    #[diagnostic(
        code(infer::no_debug_info),
        help("drop -g0 and -gz from the compiler flags, or give a schema")
    )]
    NoDebugInfo,
}

fn list(lines: &[String]) -> String {
    lines.iter().map(|line| format!("\n  {line}")).collect()
}

/// `requested` with every schema filled in from what `objects` define, and from the defaults in `sources`; all their kernels when none is requested.
///
/// # Errors
/// [`EngineError::Request`] with one problem per op whose kernel has no schema in it, [`EngineError::Io`] and
/// [`EngineError::Stage`] when an object cannot be read.
pub(crate) fn infer(
    requested: &[OpRequest],
    namespace: &str,
    objects: &[PathBuf],
    sources: &[String],
) -> Result<Vec<NamedOp>, EngineError> {
    let defined = functions(objects)?;
    if defined.iter().all(|function| function.result.is_none()) && !defined.is_empty() {
        return Err(EngineError::request(InferError::NoDebugInfo));
    }
    if requested.is_empty() {
        return only_kernel(&defined, namespace, sources).map(|op| vec![op]).map_err(EngineError::request);
    }
    let mut ops = Vec::new();
    let mut problems = Vec::new();
    for request in requested {
        let kernel = request.kernel.as_deref().unwrap_or_default();
        match request.clone().named().map_or_else(|| named(kernel, &defined, namespace, sources), Ok) {
            Ok(op) => ops.push(op),
            Err(error) => problems.push(Problem::new(error)),
        }
    }
    if problems.is_empty() { Ok(ops) } else { Err(EngineError::Request { problems }) }
}

/// The schema that a function's own declaration means; none if it is no kernel.
pub(crate) fn schema(function: &Function, namespace: &str) -> Option<String> {
    let decls = function.decls()?;
    let params = function.params.as_ref()?;
    if decls.is_empty() || !function.is_callable() || !function.returns_tensor() {
        return None;
    }
    Some(signature(function, &decls, params, namespace).to_string())
}

fn signature(
    function: &Function,
    decls: &[ParamDecl],
    params: &[crate::ask::functions::Param],
    namespace: &str,
) -> Signature {
    let param = |(index, (decl, param)): (usize, (&ParamDecl, &crate::ask::functions::Param))| {
        Param::new(param.name.clone().unwrap_or_else(|| format!("_{index}")), decl.inferred())
    };
    let params = decls.iter().zip(params).enumerate().map(param).collect();
    Signature::new(namespace, &function.name, params)
}

fn only_kernel(defined: &[Function], namespace: &str, sources: &[String]) -> Result<NamedOp, InferError> {
    // a weak function is inline, so a helper of a header
    let candidates: Vec<(&Function, String)> = defined
        .iter()
        .filter(|function| function.linkage == Linkage::Global && function.result.is_some())
        .filter_map(|function| Some((function, schema(function, namespace)?)))
        .collect();
    match candidates.as_slice() {
        [(function, _)] => request(function, namespace, sources),
        [] => Err(InferError::NoKernel { seen: seen(defined).map(judged).collect() }),
        several => Err(InferError::SeveralKernels {
            found: several.iter().map(|(function, _)| function.placed()).collect(),
            options: several.iter().map(|(function, _)| format!("--op {}", function.name)).collect(),
        }),
    }
}

fn named(
    kernel: &str,
    defined: &[Function],
    namespace: &str,
    sources: &[String],
) -> Result<NamedOp, InferError> {
    let all: Vec<&Function> = defined.iter().filter(|function| function.name == kernel).collect();
    let fitting: Vec<(&Function, String)> =
        all.iter().filter_map(|function| Some((*function, schema(function, namespace)?))).collect();
    match fitting.as_slice() {
        [(function, _)] => request(function, namespace, sources),
        [] if all.is_empty() => Err(InferError::Missing {
            kernel: kernel.to_owned(),
            seen: seen(defined).map(Function::placed).collect(),
            help: match nearest(kernel, defined) {
                Some(function) => format!("did you mean --op {}?", function.name),
                None => "name one of these, or the source that defines it".to_owned(),
            },
        }),
        [] => Err(InferError::NotAKernel {
            kernel: kernel.to_owned(),
            found: all.iter().map(|function| judged(function)).collect(),
        }),
        several => Err(InferError::Overloaded {
            kernel: kernel.to_owned(),
            found: several.iter().map(|(function, _)| function.placed()).collect(),
            options: several.iter().map(|(_, schema)| format!("--op '{kernel}={schema}'")).collect(),
        }),
    }
}

/// The op of a function, with the defaults that its declaration has.
fn request(function: &Function, namespace: &str, sources: &[String]) -> Result<NamedOp, InferError> {
    let (decls, params) =
        (function.decls().unwrap_or_default(), function.params.as_deref().unwrap_or_default());
    let mut signature = signature(function, &decls, params, namespace);
    let count = signature.params.len();
    let found = sources.iter().find_map(|source| defaults(source, &function.name, count));
    for (index, written) in found.into_iter().flatten().enumerate() {
        let (Some(written), Some(param)) = (written, signature.params.get_mut(index)) else { continue };
        let is_whole = |text: &str| text.parse::<i64>().is_ok();
        let value = number(&written).and_then(|text| match (param.ty, is_whole(text)) {
            (ArgType::Tensor, _) => None,
            (ArgType::Int | ArgType::LongLong, false) => None,
            (_, true) => Some(Literal::Int(text.to_owned())),
            (_, false) => Some(Literal::Float(text.to_owned())),
        });
        let Some(value) = value else {
            return Err(InferError::Default {
                kernel: function.name.clone(),
                parameter: param.name.clone().unwrap_or_default(),
                written,
                schema: signature.to_string(),
            });
        };
        param.default = Some(value);
    }
    Ok(NamedOp { kernel: Some(function.name.clone()), schema: signature.to_string() })
}

/// The functions a person wrote, for a look at what is there: not those of headers, nor members.
pub(crate) fn seen(defined: &[Function]) -> impl Iterator<Item = &Function> {
    let written = |function: &&Function| matches!(function.linkage, Linkage::Global | Linkage::Internal);
    let from_source = |function: &&Function| {
        function.place.as_ref().is_some_and(|place| !place.file.contains("gpsimd-sdk"))
    };
    defined.iter().filter(written).filter(from_source).take(MAX_SEEN)
}

/// A function, and why it is no kernel.
fn judged(function: &Function) -> String {
    match not_a_kernel::why(function) {
        Some(why) => format!("{}\n      {why}", function.placed()),
        None => function.placed(),
    }
}

/// Functions listed in a message.
const MAX_SEEN: usize = 20;
