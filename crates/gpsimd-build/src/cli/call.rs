//! Arguments that describe a call of an op: what `run` does and `debug` goes through.
//!
//! Unaware of what becomes of the call. The library comes first, which each command has with its own words.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use gpsimd_loader::Generation;

use super::Lane;
use super::values::generation;

/// The op, its inputs and its output, how it gets to the device, and how it is built if it is a source.
#[derive(Debug, Clone, Args)]
pub struct CallOptions {
    /// The op's inputs, in order.
    #[arg(value_name = "INPUT", allow_negative_numbers = true)]
    pub inputs: Vec<String>,
    /// The op: its kernel function, its name, or both with their namespace (my::relu) [default: the library's only one];
    /// with a source also KERNEL=SCHEMA.
    #[arg(long, value_name = "OP")]
    pub op: Option<String>,
    /// The output has the shape and type of this input, counted from 0.
    #[arg(long, value_name = "N", conflicts_with_all = ["shape", "dtype"])]
    pub like: Option<usize>,
    /// The output's shape, such as 2x3.
    #[arg(long, value_name = "SHAPE")]
    pub shape: Option<String>,
    /// The output's element type [default: float32].
    #[arg(long, value_name = "DTYPE", requires = "shape")]
    pub dtype: Option<String>,
    /// How the library gets to the device: fixed for its fixed images, ucpl for its split image.
    #[arg(long, value_enum, default_value_t = Lane::Fixed, value_name = "LANE")]
    pub lane: Lane,
    /// With --lane ucpl, the generation to prelink for [default: the one the library was built for].
    #[arg(long, value_name = "GENERATION", value_parser = generation())]
    pub generation: Option<Generation>,
    /// Of a source: build it for all eight cores. With --lane ucpl and a bare image: load it on all eight cores.
    #[arg(long)]
    pub multicore: bool,
    /// Another source of the kernel.
    #[arg(long = "source", value_name = "SOURCE", help_heading = "Of a source")]
    pub sources: Vec<PathBuf>,
    /// A source of shape functions and registrations.
    #[arg(long = "shape-src", value_name = "SOURCE", help_heading = "Of a source")]
    pub shape_sources: Vec<PathBuf>,
    /// Compiler flags, after the built-in ones.
    #[arg(last = true, value_name = "CFLAG", allow_hyphen_values = true, help_heading = "Of a source")]
    pub cflags: Vec<OsString>,
}
