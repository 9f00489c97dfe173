//! What can go wrong between a request and its outputs.
//!
//! Unaware of how errors are shown. A request's problems are collected, so that a person sees all of them
//! before the first compiler starts.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::words::failed::Failed;
use gpsimd_image::verify::{Report, Severity as Worst};
use gpsimd_toolchain::ToolchainError;
use miette::{Diagnostic, LabeledSpan, Severity, SourceCode};

/// An error of the engine.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum EngineError {
    /// The request cannot be built; every problem found is listed.
    #[error("the request has {} problem{}", .problems.len(), if .problems.len() == 1 { "" } else { "s" })]
    #[diagnostic(code(engine::request))]
    Request {
        /// Each with its own code.
        #[related]
        problems: Vec<Problem>,
    },
    /// A compiler, linker or archiver did not succeed.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Failed(#[from] Box<Failed>),
    /// A program could not be started at all.
    #[error("{label}: cannot start {program}: {source}", program = .program.display())]
    #[diagnostic(
        code(engine::command_not_started),
        help("check that the toolchain is installed: gpsimd-build toolchain install")
    )]
    NotStarted {
        /// What was being done.
        label: String,
        /// The program.
        program: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// A file or directory could not be used.
    #[error("{doing} {path}: {source}", path = .path.display())]
    #[diagnostic(
        code(engine::io),
        help("check that the path exists, is writable and that the disk is not full")
    )]
    Io {
        /// `cannot write`, `cannot read`, ...
        doing: &'static str,
        /// The path.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// Something that this tool did not make lies where a file or directory of its own should be.
    #[error("{path} is {found}, and what a build keeps there is {wanted}", path = .path.display())]
    #[diagnostic(
        code(engine::not_ours),
        help("a build writes through nothing that it did not make; remove it, and see where it came from")
    )]
    NotOurs {
        /// The path.
        path: PathBuf,
        /// `a link`, `a device, pipe or socket`.
        found: &'static str,
        /// `a file`, `a directory`.
        wanted: &'static str,
    },
    /// The machine has no room for a thread.
    #[error("cannot start a thread: {source}")]
    #[diagnostic(
        code(engine::no_thread),
        help(
            "this user may have no more processes and threads (ulimit -u), or memory is short; -j 1 needs least"
        )
    )]
    NoThread {
        /// The operating system's reason.
        source: std::io::Error,
    },
    /// An image could not be processed.
    #[error("{path}: {problem}", path = .path.display())]
    #[diagnostic(forward(problem))]
    Stage {
        /// The file at fault.
        path: PathBuf,
        /// The stage's own error.
        problem: Problem,
    },
    /// An op's kernel function is missing or has another signature (codegen.md §4.4).
    #[error("{} no kernel function that can be called", match .problems.len() { 1 => "1 op has".to_owned(), count => format!("{count} ops have") })]
    #[diagnostic(code(engine::kernels))]
    Kernels {
        /// One per op.
        #[related]
        problems: Vec<Problem>,
    },
    /// The images were built but do not pass the checks; nothing was published.
    #[error("the built images do not pass the checks\n{}", worst(.report))]
    #[diagnostic(
        code(engine::verify),
        help("nothing was published; the outputs of the last good build are untouched")
    )]
    Verify {
        /// The whole report.
        report: Box<Report>,
    },
    /// A step of an exported plan is to write a device SDK that is not this tool's.
    #[error("the plan was exported by another version: its SDK is {planned}, this tool's is {own}", planned = .planned.display(), own = .own.display())]
    #[diagnostic(code(cli::sdk_moved), help("export the plan again"))]
    SdkMoved {
        /// Directory of the plan's.
        planned: PathBuf,
        /// Directory of this tool's.
        own: PathBuf,
    },
    /// A step of an exported plan does not read.
    #[error("this is no step of a plan: {reason}")]
    #[diagnostic(code(engine::step), help("export the plan again with this version"))]
    Step {
        /// What is wrong.
        reason: String,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    #[diagnostic(
        code(engine::stopped),
        help("nothing was published; the outputs of the last good build are untouched")
    )]
    Stopped,
    /// The plan's actions wait for each other or for a file nobody makes; a defect of the planner.
    #[error("no action makes {path}", path = .path.display())]
    #[diagnostic(code(engine::plan_incomplete), help("this is a defect of gpsimd-build, please report it"))]
    PlanIncomplete {
        /// The input that nothing provides.
        path: PathBuf,
    },
}

/// What must change before a build can succeed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The kernel, the request or an image.
    Request,
    /// This machine, which lacks a program.
    Machine,
    /// Nothing: the caller asked to stop.
    Nobody,
}

/// The errors of a report, one a line.
fn worst(report: &Report) -> String {
    let errors = report.findings.iter().filter(|finding| finding.severity == Worst::Error);
    errors.map(|finding| format!("  {finding}\n    help: {}", finding.help)).collect::<Vec<_>>().join("\n")
}

impl EngineError {
    /// What is at fault; of several problems, the request.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Stopped => Fault::Nobody,
            Self::NotStarted { .. } | Self::NoThread { .. } => Fault::Machine,
            Self::Stage { problem, .. } => problem.fault(),
            Self::Request { .. } | Self::Kernels { .. } => {
                self.only_problem().map_or(Fault::Request, Problem::fault)
            }
            Self::Failed(failed) if failed.verdict.is_about_the_machine() => Fault::Machine,
            Self::Failed(_)
            | Self::Io { .. }
            | Self::Verify { .. }
            | Self::SdkMoved { .. }
            | Self::Step { .. }
            | Self::NotOurs { .. }
            | Self::PlanIncomplete { .. } => Fault::Request,
        }
    }

    /// The same, told where the log of its build is.
    pub(crate) fn logged(mut self, log: PathBuf) -> Self {
        if let Self::Failed(failed) = &mut self {
            failed.log = Some(log);
        }
        self
    }

    /// The one problem of an error that only collects problems.
    pub fn only_problem(&self) -> Option<&Problem> {
        match self {
            Self::Request { problems } | Self::Kernels { problems } => match problems.as_slice() {
                [only] => Some(only),
                _ => None,
            },
            _ => None,
        }
    }

    /// For `map_err`: the file that a stage could not process.
    pub(crate) fn stage<E: Diagnostic + Send + Sync + 'static>(path: &Path) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |error| Self::Stage { path, problem: Problem::new(error) }
    }

    /// A request with one problem.
    pub(crate) fn request(problem: impl Diagnostic + Send + Sync + 'static) -> Self {
        Self::Request { problems: vec![Problem::new(problem)] }
    }

    pub(crate) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}

/// Any crate's diagnostic, and what is at fault.
pub struct Problem(Box<dyn Diagnostic + Send + Sync>, Fault);

impl Problem {
    /// Wraps a diagnostic that brings its own source text, or needs none.
    pub fn new(inner: impl Diagnostic + Send + Sync + 'static) -> Self {
        let error: &(dyn std::error::Error + 'static) = &inner;
        let fault = if error.is::<ToolchainError>() { Fault::Machine } else { Fault::Request };
        Self(Box::new(inner), fault)
    }

    fn fault(&self) -> Fault {
        self.1
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl std::error::Error for Problem {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

impl Diagnostic for Problem {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.code()
    }
    fn severity(&self) -> Option<Severity> {
        self.0.severity()
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.help()
    }
    fn url<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.0.url()
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.0.source_code()
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.0.labels()
    }
    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        self.0.related()
    }
    fn diagnostic_source(&self) -> Option<&dyn Diagnostic> {
        self.0.diagnostic_source()
    }
}
