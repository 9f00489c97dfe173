//! The toolchain as a package for pip, in an environment where nothing else has one: found, used, taken away again.
//!
//! Unaware of what is in it.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::yard::{ARCHIVE, Yard, end};
use crate::chores::run;

const PACKAGE: &str = "gpsimd-build-toolchain";

pub fn storm(yard: &Yard) -> Result<String> {
    let environment = yard.path("env");
    run(Command::new("python3").arg("-m").arg("venv").arg(&environment))?;
    fs::copy(yard.tool(), environment.join("bin/gpsimd-build"))?;
    let tool = environment.join("bin/gpsimd-build").to_string_lossy().into_owned();
    let call = |arguments: &[&str]| {
        let mut command = yard.bounded(900, &tool);
        command.args(arguments).env("GPSIMD_BUILD_HOME", yard.path("home of it"));
        end(&mut command)
    };
    let good = |arguments: &[&str]| -> Result<String> { call(arguments)?.good(arguments) };
    let pip = |arguments: &[&str]| {
        let mut command = Command::new(environment.join("bin/python3"));
        command.args(["-m", "pip", "--disable-pip-version-check", "--quiet"]);
        run(command.args(arguments))
    };
    let without = call(&["toolchain", "show"])?;
    ensure!(without.code == Some(3), "there is one already: {}", without.said);

    yard.good(&["toolchain", "export", ARCHIVE])?;
    let made = wheel(yard, |directory| yard.good(&["toolchain", "wheel", directory]), "made")?;
    pip(&["install", "--no-index", &made])?;
    pip(&["check"])?;
    let shown = good(&["toolchain", "show"])?;
    ensure!(shown.contains(&*environment.to_string_lossy()), "{shown}");
    good(&["doctor"])?;
    good(&["compile", "vector_add.cpp", "--multicore"])?;
    good(&["verify", "build/vector_add"])?;
    // from here it goes out as it would have from where it was made
    good(&["toolchain", "export", "again.tar.xz"])?;
    ensure!(fs::read(yard.path("again.tar.xz"))? == fs::read(yard.path(ARCHIVE))?, "another archive");
    let again = wheel(yard, |directory| good(&["toolchain", "wheel", directory]), "again")?;
    ensure!(fs::read(&again)? == fs::read(&made)?, "another package");
    // what the program came with goes before what it is given
    let said = good(&["toolchain", "install", "--from", ARCHIVE])?;
    ensure!(said.contains("another goes before it"), "{said}");
    pip(&["uninstall", "--yes", PACKAGE])?;
    let shown = good(&["toolchain", "show"])?;
    ensure!(!shown.contains(&*environment.to_string_lossy()), "{shown}");
    // of directories for data it leaves the empty ones
    let left = fs::read_dir(environment.join("share/gpsimd-build/toolchains"))?.flatten().next();
    ensure!(left.is_none(), "pip left {left:?}");
    Ok(format!("{} bytes installed, used, exported and taken away", fs::metadata(&made)?.len()))
}

/// The one wheel in a directory of the yard that `make` fills.
fn wheel(yard: &Yard, make: impl FnOnce(&str) -> Result<String>, name: &str) -> Result<String> {
    fs::create_dir(yard.path(name))?;
    make(name)?;
    let entry = fs::read_dir(yard.path(name))?.flatten().next().context("a wheel")?;
    Ok(entry.path().to_string_lossy().into_owned())
}
