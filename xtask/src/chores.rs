//! The chores: each a short sequence of processes, stopping at the first that fails.
//!
//! Unaware of which packages exist; `packages` knows.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::JoinHandle;

use anyhow::{Context, Result, bail};

use crate::{bench, licences, packages, soak, trust};

/// Set-up, then the first build and the first run that a newcomer sees.
pub fn demo() -> Result<()> {
    let tool = set_up()?;
    run(Command::new(&tool).args([
        "compile",
        "examples/relu_multicore.cpp",
        "--multicore",
        "--out-dir",
        "build",
        "--schema",
        "my::relu_multicore(Tensor x) -> (Tensor y)",
    ]))?;
    run(Command::new(tool).args(["run", "build/relu_multicore", "rand:1000", "--like", "0"]))
}

/// Everything that can fail. Packages are installed while the tests compile, and the open toolchain while they are
/// linted: those wait for the network, these for the processors.
pub fn test() -> Result<()> {
    let packages = std::thread::spawn(packages::ensure_test_packages);
    // the tool is built as the tests need it, which a build of it alone does not
    run(cargo().args(["test", "--workspace", "--no-run"]))?;
    joined(packages)?;
    let toolchain = std::thread::spawn(|| install_toolchain().map(|_| ()));
    let lints = [
        lint("rustup component add rustfmt", &["fmt", "--all", "--check"])?,
        lint(
            "rustup component add clippy",
            &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        )?,
        lint("cargo install --locked cargo-deny", &["deny", "check", "bans", "licenses", "sources"])?,
    ];
    let advisories = advisories()?;
    licences::check()?;
    trust::check()?;
    joined(toolchain)?;
    run(cargo().args(["test", "--workspace"]))?;
    for line in lints.into_iter().flatten().chain(advisories) {
        println!("xtask: {line}");
    }
    Ok(())
}

/// What is known against the dependencies' versions, if the database can be had; `trust` knows some of it without.
fn advisories() -> Result<Option<String>> {
    let fetched = cargo().args(["deny", "fetch", "db"]).output().is_ok_and(|output| output.status.success());
    if !fetched {
        return Ok(Some(
            "NOT RUN: the advisory database cannot be had; versions were checked by deny.toml".to_owned(),
        ));
    }
    run(cargo().args(["deny", "check", "advisories"]))?;
    Ok(None)
}

fn joined(thread: JoinHandle<Result<()>>) -> Result<()> {
    thread.join().unwrap_or_else(|_| bail!("a chore panicked"))
}

/// Set-up, then builds and simulated programs measured against what they replace.
pub fn bench(sections: &[bench::Section], rounds: usize) -> Result<()> {
    packages::ensure_test_packages()?;
    set_up()?;
    let release = |package: &str, more: &[&str]| {
        run(cargo().args(["build", "--release", "--package", package]).args(more))
    };
    release("gpsimd-build", &[])?;
    release("gpsimd-python", &[])?;
    for (package, example) in
        [("gpsimd-image", "package"), ("xtensa-iss", "speed"), ("gpsimd-library", "calls")]
    {
        release(package, &["--example", example])?;
    }
    let built = |name: &str| target_directory().join("release").join(name);
    let (tool, package) = (built("gpsimd-build"), built("examples/package"));
    let (speed, calls) = (built("examples/speed"), built("examples/calls"));
    let extension = built("lib_native.so");
    let binaries = bench::Binaries {
        tool: &tool,
        package: &package,
        speed: &speed,
        calls: &calls,
        extension: &extension,
    };
    bench::run(root(), &binaries, sections, rounds)
}

/// Set-up, then the storms.
pub fn soak(dose: &soak::Dose) -> Result<()> {
    packages::ensure_storm_packages()?;
    match &dose.tool {
        Some(tool) => soak::run(&tool.canonicalize().context("the tool to storm")?, dose),
        None => soak::run(&set_up()?, dose),
    }
}

/// Builds the tool and lets it install the open toolchain; gives the tool's path.
fn set_up() -> Result<PathBuf> {
    run(cargo().args(["build", "--package", "gpsimd-build"]))?;
    install_toolchain()
}

/// Lets the tool, which is built, install the open toolchain; gives the tool's path.
fn install_toolchain() -> Result<PathBuf> {
    let tool = target_directory().join("debug/gpsimd-build");
    run(Command::new(&tool).args(["toolchain", "install", "--yes"]))?;
    Ok(tool)
}

/// Runs a cargo command that may not be installed; one that is not is named in the closing lines, with `remedy`, not
/// passed over.
fn lint(remedy: &str, arguments: &[&str]) -> Result<Option<String>> {
    let name = arguments.first().copied().unwrap_or_default();
    let present = cargo().args([name, "--version"]).output().is_ok_and(|output| output.status.success());
    if !present {
        return Ok(Some(format!("NOT RUN: cargo {name} is not installed ({remedy})")));
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

/// The repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// Where cargo keeps what it downloads.
pub fn cargo_home() -> Result<PathBuf> {
    let said = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let usual = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo"));
    said.or_else(usual).context("neither CARGO_HOME nor HOME is set")
}

/// Where cargo builds.
pub fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Runs a command that must succeed, in the repository unless it has another directory, and says which.
pub fn run(command: &mut Command) -> Result<()> {
    if command.get_current_dir().is_none() {
        command.current_dir(root());
    }
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
