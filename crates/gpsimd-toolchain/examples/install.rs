//! Installs the open toolchain into the home that the environment names, saying what happens.
//!
//!     cargo run --release -p gpsimd-toolchain --example install

use std::num::NonZeroUsize;

use gpsimd_toolchain::install::{Event, Outcome, install};
use gpsimd_toolchain::{Home, Machine, ToolchainError};

fn main() -> Result<(), ToolchainError> {
    let jobs = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let outcome = install(&Machine::here(), &Home::from_env()?, jobs, &|event| match event {
        Event::Progress { step, done, total } if done == total => println!("done: {step}"),
        Event::Progress { .. } => {}
        Event::Said { line } => println!("  {line}"),
        Event::Waiting { lock } => println!("waiting for {}", lock.display()),
        Event::Cleared { dir } => println!("cleared {}", dir.display()),
    })?;
    let verb = if matches!(outcome, Outcome::Installed(_)) { "installed" } else { "already there" };
    println!("{verb}: {}", outcome.toolchain().dir().display());
    Ok(())
}
