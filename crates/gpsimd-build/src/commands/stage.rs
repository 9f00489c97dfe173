//! `stage`: a step of an exported plan that has no command of its own.

use miette::Result;

use super::Status;
use crate::cli::Stage;
use crate::output::say;
use crate::render::{Render, Text};

/// Does it.
pub fn run(arguments: &Stage, render: &Render) -> Result<Status> {
    let text = gpsimd_engine::stage(&arguments.name, &arguments.arguments)?;
    say(&text);
    if render.is_json() {
        render.result(&Text { text }, String::new)?;
    }
    Ok(Status::Good)
}
