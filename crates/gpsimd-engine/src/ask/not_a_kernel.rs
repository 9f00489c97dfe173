//! Why a function cannot be an op's kernel: the first thing about it that is in the way, and what to write instead.
//!
//! Unaware of schemas and messages. Facts: codegen.md §3.4, §4.4; user-api.md §1, §10.

use gpsimd_codegen::ParamDecl;
use gpsimd_image::Linkage;

use crate::ask::functions::{Function, Param};

/// What is in the way; nothing where that is not known.
pub(crate) fn why(function: &Function) -> Option<String> {
    if function.is_c() {
        return Some("it has C linkage: remove extern \"C\"".to_owned());
    }
    if function.linkage == Linkage::Internal {
        return Some("only its own file can call it: remove `static`, or the anonymous namespace".to_owned());
    }
    if function.is_nested {
        return Some("it is in a namespace or class: define it at global scope".to_owned());
    }
    if !function.returns_tensor() {
        let result = function.result.as_deref().unwrap_or("void");
        return Some(format!("it returns {}, and a kernel returns one torch::Tensor", spelled(result)));
    }
    let params = function.params.as_ref()?;
    if params.is_empty() {
        return Some("it takes no argument, and the device needs at least one".to_owned());
    }
    let is_wrong = |param: &&Param| matches!(param.decl, None | Some(ParamDecl::TensorRef));
    let (index, param) = params.iter().enumerate().find(|(_, param)| is_wrong(param))?;
    let name = param.name.clone().unwrap_or_else(|| format!("number {}", index + 1));
    Some(format!("parameter {name} is {}: {}", spelled(&param.written), instead(&param.written)))
}

/// What a kernel takes in place of a type.
fn instead(written: &str) -> &'static str {
    const ROWS: &[(&[&str], &str)] = &[
        (
            &["vector<", "ArrayRef<", "TensorList", "List<", "initializer_list<", "array<"],
            "take each element as an argument of its own, or all in one tensor",
        ),
        (&["tuple<", "pair<"], "take each element as an argument of its own"),
        (&["optional<"], "arguments are not optional; make two ops, or pass a number that says so"),
        (&["string"], "text cannot be passed; pass a number"),
        (&["Scalar"], "take const torch::Scalar&"),
        (&["Tensor"], "arguments are read-only; take const torch::Tensor&"),
        (&["bool"], "pass it as int64_t, 0 or 1"),
        (&["float", "double"], "take double"),
        (&["*", "&"], "pass it by value"),
        (&["short", "char", "int", "long", "size_t", "unsigned", "dtype", "ScalarType"], "take int64_t"),
    ];
    let row = ROWS.iter().find(|(words, _)| words.iter().any(|word| written.contains(word)));
    row.map_or("a kernel takes tensors, scalars, int64_t and double", |(_, instead)| instead)
}

/// A type without the parts of its name that nobody writes.
fn spelled(text: &str) -> String {
    let plain = text
        .replace("std::__cxx11::", "std::")
        .replace(", std::allocator<at::Tensor>", "")
        .replace(" >", ">");
    match plain.as_str() {
        "short int" => "short".to_owned(),
        "long long int" => "int64_t".to_owned(),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::functions::tests::by_symbol;

    const GLOBAL: u8 = 1;
    const LOCAL: u8 = 0;

    #[test]
    fn reasons_by_symbol() {
        let rows = [
            ("add", GLOBAL, "C linkage"),
            ("_ZL3addRKN2at6TensorEi", LOCAL, "`static`"),
            ("_ZN2my3addERKN2at6TensorEi", GLOBAL, "namespace"),
            ("_Z3addRKN2at6TensorEb", GLOBAL, "parameter number 2 is bool: pass it as int64_t"),
            ("_Z3addRKN2at6TensorEs", GLOBAL, "is short: take int64_t"),
            ("_Z3addRN2at6TensorE", GLOBAL, "is at::Tensor&: arguments are read-only"),
            ("_Z3addv", GLOBAL, "takes no argument"),
        ];
        for (symbol, binding, want) in rows {
            let found = why(&by_symbol(symbol, binding)).unwrap_or_default();
            assert!(found.contains(want), "{symbol}: {found}");
        }
    }
}
