//! The generated text: whole, token by token against the reference, and where it must not depend on names.

use gpsimd_codegen::{Op, ParamDecl, native_table, wrapper};
use gpsimd_schema::{Param, Signature, signature};

fn op(kernel: &str, schema: &str) -> Op {
    match signature(schema) {
        Ok(signature) => Op::new(kernel, signature),
        Err(refusal) => panic!("{refusal}: {:?}", refusal.causes),
    }
}

fn text(ops: &[Op]) -> String {
    wrapper(ops).unwrap_or_else(|error| panic!("{error}"))
}

/// C++ tokens as far as this file needs them: words, numbers and strings whole, `::`, every other character alone;
/// comments dropped, a preprocessor line as one token.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default().trim();
        if code.starts_with('#') {
            tokens.push(code.to_owned());
            continue;
        }
        let mut rest = code;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let len = match first {
                '"' => rest.get(1..).and_then(|tail| tail.find('"')).map_or(rest.len(), |end| end + 2),
                _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                ':' if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            let (token, tail) = rest.split_at(len);
            if !first.is_whitespace() {
                tokens.push(token.to_owned());
            }
            rest = tail;
        }
    }
    tokens
}

/// The text that the specification has is the one that is written on demand, token by token.
#[test]
fn the_reference_s_text_is_its_own_tokens() {
    let page = include_str!("../docs/spec/codegen.md");
    let section =
        page.split("### 4.6").nth(1).and_then(|rest| rest.split("\n## ").next()).expect("the section");
    let wanted: String = section
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .map(|line| format!("{line}\n"))
        .collect();
    let op =
        |kernel: &str, schema: &str| Op::new(kernel, gpsimd_schema::signature(schema).expect("a schema"));
    let ops = [
        op("scale_k", "my::scale(Tensor a, float s) -> (Tensor r)"),
        op("clip_k", "my::clip(Tensor a, number lo, int n) -> (Tensor r)"),
    ];
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(plain(&gpsimd_codegen::reference_wrapper(&ops).expect("a text")), plain(&wanted));
}

#[test]
fn same_tokens_as_the_reference_but_for_four_choices() {
    // spec codegen.md §4.6, with the choices that `render` lists: sequenced pulls, the block, the far jump, the plain name.
    let reference = r#"
        #line 3 "wrapper.cpp"
        #include "neuron/wrapper_api.h"
        extern "C" void switchBack();
        at::Tensor scale_k(const at::Tensor&, float);
        void scale_k_wrapper() {
          customop_setup(true);
          {
            at::Tensor arg0 = customop_next_tensor();
            float arg1 = customop_next_float();
            at::Tensor output = ::scale_k(arg0, arg1);
            customop_return_tensor(output);
            customop_cleanup();
          }
          if (switched_stack)
            asm volatile("jx %0" : : "r"(switchBack) : "memory");
        }
        int scale_k_stack_switch() {
          return switch_stack_or_call_wrapper((uint32_t)scale_k_wrapper);
        }
        at::Tensor clip_k(const at::Tensor&, const at::Scalar&, int);
        void clip_k_wrapper() {
          customop_setup(true);
          {
            at::Tensor arg0 = customop_next_tensor();
            at::Scalar arg1 = customop_next_scalar();
            int arg2 = customop_next_int();
            at::Tensor output = ::clip_k(arg0, arg1, arg2);
            customop_return_tensor(output);
            customop_cleanup();
          }
          if (switched_stack)
            asm volatile("jx %0" : : "r"(switchBack) : "memory");
        }
        int clip_k_stack_switch() {
          return switch_stack_or_call_wrapper((uint32_t)clip_k_wrapper);
        }
        int get_func_cnt() { return 2; }
        char const* get_func_name(int idx) {
          switch (idx) {
            case 0: return "scale_k";
            case 1: return "clip_k";
            default: return "error";
          }
        }
        wrapper_fn get_func_ptr(int idx) {
          switch (idx) {
            case 0: return scale_k_stack_switch;
            case 1: return clip_k_stack_switch;
            default: return 0;
          }
        }
    "#;
    let ops = [
        op("scale_k", "my::scale(Tensor a, float s) -> (Tensor r)"),
        op("clip_k", "my::clip(Tensor a, number lo, int n) -> (Tensor r)"),
    ];
    assert_eq!(tokens(&text(&ops)), tokens(reference));
}

#[test]
fn one_op_whole() {
    insta::assert_snapshot!(text(&[op(
        "time_mix_k",
        "my_ops::time_mix(Tensor x, Tensor w, Scalar decay, long long seed, float eps=1e-05, int steps=4) -> (Tensor y)"
    )]));
}

#[test]
fn kernels_as_their_authors_declared_them() {
    use ParamDecl::*;
    let decls = vec![TensorValue, TensorRef, ScalarValue, LongLong, Double];
    let op =
        op("guide_k", "my::guide(Tensor a, Tensor b, Scalar c, int n, float x) -> Tensor").with_decls(decls);
    let text = text(&[op]);
    // Pulls follow the wire, locals and declaration follow the kernel.
    for line in [
        "at::Tensor guide_k(at::Tensor, at::Tensor&, at::Scalar, long long, double);",
        "    at::Tensor arg0 = customop_next_tensor();  // a",
        "    at::Tensor arg1 = customop_next_tensor();  // b",
        "    at::Scalar arg2 = customop_next_scalar();  // c",
        "    long long arg3 = customop_next_int();  // n",
        "    double arg4 = customop_next_float();  // x",
    ] {
        assert!(text.lines().any(|found| found == line), "no line {line:?} in\n{text}");
    }
}

#[test]
fn pulls_are_statements_in_wire_order() {
    let text = text(&[op("k", "my::k(Tensor a, int b, Tensor c, float d, Scalar e) -> Tensor")]);
    let pulls: Vec<&str> =
        text.lines().filter_map(|line| line.split_once("= customop_next_")).map(|(_, call)| call).collect();
    assert_eq!(
        pulls,
        ["tensor();  // a", "int();  // b", "tensor();  // c", "float();  // d", "scalar();  // e"]
    );
    let place = |needle: &str| text.find(needle).unwrap_or_else(|| panic!("no {needle} in\n{text}"));
    let order = [
        "customop_setup(true);",
        "arg4 = customop_next_scalar();",
        "::k(arg0, arg1, arg2, arg3, arg4)",
        "customop_return_tensor(output);",
        "customop_cleanup();",
        "\n  }\n",
        "if (switched_stack)",
        "jx %0",
    ];
    assert!(order.map(place).is_sorted(), "{text}");
}

#[test]
fn no_local_hides_a_kernel() {
    for kernel in ["output", "arg0", "arg1", "idx", "a"] {
        let text = text(&[op(kernel, "my::k(Tensor output, int arg0) -> Tensor")]);
        assert!(text.contains(&format!("at::Tensor output = ::{kernel}(arg0, arg1);")), "{text}");
    }
}

#[test]
fn names_from_elsewhere_cannot_leave_their_comment() {
    // Signatures read from a kernel's debug information carry names that no schema parser saw.
    for name in ["a\nint x;", "a\\", "a??/", "/*", "é", "a\u{2028}b"] {
        let params = vec![Param::new(name, gpsimd_schema::ArgType::Tensor)];
        let clean = Param { name: None, ..params[0].clone() };
        let dirty = text(&[Op::new("k", Signature::new("my", "k", params))]);
        assert!(!dirty.contains(name), "{name:?} is in\n{dirty}");
        let clean = text(&[Op::new("k", Signature::new("my", "k", vec![clean]))]);
        assert_eq!(tokens(&dirty), tokens(&clean));
    }
}

#[test]
fn same_ops_same_text() {
    let ops = [op("b", "my::b(Tensor x) -> Tensor"), op("a", "my::a(Tensor x) -> Tensor")];
    assert_eq!(text(&ops), text(&ops));
    assert!(
        text(&ops).find("void b_wrapper()") < text(&ops).find("void a_wrapper()"),
        "order of the ops is kept"
    );
    assert!(text(&ops).ends_with("}\n"));
}

/// The declarations of a native twin are its machine's, where `int64_t` is no `long long`.
#[test]
fn a_native_table_declares_kernels_as_their_authors_wrote_them() {
    let decls = vec![ParamDecl::TensorConstRef, ParamDecl::LongLong, ParamDecl::Double];
    let scaled = op("scaled", "my::scaled(Tensor x, int by, float more) -> (Tensor y)").with_decls(decls);
    let text = native_table(&[scaled, op("same", "my::other(Tensor x) -> (Tensor y)")]).expect("text");
    for line in [
        "at::Tensor scaled(const at::Tensor&, int64_t, double);",
        "  long long arg1 = customop_next_int();  // by",
        "  at::Tensor output = ::scaled(arg0, arg1, arg2);",
        "    {\"same\", native_call_1},",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
