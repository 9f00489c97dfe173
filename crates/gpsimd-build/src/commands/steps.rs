//! Hidden commands: the steps of an exported plan that have no command of their own.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use gpsimd_engine::{Adapt, Cores, Image, Move, Publication, Sdk, SplitImage, Step};
use gpsimd_loader::kernel_table::TableOp;
use gpsimd_toolchain::{Command, Home};
use miette::Result;

use super::{ArgumentError, Outcome, op_request};
use crate::cli::{
    Adapt as AdaptArguments, Move as MoveArguments, Publish, Registrations, Sdk as SdkArguments, Split,
};
use crate::output::say;

/// Writes the SDK, or keeps an archive made from it.
pub fn sdk(arguments: &SdkArguments) -> Result<Outcome> {
    if let Some(root) = &arguments.write {
        let sdk = Sdk::locate(Home::from_env()?.path())?;
        if sdk.root() != root.as_path() {
            miette::bail!(
                code = "cli::sdk_moved",
                help = "export the plan again",
                "the plan was exported by another version: its SDK is {}, this tool's is {}",
                root.display(),
                sdk.root().display()
            );
        }
        sdk.write()?;
    }
    if let (Some(from), Some(to)) = (&arguments.keep, &arguments.keep_as) {
        gpsimd_engine::keep(from, to)?;
    }
    Ok(Outcome::Good)
}

/// Does a step on the way to a split image.
pub fn split(arguments: &Split) -> Result<Outcome> {
    if let Some(output) = &arguments.script {
        gpsimd_engine::split_step(&Step::Script { output: output.clone() })?;
    }
    if let Some(output) = &arguments.table {
        let ops = arguments.rows.iter().map(|text| row(text)).collect::<Result<_, _>>()?;
        gpsimd_engine::split_step(&Step::Table { ops, output: output.clone() })?;
    }
    if let (Some(linked), Some(library), Some(prelinked)) =
        (&arguments.linked, &arguments.library, &arguments.prelinked)
    {
        gpsimd_engine::split_step(&Step::Image(SplitImage {
            generation: arguments.generation,
            linked: linked.clone(),
            library: library.clone(),
            packed: arguments.packed.clone(),
            prelinked: prelinked.clone(),
        }))?;
    }
    Ok(Outcome::Good)
}

fn row(text: &str) -> Result<TableOp, ArgumentError> {
    let pair = text.rsplit_once('=').and_then(|(kernel, spec)| Some((kernel, spec.parse().ok()?)));
    match pair {
        Some((kernel, spec)) => Ok(TableOp { kernel: kernel.to_owned(), spec }),
        None => Err(ArgumentError::Row { text: text.to_owned() }),
    }
}

/// Writes what a shape program registers.
pub fn registrations(arguments: &Registrations) -> Result<Outcome> {
    gpsimd_engine::registrations_alone(&arguments.program, &arguments.output)?;
    Ok(Outcome::Good)
}

/// Checks kernels between compile and link, and makes the wrapper's object that fits them.
pub fn adapt(arguments: &AdaptArguments) -> Result<Outcome> {
    let requests = arguments.ops.iter().map(|text| op_request(text)).collect::<Result<Vec<_>, _>>()?;
    let compile = command(&arguments.compile, &arguments.env);
    let warnings = gpsimd_engine::adapt_alone(&Adapt {
        ops: gpsimd_engine::check_ops(&requests)?,
        schemas: requests.into_iter().filter_map(|request| request.schema).collect(),
        objects: arguments.objects.clone(),
        guess: arguments.guess.clone(),
        source: arguments.source.clone(),
        wrapper: arguments.output.clone(),
        compile,
        cores: if arguments.multicore { Cores::Eight } else { Cores::Single },
    })?;
    say(&warnings);
    Ok(Outcome::Good)
}

/// Makes the image of one core from the link for cpu0.
pub fn move_image(arguments: &MoveArguments) -> Result<Outcome> {
    let warning = gpsimd_engine::move_alone(&Move {
        kept: arguments.kept.clone(),
        image: Image {
            variant: arguments.variant,
            linked: arguments.linked.clone(),
            stripped: arguments.stripped.clone(),
            packed: arguments.output.clone(),
        },
        link: command(&arguments.link, &arguments.env),
    })?;
    say(&warning);
    Ok(Outcome::Good)
}

/// Makes finished files the visible outputs of their library.
pub fn publish(arguments: &Publish) -> Result<Outcome> {
    gpsimd_engine::publish_alone(&Publication::read(&arguments.publication)?)?;
    Ok(Outcome::Good)
}

/// A command given as words and variables.
fn command(words: &[OsString], env: &[OsString]) -> Command {
    let mut words = words.iter().cloned();
    let mut command = Command::new(words.next().unwrap_or_default()).args(words);
    for pair in env {
        let bytes = pair.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        let (name, value) = (bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..).unwrap_or_default());
        command = command.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
    }
    command
}
