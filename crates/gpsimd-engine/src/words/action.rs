//! One step of a plan: a process to start, or a stage of this tool.
//!
//! Every stage has a command line (`gpsimd-build …`), so that an exported plan can run outside this process. Unaware of
//! which stages there are and of when an action runs.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use gpsimd_image::verify::Report;
use gpsimd_toolchain::Command;

use crate::words::disk::Contents;
use crate::words::error::EngineError;

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
    Process(Command),
    /// Call a stage in this process.
    Stage(Arc<dyn Stage>),
}

/// A stage of the tool itself; its arguments are the type that has this.
pub trait Stage: fmt::Debug + Send + Sync {
    /// The words after `gpsimd-build` that do the same.
    fn words(&self) -> Vec<OsString>;

    /// Does it.
    ///
    /// # Errors
    /// Each stage's own.
    fn run(&self, tools: &Tools) -> Result<Made, EngineError>;

    /// The compiler or linker that it may start, which reads files of its own finding.
    fn starts(&self) -> Option<&Command> {
        None
    }

    /// Whether its result is wanted each time, and takes less than to find out whether it would be the same.
    fn always_runs(&self) -> bool {
        false
    }
}

/// What a stage works with.
pub struct Tools<'a> {
    /// Files to read and to write.
    pub files: &'a dyn Contents,
    /// Runs a command that the stage decided to need; gives what it printed.
    pub start: &'a Start<'a>,
}

/// Runs a command; the text says what is being done.
pub type Start<'a> = dyn Fn(&str, &Command) -> Result<String, EngineError> + 'a;

/// What a stage leaves besides its files.
#[derive(Debug, Default)]
pub struct Made {
    /// The checks' report.
    pub report: Option<Report>,
    /// Warnings, or what a process said.
    pub said: String,
}

impl Action {
    /// A stage that finds no files of its own.
    pub(crate) fn stage(
        label: impl Into<String>,
        inputs: Vec<PathBuf>,
        outputs: Vec<PathBuf>,
        stage: impl Stage + 'static,
    ) -> Action {
        Action { label: label.into(), inputs, outputs, depfile: None, work: Work::Stage(Arc::new(stage)) }
    }

    /// Whether it compiles a source.
    pub(crate) fn is_compile(&self) -> bool {
        self.work.process().is_some_and(|command| command.args.iter().any(|word| word == "-c"))
    }
}

impl Work {
    /// The process that it starts, if it is one.
    pub(crate) fn process(&self) -> Option<&Command> {
        match self {
            Work::Process(command) => Some(command),
            Work::Stage(_) => None,
        }
    }

    /// The compiler or linker that reads files for this action; none for stages that read their inputs only.
    pub(crate) fn compiler(&self) -> Option<&Command> {
        match self {
            Work::Process(command) => Some(command),
            Work::Stage(stage) => stage.starts(),
        }
    }

    /// The command that does this, for people and for exported plans.
    pub fn command(&self) -> Command {
        match self {
            Work::Process(command) => command.clone(),
            Work::Stage(stage) => Command::new("gpsimd-build").args(stage.words()),
        }
    }
}
