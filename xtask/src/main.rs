//! Chores of this repository, run as `cargo xtask <chore>`.
//!
//! Unaware of compilers, images and cores; those belong to the tool itself,
//! which this only builds and calls.

mod chores;
mod licences;
mod packages;

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
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().chore {
        Chore::Demo => chores::demo(),
        Chore::Test => chores::test(),
    }
}
