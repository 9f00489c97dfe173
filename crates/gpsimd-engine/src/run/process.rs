//! One child process: start it, keep what it says, report how it ended.
//!
//! Unaware of the build graph; just command execution. No shell is involved.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use gpsimd_toolchain::Command;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::run::diagnose;
use crate::words::disk::locked;
use crate::words::error::EngineError;
use crate::words::failed::Failed;
use crate::words::lock::Lock;

/// Runs `command` to its end; gives what it printed (warnings of a success are worth showing too). Words of the
/// toolchain that mean a known mistake are explained.
pub(crate) fn run(
    label: &str,
    command: &Command,
    lock: &Lock,
    children: &Children,
) -> Result<String, EngineError> {
    let not_started = |source| EngineError::NotStarted {
        label: label.to_owned(),
        program: command.program.clone(),
        source,
    };
    let (mut reader, writer) = std::io::pipe().map_err(not_started)?;
    let mut child = command.to_std();
    // a compiler starts others: a stop ends the whole group, or these would live on and hold the build's lock
    child.process_group(0);
    child.stdin(lock.stdin().map_err(not_started)?);
    child.stdout(writer.try_clone().map_err(not_started)?);
    child.stderr(writer);
    let spawned = child.spawn().map_err(not_started)?;
    drop(child); // our copies of the pipe's write end, or the read below never ends
    let slot = children.add(spawned);
    let mut output = Vec::new();
    let read = reader.read_to_end(&mut output);
    let status = children.wait(slot).map_err(not_started)?;
    read.map_err(not_started)?;
    if children.stopped() {
        return Err(EngineError::Stopped);
    }
    let output = String::from_utf8_lossy(&output).into_owned();
    if status.success() {
        return Ok(output);
    }
    Err(failed(label, command, &status, &output))
}

fn failed(label: &str, command: &Command, status: &ExitStatus, output: &str) -> EngineError {
    let status = status.to_string();
    EngineError::Failed(Box::new(Failed {
        verdict: diagnose::verdict(output, &status),
        label: label.to_owned(),
        status,
        output: output.trim_end().to_owned(),
        command: command.to_string(),
        log: None,
    }))
}

/// Runs `command` outside a build: no lock to hold, nobody to stop it. Gives what it printed.
pub(crate) fn run_alone(label: &str, command: &Command) -> Result<String, EngineError> {
    let output = command.to_std().stdin(Stdio::null()).output().map_err(|source| {
        EngineError::NotStarted { label: label.to_owned(), program: command.program.clone(), source }
    })?;
    let text = [&output.stdout[..], &output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    Err(failed(label, command, &output.status, &text))
}

/// Ends a child that has not been waited for, and all that it started.
fn end(child: &Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        // a group that has already ended needs no ending
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
}

/// The children now running, so that a stop can end them.
#[derive(Default)]
pub(crate) struct Children {
    running: Mutex<Vec<Option<Child>>>,
    stopped: AtomicBool,
}

impl Children {
    fn add(&self, child: Child) -> usize {
        let mut running = locked(&self.running);
        // a stop may have come while the child started
        if self.stopped() {
            end(&child);
        }
        running.push(Some(child));
        running.len() - 1
    }

    /// Waits for a child whose output has ended, so which has ended too or is about to.
    fn wait(&self, slot: usize) -> std::io::Result<ExitStatus> {
        let child = locked(&self.running).get_mut(slot).and_then(Option::take);
        child.map_or_else(|| Err(std::io::ErrorKind::NotFound.into()), |mut child| child.wait())
    }

    /// Ends every child and lets none succeed from here on.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        locked(&self.running).iter().flatten().for_each(end);
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }
}
