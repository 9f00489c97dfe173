//! Arguments of the hidden commands that an exported plan calls.
//!
//! Unaware of the plan.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use gpsimd_loader::Generation;
use gpsimd_lsp::Variant;

use super::values::{generation, variant};

/// Arguments of the hidden `sdk`.
#[derive(Debug, Args)]
pub struct Sdk {
    /// Write the SDK's files to where this tool expects them, which must be this directory.
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
    /// Copy a finished archive ...
    #[arg(long, value_name = "ARCHIVE", requires = "keep_as")]
    pub keep: Option<PathBuf>,
    /// ... to this place.
    #[arg(long = "as", id = "keep_as", value_name = "ARCHIVE", requires = "keep")]
    pub keep_as: Option<PathBuf>,
}

/// Arguments of the hidden `registrations`.
#[derive(Debug, Args)]
pub struct Registrations {
    /// A shape program.
    #[arg(value_name = "PROGRAM")]
    pub program: PathBuf,
    /// File to write, as JSON.
    #[arg(long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of the hidden `split`: one of three steps.
#[derive(Debug, Args)]
pub struct Split {
    /// Write the linker script here.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Write the kernel table here.
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// A row of the table.
    #[arg(long = "row", value_name = "KERNEL=SPEC", requires = "table")]
    pub rows: Vec<String>,
    /// Make the files of the split image from this static link.
    #[arg(long, value_name = "FILE", requires_all = ["library", "prelinked"])]
    pub linked: Option<PathBuf>,
    /// Generation whose memory the image must fit.
    #[arg(long, value_name = "GENERATION", value_parser = generation(), default_value = "cayman")]
    pub generation: Generation,
    /// The library.
    #[arg(long, value_name = "FILE")]
    pub library: Option<PathBuf>,
    /// The packed library.
    #[arg(long, value_name = "FILE")]
    pub packed: Option<PathBuf>,
    /// The prelinked image.
    #[arg(long, value_name = "FILE")]
    pub prelinked: Option<PathBuf>,
}

/// Arguments of the hidden `adapt`.
#[derive(Debug, Args)]
pub struct Adapt {
    /// Ops, registration order.
    #[arg(long = "op", value_name = "KERNEL=SCHEMA")]
    pub ops: Vec<String>,
    /// The wrapper's object, compiled on the guess that kernels are declared as the schemas say.
    #[arg(long, value_name = "OBJECT")]
    pub guess: PathBuf,
    /// Where the wrapper's source goes if the guess was wrong.
    #[arg(long, value_name = "FILE")]
    pub source: PathBuf,
    /// The wrapper's object to link.
    #[arg(long, value_name = "OBJECT")]
    pub output: PathBuf,
    /// Kernel objects.
    #[arg(long = "object", required = true, value_name = "OBJECT")]
    pub objects: Vec<PathBuf>,
    /// The library is for eight cores.
    #[arg(long)]
    pub multicore: bool,
    /// A variable for the compiler.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// Compiles the source to the output.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub compile: Vec<OsString>,
}

/// Arguments of the hidden `move`.
#[derive(Debug, Args)]
pub struct Move {
    /// The link for cpu0, relocations kept.
    #[arg(value_name = "IMAGE")]
    pub kept: PathBuf,
    /// The core to move it to.
    #[arg(long, value_name = "VARIANT", value_parser = variant())]
    pub variant: Variant,
    /// Image with symbols to write.
    #[arg(long, value_name = "FILE")]
    pub linked: PathBuf,
    /// Stripped image to write.
    #[arg(long, value_name = "FILE")]
    pub stripped: Option<PathBuf>,
    /// Packed object to write.
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A variable for the linker.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub env: Vec<OsString>,
    /// Links for that core, where the move cannot be proven right.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub link: Vec<OsString>,
}

/// Arguments of the hidden `publish`.
#[derive(Debug, Args)]
pub struct Publish {
    /// What the library is, as `plan` wrote it.
    #[arg(long, value_name = "JSON")]
    pub publication: String,
}
