//! Starting the programs that discovery and the installer ask, and keeping every word they say.
//!
//! Unaware of what they are. The build's own compilers are started by the engine, not here.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use crate::{Command, ToolchainError};

/// Runs a command in `dir` and returns what it printed on both streams.
pub(crate) fn captured(command: &Command, dir: &Path) -> Result<String, ToolchainError> {
    let mut output = Vec::new();
    let status = run(command, dir, &mut |reader| reader.read_to_end(&mut output).map(drop))?;
    finish(command, status, String::from_utf8_lossy(&output).into_owned())
}

/// Runs a command in `dir`, both streams line by line into `line`; the whole output is in the error if it fails.
pub(crate) fn streaming(
    command: &Command,
    dir: &Path,
    line: &mut dyn FnMut(&str),
) -> Result<(), ToolchainError> {
    let mut output = String::new();
    let status = run(command, dir, &mut |reader| {
        for bytes in BufReader::new(reader).split(b'\n') {
            let text = String::from_utf8_lossy(&bytes?).into_owned();
            line(&text);
            output.push_str(&text);
            output.push('\n');
        }
        Ok(())
    })?;
    finish(command, status, output).map(drop)
}

/// Both streams share one pipe, so that errors stand where they happened.
fn run(
    command: &Command,
    dir: &Path,
    read: &mut dyn FnMut(&mut std::io::PipeReader) -> std::io::Result<()>,
) -> Result<ExitStatus, ToolchainError> {
    let spawn_error = |source| ToolchainError::Spawn { command: Box::new(command.clone()), source };
    let (mut reader, writer) = std::io::pipe().map_err(spawn_error)?;
    let mut process = command.to_std();
    process
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(writer.try_clone().map_err(spawn_error)?)
        .stderr(writer);
    let mut child = process.spawn().map_err(spawn_error)?;
    // Our copies of the pipe's write end would keep it open for ever.
    drop(process);
    let read = read(&mut reader);
    let status = child.wait().map_err(spawn_error)?;
    read.map_err(spawn_error)?;
    Ok(status)
}

fn finish(command: &Command, status: ExitStatus, output: String) -> Result<String, ToolchainError> {
    if status.success() {
        return Ok(output);
    }
    Err(ToolchainError::CommandFailed {
        command: Box::new(command.clone()),
        status: status.to_string(),
        output,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_command_hands_over_its_lines_and_keeps_them() {
        let mut seen = Vec::new();
        let command = Command::new("/bin/sh").args(["-c", "echo one; echo two >&2; exit 3"]);
        let error = streaming(&command, Path::new("/"), &mut |l| seen.push(l.to_owned())).unwrap_err();
        assert_eq!(seen, ["one", "two"]);
        assert!(matches!(error, ToolchainError::CommandFailed { output, .. } if output == "one\ntwo\n"));
    }
}
