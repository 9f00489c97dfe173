//! A `build.ninja`. Run it in the directory that the plan was made in.
//!
//! Unaware of fingerprints: ninja compares times.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use gpsimd_toolchain::Command;

use super::{Whole, unwritable};
use crate::plan::Plan;
use crate::words::action::Work;
use crate::words::error::EngineError;

const HEAD: &str = "\
# written by gpsimd-build plan --format ninja
ninja_required_version = 1.7

rule run
  command = $command
  description = $label
rule compile
  command = $command
  description = $label
  depfile = $depfile
  deps = gcc
rule publish
  command = $command
  description = $label
  restat = 1

";

/// The plan for ninja; `tool` is the program that its stages are run by.
///
/// # Errors
/// [`EngineError::Request`] for a name with a line break, or another that ninja cannot hold.
pub fn ninja(plan: &Plan, tool: &Path) -> Result<String, EngineError> {
    let whole = Whole::of(plan)?;
    let mut text = HEAD.to_owned();
    for action in whole.actions {
        let mut command = action.work.command();
        if let Work::Stage(_) = &action.work {
            command.program = tool.to_owned();
        }
        // the linker's lists do not quote names; what they add, the toolchain's own files, a plan's life does not change
        let depfile =
            action.depfile.as_ref().filter(|_| action.work.process().is_none() || action.is_compile());
        let rule = if depfile.is_some() { "compile" } else { "run" };
        let outputs = paths(&action.outputs)?;
        let (after, inputs): (Vec<_>, Vec<_>) = action
            .inputs
            .iter()
            .cloned()
            .partition(|path| path.extension().is_none() && is_directory(plan, path));
        let _ = write!(text, "build {outputs}: {rule} {}", paths(&inputs)?);
        if !after.is_empty() {
            let _ = write!(text, " || {}", paths(&after)?);
        }
        let _ = writeln!(text, "\n  label = {}\n  command = {}", value(&action.label)?, shell(&command)?);
        if let Some(depfile) = depfile {
            let _ = writeln!(text, "  depfile = {}", value(&depfile.to_string_lossy())?);
        }
    }
    let command = Command::new(tool).args(whole.publish.clone());
    let (first, others) = whole
        .files
        .split_first()
        .map_or((String::new(), &[][..]), |(first, others)| (path(first).unwrap_or_default(), others));
    let _ = writeln!(
        text,
        "build {first} | {}: publish {}\n  label = publish\n  command = {}\ndefault {first}",
        paths(others)?,
        paths(&whole.made)?,
        shell(&command)?
    );
    Ok(text)
}

/// The SDK's directory stands for all of its files, and its time changes when archives are kept in it.
fn is_directory(plan: &Plan, path: &Path) -> bool {
    path == plan.kit.sdk.root()
}

fn paths(list: &[std::path::PathBuf]) -> Result<String, EngineError> {
    let list = list.iter().map(|entry| path(entry)).collect::<Result<Vec<_>, _>>()?;
    Ok(list.join(" "))
}

fn path(path: &Path) -> Result<String, EngineError> {
    let text = path.to_str().filter(|text| !text.contains(['\n', '\r', '|']));
    let text = text.ok_or_else(|| unwritable("a ninja file", path))?;
    Ok(text.replace('$', "$$").replace(' ', "$ ").replace(':', "$:"))
}

fn shell(command: &Command) -> Result<String, EngineError> {
    value(&command.to_string())
}

/// The right side of a binding.
fn value(text: &str) -> Result<String, EngineError> {
    if text.contains(['\n', '\r']) {
        return Err(unwritable("a ninja file", Path::new(OsStr::new(text))));
    }
    Ok(text.replace('$', "$$"))
}
