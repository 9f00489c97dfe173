//! Expressions of C++ as one types them into a debugger: from text to a value.
//!
//! Unaware of frames; `evaluate` looks names up in one. Nothing is called and nothing is changed.

mod evaluate;
mod lexer;
mod names;
mod parser;

pub(crate) use evaluate::Evaluator;
pub(crate) use parser::parse;

/// Longest expression.
const MAX_TEXT: usize = 4096;

/// Deepest nesting.
const MAX_NESTING: usize = 64;
