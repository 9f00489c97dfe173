//! Why a request of a debugging session is not carried out.
//!
//! Unaware of who asked.

use miette::Diagnostic;

/// Why a request is not carried out; the session goes on.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum DebugError {
    /// No command of the terminal.
    #[error("there is no command {name:?}")]
    #[diagnostic(code(debug::command), help("`help` lists them"))]
    Command {
        /// As typed.
        name: String,
    },
    /// A command with too little or with something else behind it.
    #[error("{command} takes {takes}")]
    #[diagnostic(code(debug::usage), help("`help` shows each command with an example"))]
    Usage {
        /// The command.
        command: &'static str,
        /// What it takes.
        takes: &'static str,
    },
    /// A place with no code.
    #[error("no code is at {place}")]
    #[diagnostic(
        code(debug::place),
        help("name FILE:LINE, a function, or *ADDRESS; a library that was stripped has no lines")
    )]
    Place {
        /// As given.
        place: String,
    },
    /// A number or a name that means no memory.
    #[error("{text:?} names no memory")]
    #[diagnostic(
        code(debug::memory),
        help(
            "name a tensor of the call (`tensor` lists them), one of its elements, such as out[993], or an address"
        )
    )]
    Memory {
        /// As given.
        text: String,
    },
    /// An element beyond the end.
    #[error("{text}: the tensor has {count} elements")]
    #[diagnostic(code(debug::element), help("count from 0; several dimensions are written out[2][3]"))]
    Element {
        /// As given.
        text: String,
        /// How many there are.
        count: u64,
    },
    /// A core that takes no part.
    #[error("core {number} takes no part in the call")]
    #[diagnostic(code(debug::core), help("`cores` lists those that do"))]
    Core {
        /// As given.
        number: String,
    },
    /// A breakpoint that is not there.
    #[error("there is no breakpoint {number}")]
    #[diagnostic(code(debug::breakpoint), help("`info` lists them"))]
    Breakpoint {
        /// As given.
        number: String,
    },
    /// A frame that is not there.
    #[error("there is no frame {number}")]
    #[diagnostic(code(debug::frame), help("`bt` lists them"))]
    Frame {
        /// As given.
        number: String,
    },
    /// The image tells nothing of variables.
    #[error("there are no variables to be seen: {reason}")]
    #[diagnostic(
        code(debug::variables),
        help("build the library with this tool, and keep the .so beside the stripped images")
    )]
    Variables {
        /// Why.
        reason: String,
    },
    /// An expression that cannot be told.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Value(#[from] gpsimd_variables::EvaluateError),
    /// A request of an editor that says something else than the protocol.
    #[error("the arguments of {request} do not read: {reason}")]
    #[diagnostic(code(debug::arguments), help("the editor, or its extension, is at fault"))]
    Arguments {
        /// The request.
        request: String,
        /// What is wrong.
        reason: String,
    },
    /// A request that is not answered.
    #[error("{request} is not answered here")]
    #[diagnostic(code(debug::request), help("what a session can do is in its answer to `initialize`"))]
    Unknown {
        /// The request.
        request: String,
    },
    /// A file that cannot be shown.
    #[error("the source {file} is not there")]
    #[diagnostic(code(debug::source), help("start in the directory in which the library was built"))]
    Source {
        /// As the debug information names it.
        file: String,
    },
}
