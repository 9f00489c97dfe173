//! Nothing is stale, dropped or replaced in silence; a wrong word on the command line is told what would be right.

use serde_json::Value;

use crate::bench::{Bench, VECTOR_ADD, bad, good, result};

/// Exit status 0; what was said on standard error.
fn told(bench: &Bench, words: &[&str]) -> String {
    let output = bench.tool().args(words).output().expect("the tool starts");
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SCALE: &str = "#include \"by.h\"
#include <gpsimd/kit.hpp>
torch::Tensor scale(const torch::Tensor& x, double by = BY, int64_t plus = 1) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::map<float(float)>(y, [=](float v) { return v * float(by) + float(plus); }, x);
    return y;
}
";

#[test]
fn a_library_that_is_older_than_its_sources_says_so() {
    let bench = Bench::new();
    bench.write("scale.cpp", &SCALE.replace("BY", "2.0"));
    bench.write("by.h", "// nothing yet\n");
    let run = ["run", "build/scale", "ones:3", "--like", "0"];
    good(bench.tool().args(["compile", "scale.cpp"]));
    assert_eq!(told(&bench, &run), "");
    bench.write("by.h", "// something\n");
    let said = told(&bench, &run);
    assert!(said.contains("library::stale") && said.contains("by.h changed"), "{said}");
    let answer = good(bench.tool().args(run).arg("--json"));
    let answer: Value = serde_json::from_str(&answer).expect("JSON");
    assert_eq!(answer["warnings"][0]["code"], "library::stale");
    good(bench.tool().args(["compile", "scale.cpp"]));
    assert_eq!(told(&bench, &run), "");
    std::fs::remove_file(bench.path("scale.cpp")).expect("removed");
    // the library travels without its sources
    assert_eq!(told(&bench, &run), "");
}

#[test]
fn a_build_says_what_it_replaces() {
    let bench = Bench::with_vector_add();
    std::fs::copy(bench.path("vector_add.cpp"), bench.path("other.cpp")).expect("copied");
    let build = |more: &[&str]| {
        let line = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD];
        told(&bench, &[&line, more].concat())
    };
    assert!(!build(&["--multicore"]).contains("replaced"));
    let said = build(&[]);
    assert!(said.contains("engine::replaced_cores") && said.contains("24 files"), "{said}");
    assert!(!build(&[]).contains("replaced"), "nothing is replaced by the same");
    let said = told(&bench, &["compile", "other.cpp", "-o", "vector_add", "--schema", VECTOR_ADD]);
    assert!(said.contains("engine::replaced_sources") && said.contains("other.cpp"), "{said}");
}

#[test]
fn defaults_of_kernels_and_schemas_count() {
    let bench = Bench::new();
    bench.write("by.h", "");
    bench.write("scale.cpp", &SCALE.replace("BY", "2.5f"));
    let built = result(bench.tool().args(["compile", "scale.cpp"]));
    assert_eq!(built["calls"][0], "torch.ops.my_ops.scale(Tensor x, float by=2.5, int plus=1) -> Tensor");
    let run = |inputs: &[&str]| {
        good(bench.tool().args(["run", "build/scale", "ones:3"]).args(inputs).args(["--like", "0"]))
    };
    let first = |text: &str| text.lines().last().unwrap_or_default().to_owned();
    assert_eq!(first(&run(&[])), first(&run(&["2.5", "1"])));
    assert!(run(&[]).contains("= [3.5, 3.5, 3.5]"));
    assert!(run(&["4"]).contains("= [5, 5, 5]"));
    bench.write("scale.cpp", &SCALE.replace("BY", "1.0 / 3"));
    let text = bad(bench.tool().args(["compile", "scale.cpp"]), 1);
    assert!(text.contains("infer::default") && text.contains("1.0 / 3"), "{text}");
}

/// Zeros that nobody computed would pass for a result.
#[test]
fn a_run_that_ended_badly_shows_no_output() {
    let bench = Bench::new();
    let kernel =
        "torch::Tensor stop(const torch::Tensor& x) { TORCH_CHECK(x.numel() > 3, \"too few\"); return x; }";
    bench.write("stop.cpp", &format!("#include <torch/torch.h>\n{kernel}\n"));
    good(bench.tool().args(["compile", "stop.cpp"]));
    let text = bad(bench.tool().args(["run", "build/stop", "ones:3", "--like", "0"]), 1);
    assert!(!text.contains("-> float32") && text.contains("no output"), "{text}");
}

/// Each row: words, and what the message must hold.
#[test]
fn wrong_words_are_told_the_right_ones() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    for name in ["x.txt", "x.npy", "k.hpp"] {
        bench.write(name, "1 2 3\n");
    }
    bench.write(
        "main.cpp",
        "#include <torch/torch.h>\ntorch::Tensor main(const torch::Tensor& x) { return x; }\n",
    );
    let run = |input| vec!["run", "build/vector_add", input, "ones:5", "--like", "1"];
    let rows: &[(Vec<&str>, &[&str])] = &[
        (run("x.txt"), &["run::input", "np.save('x.npy', np.loadtxt('x.txt'))"]),
        (run("random:5"), &["run::input", "rand:5"]),
        (run("build"), &["run::input", "build is a directory", "arange:6:int32"]),
        (run("rand:"), &["run::shape"]),
        (run("five"), &["run::input", "x.npy", "rand:2x3"]),
        (vec!["run", "build"], &["library::directory", "build/vector_add (8 cores)"]),
        (vec!["run", "build/add"], &["library::missing", "build/vector_add (8 cores)"]),
        (vec!["run", "nowhere/add"], &["library::missing", "no library is in nowhere"]),
        (vec!["inspect", "build/vector_add.so"], &["library::missing", "build/vector_add (8 cores)"]),
        (vec!["compile", "x.npy"], &["engine::source_kind", "a tensor", "gpsimd-build run"]),
        (vec!["compile", "k.hpp"], &["engine::source_kind", "a header"]),
        (vec!["compile", "build/vector_add_cpu0.so"], &["engine::source_kind", "part of a library"]),
        (
            vec!["compile", "vector_add.cpp", "-o", "two", "words"],
            &["engine::source_kind", "-o takes one word"],
        ),
        (vec!["compile", "main.cpp"], &["compile::main", "called main"]),
    ];
    for (words, wanted) in rows {
        let text = bad(bench.tool().args(words), 1);
        // a terminal's lines are broken anywhere
        let flat = text.replace("\n  │ ", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        for wanted in *wanted {
            assert!(flat.contains(wanted), "{words:?}: no {wanted:?} in\n{text}");
        }
    }
    let inspected = result(bench.tool().args(["inspect", "build/vector_add"]));
    assert_eq!(inspected["files"].as_array().map(Vec::len), Some(8));
    let verified = result(bench.tool().args(["verify", "build"]));
    assert_eq!(verified["images"].as_array().map(Vec::len), Some(24));
}
