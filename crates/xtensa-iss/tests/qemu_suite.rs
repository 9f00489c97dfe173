//! qemu's own tests of instructions, as programs in user level: each passes interpreted, translated and under qemu-xtensa.
//!
//! They are fetched from the distribution's source package, so this runs when it is asked for: `cargo xtask soak
//! instructions`. What a program in user level cannot do is listed with its reason in `docs/qemu-suite.md`.

mod common;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use common::{compiler, guest, qemu};

/// Suites that are about what only a supervisor may do, or about what the core has not.
const LEFT_OUT: [(&str, &str); 15] = [
    ("break", "breakpoint registers and the debug exception, which only a supervisor has"),
    ("cache", "cache instructions of a supervisor; the model has no caches"),
    ("dfp0_arith", "floating-point registers of 64 bits, which the assembler's core has not"),
    ("exclusive", "exclusive access, which the assembler's core has not"),
    ("flix", "bundles of another core"),
    ("fp0_div", "steps of a division, which the assembler's core has not"),
    ("fp0_sqrt", "steps of a square root, which the assembler's core has not"),
    ("fp_cpenable", "the exception of a disabled coprocessor"),
    ("interrupt", "interrupts"),
    ("mac16", "a multiply-accumulate unit, which the device's cores have not"),
    ("mmu", "memory management"),
    ("phys_mem", "memory management"),
    ("sr", "special registers of a supervisor, and which of them raise exceptions"),
    ("timer", "interrupts of timers"),
    ("windowed", "window exceptions and their registers, which the system handles for a user's program"),
];

/// Suites for a core with floating-point registers and booleans, which qemu's usual one has not.
const WITH_FLOATS: [&str; 4] = ["boolean", "fp0_arith", "fp0_conv", "fp1"];

/// The suite with floats whose instructions are others on a core with flags, of which the assembler has not all.
const WITHOUT_FLAGS: &str = "lsc";

/// What a suite tells at its end.
#[derive(Debug, PartialEq, Eq)]
struct Counts {
    passed: u32,
    failed: u32,
    skipped: u32,
}

/// The suites, by name.
fn suites() -> BTreeMap<String, PathBuf> {
    let entries = std::fs::read_dir(qemu::tests(Path::new(env!("CARGO_TARGET_TMPDIR")))).expect("unpacked");
    let named = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name.strip_prefix("test_")?.strip_suffix(".S")?.to_owned(), entry.path()))
    });
    named.collect()
}

fn counted(name: &str, source: &Path, dir: &Path) -> Counts {
    let environment = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/tcg");
    let mut flags = vec![format!("-I{}", environment.display()), "-Wa,--auto-litpools".to_owned()];
    flags.extend((name == WITHOUT_FLAGS).then(|| "-DXCHAL_HAVE_FP_DIV=0".to_owned()));
    let [start, object, image] = ["start.o", "suite.o", "suite.elf"].map(|file| dir.join(file));
    let built = compiler::compile(&environment.join("start.S"), &start, &flags)
        .and_then(|()| compiler::compile(source, &object, &flags))
        .and_then(|()| compiler::link(&[start], &object, &image));
    built.unwrap_or_else(|said| panic!("{name}: {said}"));
    let elf = std::fs::read(&image).expect("linked");
    let (bytes, memory, entry) = compiler::load(&elf);
    let (ours, _) = guest::run_model(&bytes, memory, entry);
    let core = match name {
        WITHOUT_FLAGS => "dsp3400",
        _ if WITH_FLOATS.contains(&name) => "de233_fpu",
        _ => "dc233c",
    };
    assert_eq!(ours, guest::run_qemu(core, &elf), "{name}");
    let count =
        |at| ours.output.get(at..at + 4).and_then(|word| word.try_into().ok()).map(u32::from_le_bytes);
    let count = |at| count(at).unwrap_or_else(|| panic!("{name} ends with {ours:?}"));
    Counts { passed: count(0), failed: count(4), skipped: count(8) }
}

/// `docs/qemu-suite.md`.
fn page(results: &BTreeMap<&str, Counts>) -> String {
    let mut text = String::from(
        "# qemu's tests of instructions\n\n\
         Written by `GPSIMD_UPDATE_DOCS=1 cargo xtask soak instructions`: the programs of `tests/tcg/xtensa` in the distribution's\n\
         source package of qemu, with macros of our own that make them programs in user level, run by one simulated core\n\
         (interpreted, translated, with native routines) and by `qemu-xtensa`. A test that sets an exception vector or the\n\
         processor's state is skipped: there is no supervisor.\n\n\
         | suite | passed | failed | skipped |\n|---|---|---|---|\n",
    );
    for (name, Counts { passed, failed, skipped }) in results {
        let _ = writeln!(text, "| `{name}` | {passed} | {failed} | {skipped} |");
    }
    text.push_str("\n## Left out\n\n| suite | it is about |\n|---|---|\n");
    for (name, reason) in LEFT_OUT {
        let _ = writeln!(text, "| `{name}` | {reason} |");
    }
    text
}

#[test]
#[ignore = "fetches a source package of 24 MB: cargo xtask soak instructions"]
fn instructions_are_what_qemus_tests_take_them_for() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let suites = suites();
    let is_left_out = |name: &str| LEFT_OUT.iter().any(|(left_out, _)| *left_out == name);
    for (name, _) in LEFT_OUT {
        assert!(suites.contains_key(name), "{name} is no suite");
    }
    let ours = suites.iter().filter(|(name, _)| !is_left_out(name));
    let results: BTreeMap<&str, Counts> =
        ours.map(|(name, source)| (name.as_str(), counted(name, source, scratch.path()))).collect();
    for (name, counts) in &results {
        assert!(counts.failed == 0 && counts.passed > 0, "{name}: {counts:?}");
    }
    let passed: u32 = results.values().map(|counts| counts.passed).sum();
    println!("{} suites of qemu: {passed} tests passed", results.len());
    let listed = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/qemu-suite.md");
    let page = page(&results);
    if std::env::var_os("GPSIMD_UPDATE_DOCS").is_some() {
        std::fs::write(&listed, &page).expect("written");
    }
    assert_eq!(std::fs::read_to_string(&listed).unwrap_or_default(), page, "docs/qemu-suite.md");
}
