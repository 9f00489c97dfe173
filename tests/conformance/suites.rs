//! GCC's own run tests of its sanitizers as kernels, built by `--sanitize`: what they do wrong on purpose must be found.
//!
//! The tests are taken from the `gcc-12-source` package when this runs and are never part of the repository. A small dose of
//! them runs by default, all of them with `GPSIMD_SUITES=all`; then `docs/sanitizer-suites.md` must say what the outcome is.
//! Unaware of how faults are found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gpsimd_device::{
    Code, Config, Control, CoreImage, Dtype, Finding, Machine, Severity, Tensor, TensorSpec,
};

use crate::bench::{Bench, repository};
use crate::gcc::{self, directive, quoted, reason};

/// Of the default dose one test in so many runs.
const DOSE: usize = 48;

/// Why a test's outcome is another than GCC's, where it is.
const REASONS: &[(&str, &str)] = &[
    (
        "c-c++-common/ubsan/overflow-div-1.c",
        "it asks for division by zero only; it does divide `INT_MIN` by -1, which is undefined",
    ),
    (
        "gcc.dg/asan/use-after-scope-4.c",
        "it asks for `address` only, which `fn3` turns off; `fn3` does write past its array, which `undefined` sees",
    ),
    (
        "gcc.dg/asan/pr81186.c",
        "it leaves a nested function by `goto`, which C++ has not; what the compiler stores for that lies below the stack pointer",
    ),
    (
        "gcc.dg/asan/nosanitize-and-inline.c",
        "it reads beside a variable on purpose, under `no_sanitize_address`; the simulator judges accesses, not functions",
    ),
];

/// Tests that expect output, but no report: of an option's name, of the program's own `strtol`.
const RIGHT: &[&str] = &["g++.dg/asan/default-options-1.C", "g++.dg/asan/interception-failure-test-1.C"];

/// Calls the test's `main`, however it is declared.
const DRIVER: &str = r#"#include <torch/torch.h>
extern "C" {
__attribute__((weak)) int suite_main(int count, char** words);
}
namespace {
char name[] = "test";
char* words[] = {name, nullptr};
}
__attribute__((weak)) int suite_main_cpp() asm("_Z10suite_mainv");
__attribute__((weak)) int suite_main_words(int count, char** words) asm("_Z10suite_mainiPPc");
torch::Tensor suite(const torch::Tensor& t) {
    if (&suite_main != nullptr) suite_main(1, words);
    if (&suite_main_cpp != nullptr) suite_main_cpp();
    if (&suite_main_words != nullptr) suite_main_words(1, words);
    return torch::zeros(t.sizes(), torch::kFloat);
}
"#;

/// One of GCC's tests.
#[derive(Debug)]
struct Test {
    /// `c-c++-common/asan/alloca_overflow_right.c`.
    name: String,
    path: PathBuf,
    is_address: bool,
    /// Compiler options that it asks for and that mean something here.
    options: Vec<String>,
    /// Whether it asks for the checks of pairs of pointers.
    is_about_pairs: bool,
    /// Whether it does something wrong on purpose.
    is_faulty: bool,
}

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    /// The fault was found; the checks' names.
    Found(String),
    /// It ran to its end, or aborted, and no check found the fault.
    Missed(String),
    /// Nothing is wrong with it, and nothing was found.
    Silent,
    /// Nothing is wrong with it, but something was found.
    FalseAlarm(String),
    /// It cannot be a kernel.
    NotBuilt(String),
}

/// What verdicts are called, by their number.
const KINDS: [&str; 5] = [
    "faults found",
    "faults not found",
    "right programs, silent",
    "right programs, something found",
    "not kernels",
];

impl Verdict {
    /// Its number, and what was seen.
    fn kind(&self) -> (usize, &str) {
        match self {
            Verdict::Found(codes) => (0, codes),
            Verdict::Missed(said) => (1, said),
            Verdict::Silent => (2, ""),
            Verdict::FalseAlarm(codes) => (3, codes),
            Verdict::NotBuilt(why) => (4, why),
        }
    }
}

static SUITE: LazyLock<PathBuf> = LazyLock::new(|| gcc::test_suite(Path::new(env!("CARGO_TARGET_TMPDIR"))));

impl Test {
    /// Reads a test; `None` if it is one that only compiles.
    fn read(root: &Path, path: PathBuf) -> Option<Test> {
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("readable")).into_owned();
        if !directive(&text, "dg-do").first()?.starts_with("run") {
            return None;
        }
        let name = path.strip_prefix(root).expect("below it").to_string_lossy().into_owned();
        let mut options: Vec<String> = gcc::options(&text).filter(|word| is_ours(word)).collect();
        options.extend(level(&text).map(str::to_owned));
        let expects = text.contains("dg-shouldfail") || text.contains("dg-output");
        let is_faulty = expects && !RIGHT.contains(&name.as_str());
        let is_about_pairs = directive(&text, "dg-options").iter().any(|line| line.contains("pointer-"));
        Some(Test { is_address: name.contains("/asan/"), name, is_about_pairs, path, options, is_faulty })
    }

    fn all() -> Vec<Test> {
        let root = &*SUITE;
        let mut paths = Vec::new();
        for dialect in ["c-c++-common", "gcc.dg", "g++.dg"] {
            for kind in ["asan", "ubsan"] {
                let entries = std::fs::read_dir(root.join(dialect).join(kind)).expect("extracted");
                paths.extend(entries.map(|entry| entry.expect("readable").path()));
            }
        }
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "c" || ending == "C"));
        paths.sort();
        paths.into_iter().filter_map(|path| Test::read(root, path)).collect()
    }

    fn run(&self) -> Verdict {
        if self.options.iter().any(|option| option.contains("vptr")) {
            return Verdict::NotBuilt("-fsanitize=vptr: device code has no run-time type information".into());
        }
        let bench = Bench::new();
        bench.write("driver.cpp", DRIVER);
        let mut command = bench.tool();
        command.arg("compile").arg("driver.cpp").arg(&self.path).args(["--name", "suite"]);
        let checks = if self.is_about_pairs { "address,undefined,pairs" } else { "address,undefined" };
        command.args(["--op", "suite=my::suite(Tensor t) -> Tensor", "--sanitize", checks]);
        command.arg("--").args(["-w", "-Dmain=suite_main"]).args(&self.options);
        let output = command.output().expect("the tool starts");
        if !output.status.success() {
            return Verdict::NotBuilt(reason(&String::from_utf8_lossy(&output.stderr)));
        }
        let image = std::fs::read(bench.path("build/suite.checked.so")).expect("the tool wrote it");
        let config = Config { budget: 200_000_000, ..Config::default() };
        let mut machine = match Machine::boot(vec![CoreImage::new(image)], config) {
            Ok(machine) => machine,
            Err(error) => return Verdict::Missed(error.to_string()),
        };
        let input = gpsimd_device::Arg::tensor("t", Tensor::from_f32(&[0.0]).expect("a tensor"));
        let output = TensorSpec::new(Dtype::Float32, [1]);
        let report = machine.call("suite", vec![input], output, &Control::default(), |_| {}).expect("a call");
        // only a function called main may end without a return
        let is_renamed = |finding: &Finding| {
            finding.code == Code::MissingReturn
                && finding.site.as_ref().is_some_and(|site| site.function.starts_with("suite_main"))
        };
        let errors = report
            .findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error && !is_renamed(finding));
        // a test that looks at itself and is not content calls abort(), and some want to be trapped
        let traps = self.options.iter().any(|option| option == "-fsanitize-undefined-trap-on-error");
        let found: Vec<String> = errors
            .map(|finding| finding.code.to_string())
            .filter(|code| traps || code != "run::abort")
            .collect();
        let aborted =
            report.findings.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; ");
        match (self.is_faulty, found.is_empty()) {
            (true, false) => Verdict::Found(found.join(" ")),
            (true, true) => Verdict::Missed(aborted),
            (false, true) => Verdict::Silent,
            (false, false) => Verdict::FalseAlarm(found.join(" ")),
        }
    }
}

/// Whether an option of a test is passed on: sanitizers are chosen already, and C++ is the device's.
fn is_ours(word: &str) -> bool {
    let wanted = word.starts_with("-f")
        || word.starts_with("-D")
        || word.starts_with("-O")
        || word.starts_with("-std=")
        || word.starts_with("--param");
    let chosen = ["-fsanitize=address", "-fdump", "-flto", "-fexceptions", "-frtti"];
    wanted && !chosen.iter().any(|option| word.starts_with(option))
}

/// The optimisation level that a test is for, if it is not for the default one.
fn level(text: &str) -> Option<&str> {
    directive(text, "dg-skip-if").into_iter().find_map(|line| {
        let words = quoted(line);
        let at = words.iter().position(|word| *word == "*")?;
        words.get(at + 1)?.split_whitespace().next().filter(|word| word.starts_with("-O"))
    })
}

/// `docs/sanitizer-suites.md`.
fn page(results: &BTreeMap<String, (bool, bool, Verdict)>) -> String {
    let mut text = String::from(
        "# GCC's sanitizer tests as kernels\n\n\
         Written by `GPSIMD_SUITES=all GPSIMD_UPDATE_DOCS=1 cargo test -p gpsimd-build --test conformance suites`: the run tests of\n\
         `gcc-12-source` in the folders `asan` and `ubsan`, built with `compile --sanitize address,undefined` and run on the\n\
         simulated device.\n\n\
         | tests | of `asan` | of `ubsan` |\n|---|---|---|\n",
    );
    for (kind, name) in KINDS.iter().enumerate() {
        let count = |of_address: bool| {
            let is_one = |(is_address, _, verdict): &&(bool, bool, Verdict)| {
                *is_address == of_address && verdict.kind().0 == kind
            };
            results.values().filter(is_one).count()
        };
        let _ = writeln!(text, "| {name} | {} | {} |", count(true), count(false));
    }
    for (kind, title) in [
        (1, "Faults that are not found"),
        (3, "Right programs in which something is found"),
        (4, "Not kernels"),
    ] {
        let _ = write!(text, "\n## {title}\n\n| test | |\n|---|---|\n");
        for (name, (_, _, verdict)) in results.iter().filter(|(_, (_, _, verdict))| verdict.kind().0 == kind)
        {
            let known = REASONS.iter().find(|(known, _)| known == name).map(|(_, reason)| *reason);
            let said = verdict.kind().1.lines().next().unwrap_or_default();
            let _ = writeln!(text, "| `{name}` | {} |", known.unwrap_or(said));
        }
    }
    text
}

#[test]
fn what_gcc_tests_its_sanitizers_with_is_found() {
    let is_whole = std::env::var_os("GPSIMD_SUITES").is_some();
    let tests = Test::all();
    let dose: Vec<&Test> = tests.iter().step_by(if is_whole { 1 } else { DOSE }).collect();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let results = std::sync::Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(test) = dose.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
                    let verdict = test.run();
                    let row = (test.is_address, test.is_faulty, verdict);
                    results.lock().expect("no panic").insert(test.name.clone(), row);
                }
            });
        }
    });
    let results = results.into_inner().expect("no panic");
    let listed = repository().join("docs/sanitizer-suites.md");
    if is_whole {
        if std::env::var_os("GPSIMD_UPDATE_DOCS").is_some() {
            std::fs::write(&listed, page(&results)).expect("written");
        }
        let page = page(&results);
        assert_eq!(
            std::fs::read_to_string(&listed).unwrap_or_default(),
            page,
            "docs/sanitizer-suites.md is not current"
        );
        return;
    }
    // what the page lists is known; everything else must be as it should
    let known = std::fs::read_to_string(&listed).expect("docs/sanitizer-suites.md");
    let wrong: Vec<_> = results
        .iter()
        .filter(|(name, (_, _, verdict))| {
            !matches!(verdict, Verdict::Found(_) | Verdict::Silent) && !known.contains(&format!("`{name}`"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
