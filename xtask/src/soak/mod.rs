//! Storms: what the ordinary tests do a little of, at length, against the tool as a user has it.
//!
//! Each storm ends with one line that says what it did, or with the first thing that broke a promise. Unaware of how the
//! tool keeps its promises.

mod bytes;
mod chroot;
mod chroots;
mod crowd;
mod dice;
mod farm;
mod full;
mod kills;
mod mutants;
mod newer;
mod parsers;
mod private;
mod publish;
mod pytorch;
mod terminal;
mod traced;
mod wheel;
mod yard;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use yard::Yard;

/// One kind of bad weather.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Storm {
    /// Damaged bytes into every parser, in process.
    Parsers,
    /// Every float into the fast functions of the kernel helpers.
    Floats,
    /// Random instruction sequences in the interpreter, in translated code and under qemu.
    Sequences,
    /// Functions that the host computes against their own instructions, operand by operand.
    Routines,
    /// Reports of every example, conformance case and faulty kernel, with and without translation and native routines.
    Alike,
    /// The simulator as other processors than x86-64 have it.
    Interpreter,
    /// The open toolchain exported, imported where no packages are, exported again.
    Travel,
    /// The release in bare systems of other Debians.
    Chroots,
    /// The crates from their packages alone, as `cargo publish` would send them.
    Publish,
    /// The Python package with PyTorch 2, in a system of Debian 13.
    Pytorch,
    /// The toolchain built and exported by two machines.
    Exports,
    /// The toolchain installed without root in plain systems of Debian 12, Debian 13 and Ubuntu 24.04.
    Private,
    /// The toolchain as a package that pip puts beside the program.
    Wheel,
    /// The toolchain of Debian 13's packages, under the conformance suite.
    Newer,
    /// Hundreds of ops under two compile servers and in Bazel's sandbox.
    Farm,
    /// GCC's execute torture suite, run by the simulator and by qemu.
    Torture,
    /// qemu's own tests of instructions, as programs in user level.
    Instructions,
    /// libstdc++'s own tests of what needs neither exceptions nor streams.
    Libstdcxx,
    /// GCC's own tests of its sanitizers, in checked builds.
    Suites,
    /// Right kernels built in every way: nothing may be found.
    Alarms,
    /// Native twins of every kernel of the gallery beside the simulated device.
    Twins,
    /// Variables as a debugger shows them against what random programs know of their own.
    Locals,
    /// The page that explains a run, in a browser.
    Pages,
    /// A debugging session at random times, forward and back, and with the test client of VS Code.
    Debugger,
    /// A new project, tested on every save, in a terminal that is recorded.
    Terminal,
    /// Random edits under the incremental build.
    Edits,
    /// The tool and its compilers die at chosen system calls.
    Kills,
    /// Many builds at the same time.
    Crowd,
    /// No room: disks of every size from nothing to enough.
    Full,
    /// Damaged files to every command, with limits on time and memory.
    Mutants,
    /// Single bytes of what ships: `verify` finds each.
    Bytes,
    /// Every command over a hostile library and a hostile project, watched.
    Traced,
}

/// How much of each.
#[derive(Debug, clap::Args)]
pub struct Dose {
    /// Only these storms.
    #[arg(value_enum)]
    pub only: Vec<Storm>,
    /// Storm this binary instead of building one.
    #[arg(long)]
    pub tool: Option<std::path::PathBuf>,
    /// Random edits.
    #[arg(long, default_value_t = 2000)]
    pub edits: u64,
    /// Kills at system calls.
    #[arg(long, default_value_t = 320)]
    pub kills: u64,
    /// Builds at the same time.
    #[arg(long, default_value_t = 64)]
    pub builds: usize,
    /// Libraries of ten ops each, for the farm.
    #[arg(long, default_value_t = 20)]
    pub libraries: usize,
    /// Damaged files.
    #[arg(long, default_value_t = 32_000)]
    pub mutants: u64,
    /// Changed bytes.
    #[arg(long, default_value_t = 3000)]
    pub bytes: u64,
    /// Damaged files at the same time.
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Pages of 4 KiB between two sizes of a disk.
    #[arg(long, default_value_t = 1)]
    pub step: u64,
    /// Another storm.
    #[arg(long, default_value_t = 8)]
    pub seed: u64,
}

/// Runs the storms; `tool` is the binary, and the open toolchain is installed.
pub fn run(tool: &std::path::Path, dose: &Dose) -> Result<()> {
    let storms = if dose.only.is_empty() { Storm::value_variants() } else { &dose.only };
    let mut ends = Vec::new();
    for storm in storms {
        let yard = || Yard::new(tool, &format!("{storm:?}").to_lowercase());
        let end = match storm {
            Storm::Parsers => parsers::storm(),
            Storm::Floats => parsers::floats(),
            Storm::Sequences => parsers::sequences(),
            Storm::Routines => parsers::routines(),
            Storm::Alike => parsers::alike(),
            Storm::Interpreter => parsers::interpreter(),
            Storm::Travel => parsers::travel(),
            Storm::Chroots => chroots::storm(&yard()?),
            Storm::Publish => publish::storm(&yard()?),
            Storm::Pytorch => pytorch::storm(&yard()?),
            Storm::Exports => chroots::exports(&yard()?),
            Storm::Private => private::storm(&yard()?),
            Storm::Wheel => wheel::storm(&yard()?),
            Storm::Newer => newer::storm(&yard()?),
            Storm::Farm => farm::storm(&yard()?, dose.libraries),
            Storm::Torture => parsers::torture(),
            Storm::Instructions => parsers::instructions(),
            Storm::Libstdcxx => parsers::libstdcxx(),
            Storm::Suites => parsers::suites(),
            Storm::Alarms => parsers::alarms(),
            Storm::Twins => parsers::twins(),
            Storm::Locals => parsers::locals(),
            Storm::Pages => parsers::pages(),
            Storm::Debugger => parsers::debugger(),
            Storm::Terminal => terminal::storm(&yard()?),
            Storm::Edits => parsers::edits(dose.edits, dose.seed),
            Storm::Kills => kills::storm(&yard()?, dose.kills, dose.seed),
            Storm::Crowd => crowd::storm(&yard()?, dose.builds),
            Storm::Full => full::storm(&yard()?, dose.step),
            Storm::Mutants => mutants::storm(&yard()?, dose),
            Storm::Bytes => bytes::storm(&yard()?, dose.bytes, dose.seed),
            Storm::Traced => traced::storm(&yard()?),
        };
        let end = end.with_context(|| format!("the storm `{storm:?}`"));
        match &end {
            Ok(line) => println!("xtask: {storm:?}: {line}"),
            Err(error) => println!("xtask: {storm:?}: BROKEN: {error:#}"),
        }
        ends.push(end);
    }
    println!("xtask: {} storms", ends.len());
    let broken = ends.iter().filter(|end| end.is_err()).count();
    if broken > 0 {
        bail!("{broken} of {} storms broke a promise", ends.len());
    }
    Ok(())
}
