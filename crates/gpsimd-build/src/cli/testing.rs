//! Arguments of `test`.
//!
//! Unaware of libraries and cases.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::Compile;

/// Kinds of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Cases {
    /// The inputs given with --input.
    Given,
    /// Calls one after the other.
    Calls,
    /// Every leading extent from 1 to 300.
    Extents,
    /// Sizes around blocks of memory, and 65,535.
    Blocks,
    /// Every element type.
    Dtypes,
    /// NaN, infinities, -0, subnormals, the ends of ranges.
    Unusual,
}

/// Arguments of `test`.
#[derive(Debug, Args)]
#[command(after_help = "\
Give kernel sources, with the options of `compile`, to test every way to build them: eight cores and one, plain and checked,
fixed and split images. Give a library to test that as it is, and NAME.checked if it lies beside it.

What an op takes is found by asking its shape function and by trying; where that fails, or for an op that wants particular
inputs, give one good call with --input, a word for each parameter. Extents that are equal there stay equal in all cases.

A reference is a Python function of numpy arrays, or of torch tensors if its module imports torch; or `native`: the same kernels
compiled for this machine, which shows what the device, its compiler or its number of cores have to do with a result.

Examples:
  gpsimd-build test relu.cpp --shape-src relu_shape.cpp
  gpsimd-build test build/relu --op relu_forward
  gpsimd-build test scale.cpp --reference numpy:negative
  gpsimd-build test relu.cpp --shape-src relu_shape.cpp --only unusual --reference native
  gpsimd-build test norm.cpp --input rand:16x24 --input 1e-5 --reference expected:norm
  gpsimd-build test build/relu --input x.npy --expect y.npy
  gpsimd-build test build/relu --shard 1/4 --junit report.xml")]
pub struct Test {
    #[command(flatten)]
    pub compile: Compile,
    /// A parameter's value in one good call, as `run` takes it; once for each parameter.
    #[arg(long = "input", value_name = "INPUT", allow_hyphen_values = true, help_heading = "Cases")]
    pub inputs: Vec<String>,
    /// Only these kinds of cases.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KINDS", help_heading = "Cases")]
    pub only: Vec<Cases>,
    /// Other random numbers.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Cases")]
    pub seed: u32,
    /// Only part I of N of the cases.
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = "Cases")]
    pub shard: Option<(usize, usize)>,
    /// What the op should compute: a function that Python finds, or the library's native twin.
    #[arg(long, value_name = "MODULE:FUNCTION|native", conflicts_with = "expect", help_heading = "Judging")]
    pub reference: Option<String>,
    /// What the call of --input should give.
    #[arg(long, value_name = "NPY", requires = "inputs", help_heading = "Judging")]
    pub expect: Option<PathBuf>,
    /// How far results may be from the reference's, in units in the last place [default: float32=4, float16=1, bfloat16=1].
    #[arg(long, value_name = "DTYPE=N", value_parser = ulps, help_heading = "Judging")]
    pub ulps: Vec<(gpsimd_device::Dtype, u64)>,
    /// Do not count this check's findings.
    #[arg(long, value_name = "CODE", help_heading = "Judging")]
    pub allow: Vec<String>,
    /// Python [default: $PYTHON, else python3].
    #[arg(long, value_name = "PROGRAM", help_heading = "Judging")]
    pub python: Option<PathBuf>,
    /// Write the report here, too, as JUnit XML.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

impl Test {
    /// Whether the library's native twin is the reference.
    pub fn is_by_twin(&self) -> bool {
        self.reference.as_deref() == Some("native")
    }
}

fn shard(text: &str) -> Result<(usize, usize), String> {
    let parts = text.split_once('/').and_then(|(part, of)| Some((part.parse().ok()?, of.parse().ok()?)));
    parts
        .filter(|(part, of)| (1..=*of).contains(part))
        .ok_or_else(|| "two numbers I/N, I from 1 to N".to_owned())
}

fn ulps(text: &str) -> Result<(gpsimd_device::Dtype, u64), String> {
    let parts = text
        .split_once('=')
        .and_then(|(dtype, ulps)| Some((gpsimd_device::Dtype::from_name(dtype)?, ulps.parse().ok()?)));
    parts.ok_or_else(|| "an element type and a number, such as float32=4".to_owned())
}
