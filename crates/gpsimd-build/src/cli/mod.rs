//! Every argument, with its help, where it is defined: one room per family of commands.
//!
//! Unaware of what the commands do with them.

mod aids;
mod build;
mod call;
mod debugging;
mod images;
mod loading;
mod running;
mod steps;
mod testing;
mod values;
mod watching;

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub use aids::{
    BuildSystem, Completions, Explain, Integrations, Man, New, Schema, Template, Toolchain, ToolchainCommand,
    Words,
};
pub use build::{
    Codegen, Compile, Compiler, ImageKind, Link, Ops, Packer, Plan, PlanFormat, Sanitizer, Which,
};
pub use call::CallOptions;
pub use debugging::{Debug, Subject};
pub use images::{Inspect, Lsp, Pack, Unpack, Verify};
pub use loading::{Prelink, Records, RecordsCommand};
pub use running::{Format, Lane, Run};
pub use steps::Stage;
pub use testing::{Cases, Test};
pub use watching::Watch;

/// From a C++ kernel to checked GPSIMD custom-op images, with no licence and no accelerator.
#[derive(Debug, Parser)]
#[command(
    name = "gpsimd-build",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "\
Exit codes:
  0    done, all checks passed
  1    the kernel, the request or an image is at fault, or the result cannot be written
  2    the command line is wrong
  3    this machine lacks something (a toolchain, a package)
  130  interrupted
A reader that leaves early, as `| head` does, changes none of them and is not mentioned.

First steps, with a kernel of examples/:
  gpsimd-build toolchain install
  gpsimd-build compile vector_add.cpp --multicore
  gpsimd-build run build/vector_add arange:1000 ones:1000 --like 0"
)]
pub struct Cli {
    /// Options every command takes.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

impl Cli {
    /// This process's arguments.
    ///
    /// # Errors
    /// A mistake in them, or the answer to a question such as `--help`.
    pub fn of_process() -> Result<Cli, clap::Error> {
        // Putting together what all commands take lasts half as long as a build where nothing changed.
        if std::env::args_os().nth(1).is_some_and(|word| word == "compile")
            && let Ok(CompileAlone { global, command: Alone::Compile(arguments) }) = CompileAlone::try_parse()
        {
            return Ok(Cli { global, command: Command::Compile(arguments) });
        }
        Cli::try_parse_from(std::env::args_os().map(number))
    }
}

/// Negative numbers as clap knows them: `-.5` and `-inf` would pass for options.
fn number(word: OsString) -> OsString {
    let text = word.to_str().unwrap_or_default();
    let is_number = text.starts_with('-') && text.parse::<f64>().is_ok();
    match text.strip_prefix('-') {
        Some("inf" | "infinity") => "-1e999".into(),
        Some(rest) if is_number && rest.starts_with('.') => format!("-0{rest}").into(),
        _ => word,
    }
}

impl Command {
    /// As an answer names it, and its help.
    pub fn name(&self) -> &'static str {
        match self {
            Command::New(_) => "new",
            Command::Compile(_) => "compile",
            Command::Plan(_) => "plan",
            Command::Codegen(_) => "codegen",
            Command::Lsp(_) => "lsp",
            Command::Pack(_) => "pack",
            Command::Unpack(_) => "unpack",
            Command::Inspect(_) => "inspect",
            Command::Verify(_) => "verify",
            Command::Prelink(_) => "prelink",
            Command::Records(Records { command: RecordsCommand::Load { .. } }) => "records load",
            Command::Records(Records { command: RecordsCommand::Unload { .. } }) => "records unload",
            Command::Run(_) => "run",
            Command::Debug(_) => "debug",
            Command::Test(_) => "test",
            Command::Watch(_) => "watch",
            Command::Toolchain(Toolchain { command: ToolchainCommand::Install { .. } }) => {
                "toolchain install"
            }
            Command::Toolchain(Toolchain { command: ToolchainCommand::Show { .. } }) => "toolchain show",
            Command::Toolchain(Toolchain { command: ToolchainCommand::Export { .. } }) => "toolchain export",
            Command::Toolchain(Toolchain { command: ToolchainCommand::Wheel { .. } }) => "toolchain wheel",
            Command::Doctor => "doctor",
            Command::Schema(_) => "schema",
            Command::Integrations(_) => "integrations",
            Command::Kit => "kit",
            Command::Explain(_) => "explain",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Stage(_) => "stage",
        }
    }
}

/// The command line of `compile`, read without the other commands; mistakes are left to [`Cli`].
#[derive(Debug, Parser)]
struct CompileAlone {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Alone,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant)] // as in `Command`
enum Alone {
    Compile(Compile),
}

/// Options every command takes.
#[derive(Debug, Args)]
pub struct Global {
    /// Print one JSON answer on standard output instead of text; its schemas are in docs/json.
    #[arg(long, global = true, help_heading = "Output")]
    pub json: bool,
    /// Show each command as it runs; twice for the tool's own log.
    #[arg(short, long, global = true, action = clap::ArgAction::Count, help_heading = "Output")]
    pub verbose: u8,
    /// When to use colour.
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN", help_heading = "Output")]
    pub color: When,
}

/// When to do something that suits a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// If the output is a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Begin a project: kernel, shape function, test, build files.
    New(New),
    /// Build a library from kernel sources: compile, link per core, strip, pack, verify.
    Compile(Compile),
    /// Write down what `compile` would do, for other programs.
    Plan(Plan),
    /// Write the wrapper that marshals a library's arguments.
    Codegen(Codegen),
    /// Write linker support packages (scripts and specs).
    Lsp(Lsp),
    /// Strip a linked image and pack it into a relocatable object.
    Pack(Pack),
    /// Take the image out of a packed object.
    Unpack(Unpack),
    /// Show what is in an image.
    Inspect(Inspect),
    /// Check images, alone and against each other.
    Verify(Verify),
    /// Turn a split-load library into the image that a device loads.
    Prelink(Prelink),
    /// Write the record that loads or unloads a library.
    Records(Records),
    /// Execute an op of a library on the simulated device.
    Run(Run),
    /// Step through an op on the simulated device, forward and backward: on a terminal, or for an editor.
    Debug(Box<Debug>),
    /// Test everything about the ops of a library, or of sources: sizes, types, cores, images, unusual values.
    Test(Box<Test>),
    /// Compile, run or test again whenever a source is saved.
    Watch(Watch),
    /// Install and list compilers.
    Toolchain(Toolchain),
    /// Say what this machine has, what it lacks, and how to get it.
    Doctor,
    /// Print the canonical form of schemas and whether the device can take them.
    Schema(Schema),
    /// Write what CMake and Make need to build libraries.
    Integrations(Integrations),
    /// Print the helpers for kernels (gpsimd/kit.hpp) as one header, to copy into a project.
    Kit,
    /// Explain an error: cause, example, remedy.
    Explain(Explain),
    /// Write a completion script for a shell.
    Completions(Completions),
    /// Write manual pages.
    Man(Man),
    /// A step of an exported plan.
    #[command(hide = true)]
    Stage(Stage),
}
