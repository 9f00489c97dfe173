//! Between compile and link: is each op's kernel defined, and how does its author declare it?
//!
//! A kernel with another signature is another symbol, so a linker could only report an undefined name. Kernels that
//! take their arguments by value, or numbers in the width of the public guide, get the declaration they were written
//! to (codegen.md §9 C5, user-api.md §8.6); all else is explained here. Facts: codegen.md §2, §4.4.

use std::collections::BTreeMap;
use std::path::PathBuf;

use gpsimd_codegen::{Op, ParamDecl};
use gpsimd_image::Linkage;

use crate::ask::functions::{Function, functions, nearest};
use crate::ask::infer;
use crate::ask::kernel_error::{KernelError, Spot};
use crate::ask::placement;
use crate::words::error::{EngineError, Problem};

/// The ops with each kernel declared as `objects` define it.
///
/// # Errors
/// [`EngineError::Kernels`] with one problem per op that cannot be linked, [`EngineError::Io`] and
/// [`EngineError::Stage`] when an object cannot be read.
pub(crate) fn match_kernels(ops: &[Op], objects: &[PathBuf]) -> Result<Vec<Op>, EngineError> {
    let defined = functions(objects)?;
    let mut matched = Vec::new();
    let mut problems = Vec::new();
    for op in ops {
        match judge(op, &defined) {
            Ok(op) => matched.push(op),
            Err(error) => problems.push(Problem::new(*error)),
        }
    }
    problems.extend(placement::misplaced(objects, &defined)?);
    if problems.is_empty() { Ok(matched) } else { Err(EngineError::Kernels { problems }) }
}

fn judge(op: &Op, defined: &[Function]) -> Result<Op, Box<KernelError>> {
    let named: Vec<&Function> = defined.iter().filter(|function| function.name == op.kernel).collect();
    let callable: Vec<&Function> = named.iter().copied().filter(|function| function.is_callable()).collect();
    if callable.is_empty() {
        return Err(Box::new(not_callable(op, &named, defined)));
    }
    let fitting: Vec<(&Function, Op)> = callable
        .iter()
        .filter(|function| function.returns_tensor())
        .filter_map(|function| Some((*function, declared_as(op, function)?)))
        .collect();
    defined_once(op, &callable)?;
    // of several overloads that could serve, the declaration that the schema means by itself
    let exact = fitting.iter().find(|(function, _)| function.symbol == op.kernel_symbol());
    match (exact, fitting.as_slice()) {
        (Some((_, matched)), _) | (None, [(_, matched)]) => Ok(matched.clone()),
        (None, []) => Err(Box::new(unfit(op, &callable))),
        (None, [(first, _), ..]) => {
            let spot = Spot::of(first);
            Err(Box::new(KernelError::Overloaded {
                kernel: op.kernel.clone(),
                schema: op.signature.to_string(),
                found: fitting.iter().map(|(function, _)| function.placed()).collect(),
                source_text: spot.source,
                at: spot.span,
            }))
        }
    }
}

/// The op with the function's own declaration, if every argument can be passed to it.
fn declared_as(op: &Op, function: &Function) -> Option<Op> {
    let decls = function.decls()?;
    let params = &op.signature.params;
    let fits = decls.len() == params.len() && decls.iter().zip(params).all(|(decl, arg)| decl.takes(arg.ty));
    fits.then(|| op.clone().with_decls(decls))
}

/// Refuses a function that two objects define for the linker to choose from.
fn defined_once(op: &Op, callable: &[&Function]) -> Result<(), Box<KernelError>> {
    let mut by_symbol: BTreeMap<&str, Vec<&Function>> = BTreeMap::new();
    for function in callable.iter().filter(|function| function.linkage == Linkage::Global) {
        by_symbol.entry(&function.symbol).or_default().push(function);
    }
    let Some(twice) = by_symbol.into_values().find(|definitions| definitions.len() > 1) else {
        return Ok(());
    };
    let spot = twice.first().map(|function| Spot::of(function)).unwrap_or_default();
    let place = |function: &&Function| match &function.place {
        Some(_) => function.placed(),
        None => format!("{} in {}", function.text, function.object.display()),
    };
    Err(Box::new(KernelError::Twice {
        kernel: op.kernel.clone(),
        found: twice.iter().map(place).collect(),
        source_text: spot.source,
        at: spot.span,
    }))
}

/// Functions of that name can be called, but not with the schema's arguments, or not for a tensor.
fn unfit(op: &Op, callable: &[&Function]) -> KernelError {
    let kernel = op.kernel.clone();
    let with_other_result = callable
        .iter()
        .find(|function| !function.returns_tensor() && declared_as(op, function).is_some())
        .and_then(|function| Some((function, function.result.clone()?)));
    if let Some((function, result)) = with_other_result {
        let spot = Spot::of(function);
        return KernelError::Result {
            kernel,
            result,
            expected: expected(op),
            found: function.placed(),
            source_text: spot.source,
            at: spot.span,
        };
    }
    let first = callable.first();
    let spot = first.map(|function| Spot::of(function)).unwrap_or_default();
    KernelError::Signature {
        kernel,
        schema: op.signature.to_string(),
        expected: expected(op),
        found: callable.iter().map(|function| function.placed()).collect(),
        differences: match callable {
            [one] => differences(op, one),
            _ => "  none of these overloads takes the schema's arguments".to_owned(),
        },
        help: match first.and_then(|function| infer::schema(function, &op.signature.namespace)) {
            Some(schema) if callable.len() == 1 => {
                format!("change the kernel to what is expected, or the schema to `{schema}`")
            }
            _ => "change the kernel to what is expected, or the schema to what the kernel takes".to_owned(),
        },
        source_text: spot.source,
        at: spot.span,
    }
}

/// Where one function's parameters leave the schema's arguments, a line each.
fn differences(op: &Op, function: &Function) -> String {
    let args = &op.signature.params;
    let Some(params) = &function.params else {
        return "  its parameters are of types that no argument can be passed to".to_owned();
    };
    if params.len() != args.len() {
        let plural =
            |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        let (has, takes) = (plural(args.len(), "argument"), plural(params.len(), "parameter"));
        return format!("  the schema has {has}, the kernel {takes}");
    }
    let mut lines = Vec::new();
    for (index, (param, arg)) in params.iter().zip(args).enumerate() {
        let takes = |decl: &ParamDecl| *decl != ParamDecl::TensorRef && decl.takes(arg.ty);
        if param.decl.as_ref().is_some_and(takes) {
            continue;
        }
        let choices: Vec<&str> = ParamDecl::choices(arg.ty).filter(takes).map(|decl| decl.cpp()).collect();
        let name = param.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        lines.push(format!(
            "  parameter {}{name}: a kernel takes `{}` as {}, not as {}",
            index + 1,
            arg.ty,
            choices.join(" or "),
            param.written
        ));
    }
    lines.join("\n")
}

/// No function of that name can be called from another file.
fn not_callable(op: &Op, named: &[&Function], defined: &[Function]) -> KernelError {
    let (kernel, expected) = (op.kernel.clone(), expected(op));
    let Some(function) = named.iter().min_by_key(|function| function.is_nested) else {
        return missing(op, defined);
    };
    let Spot { source: source_text, span: at } = Spot::of(function);
    let found = function.placed();
    match function.linkage {
        Linkage::Internal => KernelError::Local { kernel, expected, found, source_text, at },
        _ if function.is_nested => KernelError::Namespaced { kernel, expected, found, source_text, at },
        _ if function.is_c() => KernelError::CLinkage { kernel, expected, found, source_text, at },
        Linkage::Inlined | Linkage::Global | Linkage::Weak => {
            KernelError::Inline { kernel, expected, found, source_text, at }
        }
    }
}

/// Functions shown where a kernel is missing.
const MOST_CANDIDATES: usize = 6;

fn missing(op: &Op, defined: &[Function]) -> KernelError {
    let nearest = nearest(&op.kernel, defined);
    let spot = nearest.map(Spot::of).unwrap_or_default();
    KernelError::Missing {
        kernel: op.kernel.clone(),
        expected: expected(op),
        nearest: nearest.map(Function::placed),
        candidates: infer::seen(defined)
            .filter(|function| nearest.is_none_or(|nearest| nearest.symbol != function.symbol))
            .take(MOST_CANDIDATES)
            .map(Function::placed)
            .collect(),
        help: match nearest {
            Some(function) => format!(
                "name the kernel with --op '{}={}', or rename it; inline functions that nothing calls are not compiled",
                function.name, op.signature
            ),
            None if infer::seen(defined).next().is_some() => format!(
                "name the kernel with --op 'KERNEL={}', or the source that defines {}; inline functions that nothing calls are not compiled",
                op.signature, op.kernel
            ),
            None => "define it at global scope in one of the sources, or name the source that does; inline functions that nothing calls are not compiled".to_owned(),
        },
        source_text: spot.source,
        at: spot.span,
    }
}

/// `at::Tensor relu(const at::Tensor&)`.
fn expected(op: &Op) -> String {
    op.declaration().trim_end_matches(';').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::functions::tests::by_symbol;
    use miette::Diagnostic as _;

    const LOCAL: u8 = 0;
    const GLOBAL: u8 = 1;
    const WEAK: u8 = 2;

    #[test]
    fn verdicts_by_symbol_alone() {
        let signature = gpsimd_schema::signature("my::add(Tensor a, int n) -> Tensor").expect("a schema");
        let op = Op::new("add", signature);
        type Row<'a> = (&'a [(&'a str, u8)], Result<&'a str, &'a str>);
        let rows: &[Row] = &[
            (&[("_Z3addRKN2at6TensorEi", GLOBAL)], Ok("at::Tensor add(const at::Tensor&, int);")),
            (&[("_Z3addN2at6TensorEx", GLOBAL)], Ok("at::Tensor add(at::Tensor, long long);")),
            (
                &[("_Z3addN2at6TensorEx", GLOBAL), ("_Z3addRKN2at6TensorEi", GLOBAL)],
                Ok("at::Tensor add(const at::Tensor&, int);"),
            ),
            (
                &[("_Z3addRKN2at6TensorEi", WEAK), ("_Z3addRKN2at6TensorEi", WEAK)],
                Ok("at::Tensor add(const at::Tensor&, int);"),
            ),
            (&[("_Z3addRKN2at6TensorEi", GLOBAL), ("_Z3addRKN2at6TensorEi", GLOBAL)], Err("kernel::twice")),
            (
                &[("_Z3addN2at6TensorEx", GLOBAL), ("_Z3addRKN2at6TensorEl", GLOBAL)],
                Err("kernel::overloaded"),
            ),
            (&[("_Z3addRN2at6TensorEi", GLOBAL)], Err("kernel::signature")),
            (&[("_Z3addRKN2at6TensorEf", GLOBAL)], Err("kernel::signature")),
            (&[("_Z3addRKN2at6TensorE", GLOBAL)], Err("kernel::signature")),
            (&[("_ZL3addRKN2at6TensorEi", LOCAL)], Err("kernel::local")),
            (&[("_ZN12_GLOBAL__N_13addERKN2at6TensorEi", LOCAL)], Err("kernel::local")),
            (&[("_ZN2my3addERKN2at6TensorEi", GLOBAL)], Err("kernel::namespaced")),
            (&[("add", GLOBAL)], Err("kernel::c_linkage")),
            (&[("_Z4add2RKN2at6TensorEi", GLOBAL)], Err("kernel::missing")),
            (&[], Err("kernel::missing")),
        ];
        for (symbols, want) in rows {
            let defined: Vec<Function> =
                symbols.iter().map(|(name, binding)| by_symbol(name, *binding)).collect();
            let found = judge(&op, &defined).map(|op| op.declaration());
            let found = found.map_err(|error| error.code().map(|code| code.to_string()).unwrap_or_default());
            assert_eq!(found, want.map(str::to_owned).map_err(str::to_owned), "{symbols:?}");
        }
    }
}
