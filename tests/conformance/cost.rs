//! What the SDK costs a kernel that uses little of it.

use crate::bench::{Bench, VECTOR_ADD, cross, good, vector_add};

/// Stripped size of a kernel source for one core.
fn stripped(bench: &Bench, source: &str, schema: &str) -> u64 {
    good(bench.tool().args(["compile", source, "--schema", schema]));
    let stem = source.trim_end_matches(".cpp");
    bench.path("build").join(format!("{stem}.stripped.so")).metadata().expect("built").len()
}

/// Names of the functions and variables in a linked image.
fn names(bench: &Bench, image: &str) -> Vec<String> {
    let listing =
        good(cross("nm").args(["--demangle", "--format=posix"]).arg(bench.path("build").join(image)));
    listing.lines().map(str::to_owned).collect()
}

/// An op of one kernel stays small: under 96 KiB with `printf`, under 32 KiB without.
#[test]
fn a_small_kernel_is_a_small_image() {
    let bench = Bench::with_vector_add();
    let size = stripped(&bench, "vector_add.cpp", VECTOR_ADD);
    assert!(size < 32 << 10, "{size} bytes");

    let source = std::fs::read_to_string(vector_add()).expect("readable");
    let line = "    return out;\n";
    assert!(source.contains(line));
    let print = "    printf(\"%d sums, the first is %f\\n\", static_cast<int>(a.size(0)), static_cast<float>(ov[0]));\n";
    bench.write("printing.cpp", &source.replace(line, &format!("{print}{line}")));
    let printing = stripped(&bench, "printing.cpp", VECTOR_ADD);
    assert!(printing < 96 << 10, "{printing} bytes");
    assert!(printing > size, "the kernel that prints is no larger: {printing} and {size} bytes");
}

/// Operators that no kernel names are not linked, though every kernel includes their header.
#[test]
fn unused_operators_cost_nothing() {
    let bench = Bench::with_vector_add();
    stripped(&bench, "vector_add.cpp", VECTOR_ADD);
    let operators = [
        "at::abs",
        "at::ceil",
        "at::sin",
        "at::exp",
        "at::pow",
        "at::clamp",
        "at::bitwise_and",
        "at::add",
        "at::div",
        "ceilf",
        "sinf",
        "cosf",
        "expf",
        "logf",
        "powf",
    ];
    let linked = |image: &str| -> Vec<&str> {
        let names = names(&bench, image);
        let starts = |name: &str, op: &str| {
            name.strip_prefix(op).is_some_and(|rest| rest.starts_with(['(', ' ', '_']))
        };
        operators.into_iter().filter(|op| names.iter().any(|name| starts(name, op))).collect()
    };
    assert_eq!(linked("vector_add.so"), [""; 0]);

    // The same look finds the one that is named, so finding none means something.
    for (function, wanted) in
        [("sin", ["at::sin", "sinf"].as_slice()), ("abs", &["at::abs"]), ("exp", &["at::exp", "expf"])]
    {
        let source = format!("{function}_only.cpp");
        let kernel = format!("torch::Tensor only(const torch::Tensor& x) {{ return torch::{function}(x); }}");
        bench.write(&source, &format!("#include <torch/torch.h>\n{kernel}\n"));
        stripped(&bench, &source, "my::only(Tensor x) -> (Tensor y)");
        assert_eq!(linked(&format!("{function}_only.so")), wanted);
    }
}
