//! Arguments of `run`.
//!
//! Unaware of libraries and of the device.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gpsimd_library::Staging;

use super::CallOptions;

/// How a library gets to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Lane {
    /// Images linked for a fixed address.
    Fixed,
    /// Prelinked split images, loaded by record, dispatched through 0xF0 instructions.
    Ucpl,
}

/// How a profile is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The lines and functions that cost most, on the screen.
    Text,
    /// Every source line with what it cost.
    Annotated,
    /// Calls, for speedscope.app and editors.
    Speedscope,
    /// Calls as one line each, which flame graphs are made from.
    Folded,
    /// The flame graph itself, as a picture.
    Flame,
    /// Cores, DMA queues and windows over time, for ui.perfetto.dev.
    Timeline,
}

impl From<Lane> for gpsimd_library::Lane {
    fn from(lane: Lane) -> Self {
        match lane {
            Lane::Fixed => Self::Fixed,
            Lane::Ucpl => Self::Ucpl,
        }
    }
}

impl From<&Run> for Staging {
    fn from(arguments: &Run) -> Self {
        let CallOptions { lane, generation, multicore, .. } = arguments.call;
        let (cores, records) = (if multicore { 8 } else { 1 }, arguments.records.clone());
        Self { lane: lane.into(), generation, cores, records }
    }
}

/// Arguments of `run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Inputs are .npy files, numbers, or tensors made up on the spot: rand:SHAPE[:DTYPE[:SEED]], arange:…, zeros:…, ones:…,
unusual:… (NaN, infinities, -0, subnormals among others), nan:….

The output has the shape that the library's shape function gives; without one, that of the first tensor.

Examples:
  gpsimd-build run build/vector_add a.npy b.npy --like 0 -o sum.npy
  gpsimd-build run build/vector_add rand:1000 rand:1000 --like 0
  gpsimd-build run build/relu rand:1000x4 --op relu_forward   # built with --shape-src
  gpsimd-build run build/scale_clip x.npy 0.5 3 1.5 --shape 2x3 --dtype float32
  gpsimd-build run build/vector_add rand:100 rand:100 --like 0 --lane ucpl --trace
  gpsimd-build run build/vector_add.ucpl rand:100 rand:100 --like 0 --lane ucpl   # as it ships
  gpsimd-build run build/vector_add rand:100 rand:100 --like 0 --profile=text,speedscope,timeline
  gpsimd-build run build/vector_add rand:100 rand:100 --like 0 --report page.html
  gpsimd-build run vector_add.cpp rand:1000 rand:1000 --like 0   # built with checks first
  gpsimd-build run relu_multicore.cpp rand:1000 --like 0 --multicore -- -DLIMIT=6")]
pub struct Run {
    /// A library (build/NAME), one of its images, or a kernel's source: that is built first, with the compiler's checks.
    #[arg(value_name = "LIBRARY|SOURCE")]
    pub library: PathBuf,
    #[command(flatten)]
    pub call: CallOptions,
    /// File for the output.
    #[arg(short, long, value_name = "NPY")]
    pub output: Option<PathBuf>,
    /// Do not report this check's findings.
    #[arg(long, value_name = "CODE")]
    pub allow: Vec<String>,
    /// Show every stage from the schema to the last byte given back; those up to a failure, where one fails.
    #[arg(long)]
    pub trace: bool,
    /// With --lane ucpl and a .ucpl image, load and unload it by these records instead of ones made for it.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// Print a kernel's text as it is, even if it steers the terminal.
    #[arg(long)]
    pub raw: bool,
    /// Call the op this often on one loaded library, with other numbers each time where inputs are rand, and compare every
    /// call with one on a library of its own.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub calls: u32,
    /// Build it as it ships, without the compiler's checks.
    #[arg(long, help_heading = "Of a source")]
    pub plain: bool,
    /// Directory for what is built.
    #[arg(long, value_name = "DIR", default_value = "build", help_heading = "Of a source")]
    pub out_dir: PathBuf,
    /// Most memory for the tensors of a call, in GiB [default: 4].
    #[arg(long, value_name = "GIB", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub hbm: Option<u16>,
    /// Most instructions per core before a run counts as endless [default: 20 billion, or half a billion in which nothing is
    /// read, written, copied or printed].
    #[arg(long, value_name = "N")]
    pub budget: Option<u64>,
    /// Execute every instruction of library functions that the host would compute (float arithmetic, memcpy, …); the
    /// results and counts are the same, later.
    #[arg(long)]
    pub no_native: bool,
    /// Say what every function and line cost, as text on the screen, or in files named after the op [default: text]. The run
    /// takes longer; its results and counts are the same.
    #[arg(
        long, value_name = "FORMAT", value_enum, value_delimiter = ',', num_args = 0..=1, require_equals = true,
        default_missing_value = "text", conflicts_with = "calls"
    )]
    pub profile: Option<Vec<Format>>,
    /// Directory for the files of --profile [default: that of --output, else the current one].
    #[arg(long, value_name = "DIR", requires = "profile")]
    pub profile_out: Option<PathBuf>,
    /// Run this library's op, too, with the same inputs, and say what differs: output, counts, lines that became dearer or
    /// cheaper. Takes a profile of both.
    #[arg(long, value_name = "LIBRARY", conflicts_with = "calls")]
    pub compare: Option<PathBuf>,
    /// Write one page that explains the run: tensors, findings, advice, source with heat, timeline, memory, counters. Takes a
    /// profile, too.
    #[arg(long, value_name = "HTML", conflicts_with = "calls")]
    pub report: Option<PathBuf>,
    /// The output that is wanted, for the page to show what differs.
    #[arg(long, value_name = "NPY", requires = "report")]
    pub expect: Option<PathBuf>,
    /// Estimate cycles by this table in place of the built-in one (crates/gpsimd-device/costs.toml); entries that it leaves out
    /// stay.
    #[arg(long, value_name = "TOML")]
    pub costs: Option<PathBuf>,
    /// Interpret every block, where those that run often would become host code; the results are the same, later.
    #[arg(long)]
    pub no_translate: bool,
}
