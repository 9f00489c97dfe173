//! `watch`: a command of this tool, again whenever what it reads is saved.
//!
//! The command is a process of its own, so that nothing of one time is left for the next. Unaware of builds.

mod sources;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use miette::{Diagnostic, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use notify::{EventKind, RecursiveMode, Watcher as _};

use crate::cli::Watch;
use crate::interrupt;
use crate::output::say;
use crate::status::Status;
use crate::usage;

use sources::Sources;

/// How long files must be quiet: an editor, or a version control, writes several at once.
const QUIET: Duration = Duration::from_millis(40);
/// How often a running command is asked whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

/// What keeps `watch` from watching.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum WatchError {
    #[error("nothing can be watched below {}: {cause}", .directory.display())]
    #[diagnostic(
        code(watch::directory),
        help("the system's limit may be reached: sysctl fs.inotify.max_user_watches")
    )]
    Directory { directory: PathBuf, cause: notify::Error },
    #[error("the command could not be started: {cause}")]
    #[diagnostic(code(watch::start), help("close other programs and try again"))]
    Start { cause: std::io::Error },
}

/// Runs and watches until a signal ends it.
pub fn run(arguments: &Watch) -> Result<Status> {
    let command = match arguments.read() {
        Ok(command) => command,
        Err(answer) => return Ok(usage::show(&answer)),
    };
    let sources = Sources::of(&command);
    let running: Running = Arc::default();
    let child = Arc::clone(&running);
    interrupt::on_stop(move || stop(&child));
    interrupt::listen();

    let (tell, changes) = channel();
    let wanted = sources.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let paths = event.ok().filter(|event| is_change(&event.kind)).map(|event| event.paths);
        for path in paths.into_iter().flatten().filter(|path| wanted.contain(path)) {
            // nobody listens any more when the process ends
            let _ = tell.send(path);
        }
    })
    .map_err(|cause| WatchError::Directory { directory: PathBuf::from("."), cause })?;
    for directory in sources.directories() {
        watcher
            .watch(directory, RecursiveMode::Recursive)
            .map_err(|cause| WatchError::Directory { directory: directory.to_owned(), cause })?;
    }

    let words = words();
    loop {
        let begin = Instant::now();
        start(&words, &running)?;
        let changed = match ended(&running, &changes) {
            Ended::Itself(status) => {
                let took = begin.elapsed().as_secs_f64();
                say(&format!("watch: {} after {took:.2} s; waiting for a change\n", outcome(status)));
                changes.recv().ok()
            }
            Ended::By(path) => {
                stop(&running);
                let _ = ended(&running, &changes);
                Some(path)
            }
        };
        let Some(changed) = changed else { return Ok(Status::Good) };
        let changed = quiet(changed, &changes);
        say(&format!("watch: {} changed\n", shown(&changed)));
    }
}

/// The command as it runs.
type Running = Arc<Mutex<Option<Child>>>;

/// Why a running command is no longer waited for.
enum Ended {
    /// It came to its end.
    Itself(Option<ExitStatus>),
    /// What it reads has changed.
    By(PathBuf),
}

fn start(words: &[OsString], running: &Running) -> Result<(), WatchError> {
    let program = std::env::current_exe().map_err(|cause| WatchError::Start { cause })?;
    let child = Command::new(program).args(words).spawn().map_err(|cause| WatchError::Start { cause })?;
    *running.lock().unwrap_or_else(PoisonError::into_inner) = Some(child);
    Ok(())
}

/// Waits for the command's end or a change.
fn ended(running: &Running, changes: &Receiver<PathBuf>) -> Ended {
    loop {
        let mut child = running.lock().unwrap_or_else(PoisonError::into_inner);
        match child.as_mut().map(Child::try_wait) {
            Some(Ok(None)) => {}
            Some(Ok(Some(status))) => {
                *child = None;
                return Ended::Itself(Some(status));
            }
            Some(Err(_)) | None => return Ended::Itself(None),
        }
        drop(child);
        match changes.recv_timeout(LOOK) {
            Ok(path) => return Ended::By(path),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// Asks the command to end; it hears that within 0.2 s.
fn stop(running: &Running) {
    let child = running.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(id) = child.as_ref().and_then(|child| i32::try_from(child.id()).ok()) {
        // it is not waited for yet, so its number is nobody else's
        let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
    }
}

/// All that changes until there is quiet, each once.
fn quiet(first: PathBuf, changes: &Receiver<PathBuf>) -> Vec<PathBuf> {
    let mut changed = vec![first];
    while let Ok(path) = changes.recv_timeout(QUIET) {
        if !changed.contains(&path) {
            changed.push(path);
        }
    }
    changed
}

/// Whether a file has another content, or name.
fn is_change(kind: &EventKind) -> bool {
    use notify::event::ModifyKind;
    match kind {
        EventKind::Create(_) | EventKind::Remove(_) => true,
        EventKind::Modify(what) => !matches!(what, ModifyKind::Metadata(_)),
        _ => false,
    }
}

/// This process's arguments without the word `watch`: what came before it holds for the command, too.
fn words() -> Vec<OsString> {
    let mut words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(at) = words.iter().position(|word| word == "watch") {
        words.remove(at);
    }
    words
}

fn outcome(status: Option<ExitStatus>) -> String {
    match status.and_then(|status| status.code()) {
        Some(0) => "good".to_owned(),
        Some(code) => format!("failed ({code})"),
        None => "ended by a signal".to_owned(),
    }
}

/// `relu.cpp and 2 more`.
fn shown(changed: &[PathBuf]) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let first = changed.first().map_or(Path::new(""), PathBuf::as_path);
    let first = first.strip_prefix(&here).unwrap_or(first).display();
    match changed.len() {
        0 | 1 => first.to_string(),
        more => format!("{first} and {} more", more - 1),
    }
}
