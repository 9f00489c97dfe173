//! `bin/q7-*` in the installed directory: short scripts for people. This program itself never runs them.
//!
//! Unaware of the final directory's existence; its name is written down before the rename, or found by the script where
//! the directory may travel.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::workshop::{Workshop, write};
use crate::error::IoContext as _;
use crate::job::joined;
use crate::travel::PROGRAMS;
use crate::{Command, ToolchainError, open};

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

pub(super) fn write_all(workshop: &Workshop, dir: &Path) -> Result<(), ToolchainError> {
    let (key, value) = open::config_variable(dir);
    // `env` rather than a shell assignment: in front of `exec` shells differ in whether it is exported.
    let mut assignment = key;
    assignment.push("=");
    assignment.push(value);
    for (name, words) in words(dir, &workshop.compiler_headers) {
        let program = format!("{}-{name}", open::TARGET);
        let command = Command::new("env").arg(assignment.clone()).arg(program).args(words);
        script(workshop.root, name, &format!("exec {command} \"$@\"\n"))?;
    }
    Ok(())
}

/// Scripts that find the directory by their own place.
pub(crate) fn write_travelling(root: &Path, compiler_headers: &[PathBuf]) -> Result<(), ToolchainError> {
    // no word has it, and no shell would quote it
    const HERE: &str = "/__HERE__";
    for (name, words) in words(Path::new(HERE), compiler_headers) {
        let program = Path::new(HERE).join(PROGRAMS).join(format!("{}-{name}", open::TARGET));
        let command = Command::new(program).args(words).to_string().replace(HERE, "\"$here\"");
        let text =
            format!("here=$(dirname \"$(dirname \"$(readlink -f \"$0\")\")\")\nexec {command} \"$@\"\n");
        script(root, name, &text)?;
    }
    Ok(())
}

/// Every script's program, and what it is told.
fn words(dir: &Path, compiler_headers: &[PathBuf]) -> Vec<(&'static str, Vec<OsString>)> {
    let lib = dir.join("target/lib");
    let mut common =
        vec![OsString::from("-nostdlib"), joined("-B", &lib), joined("-L", &lib), open::place_map(dir)];
    common.extend(open::TARGET_FLAGS.iter().map(OsString::from));
    let c = open::c_headers(dir, compiler_headers);
    let mut all: Vec<(&str, Vec<OsString>)> = BINUTILS.iter().map(|name| (*name, Vec::new())).collect();
    all.push(("gcc", [common.clone(), c.clone()].concat()));
    all.push(("g++", [common, open::cxx_headers(dir), c].concat()));
    all
}

fn script(root: &Path, name: &str, text: &str) -> Result<(), ToolchainError> {
    let path = root.join(format!("bin/q7-{name}"));
    write(&path, format!("#!/bin/sh\n{text}"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).context("cannot make executable", path)
}
