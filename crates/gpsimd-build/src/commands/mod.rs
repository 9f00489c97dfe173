//! One module per command; each turns its arguments into calls of the crates and shows the result.

mod codegen;
pub mod compile;
mod completions;
mod debug;
pub mod doctor;
mod draft;
pub mod explain;
pub mod extisa;
pub mod image;
mod integrations;
mod kit;
pub mod lsp;
mod man;
pub mod new;
pub mod plan;
pub mod prelink;
mod report;
pub mod run;
pub mod schema;
mod sources;
mod stage;
pub mod test;
pub mod toolchain;
pub mod verify;
mod watch;

use std::fmt;
use std::path::PathBuf;

use gpsimd_loader::{Generation, NeverStaged};
use gpsimd_toolchain::{Environment, Home, Machine};
use miette::{Diagnostic, Result, Severity};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::{Cli, Command, Compiler};
use crate::compiler::{self, Choice};
use crate::render::Render;
use crate::status::Status;

/// Runs the command.
///
/// # Errors
/// Why it could not do its work.
pub fn dispatch(arguments: Cli, render: &Render) -> Result<Status> {
    match arguments.command {
        Command::Compile(arguments) => compile::run(&arguments, render),
        Command::Plan(arguments) => plan::run(&arguments, render),
        Command::Codegen(arguments) => codegen::run(&arguments, render),
        Command::Lsp(arguments) => lsp::run(&arguments, render),
        Command::Pack(arguments) => image::pack(&arguments, render),
        Command::Unpack(arguments) => image::unpack(&arguments, render),
        Command::Inspect(arguments) => image::inspect(&arguments, render),
        Command::Prelink(arguments) => prelink::run(&arguments, render),
        Command::Records(arguments) => prelink::records(&arguments, render),
        Command::Run(arguments) => run::run(&arguments, render),
        Command::Debug(arguments) => debug::run(&arguments, render),
        Command::Test(arguments) => test::run(&arguments, render),
        Command::Verify(arguments) => verify::run(&arguments, render),
        Command::Toolchain(arguments) => toolchain::run(&arguments, render),
        Command::Doctor => doctor::run(render),
        Command::Schema(arguments) => schema::run(&arguments, render),
        Command::Explain(arguments) => explain::run(&arguments, render),
        Command::Integrations(arguments) => integrations::run(&arguments, render),
        Command::Kit => kit::run(render),
        Command::Man(arguments) => man::run(&arguments, render),
        Command::Completions(arguments) => completions::run(&arguments, render),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::New(arguments) => new::run(&arguments, render),
        Command::Stage(arguments) => stage::run(&arguments, render),
    }
}

/// What a command wrote, where that is all there is to say.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Files {
    /// Each file.
    pub files: Vec<PathBuf>,
}

/// A file with its size.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sized {
    /// The file.
    pub file: PathBuf,
    /// Bytes.
    pub size: usize,
}

/// Arguments that do not make sense together or do not read.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum ArgumentError {
    /// `--op` with a schema but no kernel.
    #[error("--op {text:?} is neither KERNEL nor KERNEL=SCHEMA")]
    #[diagnostic(
        code(cli::op),
        help(
            "for example --op 'relu_forward=my::relu(Tensor t) -> Tensor'; use --schema if both have one name"
        )
    )]
    Op {
        /// What was given.
        text: String,
    },
    /// No compiler for this machine.
    #[error("--native needs this machine's C++ compiler: {name} is not in PATH")]
    #[diagnostic(
        code(cli::host_compiler),
        help("install one (Debian: apt-get install g++), or name it in $CXX")
    )]
    HostCompiler {
        /// What was looked for.
        name: String,
    },
    /// `--launcher` that is not there.
    #[error("launcher {name} is not in PATH")]
    #[diagnostic(code(cli::launcher), help("install it (Debian: apt-get install {name}) or give its path"))]
    Launcher {
        /// What was given.
        name: String,
    },
}

/// Says, before anybody relies on an image, that it runs nowhere.
fn warn_never_staged(generation: Generation, render: &Render) {
    if let Some(never) = generation.never_staged() {
        render.warn(&Never(never));
    }
}

/// The reason why an image is not run, said where one is made: there it stops nothing.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct Never(NeverStaged);

impl Diagnostic for Never {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.code()
    }

    fn severity(&self) -> Option<Severity> {
        Some(Severity::Warning)
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help()
    }
}

/// The compiler that the options choose.
fn toolchain(compiler: &Compiler, home: &Home) -> Result<Choice> {
    compiler::choose(compiler, &Machine::here(), home, &Environment::here())
}

/// Processors this process may use.
fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
