//! Arguments of `debug`.
//!
//! Unaware of libraries and of how a session goes.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{CallOptions, Run};

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
    #[command(flatten)]
    pub call: CallOptions,
    /// Build it with the compiler's checks, as `run` does, instead of without optimisation.
    #[arg(long, help_heading = "Of a source")]
    pub checked: bool,
    /// Directory for what is built.
    #[arg(long, value_name = "DIR", default_value = "build/debug", help_heading = "Of a source")]
    pub out_dir: PathBuf,
}

impl Subject {
    /// The same call, as `run` has it.
    pub fn call(self, is_source: bool) -> Run {
        let is_plain = is_source && !self.checked;
        let mut call = self.call;
        if is_plain {
            call.cflags.insert(0, OsString::from("-O0"));
        }
        Run {
            library: self.library.unwrap_or_default(),
            call,
            output: None,
            allow: Vec::new(),
            trace: false,
            records: None,
            raw: false,
            calls: 1,
            plain: is_plain,
            out_dir: self.out_dir,
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
