//! Arguments of `watch`.
//!
//! Unaware of files and of what the commands do.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser as _};

use super::{Cli, Command};

/// Arguments of `watch`.
#[derive(Debug, Args)]
#[command(after_help = "\
Runs a command of this tool, and again whenever a file that it may read is saved: C++ sources and headers below the sources'
directories and those of -I, and the .npy and .py files beside them. What it writes does not count. A save while it runs
ends it and begins anew. Ctrl-C ends all. With --json there is one answer for each time.

Examples:
  gpsimd-build watch compile relu.cpp --shape-src relu_shape.cpp
  gpsimd-build watch run relu.cpp --shape-src relu_shape.cpp arange:8 --op relu_forward
  gpsimd-build watch test relu.cpp --shape-src relu_shape.cpp --only extents")]
pub struct Watch {
    /// compile, run or test, with its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl Watch {
    /// The command, read.
    ///
    /// # Errors
    /// A mistake in it, the answer to a question such as `--help`, or that it makes nothing from sources.
    pub fn read(&self) -> Result<Command, clap::Error> {
        let words = std::iter::once(OsString::from("gpsimd-build")).chain(self.command.iter().cloned());
        let command = Cli::try_parse_from(words.map(super::number))?.command;
        match command {
            Command::Compile(_) | Command::Run(_) | Command::Test(_) => Ok(command),
            other => {
                let message = format!("{} cannot be watched; compile, run and test can", other.name());
                Err(Cli::command().error(ErrorKind::InvalidValue, message))
            }
        }
    }
}
