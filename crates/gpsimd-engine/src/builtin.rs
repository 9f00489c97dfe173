//! The stages that run in this process.
//!
//! Each reads files, calls the crate that knows the stage, writes files. Unaware of order and of threads.

use std::path::Path;

use gpsimd_image::verify::{self, FileEntry, Report};
use gpsimd_lsp::Lsp;

use crate::action::{Adapt, Builtin, Image};
use crate::error::{EngineError, Problem};
use crate::kernels;
use crate::process;
use crate::shapes;
use crate::split;

/// Runs a command that a stage decided to need; gives what it printed.
pub(crate) type Start<'a> = dyn Fn(&str, &gpsimd_toolchain::Command) -> Result<String, EngineError> + 'a;

/// Runs one stage; the checks also give their report.
pub(crate) fn run(stage: &Builtin, start: &Start) -> Result<Option<Report>, EngineError> {
    match stage {
        Builtin::WriteSdk(sdk) => sdk.write()?,
        Builtin::KeepArchive { from, to } => keep(from, to)?,
        Builtin::Codegen { ops, output, .. } => {
            let text = gpsimd_codegen::wrapper(ops).map_err(stage_error(output))?;
            write(output, text.as_bytes())?;
        }
        Builtin::Lsp { variant, directory } => {
            for (name, text) in Lsp::custom_op(*variant).render() {
                write(&directory.join(variant.lsp_name()).join(name), text.as_bytes())?;
            }
        }
        Builtin::Adapt(stage) => adapt(stage, start)?,
        Builtin::Registrations { program, output } => {
            write(output, shapes::list(program, start)?.as_bytes())?;
        }
        Builtin::Package(image) => package(image)?,
        Builtin::Split(step) => split::split_step(step)?,
        Builtin::Verify { images, report } => return verify_all(images, report).map(Some),
    }
    Ok(None)
}

/// Copies an archive to where other builds look; it appears whole, and one that is there already stays.
///
/// # Errors
/// [`EngineError::Io`].
pub fn keep(from: &Path, to: &Path) -> Result<(), EngineError> {
    let parent = to.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(EngineError::io("cannot create", parent))?;
    let scratch = tempfile::NamedTempFile::new_in(parent)
        .map_err(EngineError::io("cannot create a file in", parent))?;
    std::fs::copy(from, scratch.path()).map_err(EngineError::io("cannot copy", from))?;
    scratch.persist(to).map_err(|error| EngineError::io("cannot rename into", to)(error.error))?;
    Ok(())
}

/// The stage outside a build: the step of an exported plan.
///
/// # Errors
/// [`EngineError::Kernels`], a failed compile, [`EngineError::Io`].
pub fn adapt_alone(stage: &Adapt) -> Result<(), EngineError> {
    adapt(stage, &process::run_alone)
}

/// The stage outside a build: writes what `program` registers to `output`.
///
/// # Errors
/// Registrations that cannot be built, [`EngineError::Io`].
pub fn registrations_alone(program: &Path, output: &Path) -> Result<(), EngineError> {
    write(output, shapes::list(program, &process::run_alone)?.as_bytes())
}

/// Checks the kernels; makes the wrapper's object from the guess, or anew where kernels are declared differently.
fn adapt(stage: &Adapt, start: &Start) -> Result<(), EngineError> {
    let ops = kernels::match_kernels(&stage.ops, &stage.objects)?;
    if ops == stage.ops {
        let copy = |from: &Path, to: &Path| {
            std::fs::copy(from, to).map_err(EngineError::io("cannot copy", from)).map(|_| ())
        };
        let depfile = stage.guess.with_extension("d");
        if depfile.is_file() {
            copy(&depfile, &stage.wrapper.with_extension("d"))?;
        }
        return copy(&stage.guess, &stage.wrapper);
    }
    let text = gpsimd_codegen::wrapper(&ops).map_err(stage_error(&stage.source))?;
    write(&stage.source, text.as_bytes())?;
    start("compile the wrapper as the kernels are declared", &stage.compile)?;
    Ok(())
}

fn package(image: &Image) -> Result<(), EngineError> {
    let linked = read(&image.linked)?;
    let stripped = gpsimd_image::strip(&linked).map_err(stage_error(&image.linked))?;
    if let Some(path) = &image.packed {
        write(path, &gpsimd_image::pack(&stripped).map_err(stage_error(path))?)?;
    }
    match &image.stripped {
        Some(path) => write(path, &stripped),
        None => Ok(()),
    }
}

fn verify_all(images: &[Image], report_path: &Path) -> Result<Report, EngineError> {
    let files = images.iter().flat_map(Image::files).map(|path| Ok((path, read(path)?)));
    let files: Vec<_> = files.collect::<Result<_, EngineError>>()?;
    let entries: Vec<FileEntry> = files
        .iter()
        .map(|(path, bytes)| FileEntry::new(path.file_name().unwrap_or_default().to_string_lossy(), bytes))
        .collect();
    let report = verify::verify(&entries);
    if !report.is_clean() {
        return Err(EngineError::Verify { report: Box::new(report) });
    }
    let text = serde_json::to_vec(&report)
        .map_err(|error| EngineError::io("cannot write", report_path)(error.into()))?;
    write(report_path, &text)?;
    Ok(report)
}

pub(crate) fn stage_error<E: miette::Diagnostic + Send + Sync + 'static>(
    path: &Path,
) -> impl FnOnce(E) -> EngineError {
    let path = path.to_owned();
    move |error| EngineError::Stage { path, problem: Problem::new(error) }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, EngineError> {
    std::fs::read(path).map_err(EngineError::io("cannot read", path))
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), EngineError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(EngineError::io("cannot create", folder))?;
    std::fs::write(path, bytes).map_err(EngineError::io("cannot write", path))
}
