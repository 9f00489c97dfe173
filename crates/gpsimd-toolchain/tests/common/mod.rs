//! A real install, and running commands.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use gpsimd_toolchain::install::{Event, Outcome, install};
use gpsimd_toolchain::{Command, Home, Machine, OpenToolchain};

/// A home in the target directory whose name has everything in it that a shell or make would trip over. It stays for
/// the next run, which then has nothing to install.
pub fn home() -> Home {
    Home::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("tool chain's;#$höme")).unwrap()
}

/// The open toolchain in [`home`], installed on first use.
pub fn toolchain() -> &'static OpenToolchain {
    static TOOLCHAIN: OnceLock<OpenToolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| install_in(&home(), 2, &|_| {}).toolchain())
}

/// Installs, or fails with what the error says is to be done.
pub fn install_in(home: &Home, jobs: usize, tell: &(dyn Fn(Event) + Sync)) -> Outcome {
    install(&Machine::here(), home, NonZeroUsize::new(jobs).unwrap(), tell).unwrap_or_else(|error| {
        let help = miette::Diagnostic::help(&error).map(|help| help.to_string()).unwrap_or_default();
        panic!("{error}\n{help}")
    })
}

/// What a command prints in `dir`; as an error, if it fails, the command and what it printed.
pub fn run(command: &Command, dir: &Path) -> Result<String, Arc<str>> {
    let output = command.to_std().current_dir(dir).output().unwrap();
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(format!("{command}\n{text}").into()) }
}
