#![doc = include_str!("../README.md")]
//!
//! # The two steps
//!
//! Two steps, so that a schema that PyTorch prints is never called malformed when it is merely impossible here:
//! [`parse`] reads the whole language into a [`FunctionSchema`], which prints back as it was written up to spacing;
//! [`lower`] gives the [`Signature`] that a device can run, or every reason why there is none. [`signature`] does
//! both. Facts: spec codegen.md §3, customop-abi.md §4 and §5.5.

mod ast;
mod check;
mod error;
mod examples;
mod lexer;
mod literal;
mod lower;
mod parser;
mod printer;
mod refusal;
mod signature;
mod span;
mod type_parser;
mod types;

pub use ast::{DefaultValue, FunctionSchema, OpName, Parameter, Return, Returns};
pub use check::{Cause, Refusal, signature};
pub use error::{SchemaError, SyntaxError};
pub use examples::{EXAMPLES, Example};
pub use lexer::MAX_LEN;
pub use literal::{Literal, Quoted};
pub use lower::{lower, notes};
pub use parser::{MAX_DEPTH, parse};
pub use refusal::{LowerError, Note};
pub use signature::{ArgType, MAX_ARGUMENTS, MAX_RECORDS, Param, Signature};
pub use span::{Ident, Span};
pub use types::{Alias, AliasSet, Base, Handle, Type, TypeKind};

#[doc(hidden)]
pub mod fuzz {
    //! Entry points for fuzzers.

    /// Parses any bytes; what parses must print to the same schema, and lower without a panic.
    pub fn fuzz_schema(data: &[u8]) {
        let text = String::from_utf8_lossy(data);
        let Ok(schema) = crate::parse(&text) else { return };
        let printed = schema.to_string();
        assert_eq!(crate::parse(&printed).as_ref(), Ok(&schema), "{printed}");
        _ = crate::lower(&schema);
        _ = crate::notes(&schema);
    }
}
