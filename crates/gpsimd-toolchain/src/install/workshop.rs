//! The directory an install works in, and running many compilers there at a time.
//!
//! Unaware of what is compiled.

use std::ffi::OsString;
use std::fs;
use std::num::NonZeroUsize;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Event, Step, process, sysroot};
use crate::error::IoContext as _;
use crate::job::prefix_map;
use crate::profile::Profile;
use crate::{Command, Machine, ToolchainError, open};

/// Programs, places and the callback.
pub(super) struct Workshop<'a> {
    /// Becomes the installed directory.
    pub(super) root: &'a Path,
    pub(super) profile: &'static Profile,
    pub(super) compiler_headers: Vec<PathBuf>,
    gcc: PathBuf,
    gxx: PathBuf,
    ar: PathBuf,
    pub(super) host_gcc: PathBuf,
    jobs: NonZeroUsize,
    tell: &'a (dyn Fn(Event) + Sync),
}

/// For library code: small, in sections that can be dropped, and without this directory's name in `__FILE__`. Upstream's
/// warnings are upstream's.
const LIBRARY_FLAGS: &[&str] = &["-Os", "-ffunction-sections", "-fdata-sections", "-fno-common", "-w"];

impl<'a> Workshop<'a> {
    pub(super) fn new(
        machine: &Machine,
        profile: &'static Profile,
        root: &'a Path,
        jobs: NonZeroUsize,
        tell: &'a (dyn Fn(Event) + Sync),
    ) -> Result<Workshop<'a>, ToolchainError> {
        let gcc = open::program(machine, "gcc")?;
        let mut compiler_headers = Vec::new();
        for name in ["include", "include-fixed"] {
            let answer = process::captured(
                &Command::new(&gcc).arg(format!("-print-file-name={name}")),
                Path::new("/"),
            )?;
            compiler_headers.push(PathBuf::from(answer.trim_end_matches('\n')));
        }
        let host_gcc = machine.program("gcc").ok_or_else(|| ToolchainError::ProgramMissing {
            program: "gcc".into(),
            help: "install the package gcc".into(),
        })?;
        let (gxx, ar) = (open::program(machine, "g++")?, open::program(machine, "ar")?);
        Ok(Workshop { root, profile, compiler_headers, gcc, gxx, ar, host_gcc, jobs, tell })
    }

    pub(super) fn source(&self, path: &str) -> PathBuf {
        self.root.join(".src").join(path)
    }

    pub(super) fn object(&self, path: &str) -> PathBuf {
        self.root.join(".obj").join(path)
    }

    pub(super) fn lib(&self, name: &str) -> PathBuf {
        self.root.join("target/lib").join(name)
    }

    pub(super) fn include(&self, path: &str) -> PathBuf {
        self.root.join("target/include").join(path)
    }

    /// Where a source of ours is; [`Workshop::write_sysroot`] put it there.
    pub(super) fn ours(&self, name: &str) -> PathBuf {
        self.source("sysroot").join(name)
    }

    pub(super) fn write_sysroot(&self) -> Result<(), ToolchainError> {
        for source in sysroot::sources() {
            write(&self.ours(source.name), source.text)?;
        }
        create_dir(&self.lib(""))?;
        create_dir(&self.include(""))
    }

    pub(super) fn drop_sources(&self) -> Result<(), ToolchainError> {
        for dir in [".src", ".obj"] {
            let dir = self.root.join(dir);
            fs::remove_dir_all(&dir).context("cannot remove", dir)?;
        }
        Ok(())
    }

    /// The windowed C compiler, no headers, no flags.
    pub(super) fn asm(&self) -> Command {
        self.windowed(&self.gcc)
    }

    /// The windowed C compiler for library code.
    pub(super) fn cc(&self) -> Command {
        self.asm().args(open::c_headers(self.root, &self.compiler_headers)).args(self.library_flags())
    }

    /// The windowed C++ compiler for library code.
    pub(super) fn cxx(&self) -> Command {
        self.windowed(&self.gxx)
            .args(open::cxx_headers(self.root, self.profile.gcc))
            .args(open::c_headers(self.root, &self.compiler_headers))
            .args(self.library_flags())
    }

    fn windowed(&self, program: &Path) -> Command {
        Command::new(program).args(open::target_words(self.root))
    }

    fn library_flags(&self) -> Vec<OsString> {
        let map = prefix_map(self.root, ".");
        LIBRARY_FLAGS.iter().map(OsString::from).chain([map]).collect()
    }

    /// Tells how far a step is.
    pub(super) fn progress(&self, step: Step, done: u64, total: u64) {
        (self.tell)(Event::Progress { step, done, total });
    }

    /// Runs one command in the object directory.
    pub(super) fn run(&self, command: &Command) -> Result<String, ToolchainError> {
        let dir = self.object("");
        create_dir(&dir)?;
        process::captured(command, &dir)
    }

    /// Runs all commands, several at a time; after a failure no further one starts, and of several failures the first in
    /// the list is told.
    fn run_all(&self, step: Step, commands: &[Command]) -> Result<(), ToolchainError> {
        let next = AtomicUsize::new(0);
        let done = AtomicUsize::new(0);
        let failure: Mutex<Option<(usize, ToolchainError)>> = Mutex::new(None);
        let total = commands.len() as u64;
        self.progress(step, 0, total);
        let work = || {
            while failure.lock().unwrap_or_else(|e| e.into_inner()).is_none() {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(command) = commands.get(index) else { break };
                match self.run(command) {
                    Ok(_) => self.progress(step, 1 + done.fetch_add(1, Ordering::Relaxed) as u64, total),
                    Err(error) => {
                        let mut first = failure.lock().unwrap_or_else(|e| e.into_inner());
                        if first.as_ref().is_none_or(|(i, _)| index < *i) {
                            *first = Some((index, error));
                        }
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            // this thread works too, so that a machine without room for others gets done
            for _ in 1..self.jobs.get().min(commands.len()) {
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        match failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }

    /// Collects objects, in the order of their paths, into `target/lib/<name>`.
    pub(super) fn archive(&self, name: &str, objects: &[Unit]) -> Result<(), ToolchainError> {
        let mut members: Vec<&PathBuf> = objects.iter().map(|unit| &unit.object).collect();
        members.sort_unstable();
        self.run(&Command::new(&self.ar).arg("qcsD").arg(self.lib(name)).args(members)).map(drop)
    }

    /// Compiles all units, several at a time.
    pub(super) fn compile_all<'u>(
        &self,
        step: Step,
        units: impl IntoIterator<Item = &'u Unit>,
    ) -> Result<(), ToolchainError> {
        let mut commands = Vec::new();
        for unit in units {
            if let Some(dir) = unit.object.parent() {
                create_dir(dir)?;
            }
            commands.push(unit.command());
        }
        self.run_all(step, &commands)
    }

    /// Compiles and archives.
    pub(super) fn library(&self, step: Step, name: &str, units: &[Unit]) -> Result<(), ToolchainError> {
        self.compile_all(step, units)?;
        self.archive(name, units)
    }
}

/// One object of a library: a compiler with its flags, and what it reads and writes.
pub(super) struct Unit {
    pub(super) compiler: Command,
    pub(super) source: PathBuf,
    pub(super) object: PathBuf,
}

impl Unit {
    fn command(&self) -> Command {
        self.compiler.clone().arg("-c").arg(&self.source).arg("-o").arg(&self.object)
    }
}

pub(crate) fn create_dir(dir: &Path) -> Result<(), ToolchainError> {
    fs::create_dir_all(dir).context("cannot create", dir)
}

/// Writes a file and the directories above it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), ToolchainError> {
    if let Some(dir) = path.parent() {
        create_dir(dir)?;
    }
    fs::write(path, content).context("cannot write", path)
}

/// The same for a file that is started.
pub(crate) fn write_program(path: &Path, content: impl AsRef<[u8]>) -> Result<(), ToolchainError> {
    write(path, content)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).context("cannot make executable", path)
}

pub(super) fn read(path: &Path) -> Result<String, ToolchainError> {
    fs::read_to_string(path).context("cannot read", path)
}

/// The regular files of one directory, sorted by name.
pub(super) fn files(dir: &Path) -> Result<Vec<PathBuf>, ToolchainError> {
    let mut out = Vec::new();
    for entry in fs::read_dir(dir).context("cannot list", dir)? {
        let entry = entry.context("cannot list", dir)?;
        if entry.file_type().context("cannot look at", entry.path())?.is_file() {
            out.push(entry.path());
        }
    }
    out.sort_unstable();
    Ok(out)
}

/// Copies one file, making the directories above it.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), ToolchainError> {
    if let Some(dir) = to.parent() {
        create_dir(dir)?;
    }
    fs::copy(from, to).context("cannot copy", from).map(drop)
}
