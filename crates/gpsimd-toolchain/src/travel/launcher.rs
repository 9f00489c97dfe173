//! The launcher that stands where each program is looked for, compiled by the host's compiler.
//!
//! Unaware of which programs there are.

use std::path::Path;

use crate::error::IoContext as _;
use crate::{Command, Machine, ToolchainError, process};

const SOURCE: &str = include_str!("launcher.c");

/// Static, of one segment, without anything that differs from one run to the next.
const FLAGS: &[&str] = &[
    "-Os",
    "-static",
    "-nostdlib",
    "-ffreestanding",
    "-fno-stack-protector",
    "-fcf-protection=none",
    "-fno-pie",
    "-no-pie",
    "-fno-asynchronous-unwind-tables",
    "-fno-ident",
    "-Wl,--build-id=none",
    "-Wl,-z,noseparate-code",
    "-Wl,-z,noexecstack",
    "-Wl,-s",
];

/// Its bytes, `starts` at their end: programs that know a compiler by its file then tell toolchains apart.
pub(super) fn bytes(machine: &Machine, scratch: &Path, starts: &str) -> Result<Vec<u8>, ToolchainError> {
    let gcc = machine.program("gcc").ok_or_else(|| ToolchainError::ProgramMissing {
        program: "gcc".into(),
        help: "install the package gcc; it compiles what starts the toolchain's programs".into(),
    })?;
    let (source, program) = (scratch.join("launcher.c"), scratch.join("launcher"));
    std::fs::write(&source, SOURCE).context("cannot write", &source)?;
    let command = Command::new(gcc).args(FLAGS.iter().copied()).args(["-o", "launcher", "launcher.c"]);
    process::captured(&command, scratch)?;
    let mut bytes = std::fs::read(&program).context("cannot read", program)?;
    bytes.extend_from_slice(starts.as_bytes());
    Ok(bytes)
}
