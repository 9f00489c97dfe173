//! Checked ops to the text of wrapper.cpp.
//!
//! Unaware of files: text out. Contract: spec customop-abi.md §4, codegen.md §4; the layout is ours (§4.5).
//!
//! Four choices differ from the vendor's generator, all for the sake of compilers other than its own:
//!
//! - Arguments are pulled into locals, one statement each, before the call: all pulls share one cursor, and C++ leaves
//!   the order of call arguments open. GCC evaluates them right to left (D1).
//! - The locals live in a block that ends before the jump, so that their destructors run on both paths; write-back and
//!   cleanup stay inside it, in that order, because they need the result alive (D2).
//! - The jump to `switchBack` goes through a register. `j` reaches 128 KiB only, and no linker widens it (D3).
//!   The compiler must go on believing that the jump falls through to its own return: so it keeps the return address
//!   and the stack pointer in place, which `switchBack` may use. "memory" makes it finish every store before.
//! - `#line` gives the file a plain name. GCC writes the name unescaped before inline assembly, so a quote in the
//!   build directory's path would end up as a syntax error of the assembler.
//!
//! The kernel is called as `::kernel`, so that a kernel called `output` or `arg0` is not hidden by a local.

use crate::check::check;
use crate::error::CodegenError;
use crate::op::{Op, ParamDecl};
use gpsimd_schema::{ArgType, Param};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, Value, context};

const TEMPLATE: &str = include_str!("../templates/wrapper.cpp.j2");
const NATIVE: &str = include_str!("../templates/native.cpp.j2");
const REFERENCE: &str = include_str!("../templates/wrapper_reference.cpp.j2");

/// The text of wrapper.cpp for the ops of one library, in their order.
///
/// ```
/// use gpsimd_codegen::{Op, wrapper};
/// let scale = gpsimd_schema::signature("my::scale(Tensor a, float s) -> (Tensor r)")?;
/// let text = wrapper(&[Op::new("scale_k", scale)])?;
/// assert!(text.contains("at::Tensor scale_k(const at::Tensor&, float);"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The first of what [`check`] finds.
pub fn wrapper(ops: &[Op]) -> Result<String, CodegenError> {
    if let Some(error) = check(ops).into_iter().next() {
        return Err(error);
    }
    render(ops, TEMPLATE).map_err(|error| CodegenError::Template { reason: format!("{error:#}") })
}

/// The same as the vendor's generator writes it, token by token (§4.6), for whoever compares the two. Nothing here compiles
/// it: GCC would evaluate the nested pulls in the wrong order (D1), and the jump does not reach (D3).
///
/// # Errors
/// As [`wrapper`].
pub fn reference_wrapper(ops: &[Op]) -> Result<String, CodegenError> {
    if let Some(error) = check(ops).into_iter().next() {
        return Err(error);
    }
    render(ops, REFERENCE).map_err(|error| CodegenError::Template { reason: format!("{error:#}") })
}

/// The text of a native twin's table (`sdk/native/native.h`): the kernels under their names, each behind a function that takes
/// its arguments from the call. Their declarations are this machine's: where the device has `long long`, kernels were written
/// with `int64_t`.
///
/// # Errors
/// As [`wrapper`].
pub fn native_table(ops: &[Op]) -> Result<String, CodegenError> {
    if let Some(error) = check(ops).into_iter().next() {
        return Err(error);
    }
    render(ops, NATIVE).map_err(|error| CodegenError::Template { reason: format!("{error:#}") })
}

fn render(ops: &[Op], template: &str) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build()?);
    let ops: Vec<Value> = ops.iter().map(op_value).collect();
    environment.template_from_str(template)?.render(context! { ops })
}

/// What the template sees of an op.
fn op_value(op: &Op) -> Value {
    let args = op.signature.params.iter().zip(&op.decls).enumerate();
    let args: Vec<Value> = args.map(|(index, (param, decl))| arg_value(index, param, *decl)).collect();
    context! {
        kernel => op.kernel.as_str(),
        declaration => op.declaration(),
        native_declaration => op.native_declaration(),
        comment => comment(&op.signature.to_string()),
        args,
    }
}

/// What the template sees of an argument.
fn arg_value(index: usize, param: &Param, decl: ParamDecl) -> Value {
    context! {
        local => format!("arg{index}"),
        ty => decl.local(),
        pull => pull(param.ty),
        comment => param.name.as_deref().and_then(comment),
    }
}

/// The runtime function that takes the next argument off the wire (spec codegen.md §3.4).
fn pull(ty: ArgType) -> &'static str {
    match ty {
        ArgType::Tensor => "customop_next_tensor",
        ArgType::Scalar => "customop_next_scalar",
        ArgType::Int => "customop_next_int",
        ArgType::Float => "customop_next_float",
        ArgType::LongLong => "customop_next_longlong",
    }
}

/// The text, if it can stand in a `//` comment and nothing in it can end the comment, continue the line (`\`, `??/`)
/// or draw a warning (`/*`).
fn comment(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_ :.,()=->".contains(c);
    text.chars().all(is_plain).then(|| text.to_owned())
}
