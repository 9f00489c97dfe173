//! Every rule about the ops of one library, a row each, and that all are reported together.

use gpsimd_codegen::{CodegenError, MAX_OPS, Op, ParamDecl, check, check_stack_size, pair, wrapper};
use gpsimd_schema::{ArgType, Param, Signature, signature};
use miette::Diagnostic;

fn named(kernel: &str) -> Op {
    Op::new(kernel, signature("my::op(Tensor a) -> Tensor").expect("a signature"))
}

fn with_args(types: &[ArgType]) -> Op {
    let params = types.iter().enumerate().map(|(i, ty)| Param::new(format!("p{i}"), *ty)).collect();
    Op::new("k", Signature::new("my", "k", params))
}

fn codes(errors: &[CodegenError]) -> Vec<String> {
    errors.iter().map(|error| error.code().map_or_else(String::new, |code| code.to_string())).collect()
}

#[test]
fn kernel_names() {
    // spec codegen.md §2, D7
    let longest = "k".repeat(31);
    let too_long = "k".repeat(32);
    let rows: &[(&[&str], &[&str])] = &[
        (&["relu_forward", "relu_backward"], &[]),
        (&["_k", "K", "k9", "__k"], &[]),
        (&[&longest], &[]),
        (&[&too_long], &["codegen::name_too_long"]),
        (&[""], &["codegen::bad_kernel_name"]),
        (&["9k"], &["codegen::bad_kernel_name"]),
        (&["ns::k"], &["codegen::bad_kernel_name"]),
        (&["k-1"], &["codegen::bad_kernel_name"]),
        (&["k()"], &["codegen::bad_kernel_name"]),
        (&["noyau_é"], &["codegen::bad_kernel_name"]),
        (&["k\""], &["codegen::bad_kernel_name"]),
        (&["class"], &["codegen::keyword"]),
        (&["and"], &["codegen::keyword"]),
        (&["xor_eq"], &["codegen::keyword"]),
        (&["error"], &["codegen::reserved_name"]),
        (&["get_func_cnt"], &["codegen::reserved_name"]),
        (&["get_func_name"], &["codegen::reserved_name"]),
        (&["get_func_ptr"], &["codegen::reserved_name"]),
        (&["customop_setup"], &["codegen::reserved_name"]),
        (&["customop_next_longlong"], &["codegen::reserved_name"]),
        (&["customop_return_tensor"], &["codegen::reserved_name"]),
        (&["customop_cleanup"], &["codegen::reserved_name"]),
        (&["switch_stack_or_call_wrapper"], &["codegen::reserved_name"]),
        (&["switched_stack"], &["codegen::reserved_name"]),
        (&["switchBack"], &["codegen::reserved_name"]),
        (&["get_dst_tensor"], &["codegen::reserved_name"]),
        (&["main"], &["codegen::reserved_name"]),
        (&["at"], &["codegen::reserved_name"]),
        (&["uint32_t"], &["codegen::reserved_name"]),
        (&["assert"], &["codegen::reserved_name"]),
        (&["switch_stack_or_call"], &["codegen::generated_name"]),
        (&["a", "b", "a"], &["codegen::duplicate_kernel"]),
        (&["a", "a", "a"], &["codegen::duplicate_kernel", "codegen::duplicate_kernel"]),
        (&["a", "a_wrapper"], &["codegen::name_collision"]),
        (&["a_stack_switch", "a"], &["codegen::name_collision"]),
        (&["a_wrapper"], &[]),
        (&["a_wrapper", "a_wrapper_wrapper"], &["codegen::name_collision"]),
    ];
    for (kernels, want) in rows {
        let ops: Vec<Op> = kernels.iter().map(|kernel| named(kernel)).collect();
        assert_eq!(codes(&check(&ops)), *want, "{kernels:?}");
        assert_eq!(wrapper(&ops).is_ok(), want.is_empty(), "{kernels:?}");
    }
}

#[test]
fn counts() {
    let ops = |count: usize| (0..count).map(|i| named(&format!("k{i}"))).collect::<Vec<_>>();
    assert_eq!(codes(&check(&ops(0))), ["codegen::no_ops"]);
    assert_eq!(check(&ops(MAX_OPS)), []);
    assert_eq!(check(&ops(11)), [CodegenError::TooManyOps { found: 11, allowed: 10 }]);

    assert_eq!(check(&[with_args(&[ArgType::Tensor; 9])]), []);
    assert_eq!(codes(&check(&[with_args(&[ArgType::Tensor; 10])])), ["codegen::too_many_records"]);
    assert_eq!(codes(&check(&[with_args(&[])])), ["codegen::no_arguments"]);

    assert_eq!(pair(&["a", "b"], &[1, 2]), Ok(vec![(&"a", &1), (&"b", &2)]));
    assert_eq!(pair(&["a"], &[1, 2]), Err(CodegenError::CountMismatch { kernels: 1, schemas: 2 }));
}

#[test]
fn stack_sizes() {
    for size in [0, 4196, 20_000, 0x40_0000] {
        assert_eq!(check_stack_size(size), Ok(()));
    }
    for size in [0x40_0001, u64::MAX] {
        assert_eq!(check_stack_size(size), Err(CodegenError::StackSize { found: size, allowed: 0x40_0000 }));
    }
}

#[test]
fn declarations_lose_no_bit() {
    use ArgType::{Float, Int, LongLong, Scalar, Tensor};
    let rows: &[(ArgType, &str)] = &[
        (Tensor, "const at::Tensor&, at::Tensor, at::Tensor&"),
        (Scalar, "const at::Scalar&, at::Scalar"),
        (Int, "int, long, long long"),
        (Float, "float, double"),
        (LongLong, "long long"),
    ];
    for (ty, want) in rows {
        let choices: Vec<String> = ParamDecl::choices(*ty).map(|decl| decl.to_string()).collect();
        assert_eq!(choices.join(", "), *want);
        assert_eq!(ParamDecl::choices(*ty).next(), Some(ParamDecl::of(*ty)));
        for decl in ParamDecl::ALL {
            let op = with_args(&[*ty]).with_decls(vec![*decl]);
            assert_eq!(check(&[op]).is_empty(), decl.takes(*ty), "{ty} as {decl}");
        }
    }
    let short = with_args(&[Tensor, Int]).with_decls(vec![ParamDecl::TensorConstRef]);
    assert_eq!(codes(&check(&[short])), ["codegen::declaration_count"]);
}

#[test]
fn everything_is_reported_at_once() {
    let ops = [
        named("class"),
        with_args(&[ArgType::LongLong, ArgType::Float]).with_decls(vec![ParamDecl::Int, ParamDecl::Double]),
        with_args(&[ArgType::Tensor; 10]),
        named("k_wrapper"),
        named("k"),
    ];
    let errors = check(&ops);
    let reports: Vec<String> = errors
        .iter()
        .map(|error| {
            let help = error.help().map_or_else(String::new, |help| help.to_string());
            format!("{error}\n  help: {help}")
        })
        .collect();
    insta::assert_snapshot!(reports.join("\n"));
}
