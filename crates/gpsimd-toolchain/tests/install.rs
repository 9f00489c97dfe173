//! The installer for real, against the distribution's packages.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use common::{install_in, run, toolchain};
use gpsimd_toolchain::install::{Event, Outcome};
use gpsimd_toolchain::{Home, Machine, OpenToolchain, RECIPE, Toolchain, ToolchainError};

/// What this recipe and the sources in `sdk/sysroot` make of Debian 12's packages: compiler, assembler, tree hash.
const KNOWN: &[(&str, &str, &str)] = &[(
    "xtensa-lx106-elf-g++ (12.2.0-14+deb12u1+13+b2) 12.2.0",
    "GNU assembler (2.40-2+5+b1) 2.40",
    "b5f3d58fafee7c70a1db73a3b2779381c37284e5b443ee472b12a8ae7e3476c1",
)];

/// A new hash for known packages means that the recipe or a source changed. If a step in `install` did, `RECIPE` must be
/// raised as well, or old installations go on being used.
#[test]
fn known_packages_give_known_bytes() {
    let identity = Toolchain::Open(toolchain().clone()).identity();
    for (compiler, assembler, tree) in KNOWN {
        if identity.contains(compiler) && identity.contains(assembler) {
            assert_eq!(toolchain().tree_hash(), *tree, "recipe {RECIPE}");
        }
    }
}

#[test]
fn a_second_install_does_nothing() {
    let first = toolchain();
    match install_in(&common::home(), 2, &|event| panic!("nothing should happen: {event:?}")) {
        Outcome::AlreadyThere(second) => assert_eq!(&second, first),
        Outcome::Installed(_) => panic!("installed twice"),
    }
}

#[test]
fn together_the_archives_need_nothing_else() {
    let toolchain = toolchain();
    let mut defined = BTreeSet::new();
    let mut undefined = BTreeSet::new();
    for entry in fs::read_dir(toolchain.dir().join("target/lib")).unwrap() {
        let nm = toolchain.tool(&Machine::here(), "nm").unwrap().arg("-P").arg(entry.unwrap().path());
        for line in run(&nm, Path::new("/")).unwrap().lines() {
            let mut words = line.split(' ');
            match (words.next(), words.next()) {
                (Some(name), Some("U")) => undefined.insert(name.to_owned()),
                (Some(name), Some(kind)) if kind.len() == 1 => defined.insert(name.to_owned()),
                _ => false,
            };
        }
    }
    assert!(defined.len() > 2000, "{} symbols", defined.len());
    let missing: Vec<_> = undefined.difference(&defined).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// One scratch home through everything that can happen to it: killed installs, two at once, damage. The content ends up
/// as in the other home, which has another path and another number of jobs.
#[test]
fn killed_raced_and_damaged() {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = Home::at(scratch.path()).unwrap();
    let toolchains = home.toolchains();

    // Killed while unpacking, and while compiling the C library.
    for moment in ["unpack binutils", "libc "] {
        let mut child = install_in_child(&home, 2);
        let said = BufReader::new(child.stdout.take().unwrap())
            .lines()
            .map(Result::unwrap)
            .find(|l| l.starts_with(moment));
        assert!(said.is_some(), "the install ended before {moment:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(finished(&toolchains), Vec::<PathBuf>::new());
        let error = OpenToolchain::discover(&Machine::here(), &home).unwrap_err();
        assert!(matches!(error, ToolchainError::NotInstalled { recipe: RECIPE, .. }), "{error}");
    }
    assert!(fs::read_dir(&toolchains).unwrap().count() > 1, "a killed install leaves something to clear");

    // Two at once: one builds, the other waits and finds it done.
    let children: Vec<Child> = (1..=2).map(|jobs| install_in_child(&home, jobs)).collect();
    let mut outcomes: Vec<String> = Vec::new();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).unwrap();
        outcomes.extend(text.lines().filter(|l| l.starts_with("outcome")).map(str::to_owned));
    }
    outcomes.sort();
    assert_eq!(outcomes, ["outcome: already there", "outcome: installed"]);

    let built = OpenToolchain::discover(&Machine::here(), &home).unwrap();
    assert_eq!(built.tree_hash(), toolchain().tree_hash());
    assert_eq!(Toolchain::Open(built.clone()).identity(), Toolchain::Open(toolchain().clone()).identity());
    let mut entries: Vec<_> = fs::read_dir(&toolchains).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    assert_eq!(
        entries,
        [toolchains.join(".lock"), built.dir().to_owned()],
        "what killed installs left is cleared"
    );

    // Damaged: seen, and replaced.
    fs::write(built.dir().join("target/lib/libm.a"), "gone").unwrap();
    assert!(matches!(built.verify(), Err(ToolchainError::Damaged { .. })));
    assert!(matches!(install_in(&home, 2, &|_| {}), Outcome::Installed(again) if again == built));
    built.verify().unwrap();
}

#[test]
fn another_compiler_makes_it_stale() {
    let scratch = tempfile::tempdir().unwrap();
    let home = Home::at(scratch.path()).unwrap();
    let dir = home.toolchains().join(toolchain().dir().file_name().unwrap());
    fs::create_dir_all(&dir).unwrap();
    let manifest = fs::read_to_string(toolchain().dir().join("toolchain.json")).unwrap();
    let compiler = toolchain().compiler_version();
    fs::write(dir.join("toolchain.json"), manifest.replace(compiler, "xtensa-lx106-elf-g++ 12.1.0")).unwrap();
    match OpenToolchain::discover(&Machine::here(), &home) {
        Err(ToolchainError::Stale { what, built, found, .. }) => {
            assert_eq!(
                (what, built.as_str(), found.as_str()),
                ("the compiler", "xtensa-lx106-elf-g++ 12.1.0", compiler)
            );
        }
        other => panic!("{other:?}"),
    }
}

fn finished(toolchains: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(toolchains).unwrap().map(|e| e.unwrap().path());
    entries.filter(|p| p.file_name().unwrap().to_str().unwrap().starts_with("open-")).collect()
}

/// An install in a process of its own, which can be killed; it prints its events.
fn install_in_child(home: &Home, jobs: usize) -> Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "install_told_by_the_environment", "--ignored", "--nocapture"])
        .env("INSTALL_TEST_HOME", home.path())
        .env("INSTALL_TEST_JOBS", jobs.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
#[ignore = "the child of the test above"]
fn install_told_by_the_environment() {
    let Some(home) = std::env::var_os("INSTALL_TEST_HOME") else { return };
    let jobs = std::env::var("INSTALL_TEST_JOBS").unwrap().parse().unwrap();
    println!();
    let outcome = install_in(&Home::at(home).unwrap(), jobs, &|event| match event {
        Event::Progress { step, done, total } => println!("{step} {done}/{total}"),
        other => println!("{other:?}"),
    });
    println!(
        "outcome: {}",
        if matches!(outcome, Outcome::Installed(_)) { "installed" } else { "already there" }
    );
}
