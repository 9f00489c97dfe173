//! `codegen`: the wrapper alone.

use miette::Result;

use super::draft::op_requests;
use super::{Files, Status};
use crate::cli::Codegen;
use crate::files::write;
use crate::render::Render;

/// Renders the wrapper to a file or to standard output.
pub fn run(arguments: &Codegen, render: &Render) -> Result<Status> {
    let ops = gpsimd_engine::check_ops(&op_requests(&arguments.ops)?)?;
    let text = match arguments.reference {
        true => gpsimd_codegen::reference_wrapper(&ops)?,
        false => gpsimd_codegen::wrapper(&ops)?,
    };
    if let Some(path) = &arguments.output {
        write(path, text.as_bytes())?;
        render.result(&Files { files: vec![path.clone()] }, String::new)?;
        return Ok(Status::Good);
    }
    render.text(text)
}
