//! Scripts in the installed directory: `bin/q7-*` for people, which this program itself never runs, and `bin/inner/*`,
//! which the compiler starts in place of the distribution's programs, so that no caller has to set a variable for them.
//!
//! Unaware of the final directory's existence; its name is written down before the rename, or found by the script where
//! the directory may travel.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::workshop::{Workshop, write_program};
use crate::job::joined;
use crate::open::PLUGIN;
use crate::travel::PROGRAMS;
use crate::{Command, Machine, ToolchainError, open};

pub(crate) const BINUTILS: &[&str] = &[
    "as",
    "ld",
    "ar",
    "nm",
    "objdump",
    "objcopy",
    "strip",
    "readelf",
    "ranlib",
    "size",
    "addr2line",
    "c++filt",
];

/// What a compiler starts and the core's configuration is for.
const INNER: &[&str] = &["as", "ld"];

/// Scripts for the directory's final name.
pub(super) fn write_all(workshop: &Workshop, dir: &Path) -> Result<(), ToolchainError> {
    let (mut assignment, value) = open::config_variable(dir);
    assignment.push("=");
    assignment.push(value);
    let target = open::target_words(dir);
    for (name, words) in words(dir, target, &workshop.compiler_headers, workshop.profile.gcc) {
        let program = format!("{}-{name}", open::TARGET);
        // `env` rather than a shell assignment: in front of `exec` shells differ in whether it is exported.
        let command = match BINUTILS.contains(&name) {
            true => Command::new("env").arg(assignment.clone()).arg(program),
            false => Command::new(program),
        };
        let text = format!("exec {} \"$@\"\n", command.args(words));
        script(&for_people(workshop.root, name), &text)?;
    }
    Ok(())
}

/// These start with every compile, so they find the plugin without another process: `$0` is what `-B` made of their name.
pub(super) fn write_inner(root: &Path, machine: &Machine) -> Result<(), ToolchainError> {
    for name in INNER {
        let program = Command::new(open::program(machine, name)?);
        let (variable, inner) = (open::CONFIGURATION, open::INNER);
        let text =
            format!("{variable}=${{0%/{inner}/*}}/{PLUGIN}\nexport {variable}\nexec {program} \"$@\"\n");
        script(&root.join(inner).join(name), &text)?;
    }
    Ok(())
}

/// Scripts that find the directory by their own place.
pub(crate) fn write_travelling(
    root: &Path,
    compiler_headers: &[PathBuf],
    gcc: &str,
) -> Result<(), ToolchainError> {
    // no word has it, and no shell would quote it
    const HERE: &str = "/__HERE__";
    let target = open::TARGET_FLAGS.iter().map(OsString::from).collect();
    for (name, words) in words(Path::new(HERE), target, compiler_headers, gcc) {
        let program = Path::new(HERE).join(PROGRAMS).join(format!("{}-{name}", open::TARGET));
        let command = Command::new(program).args(words).to_string().replace(HERE, "\"$here\"");
        let text =
            format!("here=$(dirname \"$(dirname \"$(readlink -f \"$0\")\")\")\nexec {command} \"$@\"\n");
        script(&for_people(root, name), &text)?;
    }
    Ok(())
}

/// Every script's program, and what it is told; `target` is for compilers.
fn words(
    dir: &Path,
    target: Vec<OsString>,
    compiler_headers: &[PathBuf],
    gcc: &str,
) -> Vec<(&'static str, Vec<OsString>)> {
    let lib = dir.join("target/lib");
    let mut common =
        vec![OsString::from("-nostdlib"), joined("-B", &lib), joined("-L", &lib), open::place_map(dir)];
    common.extend(target);
    let c = open::c_headers(dir, compiler_headers);
    let mut all: Vec<(&str, Vec<OsString>)> = BINUTILS.iter().map(|name| (*name, Vec::new())).collect();
    all.push(("gcc", [common.clone(), c.clone()].concat()));
    all.push(("g++", [common, open::cxx_headers(dir, gcc), c].concat()));
    all
}

fn for_people(root: &Path, name: &str) -> PathBuf {
    root.join(format!("bin/q7-{name}"))
}

fn script(path: &Path, text: &str) -> Result<(), ToolchainError> {
    write_program(path, format!("#!/bin/sh\n{text}"))
}
