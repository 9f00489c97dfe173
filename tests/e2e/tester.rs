//! `test` finds planted faults without being told anything but where the sources are, shows the smallest case, and gives lines
//! that repeat it; what is right passes.

use serde_json::Value;

use crate::bench::{Bench, bad, good, repository};

const KIT: &str = "#include <gpsimd/kit.hpp>\n";

/// The host half of an op that is right: like its input, floats only.
const LIKE: &str = "    TORCH_CHECK(x.scalar_type() == torch::kFloat, \"floats\");\n    return torch::empty(x.sizes(), torch::kFloat);\n";

fn shape(body: &str) -> String {
    format!(
        "#include <torch/torch.h>\n#include \"torchneuron/register.h\"\n\
         torch::Tensor like(const torch::Tensor& x) {{\n{body}}}\n\
         NEURON_LIBRARY(my, m) {{ m.def(\"planted\", &like, \"planted\"); }}\n"
    )
}

/// What `test --json` says of `k.cpp` and `s.cpp`.
fn tested(kernel: &str, shape_body: &str, more: &[&str]) -> (Bench, Value) {
    let bench = Bench::new();
    bench.write("k.cpp", &format!("{KIT}{kernel}"));
    bench.write("s.cpp", &shape(shape_body));
    let mut command = bench.tool();
    command.args(["--json", "test", "k.cpp", "--shape-src", "s.cpp"]).args(more);
    let output = command.output().expect("the tool starts");
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    let answer = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON\n{}", said()));
    (bench, answer)
}

/// A fault: its name, the kernel, the host half's body, the kind of cases that shows it, the rule, the smallest inputs.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

const FAULTS: &[Row] = &[
    (
        "a remainder of eight is forgotten",
        "torch::Tensor planted(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const size_t each = x.numel() / gpsimd::core_count(), first = gpsimd::core_id() * each;
    if (each == 0) return y;
    gpsimd::Tcm<float> block(each);
    block.load(x, first, each);
    block.store(y, first, each);
    return y;
}
",
        LIKE,
        "extents",
        "test::finding",
        "1",
    ),
    (
        "the shape function is wrong",
        "torch::Tensor planted(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const gpsimd::Span mine = gpsimd::share(x.numel());
    gpsimd::Tcm<float> block(mine.size());
    block.load(x, mine.begin, mine.size());
    block.store(y, mine.begin, mine.size());
    return y;
}
",
        "    TORCH_CHECK(x.scalar_type() == torch::kFloat && x.dim() == 1, \"floats\");\n    return torch::empty({x.size(0) + 1}, torch::kFloat);\n",
        "extents",
        "test::shape",
        "1",
    ),
    (
        "an element type is not checked",
        "torch::Tensor planted(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::map<float(float)>(y, [](float v) { return 2 * v; }, x);
    return y;
}
",
        "    return torch::empty(x.sizes(), x.scalar_type());\n",
        "dtypes",
        "test::dtype",
        ":int8",
    ),
    (
        "a call remembers",
        "torch::Tensor planted(const torch::Tensor& x) {
    static float before = 0;
    torch::Tensor y = get_dst_tensor();
    gpsimd::map<float(float)>(y, [](float v) { return v + before; }, x);
    before += 1;
    return y;
}
",
        LIKE,
        "calls",
        "test::calls",
        "1",
    ),
    (
        "NaN is lost in a comparison",
        "torch::Tensor planted(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    gpsimd::map<float(float)>(y, [](float v) { return v > 0 ? v : 0; }, x);
    return y;
}
",
        LIKE,
        "unusual",
        "test::nan",
        "nan:",
    ),
    (
        "the result depends on the number of cores",
        "torch::Tensor planted(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const gpsimd::Span mine = gpsimd::share(x.numel());
    gpsimd::Tcm<float> block(mine.size());
    block.load(x, mine.begin, mine.size());
    float total = 0;
    for (float v : block) total += v;
    for (float& v : block) v -= total;
    block.store(y, mine.begin, mine.size());
    return y;
}
",
        LIKE,
        "extents",
        "test::cores",
        "2",
    ),
];

#[test]
fn planted_faults_are_found() {
    for (what, kernel, shape, kinds, rule, smallest) in FAULTS {
        let (bench, answer) = tested(kernel, shape, &["--only", kinds]);
        assert_eq!(answer["ok"], false, "{what}: {answer:#}");
        let failures = answer["result"]["ops"][0]["failures"].as_array().expect("failures");
        let failure = failures.iter().find(|failure| failure["rule"] == *rule);
        let failure = failure.unwrap_or_else(|| panic!("{what}: no {rule} in {answer:#}"));
        let inputs = failure["inputs"][0].as_str().expect("an input");
        assert!(inputs.contains(smallest), "{what}: {inputs}");
        // what is said repeats it: the tool's own checks fail again, results are there to be compared
        let line = failure["lines"][0].as_str().expect("a line");
        let words: Vec<&str> = line.strip_prefix("gpsimd-build ").expect("our own").split(' ').collect();
        let status = bench.tool().args(words).output().expect("the tool starts").status;
        let is_seen = matches!(*rule, "test::finding" | "test::shape" | "test::dtype" | "test::calls");
        assert_eq!(status.success(), !is_seen, "{what}: {line}");
    }
}

/// Every kind of case, a sample of each; and what can only be done with Python's help.
#[test]
fn what_is_right_passes() {
    let bench = Bench::new();
    let examples = repository().join("examples");
    let source = |name: &str| examples.join(name).display().to_string();
    let (kernel, shapes) = (source("scale_clip.cpp"), source("shape/scale_clip_shape.cpp"));
    let line = [
        "test",
        &kernel,
        "--shape-src",
        &shapes,
        "--shard",
        "1/9",
        "--junit",
        "report.xml",
        "--reference",
        "native",
    ];
    let text = good(bench.tool().args(line));
    assert!(text.contains("nothing is wrong"), "{text}");
    for kind in ["calls", "extents", "blocks", "dtypes", "unusual"] {
        assert!(text.contains(&format!("\n  {kind:8} ")), "{text}");
    }
    let report = std::fs::read_to_string(bench.path("report.xml")).expect("written");
    assert!(report.contains("<testcase classname=\"scale_clip\" name=\"extents\""), "{report}");
    // the library that was built, by the op's own name
    let library = ["test", "build/tested/scale_clip", "--op", "my::scale_clip", "--only", "calls"];
    good(bench.tool().args(library));
}

/// The same kernel as code of this machine shows what only the device's compiler, or the device, has to do with.
#[test]
fn a_native_twin_is_a_reference() {
    let kernel = "torch::Tensor planted(const torch::Tensor& x) {
    torch::Tensor y = get_dst_tensor();
    const gpsimd::Span mine = gpsimd::share(x.numel());
    if (mine.size() == 0) return y;
    gpsimd::Tcm<float> block(mine.size());
    block.load(x, mine.begin, mine.size());
    for (size_t i = 0; i < mine.size(); ++i) block[i] *= sizeof(void*);
    block.store(y, mine.begin, mine.size());
    return y;
}
";
    let (bench, answer) =
        tested(kernel, LIKE, &["--only", "extents", "--shard", "1/60", "--reference", "native"]);
    let failures = answer["result"]["ops"][0]["failures"].as_array().expect("failures");
    assert_eq!(failures[0]["rule"], "test::reference", "{answer:#}");
    // a library without one
    std::fs::remove_file(bench.path("build/tested/k.native.so")).expect("made beside the library");
    let said = bad(bench.tool().args(["test", "build/tested/k", "--reference", "native"]), 1);
    assert!(said.contains("test::no_twin"), "{said}");
}

/// A project that `new` begins passes its tests, and is found by clangd.
#[test]
fn a_new_project_is_right_at_once() {
    let bench = Bench::new();
    for (template, inputs) in [("rows", "rand:16x24 1e-5"), ("reduce", "")] {
        good(bench.tool().args(["new", template, "--template", template]));
        let (kernel, shapes) = (format!("{template}.cpp"), format!("{template}_shape.cpp"));
        let mut test = bench.tool();
        test.current_dir(bench.path(template)).args([
            "test",
            &kernel,
            "--shape-src",
            &shapes,
            "--shard",
            "1/12",
        ]);
        for input in inputs.split_whitespace() {
            test.args(["--input", input]);
        }
        good(&mut test);
        let mut plan = bench.tool();
        plan.current_dir(bench.path(template));
        plan.args(["plan", "--format", "compile-commands", &kernel, "--schema", "my::f(Tensor x) -> Tensor"]);
        let text = good(&mut plan);
        assert!(!text.contains("wrapper.cpp"), "{text}");
    }
    let text = crate::bench::bad(bench.tool().args(["new", "rows"]), 1);
    assert!(text.contains("cli::exists"), "{text}");
}

/// Bash completes after the subcommand, codes with their colons, and a library's own ops.
#[test]
fn bash_completes() {
    let (bench, _) = with_library("bash");
    bench.write("completions.bash", &good(bench.tool().args(["completions", "bash"])));
    let tool = env!("CARGO_BIN_EXE_gpsimd-build");
    let ask = |line: &str| {
        let script = format!(
            "source completions.bash\nCOMP_LINE='{line}'\nCOMP_POINT=${{#COMP_LINE}}\nread -r -a COMP_WORDS <<<\"$COMP_LINE\"\n\
             [[ \"$COMP_LINE\" == *' ' ]] && COMP_WORDS+=('')\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
             _gpsimd_build_words '{tool}' \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
        );
        let mut bash = std::process::Command::new("bash");
        good(bash.args(["--norc", "-c", &script]).current_dir(bench.dir()))
    };
    let rows = [
        (format!("{tool} com"), "compile"),
        (format!("{tool} compile --mu"), "--multicore"),
        (format!("{tool} run --lane u"), "ucpl"),
        (format!("{tool} explain image::window_over"), "window_overflow"),
        (format!("{tool} run build/vector_add --op v"), "vector_add"),
    ];
    for (line, want) in rows {
        let words = ask(&line);
        assert!(words.lines().any(|word| word == want), "{line}: {words}");
    }
}

/// Codes and a library's own ops in fish.
#[test]
fn fish_completes() {
    let (bench, path) = with_library("fish");
    bench.write("completions.fish", &good(bench.tool().args(["completions", "fish"])));
    let rows = [
        ("gpsimd-build com", "compile"),
        ("gpsimd-build compile --mu", "--multicore"),
        ("gpsimd-build run --lane u", "ucpl"),
        ("gpsimd-build explain image::window_over", "image::window_overflow"),
        ("gpsimd-build run build/vector_add --op v", "vector_add"),
        ("gpsimd-build test build/vector_add --op v", "vector_add"),
    ];
    for (line, want) in rows {
        let script = format!("source completions.fish; complete -C '{line}'");
        let mut fish = std::process::Command::new("fish");
        let words =
            good(fish.args(["--no-config", "-c", &script]).current_dir(bench.dir()).env("PATH", &path));
        assert!(words.lines().any(|word| word.split('\t').next() == Some(want)), "{line}: {words}");
    }
}

/// The same in zsh, which completes at a terminal only: what stands on its line after the tabulator.
#[test]
fn zsh_completes() {
    let (bench, path) = with_library("zsh");
    bench.write("_gpsimd-build", &good(bench.tool().args(["completions", "zsh"])));
    let rows = [
        ("gpsimd-build compi", "gpsimd-build compile"),
        ("gpsimd-build compile --mu", "gpsimd-build compile --multicore"),
        ("gpsimd-build run --lane u", "gpsimd-build run --lane ucpl"),
        ("gpsimd-build explain image::window_over", "gpsimd-build explain image::window_overflow"),
        ("gpsimd-build run build/vector_add --op v", "gpsimd-build run build/vector_add --op vector_add"),
        ("gpsimd-build test build/vector_add --op v", "gpsimd-build test build/vector_add --op vector_add"),
    ];
    for (line, want) in rows {
        let mut zsh = std::process::Command::new("zsh");
        let script = ZSH.replace("LINE", line);
        let shown = good(zsh.args(["-f", "-c", &script]).current_dir(bench.dir()).env("PATH", &path));
        assert!(shown.contains(&format!("<<{want}")), "{line}: {shown}");
    }
}

/// A shell at a terminal of its own is sent a line with a tabulator, then a key that shows the line between marks.
const ZSH: &str = r#"
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'PS1=; fpath=($PWD $fpath); autoload -U compinit; compinit -u -D'
zpty -w inner 'show() { print -r -- "<<$BUFFER>>" }; zle -N show; bindkey "^X" show; print ready-$((1 + 1))'
zpty -r inner answer '*ready-2*'
zpty -n -w inner $'LINE\t\x18'
zpty -r inner answer '*\<\<*\>\>*'
print -r -- "$answer"
zpty -d inner
"#;

/// A library, and a `PATH` in which the tool under test comes first.
fn with_library(shell: &str) -> (Bench, String) {
    if std::process::Command::new(shell).arg("--version").output().is_err() {
        panic!("{shell} is not installed; apt-get install {shell}, or let `cargo xtask test` do it");
    }
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", crate::bench::VECTOR_ADD]));
    let directory =
        std::path::Path::new(env!("CARGO_BIN_EXE_gpsimd-build")).parent().expect("in a directory");
    let path = format!("{}:{}", directory.display(), std::env::var("PATH").expect("PATH"));
    (bench, path)
}
