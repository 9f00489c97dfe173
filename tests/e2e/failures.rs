//! What a person sees when the kernel or the request is at fault.

use crate::bench::{Bench, VECTOR_ADD, bad};

/// Each row: kernel text, schema, words the message must hold.
#[test]
fn a_faulty_kernel_is_explained_and_leaves_the_outputs() {
    let add = "#include <torch/torch.h>\n";
    let rows: &[(&str, String, &str, &[&str])] = &[
        (
            "missing",
            format!(
                "{add}at::Tensor vector_sum(const at::Tensor& a, const at::Tensor& b);\nat::Tensor vector_sum(const at::Tensor& a, const at::Tensor&) {{ return a; }}\n"
            ),
            VECTOR_ADD,
            &[
                "kernel::missing",
                "vector_add",
                "nearest:  at::Tensor vector_sum(const at::Tensor& a, const at::Tensor&)",
            ],
        ),
        (
            "wrong constness",
            format!("{add}at::Tensor vector_add(at::Tensor& a, const at::Tensor&) {{ return a; }}\n"),
            VECTOR_ADD,
            &[
                "kernel::signature",
                "expected: at::Tensor vector_add(const at::Tensor&, const at::Tensor&)",
                "found:    at::Tensor vector_add(at::Tensor& a, const at::Tensor&)",
            ],
        ),
        (
            "static",
            format!(
                "{add}static at::Tensor vector_add(const at::Tensor& a, const at::Tensor&) {{ return a; }}\nat::Tensor other(const at::Tensor& a) {{ return vector_add(a, a); }}\n"
            ),
            VECTOR_ADD,
            &["vector_add"],
        ),
        (
            "namespace",
            format!(
                "{add}namespace my {{ at::Tensor vector_add(const at::Tensor& a, const at::Tensor&) {{ return a; }} }}\n"
            ),
            VECTOR_ADD,
            &["kernel::namespaced", "my::vector_add"],
        ),
        (
            "syntax error",
            format!("{add}at::Tensor vector_add(const at::Tensor& a, const at::Tensor&) {{ return a }}\n"),
            VECTOR_ADD,
            &["engine::command_failed", "expected ';'", "vector_add.cpp:2"],
        ),
        (
            "warning",
            format!(
                "{add}at::Tensor vector_add(const at::Tensor& a, const at::Tensor&) {{ int unused; return a; }}\n"
            ),
            VECTOR_ADD,
            &["unused variable", "-Werror"],
        ),
    ];
    for (name, kernel, schema, words) in rows {
        let bench = Bench::with_vector_add();
        bench.build_vector_add();
        let before = bench.outputs();
        bench.write("vector_add.cpp", kernel);
        let text =
            bad(bench.tool().args(["compile", "vector_add.cpp", "--multicore", "--schema", schema]), 1);
        for word in *words {
            assert!(text.contains(word), "{name}: no {word:?} in\n{text}");
        }
        assert_eq!(bench.outputs(), before, "{name}");
    }
}

/// All problems of a request are reported together, before any compiler starts.
#[test]
fn a_request_is_judged_whole() {
    let bench = Bench::new();
    let text = bad(
        bench.tool().args([
            "compile",
            "absent.cpp",
            "--schema",
            "my::f(Tensor? a) -> Tensor",
            "--schema",
            "g(Tensor a) -> Tensor",
            "--schema",
            "my::int(Tensor a) -> (Tensor r)",
            "-I",
            "nowhere",
        ]),
        1,
    );
    for word in [
        "engine::source_missing",
        "engine::include_missing",
        "schema::",
        "absent.cpp",
        "nowhere",
        "Tensor? a",
    ] {
        assert!(text.contains(word), "no {word:?} in\n{text}");
    }
    assert!(!bench.path("build").exists(), "nothing may be created for a request that cannot be built");
}

#[test]
fn json_carries_the_codes() {
    let bench = Bench::new();
    let text = bad(bench.tool().args(["--json", "compile", "absent.cpp", "--schema", VECTOR_ADD]), 1);
    let document: serde_json::Value = serde_json::from_str(&text).expect("one JSON document");
    // the only problem is the error, as it is in the text
    assert_eq!(document["error"]["code"], "engine::source_missing");
}

#[test]
fn json_tells_a_mistake_of_the_command_line_too() {
    let bench = Bench::new();
    for arguments in
        [&["--json", "lsp", "--variant", "cpu8"][..], &["compile", "--json"], &["--json", "no-such"]]
    {
        let text = bad(bench.tool().args(arguments), 2);
        let document: serde_json::Value = serde_json::from_str(&text).expect("one JSON document");
        assert_eq!(document["error"]["code"], "cli::usage", "{text}");
        assert!(
            document["error"]["headline"].as_str().is_some_and(|said| !said.contains("Usage:")),
            "{text}"
        );
    }
}

#[test]
fn a_machine_without_the_toolchain_says_how_to_get_it() {
    let bench = Bench::with_vector_add();
    let text = bad(
        bench.tool().env("GPSIMD_BUILD_HOME", bench.path("empty-home")).args([
            "compile",
            "vector_add.cpp",
            "--schema",
            VECTOR_ADD,
        ]),
        3,
    );
    assert!(text.contains("gpsimd-build toolchain install"), "{text}");
}
