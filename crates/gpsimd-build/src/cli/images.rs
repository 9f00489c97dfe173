//! Arguments of the commands on linker support packages and on images at fixed addresses.
//!
//! Unaware of what is in an image.

use std::path::PathBuf;

use clap::Args;
use gpsimd_loader::Generation;
use gpsimd_lsp::Variant;

use super::loading::number;
use super::values::{generation, variant};

/// Arguments of `lsp`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build lsp --dir lsps                   # all nine packages
  gpsimd-build lsp --variant cpu3 --dir lsps    # one of them")]
pub struct Lsp {
    /// Which packages [default: all nine].
    #[arg(long = "variant", value_name = "VARIANT", value_parser = variant())]
    pub variants: Vec<Variant>,
    /// Directory that gets one directory per package.
    #[arg(long, value_name = "DIR", default_value = "lsp_fll_load_cpus")]
    pub dir: PathBuf,
}

/// Arguments of `pack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build pack build/vector_add_cpu0.so   # .stripped.so and .packed.so appear beside it")]
pub struct Pack {
    /// A linked image.
    #[arg(value_name = "IMAGE")]
    pub image: PathBuf,
    /// Packed object to write [default: <IMAGE's stem>.packed.so].
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stripped image to write [default: <IMAGE's stem>.stripped.so].
    #[arg(short, long, value_name = "FILE")]
    pub stripped: Option<PathBuf>,
}

/// Arguments of `unpack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  gpsimd-build unpack build/vector_add_cpu0.packed.so -o vector_add_cpu0.stripped.so")]
pub struct Unpack {
    /// A packed object.
    #[arg(value_name = "PACKED")]
    pub packed: PathBuf,
    /// Image to write.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// Arguments of `inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build inspect build/vector_add                       # the images of a library
  gpsimd-build inspect build/vector_add_cpu3.so --map map.svg # of one built with --multicore
  gpsimd-build inspect build/vector_add.ucpl load.bin
  gpsimd-build inspect --extisa extisa   # built-in libraries of the vendor")]
pub struct Inspect {
    /// Linked, stripped, packed, split or prelinked images, or files of load records.
    #[arg(required_unless_present = "extisa", value_name = "IMAGE")]
    pub images: Vec<PathBuf>,
    /// Show the catalogue of the vendor's built-in libraries; this directory has those that you can supply, each under its
    /// getter's name: CAYMAN_Q7_POOL_PERF_EXTISA_0.so and .json.
    #[arg(long, value_name = "DIR")]
    pub extisa: Option<PathBuf>,
    /// Generation whose memory a split or prelinked image is for [default: what fits the image, else cayman].
    #[arg(long, value_name = "GENERATION", value_parser = generation())]
    pub generation: Option<Generation>,
    /// Draw the window of the (one) image.
    #[arg(long, value_name = "SVG")]
    pub map: Option<PathBuf>,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gpsimd-build verify build/vector_add           # every file of a library, by its manifest
  gpsimd-build verify build/vector_add_cpu*.so   # these files
  gpsimd-build verify build                      # every library there
  gpsimd-build verify build/vector_add load.bin  # and whether these records load it
  gpsimd-build verify --json build/vector_add")]
pub struct Verify {
    /// Image files, or a library: the path of its manifest or without .manifest.json.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where the image is staged that records among the files load [default: where `run` stages it].
    #[arg(long, value_name = "ADDRESS", value_parser = number)]
    pub addr: Option<u64>,
    /// Which library those records are about.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub index: u32,
    /// Also write the report here, as JSON.
    #[arg(long, value_name = "FILE", hide = true)]
    pub report: Option<PathBuf>,
}
