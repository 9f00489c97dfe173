//! The front half as a person meets it: kernels of every shape, and what is said about those that cannot be built.
//!
//! What is said is kept word for word in `tests/golden/`; scratch paths are taken out.

use gpsimd_toolchain::Home;

use crate::bench::{Bench, bad, good};

const HEAD: &str = "#include <torch/torch.h>\n";

/// Compares with `tests/golden/<name>.snap`.
fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Text with what differs between machines taken out: directories, and the command to try by hand.
fn plain(bench: &Bench, text: &str) -> String {
    let home = Home::from_env().expect("a data directory");
    let home = home.path().to_string_lossy();
    let directory = bench.dir().to_string_lossy();
    let line = |line: &str| {
        if line.contains(" -mabi=windowed ") {
            return "        COMMAND".to_owned();
        }
        let line = line.replace(&*directory, "DIR").replace(&*home, "HOME");
        match (line.split_once("HOME/sdk/"), line.split_once("/bin/ld: ")) {
            (Some((before, after)), _) => {
                format!("{before}SDK{}", after.get(16..).expect("a directory named by a hash"))
            }
            (_, Some((_, after))) => format!("  │ ld: {after}"),
            _ => line.trim_end().to_owned(),
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// What `compile kernel.cpp ARGUMENTS` says about kernels that cannot be built.
fn refusal(kernel: &str, arguments: &[&str]) -> String {
    let bench = Bench::new();
    bench.write("kernel.cpp", &format!("{HEAD}\n{kernel}"));
    plain(&bench, &bad(bench.tool().args(["compile", "kernel.cpp"]).args(arguments), 1))
}

const ADD: &[&str] = &["--schema", "my::add(Tensor a, int n) -> Tensor"];

/// A row: the golden file's name, the kernel, and the arguments that name its op.
type Row = (&'static str, &'static str, &'static [&'static str]);

#[test]
fn kernels_that_cannot_be_called() {
    let rows: &[Row] = &[
        ("wrong_constness", "torch::Tensor add(torch::Tensor& a, int n) { return a; }\n", ADD),
        ("wrong_width", "torch::Tensor add(const torch::Tensor& a, int16_t n) { return a; }\n", ADD),
        ("wrong_count", "torch::Tensor add(const torch::Tensor& a) { return a; }\n", ADD),
        ("wrong_result", "void add(const torch::Tensor& a, int n) { printf(\"%d\", n); }\n", ADD),
        ("result_by_reference", "const torch::Tensor& add(const torch::Tensor& a, int) { return a; }\n", ADD),
        ("missing", "torch::Tensor add1(const torch::Tensor& a, int n) { return a; }\n", ADD),
        ("missing_and_nothing_like_it", "torch::Tensor relu(const torch::Tensor& a) { return a; }\n", ADD),
        (
            "static",
            "static torch::Tensor add(const torch::Tensor& a, int n) { return a; }\ntorch::Tensor twice(const torch::Tensor& a) { return add(add(a, 1), 1); }\n",
            ADD,
        ),
        (
            "anonymous_namespace",
            "namespace {\ntorch::Tensor add(const torch::Tensor& a, int n) { return a; }\n}\ntorch::Tensor twice(const torch::Tensor& a) { return add(add(a, 1), 1); }\n",
            ADD,
        ),
        (
            "namespace",
            "namespace my {\ntorch::Tensor add(const torch::Tensor& a, int n) { return a; }\n}\n",
            ADD,
        ),
        (
            "c_linkage",
            "#pragma GCC diagnostic ignored \"-Wpragmas\"\nextern \"C\" torch::Tensor add(const torch::Tensor& a, int n) { return a; }\n",
            ADD,
        ),
        (
            "overloads",
            "torch::Tensor add(torch::Tensor a, int64_t n) { return a; }\ntorch::Tensor add(torch::Tensor a, int n) { return a; }\n",
            ADD,
        ),
        (
            "overloads_that_do_not_fit",
            "torch::Tensor add(const torch::Tensor& a) { return a; }\ntorch::Tensor add(const torch::Tensor& a, float n) { return a; }\n",
            ADD,
        ),
    ];
    for (name, kernel, arguments) in rows {
        golden(name, &refusal(kernel, arguments));
    }
}

#[test]
fn kernels_that_do_not_compile() {
    let rows: &[Row] = &[
        (
            "registration_in_the_kernel",
            "#include \"torchneuron/register.h\"\ntorch::Tensor add(const torch::Tensor& a, int n) { return a; }\nNEURON_LIBRARY(my, m) { m.def(\"add\", &add, \"add\"); }\n",
            ADD,
        ),
        (
            "registration_macro_alone",
            "torch::Tensor add(const torch::Tensor& a, int n) { return a; }\nNEURON_LIBRARY(my, m) { m.def(\"add\", &add, \"add\"); }\n",
            ADD,
        ),
        (
            "missing_dtype",
            "torch::Tensor add(const torch::Tensor& a, int n) { return torch::empty(a.sizes()); }\n",
            ADD,
        ),
        (
            "printf_format",
            "torch::Tensor add(const torch::Tensor& a, int n) {\n  printf(\"%d elements\\n\", a.numel());\n  return a;\n}\n",
            ADD,
        ),
        (
            "unused_variable",
            "torch::Tensor add(const torch::Tensor& a, int n) {\n  int unused;\n  return a;\n}\n",
            ADD,
        ),
        (
            "unused_static_kernel",
            "static torch::Tensor add(const torch::Tensor& a, int n) { return a; }\n",
            ADD,
        ),
        (
            "undefined_function",
            "int helper(int);\ntorch::Tensor add(const torch::Tensor& a, int n) { return helper(n) ? a : torch::add(a, 1.0f); }\n",
            ADD,
        ),
    ];
    for (name, kernel, arguments) in rows {
        golden(name, &refusal(kernel, arguments));
    }
}

#[test]
fn two_definitions_are_one_too_many() {
    let bench = Bench::new();
    for name in ["one.cpp", "two.cpp"] {
        bench.write(
            name,
            &format!("{HEAD}torch::Tensor add(const torch::Tensor& a, int n) {{ return a; }}\n"),
        );
    }
    let text = bad(bench.tool().args(["compile", "one.cpp", "two.cpp"]).args(ADD), 1);
    golden("two_definitions", &plain(&bench, &text));
}

#[test]
fn a_kernel_without_debug_information_is_judged_by_its_symbol() {
    let kernel = "torch::Tensor add(torch::Tensor& a, int n) { return a; }\n";
    golden("no_debug_information", &refusal(kernel, &[ADD, &["--", "-g0"]].concat()));
}

/// Declarations that the schema does not spell but that lose nothing: the wrapper follows the kernel.
#[test]
fn kernels_may_declare_their_arguments_as_the_guide_does() {
    let rows = [
        ("const torch::Tensor& a, double s, int64_t n, const torch::Scalar& k", true),
        ("torch::Tensor a, float s, int n, torch::Scalar k", true),
        ("const at::Tensor& a, float s, int32_t n, const at::Scalar& k", false),
        ("const torch::Tensor a, const double s, const long n, const c10::Scalar k", true),
    ];
    for (parameters, is_adapted) in rows {
        for flags in [&[][..], &["--", "-g0"]] {
            let bench = Bench::new();
            bench.write("kernel.cpp", &format!("{HEAD}torch::Tensor mix({parameters}) {{ return a; }}\n"));
            let schema = "my::mix(Tensor a, float s, int n, Scalar k) -> Tensor";
            good(bench.tool().args(["compile", "kernel.cpp", "--schema", schema]).args(flags));
            let adapted = bench.path("build/.gpsimd-build/kernel/work/adapted/wrapper.cpp");
            assert_eq!(adapted.exists(), is_adapted, "{parameters} {flags:?}");
        }
    }
}

/// A wrapper for one declaration must not serve another: the second build starts from the first one's files.
#[test]
fn a_changed_declaration_changes_the_wrapper() {
    let bench = Bench::new();
    for parameters in
        ["torch::Tensor a, int64_t n", "const torch::Tensor& a, int n", "torch::Tensor a, int n"]
    {
        bench.write("kernel.cpp", &format!("{HEAD}torch::Tensor add({parameters}) {{ return a; }}\n"));
        good(bench.tool().args(["compile", "kernel.cpp"]).args(ADD));
    }
}
