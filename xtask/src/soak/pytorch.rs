//! The Python package with PyTorch 2, which this machine's release does not have: its tests in a system of Debian 13.
//!
//! Unaware of what the tests are about. One that compares with the operators of PyTorch 1.13 stays here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::chroot::{Chroot, WORK};
use super::yard::{ARCHIVE, Yard};
use crate::chores::{cargo, root, run, target_directory};

const RELEASE: &str = "trixie";
const PACKAGES: [&str; 7] = [
    "python3-torch",
    "libtorch-dev",
    "python3-numpy",
    "python3-pytest",
    "python3-dev",
    // inductor's way to a compiler
    "python3-setuptools",
    "g++",
];
/// Compares with the operators of one version.
const OF_ONE_VERSION: &str = "tests/torch/test_judge.py";

pub fn storm(yard: &Yard) -> Result<String> {
    let beside = yard.tool().with_file_name("lib_native.so");
    let extension = if beside.exists() { beside } else { built()? };
    yard.good(&["toolchain", "export", ARCHIVE])?;
    let chroot = Chroot::with(RELEASE, &PACKAGES, "pytorch")?;
    for directory in ["bin", "package"] {
        fs::create_dir_all(chroot.work().join(directory))?;
    }
    let python = root().join("integrations/python");
    let bring: [(&Path, &str); 6] = [
        (yard.tool(), "bin/gpsimd-build"),
        (&yard.path(ARCHIVE), ARCHIVE),
        (&python.join("python/gpsimd_build"), "package/gpsimd_build"),
        (&extension, "package/gpsimd_build/_native.abi3.so"),
        (&python.join("tests"), "tests"),
        (&root().join("examples"), "examples"),
    ];
    for (from, name) in bring {
        chroot.bring(from, name)?;
    }
    let path = format!("{WORK}/bin:/usr/bin:/bin");
    let variables = [
        ("GPSIMD_BUILD_HOME", "/mnt/home"),
        ("GPSIMD_EXAMPLES", "/mnt/examples"),
        ("HOME", "/mnt"),
        ("NO_COLOR", "1"),
        ("PATH", path.as_str()),
        ("PYTHONPATH", "/mnt/package"),
        ("TMPDIR", "/mnt"),
        // the compiler of PyTorch asks who it works for
        ("USER", "user"),
    ];
    let good = |words: &[&str]| chroot.good(&variables, words);
    good(&["gpsimd-build", "toolchain", "install", "--from", ARCHIVE])?;
    let version = good(&["/usr/bin/python3", "-c", "import torch; print(torch.__version__)"])?;
    let words = ["/usr/bin/python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/torch"];
    let said = good(&[&words[..], &["--ignore", OF_ONE_VERSION]].concat())?;
    let last = said.lines().rev().find(|line| line.contains(" passed")).context("pytest's last line")?;
    ensure!(!last.contains("skipped"), "{last}");
    Ok(format!("PyTorch {} of {RELEASE}: {}", version.trim(), last.trim_matches(['=', ' '])))
}

/// The extension, where none lies beside the tool.
fn built() -> Result<PathBuf> {
    run(cargo().args(["build", "--package", "gpsimd-python"]))?;
    Ok(target_directory().join("debug/lib_native.so"))
}
