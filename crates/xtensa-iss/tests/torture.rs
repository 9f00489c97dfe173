//! GCC's execute torture suite: every program ends alike interpreted, translated, with native routines, and under qemu-xtensa.
//!
//! A tenth of the programs runs by default, each at one level of optimisation; all of them with `GPSIMD_TORTURE=each`, at four
//! levels with `GPSIMD_TORTURE=all`. What does not pass has to stand in `docs/torture-suite.md`, or in the page of a later
//! compiler, and nothing may differ.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{compiler, gcc, guest};
use xtensa_iss::Stop;

const LEVELS: [&str; 4] = ["-O0", "-Os", "-O2", "-O3"];
/// Of the default dose one program in so many runs.
const DOSE: usize = 10;

/// Why a program fails that is built, where its end does not say it.
const REASONS: &[(&str, &str)] = &[
    (
        "20030125-1.c",
        "it wants calls of `sin` and `floor` made calls of `sinf` and `floorf`, which the compiler's options forbid",
    ),
    ("20000603-1.c", "the compiler takes two members of a union for ones that cannot meet"),
    ("20101011-1.c", "it waits for a signal from a division by zero, at which the core stops"),
    ("960521-1.c", "it does not ask whether `malloc` had so much"),
    ("ipa-sra-1.c", "it reads the arguments of `main`, which has none here"),
    ("ipa-sra-2.c", "it reads the arguments of `main`, which has none here"),
    ("fprintf-2.c", "it writes a file"),
    ("printf-2.c", "it writes a file"),
    ("user-printf.c", "it writes a file"),
    ("stkalign.c", "its stack is larger than the test's"),
];

/// What became of a program at one level; all ways to run it agree, or it differs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Passed,
    /// It exits with a failure, or is stopped.
    Failed(String),
    NotBuilt(String),
    Differs(String),
}

/// The programs, by name.
fn programs() -> BTreeMap<String, PathBuf> {
    let root = gcc::test_suite(Path::new(env!("CARGO_TARGET_TMPDIR"))).join("gcc.c-torture/execute");
    let in_folder = |folder: &str| {
        let entries = std::fs::read_dir(root.join(folder)).expect("unpacked");
        let paths = entries.map(|entry| entry.expect("readable").path());
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "c")).collect::<Vec<_>>()
    };
    let name = |path: &Path| path.strip_prefix(&root).expect("below it").to_string_lossy().into_owned();
    ["", "ieee"].iter().flat_map(|folder| in_folder(folder)).map(|path| (name(&path), path)).collect()
}

fn judge(path: &Path, level: &str, start: &[PathBuf], dir: &Path) -> Verdict {
    let text = String::from_utf8_lossy(&std::fs::read(path).expect("readable")).into_owned();
    let flags: Vec<String> = [level.to_owned(), "-w".to_owned()]
        .into_iter()
        .chain(gcc::options(&text).filter(|word| !word.starts_with("-O")))
        .collect();
    let (object, image) = (dir.join("program.o"), dir.join("program.elf"));
    let built =
        compiler::compile(path, &object, &flags).and_then(|()| compiler::link(start, &object, &image));
    if let Err(said) = built {
        return Verdict::NotBuilt(gcc::reason(&said));
    }
    let elf = std::fs::read(&image).expect("linked");
    let (bytes, memory, entry) = compiler::load(&elf);
    let ours = match guest::run_all_ways(&bytes, memory, entry) {
        Ok((ours, _)) => ours,
        Err(difference) => return Verdict::Differs(difference),
    };
    let theirs = guest::qemu_outcome("dc233c", &elf);
    match ours {
        Ok(ours) if ours != theirs => Verdict::Differs(format!("{ours:?}, qemu {theirs:?}")),
        Ok(ours) if ours.exit == 0 => Verdict::Passed,
        Ok(ours) => Verdict::Failed(format!("exit code {}", ours.exit)),
        // A signal, or no end.
        Err(Stop::Fault(fault)) if theirs.exit > 128 => Verdict::Failed(fault.kind.to_string()),
        Err(Stop::Budget) if theirs.exit == 124 => Verdict::Failed("no end".to_owned()),
        Err(stop) => Verdict::Differs(format!("{stop:?}, qemu {theirs:?}")),
    }
}

/// Judges programs at levels, on all processors.
fn judge_all(cases: &[(&str, &Path, &'static str)]) -> BTreeMap<(String, &'static str), Verdict> {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let start = compiler::start_objects(scratch.path());
    let (next, results) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let own = tempfile::tempdir().expect("a temporary directory");
                while let Some(&(name, path, level)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let verdict = judge(path, level, &start, own.path());
                    results.lock().expect("no panic").insert((name.to_owned(), level), verdict);
                }
            });
        }
    });
    results.into_inner().expect("no panic")
}

/// The page of `docs`.
fn page(results: &BTreeMap<(String, &'static str), Verdict>) -> String {
    let package = gcc::package();
    let mut text = format!(
        "# GCC's execute torture suite, of `{package}`\n\n\
         Written by `GPSIMD_TORTURE=each GPSIMD_UPDATE_DOCS=1 cargo test -p xtensa-iss --test torture`: the programs of\n\
         `{package}` in `gcc.c-torture/execute` and its folder `ieee`, compiled as kernels are, each at one of four levels in\n\
         turn, run by one simulated core (interpreted, translated, with native routines) and by `qemu-xtensa`. The ways *agree*\n\
         when output and exit code are the same, for the core also the number of instructions. `cargo xtask soak torture`\n\
         takes all at four levels; what does not pass and is not listed here is an error, and so is every difference.\n\n\
         | level | agree and pass | agree and fail | not built | differ |\n|---|---|---|---|---|\n",
    );
    for level in LEVELS {
        let of_level = results.iter().filter(|((_, at), _)| *at == level);
        let mut counts = [0; 4];
        of_level.for_each(|(_, verdict)| counts[verdict.kind()] += 1);
        let [passed, failed, not_built, differ] = counts;
        let _ = writeln!(text, "| `{level}` | {passed} | {failed} | {not_built} | {differ} |");
    }
    for (kind, title) in [(3, "Different ends"), (1, "Failures"), (2, "Not built")] {
        let mut rows = BTreeMap::<(&str, &str), Vec<&str>>::new();
        for ((name, level), verdict) in results.iter().filter(|(_, verdict)| verdict.kind() == kind) {
            let known = REASONS.iter().find(|(known, _)| known == name).map(|(_, reason)| *reason);
            rows.entry((name, known.unwrap_or(verdict.said()))).or_default().push(level);
        }
        if !rows.is_empty() {
            let _ = write!(text, "\n## {title}\n\n| program | at | |\n|---|---|---|\n");
        }
        for ((name, reason), levels) in rows {
            let at = if levels.len() == LEVELS.len() { "all".to_owned() } else { levels.join(" ") };
            let _ = writeln!(text, "| `{name}` | {at} | {reason} |");
        }
    }
    text
}

impl Verdict {
    fn kind(&self) -> usize {
        match self {
            Verdict::Passed => 0,
            Verdict::Failed(_) => 1,
            Verdict::NotBuilt(_) => 2,
            Verdict::Differs(_) => 3,
        }
    }

    fn said(&self) -> &str {
        match self {
            Verdict::Passed => "",
            Verdict::Failed(said) | Verdict::NotBuilt(said) | Verdict::Differs(said) => said,
        }
    }
}

#[test]
fn programs_that_gcc_is_tortured_with_end_alike() {
    let programs = programs();
    let programs: Vec<_> = programs.iter().map(|(name, path)| (name.as_str(), path.as_path())).collect();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let listed = gcc::page(&docs, "torture-suite");
    let dose = std::env::var("GPSIMD_TORTURE").ok();
    let every = if dose.is_some() { 1 } else { DOSE };
    let in_turn = programs.iter().step_by(every).zip(LEVELS.iter().cycle());
    let cases: Vec<_> = in_turn
        .flat_map(|(&(name, path), level)| {
            let levels = if dose.as_deref() == Some("all") { &LEVELS } else { std::slice::from_ref(level) };
            levels.iter().map(move |level| (name, path, *level))
        })
        .collect();
    let only = std::env::var("GPSIMD_TORTURE_ONLY").unwrap_or_default();
    let cases: Vec<_> = cases
        .into_iter()
        .filter(|(name, ..)| only.is_empty() || only.split(' ').any(|o| o == *name))
        .collect();
    let results = judge_all(&cases);
    if dose.is_some() && std::env::var_os("GPSIMD_UPDATE_DOCS").is_some() {
        std::fs::write(&listed, page(&results)).expect("written");
    }
    // What the page lists is known; everything else passes.
    let known = std::fs::read_to_string(&listed).expect("a page in docs");
    let wrong: Vec<_> = results
        .into_iter()
        .filter(|((name, _), verdict)| {
            let is_listed = known.contains(&format!("`{name}`")) && verdict.kind() != 3;
            *verdict != Verdict::Passed && !is_listed
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
