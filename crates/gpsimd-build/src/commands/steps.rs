//! Hidden commands: the steps of an exported plan that have no command of their own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use gpsimd_engine::{Adapt, Sdk, SplitImage, Step};
use gpsimd_loader::kernel_table::TableOp;
use gpsimd_toolchain::{Command, Home};
use miette::Result;

use super::{ArgumentError, Outcome, op_request};
use crate::cli::{Adapt as AdaptArguments, Registrations, Sdk as SdkArguments, Split};

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
            generation: arguments.generation.parse()?,
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
    let mut words = arguments.compile.iter().cloned();
    let mut compile = Command::new(words.next().unwrap_or_default()).args(words);
    for pair in &arguments.env {
        let bytes = pair.as_bytes();
        let at = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
        let (name, value) = (bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..).unwrap_or_default());
        compile = compile.env(OsStr::from_bytes(name), OsStr::from_bytes(value));
    }
    gpsimd_engine::adapt_alone(&Adapt {
        ops: gpsimd_engine::check_ops(&requests)?,
        schemas: requests.into_iter().filter_map(|request| request.schema).collect(),
        objects: arguments.objects.clone(),
        guess: arguments.guess.clone(),
        source: arguments.source.clone(),
        wrapper: arguments.output.clone(),
        compile,
    })?;
    Ok(Outcome::Good)
}
