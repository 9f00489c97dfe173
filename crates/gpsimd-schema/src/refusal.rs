//! Why a well-formed schema cannot run on the device, and what to do instead.
//!
//! Unaware of how refusals are found (`lower`). Every one has a stable code, a span and a way out.

use crate::span::Span;
use miette::Diagnostic;
use thiserror::Error;

/// One reason why the device cannot run a schema.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[allow(missing_docs)] // the messages say it
pub enum LowerError {
    #[error("`{op}` names no namespace")]
    #[diagnostic(
        code(schema::no_namespace),
        help("write `my_ops::{op}(…)`: Python will call it as `torch.ops.my_ops.{op}`")
    )]
    NoNamespace {
        op: String,
        #[label("a namespace and `::` go before this")]
        at: Span,
    },

    #[error("`{namespace}.{op}` is how Python calls it; a schema writes `{namespace}::{op}`")]
    #[diagnostic(code(schema::dotted_name), help("write `{namespace}::{op}(…)`"))]
    DottedName {
        namespace: String,
        op: String,
        #[label("`::` goes between these")]
        at: Span,
    },

    #[error("`{op}` takes no argument; the device needs at least 1")]
    #[diagnostic(
        code(schema::no_arguments),
        help("add a tensor argument, for instance one whose shape the result takes")
    )]
    NoArguments {
        op: String,
        #[label("nothing to take")]
        at: Span,
    },

    #[error("`{op}` takes {found} arguments; with its result that is {} records, and a call carries {allowed}", .found.saturating_add(1))]
    #[diagnostic(
        code(schema::too_many_arguments),
        help("pass at most {} arguments: put several small ones into one tensor", .allowed.saturating_sub(1))
    )]
    TooManyArguments {
        op: String,
        found: usize,
        allowed: usize,
        #[label("the first one too many")]
        at: Span,
    },

    #[error("two arguments are called `{name}`")]
    #[diagnostic(
        code(schema::duplicate_argument),
        help("Python passes arguments by name: give each its own")
    )]
    DuplicateArgument {
        name: String,
        #[label("first here")]
        first: Span,
        #[label("again here")]
        at: Span,
    },

    #[error("only by name can these be passed: {names}; the device takes arguments by position")]
    #[diagnostic(code(schema::keyword_only), help("remove the `*` before the first of them"))]
    KeywordOnly {
        names: String,
        #[label("after `*`")]
        at: Span,
    },

    #[error("`...` takes any number of arguments, and the device takes a fixed list")]
    #[diagnostic(code(schema::vararg), help("write each argument with its type and name"))]
    Vararg {
        #[label("any number")]
        at: Span,
    },

    #[error("`{name}` has no default and follows an argument that has one")]
    #[diagnostic(
        code(schema::default_order),
        help("move `{name}` before the arguments with defaults, or give it one too")
    )]
    DefaultOrder {
        name: String,
        #[label("no default here")]
        at: Span,
    },

    #[error("{value} cannot be the default of `{name}`, which is {ty}")]
    #[diagnostic(code(schema::default_value), help("{help}"))]
    DefaultValue {
        name: String,
        value: String,
        ty: String,
        help: String,
        #[label("this default")]
        at: Span,
    },

    #[error("the op writes to `{name}`: it is `{ty}`")]
    #[diagnostic(
        code(schema::alias_write),
        help("arguments are read-only on the device; return a new tensor, and write `{plain} {name}`")
    )]
    AliasWrite {
        name: String,
        ty: String,
        plain: String,
        #[label("written to")]
        at: Span,
    },

    #[error("the result shares memory with `{name}`: it is `{ty}`")]
    #[diagnostic(
        code(schema::alias),
        help("the device writes its result to memory of its own; write `{plain} {name}`")
    )]
    Alias {
        name: String,
        ty: String,
        plain: String,
        #[label("a view of this is returned")]
        at: Span,
    },

    #[error("`{name}` is a list: `{ty}`")]
    #[diagnostic(
        code(schema::list),
        help("lists do not cross to the device: pass one tensor with the values, or one argument for each")
    )]
    List {
        name: String,
        ty: String,
        #[label("a list")]
        at: Span,
    },

    #[error("`{name}` may be absent: `{ty}`")]
    #[diagnostic(
        code(schema::optional),
        help(
            "every call carries every argument: write `{plain} {name}`, or make two ops, one without `{name}`"
        )
    )]
    Optional {
        name: String,
        ty: String,
        plain: String,
        #[label("optional")]
        at: Span,
    },

    #[error("`{name}` is a `bool`")]
    #[diagnostic(code(schema::bool), help("write `int {name}` and pass 0 or 1"))]
    Bool {
        name: String,
        #[label("a truth value")]
        at: Span,
    },

    #[error("`{name}` is a `str`")]
    #[diagnostic(
        code(schema::str),
        help(
            "strings do not cross to the device: make one op for each string, or pass an `int` that selects"
        )
    )]
    Str {
        name: String,
        #[label("a string")]
        at: Span,
    },

    #[error("`{name}` is `{ty}`, which may be symbolic")]
    #[diagnostic(
        code(schema::symbolic),
        help("shapes are fixed when the model is compiled: write `{plain} {name}`")
    )]
    Symbolic {
        name: String,
        ty: String,
        plain: &'static str,
        #[label("symbolic")]
        at: Span,
    },

    #[error("`{name}` is a `complex`")]
    #[diagnostic(code(schema::complex), help("pass the real and the imaginary part as two `float`s"))]
    Complex {
        name: String,
        #[label("a complex number")]
        at: Span,
    },

    #[error("`{name}` is a `Device`")]
    #[diagnostic(code(schema::device), help("a custom op runs on its own device always: remove `{name}`"))]
    Device {
        name: String,
        #[label("a device")]
        at: Span,
    },

    #[error("`{name}` is an element type: `{ty}`")]
    #[diagnostic(
        code(schema::dtype),
        help("tensors carry their element type: remove `{name}`, or read it from a tensor argument")
    )]
    Dtype {
        name: String,
        ty: String,
        #[label("an element type")]
        at: Span,
    },

    #[error("`{name}` says how a tensor lies in memory: `{ty}`")]
    #[diagnostic(
        code(schema::layout),
        help("tensors on the device are dense and contiguous: remove `{name}`")
    )]
    Layout {
        name: String,
        ty: String,
        #[label("a layout")]
        at: Span,
    },

    #[error("`{name}` is a `{ty}`, which exists on the host only")]
    #[diagnostic(
        code(schema::host_object),
        help(
            "the device takes `Tensor`, `Scalar`, `int`, `float` and `long long`: pass the values it needs as those"
        )
    )]
    HostObject {
        name: String,
        ty: String,
        #[label("a host object")]
        at: Span,
    },

    #[error("`{name}` holds several values: `{ty}`")]
    #[diagnostic(code(schema::compound), help("pass each value as an argument of its own"))]
    Compound {
        name: String,
        ty: String,
        #[label("more than one value")]
        at: Span,
    },

    #[error("`{name}` has the type variable `{ty}`")]
    #[diagnostic(code(schema::type_variable), help("{help}"))]
    TypeVariable {
        name: String,
        ty: String,
        help: String,
        #[label("no fixed type")]
        at: Span,
    },

    #[error("`{op}` returns nothing; a device op returns 1 tensor")]
    #[diagnostic(code(schema::no_result), help("write `-> (Tensor out)` and return it from the kernel"))]
    NoResult {
        op: String,
        #[label("no result")]
        at: Span,
    },

    #[error("`{op}` returns {found} values; a device op returns 1 tensor")]
    #[diagnostic(
        code(schema::many_results),
        help("make one op for each result, or return one tensor that holds them all")
    )]
    ManyResults {
        op: String,
        found: usize,
        #[label("{found} results")]
        at: Span,
    },

    #[error("`{op}` returns any number of values; a device op returns 1 tensor")]
    #[diagnostic(code(schema::vararg_result), help("write `-> (Tensor out)`"))]
    VarargResult {
        op: String,
        #[label("any number")]
        at: Span,
    },

    #[error("`{op}` returns `{ty}`; a device op returns `Tensor`")]
    #[diagnostic(code(schema::result_type), help("return a tensor: one value is a tensor of one element"))]
    ResultType {
        op: String,
        ty: String,
        #[label("not a plain `Tensor`")]
        at: Span,
    },
}

/// Something accepted that may not mean what the author thinks. Reported as advice, never an error.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[allow(missing_docs)] // the messages say it
pub enum Note {
    #[error("the default of `{name}`, {value}, is the caller's: the kernel always receives a value")]
    #[diagnostic(
        code(schema::default_kept),
        severity(Advice),
        help("the Python side fills it in; the kernel's own default, if it has one, is never used")
    )]
    DefaultKept {
        name: String,
        value: String,
        #[label("filled in by the caller")]
        at: Span,
    },
}
