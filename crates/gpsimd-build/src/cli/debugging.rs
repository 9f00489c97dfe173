//! Arguments of `debug`.
//!
//! Unaware of libraries and of how a session goes.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use gpsimd_loader::Generation;

use super::values::generation;
use super::{Lane, Run};

/// Arguments of `debug`.
#[derive(Debug, Args)]
#[command(after_help = "\
The library and its inputs are those of `run`. Commands are read from the terminal, or line by line from a pipe or file;
`help` lists them, docs/debugging.md shows a session. A kernel's source is built first, without optimisation.

Examples:
  gpsimd-build debug build/vector_add arange:1000 ones:1000 --like 0
  gpsimd-build debug build/vector_add ones:9 ones:9 --like 0 <<< 'why out[3]'
  gpsimd-build debug vector_add.cpp arange:1000 ones:1000 --like 0
  gpsimd-build debug --dap                       # started by an editor
  gpsimd-build debug --listen 127.0.0.1:4711     # connected to by one")]
pub struct Debug {
    #[command(flatten)]
    pub subject: Subject,
    /// Speak the Debug Adapter Protocol on standard input and output; `launch` says what is debugged.
    #[arg(long, conflicts_with_all = ["library", "listen"])]
    pub dap: bool,
    /// Speak it with whoever connects to this address, one after the other; 127.0.0.1 only, port 0 is any that is free.
    #[arg(long, value_name = "ADDRESS", conflicts_with = "library")]
    pub listen: Option<SocketAddr>,
    /// Do not stop at what a run would report.
    #[arg(long)]
    pub no_findings: bool,
}

/// A call to be debugged, as a command line or an editor describes it.
#[derive(Debug, Clone, Args)]
pub struct Subject {
    /// A library (build/NAME), one of its images, or a kernel's source: that is built first, without optimisation.
    #[arg(value_name = "LIBRARY|SOURCE")]
    #[arg(required_unless_present_any = ["dap", "listen"])]
    pub library: Option<PathBuf>,
    /// The op's inputs, in order.
    #[arg(value_name = "INPUT", allow_negative_numbers = true)]
    pub inputs: Vec<String>,
    /// The op, as `run` takes it.
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
    /// Build it with the compiler's checks, as `run` does, instead of without optimisation.
    #[arg(long, help_heading = "Of a source")]
    pub checked: bool,
    /// Directory for what is built.
    #[arg(long, value_name = "DIR", default_value = "build/debug", help_heading = "Of a source")]
    pub out_dir: PathBuf,
    /// Compiler flags, after the built-in ones.
    #[arg(last = true, value_name = "CFLAG", allow_hyphen_values = true, help_heading = "Of a source")]
    pub cflags: Vec<OsString>,
}

impl Subject {
    /// The same call, as `run` has it.
    pub fn call(self, is_source: bool) -> Run {
        let flags = (is_source && !self.checked).then(|| OsString::from("-O0"));
        Run {
            library: self.library.unwrap_or_default(),
            inputs: self.inputs,
            op: self.op,
            output: None,
            like: self.like,
            shape: self.shape,
            dtype: self.dtype,
            allow: Vec::new(),
            lane: self.lane,
            trace: false,
            records: None,
            generation: self.generation,
            multicore: self.multicore,
            raw: false,
            calls: 1,
            sources: self.sources,
            shape_sources: self.shape_sources,
            plain: is_source && !self.checked,
            out_dir: self.out_dir,
            cflags: flags.into_iter().chain(self.cflags).collect(),
            hbm: None,
            budget: None,
            no_native: true,
            profile: None,
            profile_out: None,
            costs: None,
            compare: None,
            report: None,
            expect: None,
            no_translate: true,
        }
    }
}
