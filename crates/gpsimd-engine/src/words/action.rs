//! One step of a plan: a process to start, or a stage of this tool.
//!
//! Every builtin has a command line of its own (`gpsimd-build <stage> …`), so that an exported plan can run
//! outside this process. Unaware of when an action runs.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use gpsimd_codegen::Op;
use gpsimd_lsp::Variant;
use gpsimd_toolchain::Command;

use crate::stages::split::Step;
use crate::words::request::Cores;
use crate::words::sdk::Sdk;

/// A step: reads `inputs`, writes `outputs`, nothing else that another action cares for.
#[derive(Debug, Clone)]
pub struct Action {
    /// `compile vector_add.cpp`: what a person would call it.
    pub label: String,
    /// Files that must be there before.
    pub inputs: Vec<PathBuf>,
    /// Files that are there after.
    pub outputs: Vec<PathBuf>,
    /// Make-style list of headers found by a compiler, written by the action.
    pub depfile: Option<PathBuf>,
    /// What to do.
    pub work: Work,
}

/// What an action does.
#[derive(Debug, Clone)]
pub enum Work {
    /// Start a process.
    Command(Command),
    /// Start a process that is about this machine, not about the device.
    Host(Command),
    /// Call a stage in this process.
    Builtin(Builtin),
}

/// A stage of the tool itself.
#[derive(Debug, Clone)]
pub enum Builtin {
    /// Write the device SDK's files.
    WriteSdk(Sdk),
    /// Put a finished runtime archive where other builds find it.
    KeepArchive {
        /// Made by this build.
        from: PathBuf,
        /// In the data directory.
        to: PathBuf,
    },
    /// Render `wrapper.cpp`.
    Codegen {
        /// In registration order.
        ops: Vec<Op>,
        /// Schema text of each, for the command line.
        schemas: Vec<String>,
        /// The file.
        output: PathBuf,
    },
    /// Render one linker support package.
    Lsp {
        /// Which.
        variant: Variant,
        /// Directory that gets `<lsp name>/`.
        directory: PathBuf,
    },
    /// See that each op's kernel can be called, and make the wrapper that calls it as its author declared it.
    Adapt(Adapt),
    /// Ask a shape program what it registers.
    Registrations {
        /// Made of the shape sources.
        program: PathBuf,
        /// Its answer, as JSON.
        output: PathBuf,
    },
    /// Strip a linked image and pack the result.
    Package(Image),
    /// A step on the way to the split image.
    Split(Step),
    /// Move a link for cpu0 to another core; strip and pack the result.
    Move(Move),
    /// Check all images of the library, alone and against each other.
    Verify {
        /// One per core.
        images: Vec<Image>,
        /// The report, as JSON.
        report: PathBuf,
    },
}

/// From a wrapper compiled on the guess that kernels are declared as the schema says to one that fits the kernels.
#[derive(Debug, Clone)]
pub struct Adapt {
    /// As guessed, in registration order.
    pub ops: Vec<Op>,
    /// Schema text of each, for the command line.
    pub schemas: Vec<String>,
    /// The kernel objects, which say what is defined.
    pub objects: Vec<PathBuf>,
    /// The object of the guess; it is the result if the guess was right.
    pub guess: PathBuf,
    /// Where the source goes if it was not.
    pub source: PathBuf,
    /// The object to link.
    pub wrapper: PathBuf,
    /// Compiles `source` to `wrapper`.
    pub compile: Command,
    /// How many cores the library is for; for eight there are more mistakes to make.
    pub cores: Cores,
}

/// From the one link for cpu0 to the image of a core.
#[derive(Debug, Clone)]
pub struct Move {
    /// The link for cpu0, relocations kept.
    pub kept: PathBuf,
    /// What to make of it.
    pub image: Image,
    /// Links for the core itself, where the move cannot be proven right.
    pub link: Command,
}

/// The files of one core's image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Which window it is for.
    pub variant: Variant,
    /// As the linker left it.
    pub linked: PathBuf,
    /// `.stripped.so`, when packaging.
    pub stripped: Option<PathBuf>,
    /// `.packed.so`, when packaging.
    pub packed: Option<PathBuf>,
}

impl Image {
    /// Its files: linked, stripped, packed.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        [Some(&self.linked), self.stripped.as_ref(), self.packed.as_ref()].into_iter().flatten()
    }
}

impl Work {
    /// The compiler or linker that reads files for this action; none for stages that read their inputs only.
    pub(crate) fn compiler_command(&self) -> Command {
        match self {
            Work::Command(command) | Work::Host(command) => command.clone(),
            Work::Builtin(Builtin::Adapt(adapt)) => adapt.compile.clone(),
            Work::Builtin(_) => Command::new(""),
        }
    }

    /// The command that does this, for people and for exported plans.
    pub fn command(&self) -> Command {
        match self {
            Work::Command(command) | Work::Host(command) => command.clone(),
            Work::Builtin(builtin) => Command::new("gpsimd-build").args(builtin.arguments()),
        }
    }
}

impl Builtin {
    /// Arguments after `gpsimd-build`.
    fn arguments(&self) -> Vec<OsString> {
        let mut line: Vec<OsString> = Vec::new();
        let mut add =
            |words: &[&dyn AsRef<std::ffi::OsStr>]| line.extend(words.iter().map(|w| w.as_ref().to_owned()));
        match self {
            Builtin::WriteSdk(sdk) => add(&[&"sdk", &"--write", &sdk.root()]),
            Builtin::KeepArchive { from, to } => add(&[&"sdk", &"--keep", from, &"--as", to]),
            Builtin::Codegen { ops, schemas, output } => {
                add(&[&"codegen", &"--output", output]);
                for (op, schema) in ops.iter().zip(schemas) {
                    add(&[&"--op", &format!("{}={schema}", op.kernel)]);
                }
            }
            Builtin::Lsp { variant, directory } => {
                add(&[&"lsp", &"--variant", &variant.to_string(), &"--dir", directory]);
            }
            Builtin::Adapt(adapt) => {
                add(&[&"adapt", &"--guess", &adapt.guess]);
                add(&[&"--source", &adapt.source, &"--output", &adapt.wrapper]);
                for (op, schema) in adapt.ops.iter().zip(&adapt.schemas) {
                    add(&[&"--op", &format!("{}={schema}", op.kernel)]);
                }
                for object in &adapt.objects {
                    add(&[&"--object", object]);
                }
                if adapt.cores == Cores::Eight {
                    add(&[&"--multicore"]);
                }
                add_command(&mut add, &adapt.compile);
            }
            Builtin::Registrations { program, output } => {
                add(&[&"registrations", &"--output", output, program]);
            }
            Builtin::Split(step) => line = step.arguments(),
            Builtin::Package(image) => {
                add(&[&"pack", &image.linked]);
                add_files(&mut add, image);
            }
            Builtin::Move(Move { kept, image, link }) => {
                add(&[&"move", kept, &"--variant", &image.variant.to_string(), &"--linked", &image.linked]);
                add_files(&mut add, image);
                add_command(&mut add, link);
            }
            Builtin::Verify { images, report } => {
                add(&[&"verify", &"--report", report]);
                for file in images.iter().flat_map(Image::files) {
                    add(&[file]);
                }
            }
        }
        line
    }
}

type Add<'a> = dyn FnMut(&[&dyn AsRef<OsStr>]) + 'a;

fn add_files(add: &mut Add, image: &Image) {
    if let Some(stripped) = &image.stripped {
        add(&[&"--stripped", stripped]);
    }
    if let Some(packed) = &image.packed {
        add(&[&"--output", packed]);
    }
}

/// A command that the stage may start: environment as options, words at the end.
fn add_command(add: &mut Add, command: &Command) {
    for (key, value) in &command.env {
        let mut pair = key.clone();
        pair.push("=");
        pair.push(value);
        add(&[&"--env", &pair]);
    }
    add(&[&"--", &command.program]);
    for word in &command.args {
        add(&[word]);
    }
}
