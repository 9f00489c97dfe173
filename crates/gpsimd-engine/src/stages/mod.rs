//! The stages that run in this process.
//!
//! Each reads files, calls the crate that knows the stage, writes files. Unaware of order and of threads.

pub(crate) mod split;

use std::path::Path;

use gpsimd_image::Rebase;
use gpsimd_image::verify::{self, FileEntry, Report};
use gpsimd_lsp::{Lsp, Variant};

use crate::ask::{kernels, multicore, registrations};
use crate::fresh::files::Files;
use crate::run::process;
use crate::words::action::{Adapt, Builtin, Image, Move};
use crate::words::error::{EngineError, Problem};
use crate::words::request::Cores;

/// Runs a command that a stage decided to need; gives what it printed.
pub(crate) type Start<'a> = dyn Fn(&str, &gpsimd_toolchain::Command) -> Result<String, EngineError> + 'a;

/// What a stage leaves besides its files.
#[derive(Default)]
pub(crate) struct Made {
    /// The checks' report.
    pub(crate) report: Option<Report>,
    /// Warnings, or what a process said.
    pub(crate) said: String,
}

/// Runs one stage. Images stay in memory for the stages after.
pub(crate) fn run(stage: &Builtin, start: &Start, files: &Files) -> Result<Made, EngineError> {
    let mut made = Made::default();
    match stage {
        Builtin::WriteSdk(sdk) => sdk.write()?,
        Builtin::KeepArchive { from, to } => keep(from, to)?,
        Builtin::Codegen { ops, output, .. } => {
            let text = gpsimd_codegen::wrapper(ops).map_err(stage_error(output))?;
            files.write(output, text.into_bytes())?;
        }
        Builtin::Lsp { variant, directory } => {
            for (name, text) in Lsp::custom_op(*variant).render() {
                files.write(&directory.join(variant.lsp_name()).join(name), text.into_bytes())?;
            }
        }
        Builtin::Adapt(stage) => made.said = adapt(stage, start)?,
        Builtin::Registrations { program, output } => {
            files.write(output, registrations::list(program, start)?.into_bytes())?;
        }
        Builtin::Package(image) => package(image, &files.bytes(&image.linked)?, files)?,
        Builtin::Split(step) => split::split_step(step)?,
        Builtin::Move(stage) => made.said = move_image(stage, start, files)?,
        Builtin::Verify { images, report } => made.report = Some(verify_all(images, report, files)?),
    }
    Ok(made)
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

/// The stage outside a build: the step of an exported plan. Gives warnings if there is something to say.
///
/// # Errors
/// [`EngineError::Kernels`], a failed compile, [`EngineError::Io`].
pub fn adapt_alone(stage: &Adapt) -> Result<String, EngineError> {
    adapt(stage, &process::run_alone)
}

/// The stage outside a build: writes what `program` registers to `output`.
///
/// # Errors
/// Registrations that cannot be built, [`EngineError::Io`].
pub fn registrations_alone(program: &Path, output: &Path) -> Result<(), EngineError> {
    write(output, registrations::list(program, &process::run_alone)?.as_bytes())
}

/// Checks the kernels; makes the wrapper's object from the guess, or anew where kernels are declared differently.
fn adapt(stage: &Adapt, start: &Start) -> Result<String, EngineError> {
    let ops = kernels::match_kernels(&stage.ops, &stage.objects)?;
    let warnings = match stage.cores {
        Cores::Single => String::new(),
        Cores::Eight => multicore::warnings(&ops, &stage.objects)?,
    };
    if ops == stage.ops {
        let copy = |from: &Path, to: &Path| {
            std::fs::copy(from, to).map_err(EngineError::io("cannot copy", from)).map(|_| ())
        };
        let depfile = stage.guess.with_extension("d");
        if depfile.is_file() {
            copy(&depfile, &stage.wrapper.with_extension("d"))?;
        }
        copy(&stage.guess, &stage.wrapper)?;
        return Ok(warnings);
    }
    let text = gpsimd_codegen::wrapper(&ops).map_err(stage_error(&stage.source))?;
    write(&stage.source, text.as_bytes())?;
    let said = start("compile the wrapper as the kernels are declared", &stage.compile)?;
    Ok(warnings + &said)
}

/// The stage outside a build: the step of an exported plan. Gives a warning if there is something to say.
///
/// # Errors
/// Images that cannot be stripped or packed, a failed link, [`EngineError::Io`].
pub fn move_alone(stage: &Move) -> Result<String, EngineError> {
    move_image(stage, &process::run_alone, &Files::remembering([]))
}

/// Moves a link for cpu0 to the image's core, or links for that core where it cannot be proven what would move.
fn move_image(stage: &Move, start: &Start, files: &Files) -> Result<String, EngineError> {
    let kept = files.bytes(&stage.kept)?;
    let Variant::Cpu(cpu) = stage.image.variant else {
        return Err(EngineError::PlanIncomplete { path: stage.image.linked.clone() });
    };
    match Rebase::of(&kept) {
        Ok(rebase) => {
            let linked = rebase.image_for(cpu);
            package(&stage.image, &linked, files)?;
            files.write(&stage.image.linked, linked)?;
            Ok(String::new())
        }
        Err(refusal) => {
            let label = format!("link {}", stage.image.linked.display());
            let folder = stage.image.linked.parent().unwrap_or(Path::new("."));
            std::fs::create_dir_all(folder).map_err(EngineError::io("cannot create", folder))?;
            files.forget(&stage.image.linked);
            let said = start(&label, &stage.link)?;
            package(&stage.image, &files.bytes(&stage.image.linked)?, files)?;
            // one of the eight speaks for all
            let warning = format!(
                "warning: linked each core by itself, because one link cannot be proven to serve all: {refusal}\n"
            );
            Ok(if cpu.index() == 0 { warning + &said } else { said })
        }
    }
}

fn package(image: &Image, linked: &[u8], files: &Files) -> Result<(), EngineError> {
    if image.stripped.is_none() && image.packed.is_none() {
        return Ok(());
    }
    let stripped = gpsimd_image::strip(linked).map_err(stage_error(&image.linked))?;
    if let Some(path) = &image.packed {
        files.write(path, gpsimd_image::pack(&stripped).map_err(stage_error(path))?)?;
    }
    match &image.stripped {
        Some(path) => files.write(path, stripped),
        None => Ok(()),
    }
}

fn verify_all(images: &[Image], report_path: &Path, files: &Files) -> Result<Report, EngineError> {
    let read = images.iter().flat_map(Image::files).map(|path| Ok((path, files.bytes(path)?)));
    let read: Vec<_> = read.collect::<Result<_, EngineError>>()?;
    let entries: Vec<FileEntry> = read
        .iter()
        .map(|(path, bytes)| FileEntry::new(path.file_name().unwrap_or_default().to_string_lossy(), bytes))
        .collect();
    let report = verify::verify(&entries);
    if !report.is_clean() {
        return Err(EngineError::Verify { report: Box::new(report) });
    }
    let text = serde_json::to_vec(&report)
        .map_err(|error| EngineError::io("cannot write", report_path)(error.into()))?;
    files.write(report_path, text)?;
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
