//! Between compile and link: is each op's kernel defined, with the signature that the wrapper calls?
//!
//! A kernel with another signature is another symbol, so a linker could only report an undefined name. The
//! wrapper's object says what is called, the kernel objects say what there is. Facts: codegen.md §4.4 and D1-D8.
//! Unaware of schemas and of debug information.

use std::path::{Path, PathBuf};

use gpsimd_image::{Image, Symbol};
use miette::Diagnostic;

use crate::error::{EngineError, Problem};

/// Why an op's kernel cannot be called.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum KernelError {
    #[error("op {kernel}: the kernel's signature is not the schema's\n  expected: at::Tensor {expected}\n  found:    {}", .found.join("\n            "))]
    #[diagnostic(
        code(kernel::signature),
        help("change the kernel to the expected signature, or the schema to the kernel's")
    )]
    Signature { kernel: String, expected: String, found: Vec<String> },
    #[error("op {kernel}: no source defines the kernel function {expected}{}", near(.nearest.as_deref()))]
    #[diagnostic(
        code(kernel::missing),
        help(
            "define at::Tensor {expected} in the global namespace, or name the right function with --op KERNEL=SCHEMA"
        )
    )]
    Missing { kernel: String, expected: String, nearest: Option<String> },
    #[error("op {kernel}: {found} is local to {object}", object = .object.display())]
    #[diagnostic(
        code(kernel::local),
        help(
            "the wrapper is another file: remove `static`, or take the kernel out of the anonymous namespace"
        )
    )]
    Local { kernel: String, found: String, object: PathBuf },
    #[error("op {kernel}: the kernel is {found}, in a namespace")]
    #[diagnostic(
        code(kernel::namespaced),
        help("the wrapper calls ::{kernel}; define it in the global namespace")
    )]
    Namespaced { kernel: String, found: String },
    #[error("op {kernel}: the kernel has C linkage")]
    #[diagnostic(code(kernel::c_linkage), help("the wrapper calls a C++ function; remove extern \"C\""))]
    CLinkage { kernel: String },
    #[error("op {kernel}: {found} is defined in {}", paths(.objects))]
    #[diagnostic(code(kernel::twice), help("keep one of the definitions"))]
    Twice { kernel: String, found: String, objects: Vec<PathBuf> },
}

fn near(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; the nearest is {name}")).unwrap_or_default()
}

fn paths(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" and ")
}

/// Checks every kernel named in `kernels`; `wrapper` and `objects` are compiled objects.
///
/// # Errors
/// [`EngineError::Kernels`] with one problem per op that cannot be linked, [`EngineError::Io`] and
/// [`EngineError::Stage`] when an object cannot be read.
pub fn check_kernels(kernels: &[&str], wrapper: &Path, objects: &[PathBuf]) -> Result<(), EngineError> {
    let called: Vec<String> =
        functions(wrapper)?.into_iter().filter(|f| !f.defined).map(|f| f.symbol).collect();
    let mut defined = Vec::new();
    for object in objects {
        defined.extend(functions(object)?.into_iter().filter(|f| f.defined));
    }
    let problems: Vec<Problem> = kernels
        .iter()
        .filter_map(|kernel| {
            let expected = called.iter().find(|symbol| is_plain(symbol, kernel))?;
            judge(kernel, expected, &defined).map(Problem::new)
        })
        .collect();
    if problems.is_empty() { Ok(()) } else { Err(EngineError::Kernels { problems }) }
}

/// A function symbol of an object.
struct Function {
    symbol: String,
    defined: bool,
    local: bool,
    object: PathBuf,
}

fn functions(path: &Path) -> Result<Vec<Function>, EngineError> {
    let bytes = std::fs::read(path).map_err(EngineError::io("cannot read", path))?;
    let image = Image::parse(&bytes)
        .map_err(|error| EngineError::Stage { path: path.to_owned(), problem: Problem::new(error) })?;
    let is_function =
        |symbol: &Symbol| symbol.kind == STT_FUNC || (!symbol.is_defined() && symbol.kind == STT_NOTYPE);
    Ok(image
        .symbols
        .iter()
        .filter(|symbol| is_function(symbol))
        .map(|symbol| Function {
            symbol: symbol.name.to_owned(),
            defined: symbol.is_defined(),
            local: symbol.binding == STB_LOCAL,
            object: path.to_owned(),
        })
        .collect())
}

const STT_NOTYPE: u8 = 0;
const STT_FUNC: u8 = 2;
const STB_LOCAL: u8 = 0;

fn judge(kernel: &str, expected: &str, defined: &[Function]) -> Option<KernelError> {
    let kernel = kernel.to_owned();
    let exact: Vec<&Function> = defined.iter().filter(|f| f.symbol == expected && !f.local).collect();
    match exact.as_slice() {
        [_] => return None,
        [] => {}
        several => {
            let objects = several.iter().map(|f| f.object.clone()).collect();
            return Some(KernelError::Twice { kernel, found: demangled(expected), objects });
        }
    }
    let local = |f: &&Function| f.local && (is_plain(&f.symbol, &kernel) || is_static(&f.symbol, &kernel));
    if let Some(function) = defined.iter().find(local) {
        let found = demangled(&function.symbol);
        return Some(KernelError::Local { kernel, found, object: function.object.clone() });
    }
    let found: Vec<String> =
        defined.iter().filter(|f| is_plain(&f.symbol, &kernel)).map(|f| demangled(&f.symbol)).collect();
    if !found.is_empty() {
        return Some(KernelError::Signature { kernel, expected: demangled(expected), found });
    }
    if let Some(function) = defined.iter().find(|f| is_nested(&f.symbol, &kernel)) {
        return Some(match function.local {
            true => KernelError::Local {
                found: demangled(&function.symbol),
                object: function.object.clone(),
                kernel,
            },
            false => KernelError::Namespaced { found: demangled(&function.symbol), kernel },
        });
    }
    if defined.iter().any(|f| f.symbol == kernel) {
        return Some(KernelError::CLinkage { kernel });
    }
    Some(KernelError::Missing { nearest: nearest(&kernel, defined), expected: demangled(expected), kernel })
}

/// `_Z10vector_add…`: a function of that name in the global namespace, whatever its parameters.
fn is_plain(symbol: &str, kernel: &str) -> bool {
    symbol.strip_prefix("_Z").is_some_and(|rest| starts_with_name(rest, kernel))
}

/// `_ZL10vector_add…`: the same, with internal linkage.
fn is_static(symbol: &str, kernel: &str) -> bool {
    symbol.strip_prefix("_ZL").is_some_and(|rest| starts_with_name(rest, kernel))
}

/// `_ZN…10vector_addE…`: the same, in a namespace.
fn is_nested(symbol: &str, kernel: &str) -> bool {
    symbol.starts_with("_ZN") && symbol.contains(&format!("{}{kernel}E", kernel.len()))
}

fn starts_with_name(rest: &str, kernel: &str) -> bool {
    rest.strip_prefix(&kernel.len().to_string()).is_some_and(|rest| rest.starts_with(kernel))
}

/// The defined global function whose name is most like `kernel`, if any is like it at all.
fn nearest(kernel: &str, defined: &[Function]) -> Option<String> {
    defined
        .iter()
        .filter(|f| !f.local)
        .map(|f| demangled(&f.symbol))
        .map(|text| (distance(kernel, text.split('(').next().unwrap_or(&text)), text))
        .filter(|(distance, _)| *distance <= kernel.len() / 2)
        .min()
        .map(|(_, text)| text)
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn demangled(symbol: &str) -> String {
    cpp_demangle::Symbol::new(symbol)
        .ok()
        .and_then(|parsed| parsed.demangle().ok())
        .unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(symbol: &str, local: bool) -> Function {
        Function { symbol: symbol.to_owned(), defined: true, local, object: "k.o".into() }
    }

    #[test]
    fn verdicts() {
        let expected = "_Z3addRKN2at6TensorES2_";
        type Row<'a> = (&'a [(&'a str, bool)], Option<&'a str>);
        let rows: &[Row] = &[
            (&[(expected, false)], None),
            (&[(expected, false), (expected, false)], Some("kernel::twice")),
            (&[("_Z3addRN2at6TensorES1_", false)], Some("kernel::signature")),
            (&[("_ZL3addRKN2at6TensorES2_", true)], Some("kernel::local")),
            (&[("_ZN12_GLOBAL__N_13addERKN2at6TensorES3_", true)], Some("kernel::local")),
            (&[("_ZN2my3addERKN2at6TensorES3_", false)], Some("kernel::namespaced")),
            (&[("add", false)], Some("kernel::c_linkage")),
            (&[("_Z4add2RKN2at6TensorES2_", false)], Some("kernel::missing")),
            (&[], Some("kernel::missing")),
        ];
        for (defined, want) in rows {
            let defined: Vec<Function> =
                defined.iter().map(|(symbol, local)| function(symbol, *local)).collect();
            let code = judge("add", expected, &defined).and_then(|error| error.code().map(|c| c.to_string()));
            assert_eq!(code.as_deref(), *want, "{:?}", defined.iter().map(|f| &f.symbol).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_nearest_name_is_offered() {
        let defined = [function("_Z10vector_addRKN2at6TensorE", false), function("_Z5helloi", false)];
        assert_eq!(nearest("vector_ad", &defined).as_deref(), Some("vector_add(at::Tensor const&)"));
        assert_eq!(nearest("relu", &defined), None);
    }
}
