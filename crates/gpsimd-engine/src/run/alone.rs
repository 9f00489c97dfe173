//! A step of an exported plan, done outside a build.
//!
//! Unaware of the plan.

use crate::run::process;
use crate::stages;
use crate::words::action::Tools;
use crate::words::disk::Plain;
use crate::words::error::EngineError;

/// Does the stage that two words of a plan name; gives what it says.
///
/// # Errors
/// [`EngineError::Step`] for words that no plan of this version has, and the stage's own.
pub fn stage(name: &str, arguments: &str) -> Result<String, EngineError> {
    let stage = stages::read(name, arguments)?;
    Ok(stage.run(&Tools { files: &Plain, start: &process::run_alone })?.said)
}
