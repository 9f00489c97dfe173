//! One error of each code, made by the checks themselves, so that a catalogue of errors can be generated.
//!
//! Unaware of how a catalogue looks. `codegen::template` has none: no input provokes it.

use crate::check::{MAX_OPS, MAX_STACK_SIZE, check, check_stack_size, pair};
use crate::error::CodegenError;
use crate::op::{Op, ParamDecl};
use gpsimd_schema::{ArgType, MAX_RECORDS, Param, Signature};

/// One error of each code, sorted by code.
pub fn examples() -> Vec<CodegenError> {
    let tensors = |count: usize| vec![ArgType::Tensor; count];
    let named = |name: &str| op(name, &tensors(1));
    let narrow = op("seed_k", &[ArgType::LongLong]).with_decls(vec![ParamDecl::Int]);
    let short = op("add_k", &tensors(2)).with_decls(vec![ParamDecl::TensorConstRef]);
    let many = (0..=MAX_OPS).map(|i| named(&format!("k{i}"))).collect();
    let libraries: Vec<Vec<Op>> = vec![
        vec![named("my::relu")],
        vec![short],
        vec![narrow],
        vec![named("relu"), named("relu")],
        vec![named("switch_stack_or_call")],
        vec![named("xor")],
        vec![named("relu"), named("relu_wrapper")],
        vec![named(&"relu_".repeat(7))],
        vec![op("noise", &[])],
        vec![],
        vec![named("error")],
        many,
        vec![op("concat", &tensors(MAX_RECORDS))],
    ];
    let mut errors: Vec<CodegenError> = libraries.iter().flat_map(|ops| check(ops)).collect();
    errors.extend(pair(&["relu", "gelu"], &["my::relu(Tensor x) -> Tensor"]).err());
    errors.extend(check_stack_size(MAX_STACK_SIZE + 1).err());
    errors.sort_by_cached_key(code);
    errors
}

fn op(kernel: &str, types: &[ArgType]) -> Op {
    let params = types.iter().enumerate().map(|(index, ty)| Param::new(format!("a{index}"), *ty)).collect();
    Op::new(kernel, Signature::new("my", kernel, params))
}

fn code(error: &CodegenError) -> String {
    miette::Diagnostic::code(error).map_or_else(String::new, |code| code.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_one() {
        let mut codes: Vec<&str> = include_str!("error.rs")
            .split("code(")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
            .filter(|code| code.starts_with("codegen::") && *code != "codegen::template")
            .collect();
        codes.sort_unstable();
        let found: Vec<String> = examples().iter().map(code).collect();
        assert_eq!(found, codes);
    }
}
