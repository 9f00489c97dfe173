//! What is measured, in one run on one machine: whole builds against what they replace, simulated programs against qemu.
//!
//! Every round runs each contender once, in turn, so that a busy machine is busy for all of them; a ratio is the median
//! of the rounds' ratios. Unaware of how the tool works: it is started as a user would.

mod builds;
mod images;
mod project;
mod reference;
mod rounds;
mod simulator;

use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

use project::Scratch;

const PAGE: &str = "docs/benchmarks.md";

/// A section of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Section {
    /// Whole builds.
    Builds,
    /// Simulated programs and calls.
    Simulator,
}

/// What is needed of the tool: binaries that are built.
pub struct Binaries<'a> {
    /// The tool itself.
    pub tool: &'a Path,
    /// The example of the engine that packs images in memory.
    pub package: &'a Path,
    /// The example of the simulator that runs programs.
    pub speed: &'a Path,
    /// The example of the library that calls ops.
    pub calls: &'a Path,
    /// The Python package's extension.
    pub extension: &'a Path,
}

struct Bench<'a> {
    root: &'a Path,
    binaries: &'a Binaries<'a>,
    rounds: usize,
    scratch: Scratch,
}

/// Measures, prints, and writes the sections in `docs/benchmarks.md`; all without a choice.
pub fn run(root: &Path, binaries: &Binaries<'_>, sections: &[Section], rounds: usize) -> Result<()> {
    let rounds = rounds.max(1);
    let bench = Bench { root, binaries, rounds, scratch: Scratch::new()? };
    let sections = if sections.is_empty() { Section::value_variants() } else { sections };
    for section in sections {
        let name = format!("{section:?}").to_lowercase();
        let command = format!("    cargo xtask bench {name} --rounds {rounds}\n\n");
        let mut text = match section {
            Section::Builds => builds::heading(rounds),
            Section::Simulator => simulator::heading(rounds),
        } + &command;
        for part in Bench::parts(*section) {
            let found = part(&bench)?;
            print!("{found}");
            text += &found;
        }
        write(root, &name, text.trim_end())?;
    }
    Ok(())
}

impl<'a> Bench<'a> {
    /// What a section consists of.
    fn parts(section: Section) -> Vec<fn(&Bench<'a>) -> Result<String>> {
        match section {
            Section::Builds => {
                vec![Bench::images, Bench::again, Bench::cold, Bench::headers, Bench::growth, Bench::sizes]
            }
            Section::Simulator => {
                vec![Bench::programs, Bench::kernels, Bench::processors, Bench::calls, Bench::python]
            }
        }
    }
}

/// Puts a section in its place on the page.
fn write(root: &Path, name: &str, text: &str) -> Result<()> {
    let [begin, end] = ["begin", "end"].map(|word| format!("<!-- {word}: cargo xtask bench {name} -->"));
    let page = root.join(PAGE);
    let old = std::fs::read_to_string(&page).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
    let (before, after) = match (old.find(&begin), old.find(&end)) {
        (Some(begin), Some(at)) => (&old[..begin], &old[at + end.len()..]),
        _ => (old.as_str(), "\n"),
    };
    let new = format!("{}\n\n{begin}\n{text}\n\n{end}{after}", before.trim_end());
    std::fs::write(&page, new).with_context(|| format!("cannot write {PAGE}"))
}
