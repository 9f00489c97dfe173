//! `stage`: a step of an exported plan that has no command of its own.

use miette::Result;

use super::Status;
use crate::cli::Stage;
use crate::output::say;

/// Does it.
pub fn run(arguments: &Stage) -> Result<Status> {
    say(&gpsimd_engine::stage(&arguments.name, &arguments.arguments)?);
    Ok(Status::Good)
}
