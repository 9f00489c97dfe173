//! The toolchain of a newer distribution's packages: built and exported there, and judged here by the conformance suite and by
//! its makers' own tests, with the examples' size and instructions beside those of this machine's.
//!
//! Unaware of what the suites are about.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::chroot::{BUILDING, Chroot, WORK};
use super::chroots::{Example, examples, toolchain_packages, words};
use super::parsers;
use super::yard::{ARCHIVE, Yard};
use crate::chores::{cargo, run};

const RELEASE: &str = "trixie";
const GCC: &str = "gcc-13";

pub fn storm(yard: &Yard) -> Result<String> {
    let chroot = Chroot::with(RELEASE, &toolchain_packages(&format!("{GCC}-source")), "newer")?;
    // built for an older C library
    chroot.bring(yard.tool(), "gpsimd-build")?;
    let tool = format!("{WORK}/gpsimd-build");
    for arguments in [&["toolchain", "install", "--yes"][..], &["toolchain", "export", ARCHIVE]] {
        chroot.good(&BUILDING, &[&[tool.as_str()], arguments].concat())?;
    }
    let home = yard.path("newer home");
    let archive = chroot.work().join(ARCHIVE);
    let install = ["toolchain", "install", "--from", &archive.to_string_lossy()];
    yard.good_in(&home, &install)?;
    run(cargo().args(["test", "--workspace", "--test", "conformance"]).env("GPSIMD_BUILD_HOME", &home))?;
    let sources = sources(&chroot)?;
    for mut suite in [parsers::torture_suite("each"), parsers::library_suite()] {
        run(suite.env("GPSIMD_BUILD_HOME", &home).env("GPSIMD_GCC_SOURCES", &sources))?;
    }

    yard.bring_examples()?;
    println!("| example | stripped image | instructions |\n|---|---|---|");
    for example in examples()? {
        let [(ours, here), (theirs, there)] =
            [measured(yard, yard.home(), &example)?, measured(yard, &home, &example)?];
        println!("| `{}` | {ours}, {theirs} bytes | {here}, {there} |", example.name);
    }
    Ok(format!(
        "the conformance suite, GCC's torture suite and libstdc++'s tests pass with {GCC} of {RELEASE}"
    ))
}

/// The compiler's sources, which hold its tests.
fn sources(chroot: &Chroot) -> Result<PathBuf> {
    let directory = chroot.root().join("usr/src").join(GCC);
    let entries = fs::read_dir(&directory).with_context(|| directory.display().to_string())?;
    let mut archives = entries.flatten().map(|entry| entry.path());
    archives.find(|path| path.to_string_lossy().ends_with(".tar.xz")).context("no sources of the compiler")
}

/// Bytes of the example's first image that ships, and instructions of the calls of all its ops.
fn measured(yard: &Yard, home: &Path, example: &Example) -> Result<(u64, u64)> {
    yard.good_in(home, &words(&example.build()))?;
    let directory = yard.path("build");
    let single = directory.join(format!("{}.stripped.so", example.name));
    let first = directory.join(format!("{}_cpu0.stripped.so", example.name));
    let image = if example.is_multicore { first } else { single };
    let bytes = fs::metadata(&image).with_context(|| image.display().to_string())?.len();
    let mut instructions = 0;
    for call in &example.calls {
        let said =
            yard.good_in(home, &[&["run", &example.library(), "--json"], &words(&call.run)[..]].concat())?;
        let answer: Value = serde_json::from_str(&said).context("what run says")?;
        let cores = answer["result"]["cores"].as_array().context("cores")?;
        instructions +=
            cores.iter().filter_map(|core| core["counters"]["instructions"].as_u64()).sum::<u64>();
    }
    Ok((bytes, instructions))
}
