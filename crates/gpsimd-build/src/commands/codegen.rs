//! `codegen`: the wrapper alone.

use miette::Result;

use super::Status;
use super::draft::op_requests;
use crate::cli::Codegen;
use crate::files::write;
use crate::output::print;

/// Renders the wrapper to a file or to standard output.
pub fn run(arguments: &Codegen) -> Result<Status> {
    let ops = gpsimd_engine::check_ops(&op_requests(&arguments.ops)?)?;
    let text = gpsimd_codegen::wrapper(&ops)?;
    match &arguments.output {
        Some(path) => write(path, text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(Status::Good)
}
