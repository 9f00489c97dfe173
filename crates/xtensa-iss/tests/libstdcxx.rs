//! libstdc++'s own tests of what needs neither exceptions nor streams: built with the open toolchain, run on a simulated core.
//!
//! `GPSIMD_LIBSTDCXX=N` takes every N-th of them, `GPSIMD_LIBSTDCXX_ONLY` those that it names; `cargo xtask soak libstdcxx`
//! takes all. What does not pass has to stand in
//! `docs/libstdcxx-suite.md`, or in the page of a later compiler. Nothing of the suite is in the repository.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{compiler, gcc, guest};

const PARTS: [&str; 5] = ["20_util", "21_strings", "23_containers", "25_algorithms", "26_numerics"];

/// Why a test is left out, by what its text has.
const LEFT_OUT: &[(&str, &[&str])] = &[
    ("exceptions", &["try", "catch", "throw", "typeid", "dynamic_cast", "set_new_handler"]),
    (
        "streams, locales, threads",
        &[
            "iostream",
            "sstream",
            "fstream",
            "locale",
            "ostream",
            "istream",
            "iomanip",
            "thread",
            "regex",
            "pthread",
            "mutex",
            "future",
            "std::cout",
        ],
    ),
    ("wide characters", &["wchar_t", "wstring", "char8_t", "char16_t", "char32_t"]),
    ("the library's debug mode", &["_GLIBCXX_DEBUG", "D_GLIBCXX_DEBUG", "__gnu_debug", "debug"]),
    ("a performance test or another machine's", &["dg-require-", "__gnu_parallel", "simulate-thread"]),
];

/// Why one is not built, or does not end, where what is said does not say it.
const REASONS: &[(&str, &str)] = &[
    ("std::from_chars(", "`libstdc++-lite.a` reads no floating-point numbers: that takes locales"),
    ("Budget", "it takes more instructions than a test is given"),
    ("std::ios_base::", "a helper of the suite includes the standard streams"),
    ("__cxa_demangle", "a helper of the suite asks for names of types"),
    ("std::_V2::system_category()", "`libstdc++-lite.a` has no categories of errors: there is no system"),
    ("ext/hash_map", "a header from before the standard is not part of the toolchain"),
    ("'dynamic_cast' not permitted", "it wants run-time type information"),
    ("std::gslice::_Indexer", "`libstdc++-lite.a` has no slices of `valarray` in more than one dimension"),
];

/// Why one fails, where its end does not say it.
const FAILURES: &[(&str, &str)] = &[
    ("20_util/shared_ptr/cons/unique_ptr_deleter_ref_2.cc", GET_DELETER),
    ("20_util/shared_ptr/misc/get_deleter.cc", GET_DELETER),
    ("21_strings/basic_string/capacity/char/18654.cc", SHRINKING),
    ("21_strings/basic_string/capacity/char/shrink_to_fit.cc", SHRINKING),
    ("23_containers/vector/capacity/shrink_to_fit.cc", SHRINKING),
];
const GET_DELETER: &str = "`get_deleter` finds one by run-time type information";
const SHRINKING: &str = "without exceptions the library never moves what it holds to less room";

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Passed,
    LeftOut(&'static str),
    Failed(String),
    NotBuilt(String),
}

/// Every source below the parts, by its name below the suite.
fn programs(suite: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> = PARTS.iter().map(|part| suite.join(part)).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("unpacked").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "cc") {
                let name = path.strip_prefix(suite).expect("below it").to_string_lossy().into_owned();
                found.insert(name, path);
            }
        }
    }
    found
}

/// Why it is none of ours, if it is not.
fn left_out(text: &str) -> Option<&'static str> {
    let kind = gcc::directive(text, "dg-do").first().copied().unwrap_or("run");
    if !kind.starts_with("run") || text.contains("dg-error") {
        return Some("not to be run");
    }
    if kind.contains("! simulator") || kind.contains("-*-*") {
        return Some("a performance test or another machine's");
    }
    if kind.contains("xfail") {
        return Some("meant to fail");
    }
    let is_later =
        |word: &str| ["c++17", "c++20", "c++23", "c++2a", "c++1z"].iter().any(|later| word.contains(later));
    let directives = ["dg-do", "dg-options", "dg-additional-options"];
    if directives
        .iter()
        .flat_map(|name| gcc::directive(text, name))
        .any(|line| is_later(line) || line.contains("gnu++17") || line.contains("gnu++2"))
    {
        return Some("C++17 or later");
    }
    let has = |word: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        word.contains(['-', ':']) && text.contains(word)
            || text.split(|c| !is_part(c)).any(|found| found == word)
    };
    LEFT_OUT.iter().find(|(_, words)| words.iter().any(|word| has(word))).map(|(reason, _)| *reason)
}

fn judge(path: &Path, suite: &Path, start: &[PathBuf], dir: &Path) -> Verdict {
    let text = String::from_utf8_lossy(&std::fs::read(path).expect("readable")).into_owned();
    if let Some(reason) = left_out(&text) {
        return Verdict::LeftOut(reason);
    }
    let mut flags: Vec<String> = ["-O2", "-w", "-fno-show-column"].map(str::to_owned).to_vec();
    flags.extend(gcc::options(&text).filter(|word| !word.starts_with("-O")));
    flags.push(format!("-I{}", suite.join("util").display()));
    let (object, image) = (dir.join("program.o"), dir.join("program.elf"));
    let built =
        compiler::compile(path, &object, &flags).and_then(|()| compiler::link(start, &object, &image));
    if let Err(said) = built {
        return match said.contains("exception handling disabled") {
            true => Verdict::LeftOut("exceptions, in a helper of the suite"),
            false => Verdict::NotBuilt(gcc::reason(&said)),
        };
    }
    let (bytes, memory, entry) = compiler::load(&std::fs::read(&image).expect("linked"));
    match guest::run_all_ways(&bytes, memory, entry) {
        Ok((Ok(ours), _)) if ours.exit == 0 => Verdict::Passed,
        Ok((Ok(ours), _)) => Verdict::Failed(format!("exit code {}", ours.exit)),
        Ok((Err(stop), _)) => Verdict::Failed(format!("{stop:?}")),
        Err(difference) => panic!("{}: {difference}", path.display()),
    }
}

/// Judges programs on all processors.
fn judge_all(programs: &[(&str, &Path)], suite: &Path) -> BTreeMap<String, Verdict> {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let helpers = [format!("-I{}", suite.join("util").display())];
    let start = compiler::objects(scratch.path(), ["start.S", "constructors.c", "helpers.cpp"], &helpers);
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let own = tempfile::tempdir().expect("a temporary directory");
                while let Some((name, path)) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = judge(path, suite, &start, own.path());
                    results.lock().expect("no panic").insert((*name).to_owned(), verdict);
                }
            });
        }
    });
    results.into_inner().expect("no panic")
}

/// The page of `docs`.
fn page(results: &BTreeMap<String, Verdict>, every: usize) -> String {
    let package = gcc::package();
    let all = if every == 1 { "all".to_owned() } else { format!("every {every}th of the") };
    let mut text = format!(
        "# libstdc++'s own tests, of `{package}`\n\n\
         Written by `GPSIMD_LIBSTDCXX={every} GPSIMD_UPDATE_DOCS=1 cargo test -p xtensa-iss --test libstdcxx -- --ignored`: {all}\n\
         programs that `{package}` has below these parts of `libstdc++-v3/testsuite`, compiled as C++14 without\n\
         exceptions and type information, and run by one simulated core in three ways that must agree. `cargo xtask soak\n\
         libstdcxx` does it again; what does not pass and is not listed here is an error.\n\n\
         | part | passed | failed | not built | left out |\n|---|---|---|---|---|\n"
    );
    for part in PARTS {
        let mut counts = [0; 4];
        for (_, verdict) in results.iter().filter(|(name, _)| name.starts_with(part)) {
            let column = match verdict {
                Verdict::Passed => 0,
                Verdict::Failed(_) => 1,
                Verdict::NotBuilt(_) => 2,
                Verdict::LeftOut(_) => 3,
            };
            counts[column] += 1;
        }
        let [passed, failed, not_built, left_out] = counts;
        let _ = writeln!(text, "| `{part}` | {passed} | {failed} | {not_built} | {left_out} |");
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for verdict in results.values() {
        if let Verdict::LeftOut(reason) = verdict {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    text += "\n## Left out\n\n| because of | tests |\n|---|---|\n";
    for (reason, count) in reasons {
        let _ = writeln!(text, "| {reason} | {count} |");
    }
    text += "\n## Failed, or not built\n\n| test | |\n|---|---|\n";
    for (name, verdict) in results {
        if let Verdict::Failed(said) | Verdict::NotBuilt(said) = verdict {
            let failure = FAILURES.iter().find(|(test, _)| test == name);
            let known = failure.or_else(|| REASONS.iter().find(|(sign, _)| said.contains(sign)));
            let known = known.map(|(_, reason)| *reason);
            let _ = writeln!(text, "| `{name}` | {} |", known.unwrap_or(said));
        }
    }
    text
}

#[test]
#[ignore = "minutes; `cargo xtask soak libstdcxx` runs it"]
fn the_librarys_own_tests_pass() {
    let every: usize = std::env::var("GPSIMD_LIBSTDCXX").map_or(10, |every| every.parse().expect("a number"));
    let suite = gcc::library_suite(Path::new(env!("CARGO_TARGET_TMPDIR")));
    let programs = programs(&suite);
    let only = std::env::var("GPSIMD_LIBSTDCXX_ONLY").unwrap_or_default();
    let is_chosen = |name: &str| only.is_empty() || only.split(' ').any(|one| one == name);
    let chosen: Vec<(&str, &Path)> = programs
        .iter()
        .step_by(every)
        .map(|(name, path)| (name.as_str(), path.as_path()))
        .filter(|(name, _)| is_chosen(name))
        .collect();
    let results = judge_all(&chosen, &suite);
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let listed = gcc::page(&docs, "libstdcxx-suite");
    if std::env::var_os("GPSIMD_UPDATE_DOCS").is_some() {
        std::fs::write(&listed, page(&results, every)).expect("written");
    }
    let known = std::fs::read_to_string(&listed).expect("a page in docs");
    let is_wrong = |(name, verdict): &(String, Verdict)| {
        matches!(verdict, Verdict::Failed(_) | Verdict::NotBuilt(_)) && !known.contains(&format!("`{name}`"))
    };
    let passed = results.values().filter(|verdict| **verdict == Verdict::Passed).count();
    let wrong: Vec<_> = results.into_iter().filter(is_wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(passed > 0, "nothing was run");
    println!("{passed} tests passed");
}
