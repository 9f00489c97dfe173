//! The chores: each a short sequence of processes, stopping at the first that fails.
//!
//! Unaware of which packages exist; `packages` knows.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{bench, licences, packages};

/// Set-up, then the first build a newcomer sees.
pub fn demo() -> Result<()> {
    let tool = set_up()?;
    let schema = "my::vector_add(Tensor a, Tensor b) -> (Tensor out)";
    run(Command::new(tool).args([
        "compile",
        "examples/vector_add.cpp",
        "--multicore",
        "--out-dir",
        "build",
        "--schema",
        schema,
    ]))
}

/// Set-up, then everything that can fail.
pub fn test() -> Result<()> {
    packages::ensure_test_packages()?;
    set_up()?;
    let lints = [
        lint("fmt", &["fmt", "--all", "--check"])?,
        lint("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?,
    ];
    licences::check()?;
    run(cargo().args(["test", "--workspace"]))?;
    for line in lints.into_iter().flatten() {
        println!("xtask: {line}");
    }
    Ok(())
}

/// Set-up, then whole builds measured against what they replace.
pub fn bench(rounds: usize) -> Result<()> {
    packages::ensure_test_packages()?;
    set_up()?;
    run(cargo().args(["build", "--release", "--package", "gpsimd-build"]))?;
    run(cargo().args(["build", "--release", "--package", "gpsimd-engine", "--example", "package"]))?;
    let release = target_directory().join("release");
    bench::run(root(), &release.join("gpsimd-build"), &release.join("examples/package"), rounds)
}

/// Set-up, then the storms of the tests, longer: damaged bytes into every parser, damaged libraries into the
/// prelinker, random edits under the incremental build.
pub fn soak(edits: u64, seed: u64) -> Result<()> {
    packages::ensure_test_packages()?;
    set_up()?;
    run(cargo().args(["run", "--release", "--package", "gpsimd-fuzz", "--", "300000"]))?;
    run(cargo().args([
        "run",
        "--release",
        "--package",
        "gpsimd-fuzz",
        "--",
        "10000000",
        "gpsimd-schema/schema",
    ]))?;
    let mut loader = cargo();
    loader.args(["test", "--release", "--package", "gpsimd-loader", "--test", "properties"]);
    run(loader.env("GPSIMD_SOAK", "1000000"))?;
    let mut storm = cargo();
    storm.args(["test", "--package", "gpsimd-build", "--test", "e2e", "storm::", "--", "--nocapture"]);
    run(storm.env("GPSIMD_STORM_EDITS", edits.to_string()).env("GPSIMD_STORM_SEED", seed.to_string()))
}

/// Builds the tool and lets it install the open toolchain; gives the tool's path.
fn set_up() -> Result<PathBuf> {
    run(cargo().args(["build", "--package", "gpsimd-build"]))?;
    let tool = target_directory().join("debug/gpsimd-build");
    run(Command::new(&tool).args(["toolchain", "install", "--yes"]))?;
    Ok(tool)
}

/// Runs a cargo lint; a lint that is not installed is named in the closing lines, not passed over.
fn lint(component: &str, arguments: &[&str]) -> Result<Option<String>> {
    let present = cargo().args([component, "--version"]).output().is_ok_and(|output| output.status.success());
    if !present {
        return Ok(Some(format!(
            "NOT RUN: cargo {component} is not installed (rustup component add {component})"
        )));
    }
    run(cargo().args(arguments))?;
    Ok(None)
}

/// Cargo, in the repository.
pub fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(root());
    command
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn run(command: &mut Command) -> Result<()> {
    command.current_dir(root());
    let line = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ");
    println!("xtask: {line}");
    let status = command.status().with_context(|| format!("cannot start {line}"))?;
    if !status.success() {
        bail!("{line}: {status}");
    }
    Ok(())
}
