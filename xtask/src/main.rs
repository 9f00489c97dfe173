//! Chores of this repository, run as `cargo xtask <chore>`.
//!
//! Unaware of compilers, images and cores; those belong to the tool itself,
//! which this only builds and calls.

mod bench;
mod chores;
mod licences;
mod packages;
#[cfg(test)]
mod pages;

use clap::{Parser, Subcommand};

/// Chores of the gpsimd-build repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Set everything up, then build examples/vector_add.cpp for eight cores and print the report.
    Demo,
    /// Set everything up, then run every test and lint.
    Test,
    /// Set everything up, then measure whole builds against what they replace; writes docs/benchmarks.md.
    Bench {
        /// Rounds; medians are of these.
        #[arg(long, default_value_t = 11)]
        rounds: usize,
    },
    /// Set everything up, then the long storms: damaged bytes, damaged libraries, random edits.
    Soak {
        /// How many edits.
        #[arg(long, default_value_t = 2000)]
        edits: u64,
        /// Another storm.
        #[arg(long, default_value_t = 8)]
        seed: u64,
    },
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().chore {
        Chore::Demo => chores::demo(),
        Chore::Test => chores::test(),
        Chore::Bench { rounds } => chores::bench(rounds),
        Chore::Soak { edits, seed } => chores::soak(edits, seed),
    }
}
