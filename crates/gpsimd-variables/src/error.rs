//! Why a program, an expression or an assignment is refused.
//!
//! Unaware of terminals. A value that merely cannot be told is no error: it is [`Absence`].

use std::fmt;

/// Why the debug information of an image cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs)] // the messages say what each field is
pub enum Error {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Image(#[from] gpsimd_image::ImageError),

    #[error("the image has no debug information")]
    #[diagnostic(
        code(variables::none),
        help("give the linked image, `NAME_cpuN.so`: the stripped and the packed one have none")
    )]
    None,

    #[error("the debug information cannot be read: {detail}")]
    #[diagnostic(
        code(variables::unreadable),
        help("compile with -gdwarf-4 or -gdwarf-5 and without -gz and -gsplit-dwarf")
    )]
    Unreadable { detail: String },

    #[error(
        "the debug information refers to itself so often that reading it takes more than {allowed} steps"
    )]
    #[diagnostic(code(variables::size), help("the image is damaged: build it again"))]
    Size { allowed: usize },
}

/// Why an expression has no value, or an assignment no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs)] // the messages say what each field is
pub enum EvaluateError {
    #[error("{what} at column {column} of `{text}`")]
    #[diagnostic(
        code(variables::syntax),
        help("names, members, `->`, indices, casts, arithmetic, comparisons and `&& || !` are known")
    )]
    Syntax { text: String, column: usize, what: String },

    #[error("`{name}` is no variable here")]
    #[diagnostic(
        code(variables::unknown),
        help("look at the locals: names count in the frame that is chosen")
    )]
    Unknown { name: String },

    #[error("`{name}` is no member of `{type_name}`")]
    #[diagnostic(
        code(variables::member),
        help("print the value without the member: its members are listed there")
    )]
    Member { name: String, type_name: String },

    #[error("`{name}` of `{type_name}` is not called: the program stands still")]
    #[diagnostic(
        code(variables::call),
        help(
            "known without a call are `size`, `dim`, `numel` and the like of tensors, accessors and containers"
        )
    )]
    Call { name: String, type_name: String },

    #[error("`{operator}` does not take {operands}")]
    #[diagnostic(code(variables::operands), help("take a member or an element, or cast: `(float)x`"))]
    Operands { operator: String, operands: String },

    #[error("there is no element {index}: there are {count}")]
    #[diagnostic(code(variables::index), help("indices go from 0; what lies behind is another variable"))]
    Index { index: i64, count: u64 },

    #[error("`{what}` cannot be told: {why}")]
    #[diagnostic(
        code(variables::absent),
        help("compile with -O0 to keep every variable where it can be seen")
    )]
    Absent { what: String, why: Absence },

    #[error("`{what}` cannot be changed: {why}")]
    #[diagnostic(code(variables::fixed), help("assign to a variable, a member, an element or `*pointer`"))]
    Fixed { what: String, why: String },

    #[error("division by zero")]
    #[diagnostic(code(variables::division), help("guard the division: `n != 0 && x / n > 2`"))]
    Division,

    #[error("the expression takes more than {allowed} steps")]
    #[diagnostic(code(variables::steps), help("ask for a part of it"))]
    Steps { allowed: usize },
}

/// Why a value cannot be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Absence {
    /// The compiler kept it nowhere, at least not at this address.
    OptimisedAway,
    /// The function has not begun: arguments and locals are not in their places.
    NotYet,
    /// The program has not given it a value.
    NotSet,
    /// It lies in a register or a memory that this frame does not show.
    Unreadable(String),
    /// The debug information says it in a way that is not understood, or contradicts itself.
    Unsupported(String),
}

impl fmt::Display for Absence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Absence::OptimisedAway => f.write_str("optimised away"),
            Absence::NotSet => f.write_str("not set"),
            Absence::NotYet => f.write_str("not set yet: the function is about to begin"),
            Absence::Unreadable(what) => write!(f, "{what} cannot be read"),
            Absence::Unsupported(what) => write!(f, "the debug information is not understood: {what}"),
        }
    }
}
