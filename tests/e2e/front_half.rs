//! The front half as a person meets it: kernels of every shape, and what is said about those that cannot be built.
//!
//! What is said is kept word for word in `tests/golden/`; scratch paths are taken out.

use gpsimd_toolchain::Home;

use serde_json::Value;

use crate::bench::{Bench, bad, good, repository, result};

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
                // which line of the SDK is its own business
                let after = after.get(16..).expect("a directory named by a hash");
                let name = after.split(':').next().unwrap_or_default();
                let said = after.split_once(": ").map_or("", |(_, said)| said);
                format!("{before}SDK{name}:LINE {said}").trim_end().to_owned()
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

/// A build's report with what differs between runs taken out.
fn report(bench: &Bench, text: &str) -> String {
    let is_measure = |line: &&str| line.starts_with("  single ");
    let text = plain(bench, text);
    let text: Vec<&str> =
        text.lines().map(|line| if is_measure(&line) { "  single  SIZES" } else { line }).collect();
    let text = text.join("\n");
    let seconds = text.find(" in ").and_then(|at| Some((at, at + text[at..].find(" s\n")?)));
    match seconds {
        Some((begin, end)) => format!("{} in TIME{}", &text[..begin], &text[end + 2..]),
        None => text,
    }
}

/// The manifest's schemas and the report's call lines of `compile ARGUMENTS`, run in a bench with these files.
fn built(files: &[(&str, &str)], arguments: &[&str]) -> (Bench, Vec<String>) {
    let bench = Bench::new();
    for (name, text) in files {
        bench.write(name, text);
    }
    let document = result(bench.tool().arg("compile").args(arguments));
    let calls = document["calls"].as_array().expect("calls").iter();
    (bench, calls.map(|call| call.as_str().expect("a call").to_owned()).collect())
}

const SCALE: &str = "#include <torch/torch.h>
static torch::Tensor helper(const torch::Tensor& x) { return x; }
torch::Tensor scale_by(const torch::Tensor& t_in, double by, int64_t n, torch::Scalar) { return helper(t_in); }
void log_all(const torch::Tensor& x) {}
";

const PAIR: &str = "#include <torch/torch.h>
torch::Tensor relu(const torch::Tensor& x) { return x; }
torch::Tensor gelu(const torch::Tensor& x, const torch::Tensor& table) { return x; }
";

#[test]
fn schemas_are_read_from_kernels() {
    type Row = (&'static str, &'static [&'static str], &'static [&'static str]);
    let rows: &[Row] = &[
        (SCALE, &[], &["torch.ops.my_ops.scale_by(Tensor t_in, float by, int n, Scalar _3) -> Tensor"]),
        (
            SCALE,
            &["--namespace", "mine"],
            &["torch.ops.mine.scale_by(Tensor t_in, float by, int n, Scalar _3) -> Tensor"],
        ),
        (PAIR, &["--op", "gelu"], &["torch.ops.my_ops.gelu(Tensor x, Tensor table) -> Tensor"]),
        (
            PAIR,
            &["--op", "gelu", "--op", "relu=other::relu_fwd(Tensor t) -> Tensor"],
            &[
                "torch.ops.my_ops.gelu(Tensor x, Tensor table) -> Tensor",
                "torch.ops.other.relu_fwd(Tensor t) -> Tensor",
            ],
        ),
    ];
    for (kernel, arguments, want) in rows {
        let (bench, calls) = built(&[("k.cpp", kernel)], &[&["k.cpp"], *arguments].concat());
        assert_eq!(calls, *want, "{arguments:?}");
        good(bench.tool().args(["verify", "build/k"]));
    }
}

#[test]
fn kernels_that_no_schema_can_be_read_from() {
    let rows: &[Row] = &[
        (
            "infer_several",
            "torch::Tensor f(const torch::Tensor& x) { return x; }\ntorch::Tensor g(torch::Tensor x, double by) { return x; }\n",
            &[],
        ),
        (
            "infer_none",
            "void f(const torch::Tensor& x) {}\nnamespace my { torch::Tensor g(const torch::Tensor& x) { return x; } }\ntorch::Tensor h(torch::Tensor& x) { return x; }\n",
            &[],
        ),
        (
            "infer_misspelt",
            "torch::Tensor relu_forward(const torch::Tensor& x) { return x; }\n",
            &["--op", "relu_foward"],
        ),
        (
            "infer_not_a_kernel",
            "torch::Tensor f(const torch::Tensor& x, bool y) { return x; }\n",
            &["--op", "f"],
        ),
        (
            "infer_overloaded",
            "torch::Tensor f(const torch::Tensor& x) { return x; }\ntorch::Tensor f(const torch::Tensor& x, int n) { return x; }\n",
            &["--op", "f"],
        ),
        (
            "infer_no_debug_information",
            "torch::Tensor f(const torch::Tensor& x) { return x; }\n",
            &["--", "-g0"],
        ),
        ("op_without_kernel", "", &["--op", "my::f(Tensor x) -> Tensor"]),
    ];
    for (name, kernel, arguments) in rows {
        golden(name, &refusal(kernel, arguments));
    }
}

/// The layout of all published kernels: nothing but the two files is named.
#[test]
fn two_file_projects_need_no_more() {
    for example in crate::examples::all() {
        let shape = repository().join("examples").join(&example.shapes);
        let bench = Bench::new();
        let mut command = bench.tool();
        command.arg("compile").arg(repository().join("examples").join(&example.source));
        good(command.arg("--shape-src").arg(&shape).arg("--multicore"));
        let manifest = std::fs::read(bench.path(format!("build/{}.manifest.json", example.name)));
        let manifest: Value = serde_json::from_slice(&manifest.expect("a manifest")).expect("JSON");
        let kernels = |ops: &Value| -> Vec<String> {
            let ops = ops.as_array().expect("ops").iter();
            ops.map(|op| op["kernel"].as_str().expect("a kernel").to_owned()).collect()
        };
        let want: Vec<String> =
            example.ops.iter().filter_map(|op| Some(op.split_once('=')?.0.to_owned())).collect();
        assert_eq!(kernels(&manifest["ops"]), want, "{}", example.name);
        assert_eq!(manifest["shapes"]["file"], format!("{}.shapes.so", example.name));
    }
}

const SHAPE: &str = "#include <torch/torch.h>
#include \"torchneuron/register.h\"
torch::Tensor like(torch::Tensor x) { return torch::empty(x.sizes(), torch::kFloat); }
torch::Tensor halves(torch::Tensor x, torch::Tensor) { return torch::empty({x.size(0) / 2, 2}, torch::kFloat); }
NEURON_LIBRARY(mine, m) { m.def(\"relu_op\", &like, \"relu\"); m.def(\"gelu_op\", &halves, \"gelu\"); }
";

#[test]
fn shape_sources_name_the_ops_and_give_the_shapes() {
    let files = [("k.cpp", PAIR), ("shape.cpp", SHAPE)];
    let (bench, calls) = built(&files, &["k.cpp", "--shape-src", "shape.cpp", "-o", "lib"]);
    let want = [
        "torch.ops.mine.relu_op(Tensor _0) -> Tensor",
        "torch.ops.mine.gelu_op(Tensor _0, Tensor _1) -> Tensor",
    ];
    assert_eq!(calls, want);
    let image = std::fs::read(bench.path("build/lib.shapes.so")).expect("a shape image");
    let arguments = ["float32:8x3", "float32:1"].map(str::to_owned);
    let mut shapes = gpsimd_shapes::Shapes::parse(&image).expect("a shape image");
    let output = shapes.output("gelu_op", &arguments).expect("a shape");
    assert_eq!((output.dtype.as_str(), output.shape.as_slice()), ("float32", &[4, 2][..]));

    let chosen =
        ["k.cpp", "--shape-src", "shape.cpp", "--op", "gelu=mine::gelu_op(Tensor x, Tensor table) -> Tensor"];
    let (_, calls) = built(&files, &chosen);
    assert_eq!(calls, ["torch.ops.mine.gelu_op(Tensor x, Tensor table) -> Tensor"]);
}

#[test]
fn shape_sources_that_do_not_serve() {
    let odd = SHAPE.replace("\"relu\"", "\"relu::x\"");
    let other = SHAPE.replace("\"relu\"", "\"rellu\"");
    let broken = SHAPE.replace("torch::empty(x.sizes(), torch::kFloat)", "x + ");
    let reference = SHAPE.replace("like(torch::Tensor x)", "like(torch::Tensor& x)");
    let rows: &[(&str, &str, &[&str])] = &[
        ("shape_odd_registration", &odd, &[]),
        ("shape_kernel_missing", &other, &[]),
        ("shape_not_registered", SHAPE, &["--op", "softmax"]),
        ("shape_differs", SHAPE, &["--schema", "mine::gelu(Tensor x, int n) -> Tensor"]),
        ("shape_nothing_registered", "int nothing;\n", &[]),
    ];
    for (name, shape, arguments) in rows {
        let bench = Bench::new();
        bench.write("k.cpp", PAIR);
        bench.write("shape.cpp", shape);
        let mut command = bench.tool();
        command.args(["compile", "k.cpp", "--shape-src", "shape.cpp"]).args(*arguments);
        golden(name, &plain(&bench, &bad(&mut command, 1)));
    }
    for shape in [broken, reference] {
        let bench = Bench::new();
        bench.write("k.cpp", PAIR);
        bench.write("shape.cpp", &shape);
        let text = bad(bench.tool().args(["compile", "k.cpp", "--shape-src", "shape.cpp"]), 1);
        for word in ["engine::command_failed", "compile shape.cpp failed", "shape.cpp:"] {
            assert!(text.contains(word), "no {word:?} in\n{text}");
        }
    }
}

#[test]
fn shape_sources_need_no_compiler_but_the_kernels() {
    let bench = Bench::new();
    bench.write("k.cpp", PAIR);
    bench.write("shape.cpp", SHAPE);
    std::fs::create_dir(bench.path("bin")).expect("a directory");
    let mut command = bench.tool();
    command.env("PATH", bench.path("bin")).args(["compile", "k.cpp", "--shape-src", "shape.cpp"]);
    // the cross tools alone
    for directory in std::env::split_paths(&std::env::var_os("PATH").expect("PATH")) {
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_name().to_string_lossy().starts_with("xtensa-") {
                // the first in PATH counts
                let _ = std::os::unix::fs::symlink(entry.path(), bench.path("bin").join(entry.file_name()));
            }
        }
    }
    good(&mut command);
    assert!(bench.path("build/k.shapes.so").is_file());
}

/// A library is data: whatever lies in its directory, and whatever its manifest says, this machine executes none of it.
#[test]
fn nothing_beside_a_library_is_executed() {
    let bench = Bench::new();
    bench.write("k.cpp", PAIR);
    bench.write("shape.cpp", SHAPE);
    good(bench.tool().args(["compile", "k.cpp", "--shape-src", "shape.cpp", "-o", "k"]));
    let script = format!("#!/bin/sh\ntouch '{}'\n", bench.path("ran").display());
    let plant = |name: &str, bytes: &[u8]| {
        let path = bench.path(format!("build/{name}"));
        let _ = std::fs::remove_file(&path);
        std::fs::write(&path, bytes).expect("a file");
        let all = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, all).expect("permissions");
    };
    let manifest = std::fs::read_to_string(bench.path("build/k.manifest.json")).expect("a manifest");
    let older: Value = serde_json::from_str(&manifest).expect("JSON");
    let older = Value::Object(
        older
            .as_object()
            .expect("an object")
            .clone()
            .into_iter()
            .map(|(key, value)| match key.as_str() {
                "shapes" => (key, Value::from("k.shapes")),
                _ => (key, value),
            })
            .collect(),
    );
    let native = std::fs::read("/bin/true").expect("a program");
    let rows: [(&str, &[u8], String, &str); 3] = [
        ("k.shapes.so", script.as_bytes(), manifest.clone(), "run::shape_image"),
        ("k.shapes.so", &native, manifest, "run::shape_image"),
        // no shape function counts, so the output is like the input, which the kernel then copies to
        ("k.shapes", script.as_bytes(), older.to_string(), ""),
    ];
    for (name, bytes, manifest, code) in rows {
        plant(name, bytes);
        plant("k.manifest.json", manifest.as_bytes());
        let output =
            bench.tool().args(["run", "build/k", "rand:8x3", "--op", "relu"]).output().expect("runs");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.success(), code.is_empty(), "{text}");
        assert!(text.contains(code), "no {code} in\n{text}");
        assert!(!bench.path("ran").exists(), "{name} was executed");
    }
}

#[test]
fn a_shape_function_that_goes_wrong_is_explained() {
    let bench = Bench::new();
    bench.write(
        "k.cpp",
        "#include <torch/torch.h>\ntorch::Tensor relu(const torch::Tensor& x) { return x; }\n",
    );
    let source = |body: &str| {
        format!(
            "#include <torch/torch.h>\n#include \"torchneuron/register.h\"\ntorch::Tensor like(torch::Tensor x) {{\n    {body}\n    return x;\n}}\nNEURON_LIBRARY(mine, m) {{ m.def(\"relu\", &like, \"relu\"); }}\n"
        )
    };
    let rows = [
        (
            "TORCH_CHECK(x.dim() == 1, \"rank \", x.dim());",
            "run::shape_refused",
            "refuses these inputs: rank 2",
        ),
        ("throw std::runtime_error(\"not today\");", "run::shape_refused", "not today"),
        ("abort();", "run::shape_refused", "called abort()"),
        ("for (volatile int i = 0;;) i = i + 1;", "run::shape_stopped", "(shape.cpp:4, in like)"),
    ];
    for (body, code, words) in rows {
        bench.write("shape.cpp", &source(body));
        good(bench.tool().args(["compile", "k.cpp", "--shape-src", "shape.cpp"]));
        let text = plain(&bench, &bad(bench.tool().args(["run", "build/k", "rand:8x3"]), 1));
        let flat = text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        assert!(flat.contains(code) && flat.contains(words), "{body}:\n{text}");
    }
    bench.write(
        "shape.cpp",
        &(source("") + "static int never = [] { for (volatile int i = 0;;) i = i + 1; return 0; }();\n"),
    );
    let text = bad(bench.tool().args(["compile", "k.cpp", "--shape-src", "shape.cpp"]), 1);
    assert!(text.contains("shape::stopped"), "{text}");
}

#[test]
fn the_report_of_a_build() {
    let bench = Bench::new();
    bench.write("k.cpp", PAIR);
    bench.write("shape.cpp", SHAPE);
    let arguments = ["compile", "k.cpp", "--shape-src", "shape.cpp", "--", "-DSTACK_SIZE=20000"];
    golden("report", &report(&bench, &good(bench.tool().args(arguments))));
    let log = std::fs::read_to_string(bench.path("build/.gpsimd-build/k/build.log")).expect("a log");
    for words in ["# compile shape.cpp: done in ", "# link k.so: done in ", " -DSTACK_SIZE=20000 "] {
        assert!(log.contains(words), "no {words:?} in\n{log}");
    }
    bench.write("k.cpp", "#include <torch/torch.h>\nint broken\n");
    bad(bench.tool().args(arguments), 1);
    let log = std::fs::read_to_string(bench.path("build/.gpsimd-build/k/build.log")).expect("a log");
    assert!(log.contains("# compile k.cpp: failed in ") && log.contains("expected initializer"), "{log}");
}

#[test]
fn a_dry_run_without_schemas_prints_what_finds_them() {
    let bench = Bench::new();
    bench.write("k.cpp", PAIR);
    bench.write("shape.cpp", SHAPE);
    let printed = good(bench.tool().args(["compile", "k.cpp", "--dry-run"]));
    assert!(printed.lines().last().is_some_and(|line| line.ends_with("-x c++ k.cpp")), "{printed}");
    let printed = good(bench.tool().args(["compile", "k.cpp", "--shape-src", "shape.cpp", "-n"]));
    assert!(printed.contains("gpsimd-build stage registrations "), "{printed}");
    assert!(!bench.path("build").exists());
}

/// Words of the catalogue are the errors' own: what is shown when it happens is what `explain` has an example of.
#[test]
fn codes_are_explained() {
    let bench = Bench::new();
    golden("explain", &good(bench.tool().args(["explain", "kernel::local"])));
    assert_eq!(
        good(bench.tool().args(["explain", "optional"])),
        good(bench.tool().args(["explain", "schema::optional"])),
        "a scope may be left out"
    );
    let list = result(bench.tool().arg("explain"));
    let codes: Vec<&str> =
        list["errors"].as_array().expect("a list").iter().filter_map(|e| e["code"].as_str()).collect();
    assert!(codes.len() > 250 && codes.is_sorted(), "{codes:?}");
    let goldens = std::fs::read_dir(repository().join("tests/golden")).expect("golden files");
    for path in goldens.flatten().map(|entry| entry.path()) {
        let text = std::fs::read_to_string(&path).expect("a golden file");
        let first = text.splitn(3, "---\n").nth(2).and_then(|body| body.lines().next()).unwrap_or_default();
        if let Some((scope, _)) = first.split_once("::")
            && !scope.contains(' ')
        {
            assert!(codes.contains(&first), "{}: {first}", path.display());
        }
    }
    let text = bad(bench.tool().args(["explain", "kernel::lokal"]), 1);
    assert!(text.contains("cli::code") && text.contains("kernel::"), "{text}");
}

/// Escape codes are for terminals: none in a pipe, whatever the error, unless asked for.
#[test]
fn colour_is_for_terminals() {
    let bench = Bench::new();
    let arguments = ["compile", "absent.cpp", "--schema", "my::f(Tensor? a) -> Tensor"];
    let plain = bad(bench.tool().env_remove("NO_COLOR").args(arguments), 1);
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
    let coloured = bad(bench.tool().env_remove("NO_COLOR").args(arguments).args(["--color", "always"]), 1);
    assert!(coloured.contains('\u{1b}'), "{coloured:?}");
}

/// What the kernel was declared to take is what it gets: widths and classes survive the way through the wrapper.
#[test]
fn an_adapted_wrapper_passes_what_the_caller_gave() {
    let kernel = "#include <torch/torch.h>
torch::Tensor mix(torch::Tensor x, double by, int64_t n, torch::Scalar k) {
  torch::Tensor y = torch::empty(x.sizes(), torch::kFloat);
  auto in = x.accessor<float, 1>();
  auto out = y.accessor<float, 1>();
  for (int64_t i = 0; i < x.size(0); ++i) out[i] = in[i] * (float)by + (float)n + k.to<float>();
  return y;
}
";
    let bench = Bench::new();
    bench.write("mix.cpp", kernel);
    good(bench.tool().args(["compile", "mix.cpp"]));
    let text = good(bench.tool().args(["run", "build/mix", "arange:5", "2.5", "-7", "0.25", "--like", "0"]));
    assert!(text.contains("= [-6.75, -4.25, -1.75, 0.75, 3.25]"), "{text}");
}

#[test]
fn a_run_asks_the_shape_functions() {
    let bench = Bench::new();
    bench.write(
        "k.cpp",
        "#include <torch/torch.h>\ntorch::Tensor relu(const torch::Tensor& x) { return x; }\ntorch::Tensor gelu(const torch::Tensor& x, const torch::Tensor& table) { return torch::zeros({x.size(0) / 2, 2}, torch::kFloat); }\n",
    );
    bench.write("shape.cpp", SHAPE);
    good(bench.tool().args(["compile", "k.cpp", "--shape-src", "shape.cpp"]));
    let text = good(bench.tool().args(["run", "build/k", "rand:8x3", "rand:1", "--op", "gelu"]));
    assert!(text.contains("gelu -> float32 [4, 2]"), "{text}");
    let text = bad(bench.tool().args(["run", "build/k", "rand:1x3", "rand:1", "--op", "gelu"]), 1);
    assert!(text.contains("run::shape_refused") && text.contains("extent 0"), "{text}");
}

/// Finding the ops costs no second compilation, and its files never pass for another build's.
#[test]
fn what_finds_the_ops_is_compiled_once() {
    let bench = Bench::new();
    bench.write("k.cpp", PAIR);
    bench.write("shape.cpp", SHAPE);
    let log = |bench: &Bench| {
        let log = std::fs::read_to_string(bench.path("build/.gpsimd-build/k/build.log")).expect("a log");
        let labels = log.lines().filter(|line| line.starts_with("# compile ")).map(|line| {
            line.split(": ").next().expect("a label").trim_start_matches("# compile ").to_owned()
        });
        let mut labels: Vec<String> = labels.filter(|label| !label.starts_with("wrapper")).collect();
        labels.retain(|label| ["k.cpp", "shape.cpp"].contains(&label.as_str()));
        labels.sort();
        labels
    };
    good(bench.tool().args(["compile", "k.cpp", "--op", "relu"]));
    assert_eq!(log(&bench), ["k.cpp"]);
    good(bench.tool().args(["compile", "k.cpp", "--shape-src", "shape.cpp"]));
    assert_eq!(log(&bench), ["shape.cpp"], "the kernel's object is there already");
    bench.write("k.cpp", &PAIR.replace("relu", "selu"));
    good(bench.tool().args(["compile", "k.cpp", "--op", "selu"]));
    assert_eq!(log(&bench), ["k.cpp"]);
}
