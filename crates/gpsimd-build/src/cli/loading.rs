//! Arguments of the host's part of loading: `prelink` and `records`.
//!
//! Unaware of what a loader does with them.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use gpsimd_loader::Generation;

use super::values::generation;

/// Arguments of `prelink`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build prelink build/vector_add.split.so -o vector_add.ucpl
  gpsimd-build prelink build/vector_add.split.packed.so -o vector_add.ucpl --generation mariana-plus")]
pub struct Prelink {
    /// A split-load library, as it is or packed.
    #[arg(value_name = "LIBRARY")]
    pub library: PathBuf,
    /// Image to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Generation whose memory the image must fit.
    #[arg(long, value_name = "GENERATION", value_parser = generation(), default_value = "cayman")]
    pub generation: Generation,
    /// Refuse whatever would have an undefined effect on the device (this is the default).
    #[arg(long, overrides_with = "compat")]
    pub strict: bool,
    /// Give the vendor's verdicts and bytes, quirks included, but for instruction bundles, which are refused here.
    #[arg(long, overrides_with = "strict")]
    pub compat: bool,
}

/// Arguments of `records`.
#[derive(Debug, Args)]
pub struct Records {
    #[command(subcommand)]
    pub command: RecordsCommand,
}

/// Which record.
#[derive(Debug, Subcommand)]
pub enum RecordsCommand {
    /// A record that loads a library.
    #[command(after_help = "\
Example:
  gpsimd-build records load --addr 0x1000000000 --image vector_add.ucpl -o load.bin")]
    Load {
        /// SoC address of the image, a multiple of 16 MiB as the runtime allocates it.
        #[arg(long, value_name = "ADDRESS", value_parser = number)]
        addr: u64,
        /// Bytes of the image.
        #[arg(long, value_name = "BYTES", conflicts_with = "image")]
        size: Option<u32>,
        /// The image itself, for its size.
        #[arg(long, value_name = "UCPL", required_unless_present = "size")]
        image: Option<PathBuf>,
        #[command(flatten)]
        order: Order,
    },
    /// A record that unloads a library.
    #[command(after_help = "\
Example:
  gpsimd-build records unload --index 0 -o unload.bin")]
    Unload {
        #[command(flatten)]
        order: Order,
    },
}

/// What both records say.
#[derive(Debug, Args)]
pub struct Order {
    /// Which library.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub index: u32,
    /// For core 0 alone instead of all eight.
    #[arg(long)]
    pub single: bool,
    /// For a core of another context than the library's: eight identical records, and the runtime's warning.
    #[arg(long)]
    pub foreign: bool,
    /// File to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// A number, decimal or hexadecimal.
pub fn number(text: &str) -> Result<u64, std::num::ParseIntError> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    }
}
