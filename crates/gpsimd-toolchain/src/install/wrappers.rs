//! `bin/q7-*` in the installed directory: two-line scripts for people. This program itself never runs them.
//!
//! Unaware of the final directory's existence; its name is written down before the rename.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::workshop::{Workshop, write};
use crate::error::IoContext as _;
use crate::job::joined;
use crate::{Command, ToolchainError, open};

const BINUTILS: &[&str] = &[
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
    for name in BINUTILS {
        wrapper(workshop, dir, name, Vec::new())?;
    }
    let lib = dir.join("target/lib");
    let mut common =
        vec![OsString::from("-nostdlib"), joined("-B", &lib), joined("-L", &lib), open::place_map(dir)];
    common.extend(open::TARGET_FLAGS.iter().map(OsString::from));
    let c = open::c_headers(dir, &workshop.compiler_headers);
    wrapper(workshop, dir, "gcc", [common.clone(), c.clone()].concat())?;
    wrapper(workshop, dir, "g++", [common, open::cxx_headers(dir), c].concat())
}

fn wrapper(workshop: &Workshop, dir: &Path, name: &str, args: Vec<OsString>) -> Result<(), ToolchainError> {
    let (key, value) = open::config_variable(dir);
    // `env` rather than a shell assignment: in front of `exec` shells differ in whether it is exported.
    let mut assignment = key;
    assignment.push("=");
    assignment.push(value);
    let command = Command::new("env").arg(assignment).arg(format!("{}-{name}", open::TARGET)).args(args);
    let path = workshop.root.join(format!("bin/q7-{name}"));
    write(&path, format!("#!/bin/sh\nexec {command} \"$@\"\n"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).context("cannot make executable", path)
}
