#![doc = include_str!("../README.md")]
//!
//! # What it renders
//!
//! [`check`] says all that is wrong with the ops of a library, [`wrapper`] gives the text of its wrapper, rendered from
//! `templates/wrapper.cpp.j2`; [`native_table`] gives that of a native twin's table. The wrapper is the only thing that the
//! device runtime knows of a library: a table of names and launchers, and for each op a function that pulls the arguments,
//! calls the kernel and writes its result back. Facts: spec codegen.md §2–§5, §7, §10.

mod check;
mod declared;
mod error;
mod examples;
mod mangle;
mod names;
mod op;
mod render;

pub use check::{MAX_OPS, MAX_STACK_SIZE, check, check_stack_size, pair};
pub use error::CodegenError;
pub use examples::examples;
pub use names::MAX_KERNEL_NAME;
pub use op::{Op, ParamDecl};
pub use render::{native_table, reference_wrapper, wrapper};
