//! Chores of this repository, run as `cargo xtask <chore>`.
//!
//! Unaware of compilers, images and cores; those belong to the tool itself,
//! which this only builds and calls.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test stops where it fails"))]

mod bench;
mod chores;
mod dist;
mod licences;
mod packages;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod parcels;
mod soak;
mod trust;

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
    /// Set everything up, then build examples/relu_multicore.cpp for eight cores and run it.
    Demo,
    /// Set everything up, then run every test and lint.
    Test,
    /// Set everything up, then measure builds and simulated programs against what they replace; prints, and writes
    /// docs/benchmarks.md.
    Bench {
        /// Only these sections.
        #[arg(value_enum)]
        only: Vec<bench::Section>,
        /// Rounds; medians are of these.
        #[arg(long, default_value_t = 11)]
        rounds: usize,
    },
    /// Set everything up, then the storms: damaged and changed bytes and files, kills, crowds, full disks, hostile input.
    Soak(soak::Dose),
    /// What a release is made of, in target/dist: program, packages, crates, sources, bill of materials, checksums, notes.
    Dist(dist::Order),
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().chore {
        Chore::Demo => chores::demo(),
        Chore::Test => chores::test(),
        Chore::Bench { only, rounds } => chores::bench(&only, rounds),
        Chore::Soak(dose) => chores::soak(&dose),
        Chore::Dist(order) => dist::run(&order),
    }
}
