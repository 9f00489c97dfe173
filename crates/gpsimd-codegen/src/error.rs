//! What can be wrong with a library of ops before any compiler runs.
//!
//! Unaware of schemas' text: by now they are signatures. Every variant names the op by index and kernel.

use miette::Diagnostic;
use thiserror::Error;

/// One reason why no wrapper can be generated.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[allow(missing_docs)] // the messages say it
pub enum CodegenError {
    #[error("no op is given; a library holds 1 to {allowed}")]
    #[diagnostic(code(codegen::no_ops), help("name a kernel and its schema"))]
    NoOps { allowed: usize },

    #[error("the library has {found} ops; {allowed} are allowed")]
    #[diagnostic(
        code(codegen::too_many_ops),
        help("drop {} of them, or merge ops that differ in an `int` only; a model can load one library", .found.saturating_sub(*.allowed))
    )]
    TooManyOps { found: usize, allowed: usize },

    #[error("{kernels} kernel names and {schemas} schemas are given; they go in pairs")]
    #[diagnostic(code(codegen::count_mismatch), help("give one schema for each kernel, in the same order"))]
    CountMismatch { kernels: usize, schemas: usize },

    #[error("op {index}: {kernel:?} is no plain C++ name")]
    #[diagnostic(
        code(codegen::bad_kernel_name),
        help("a kernel is a function at global scope: letters, digits and `_`, no namespace, no arguments")
    )]
    BadKernelName { index: usize, kernel: String },

    #[error("op {index}: `{kernel}` is a keyword of C++")]
    #[diagnostic(code(codegen::keyword), help("rename the kernel, for instance to `{kernel}_kernel`"))]
    Keyword { index: usize, kernel: String },

    #[error("op {index}: `{kernel}` is taken: {why}")]
    #[diagnostic(
        code(codegen::reserved_name),
        help("rename the kernel, for instance to `{kernel}_kernel`; the op can keep its name")
    )]
    ReservedName { index: usize, kernel: String, why: &'static str },

    #[error("op {index}: the kernel name `{kernel}` has {found} characters; {allowed} are allowed")]
    #[diagnostic(code(codegen::name_too_long), help("rename the kernel; the op can keep its name"))]
    NameTooLong { index: usize, kernel: String, found: usize, allowed: usize },

    #[error("ops {first} and {index} both have the kernel `{kernel}`")]
    #[diagnostic(
        code(codegen::duplicate_kernel),
        help("list each kernel once; for two signatures, write two functions")
    )]
    DuplicateKernel { first: usize, index: usize, kernel: String },

    #[error(
        "op {index}: `{kernel}` is what the wrapper calls a function of its own for op {other}, `{base}`"
    )]
    #[diagnostic(code(codegen::name_collision), help("rename one of the two kernels"))]
    NameCollision { index: usize, kernel: String, other: usize, base: String },

    #[error(
        "op {index}: for `{kernel}` the wrapper would define `{taken}`, which the device runtime defines"
    )]
    #[diagnostic(code(codegen::generated_name), help("rename the kernel; the op can keep its name"))]
    GeneratedName { index: usize, kernel: String, taken: String },

    #[error("op {index}, `{kernel}`: it takes no argument; the device needs at least 1")]
    #[diagnostic(
        code(codegen::no_arguments),
        help("add a tensor argument, for instance one whose shape the result takes")
    )]
    NoArguments { index: usize, kernel: String },

    #[error(
        "op {index}, `{kernel}`: a call carries {allowed} records, and {found} are needed with the result's"
    )]
    #[diagnostic(
        code(codegen::too_many_records),
        help("pass at most {} arguments: put several small ones into one tensor", .allowed.saturating_sub(1))
    )]
    TooManyRecords { index: usize, kernel: String, found: usize, allowed: usize },

    #[error("op {index}, `{kernel}`: {found} parameters are declared for {expected} arguments")]
    #[diagnostic(code(codegen::declaration_count), help("the kernel takes exactly what the schema lists"))]
    DeclarationCount { index: usize, kernel: String, found: usize, expected: usize },

    #[error("op {index}, `{kernel}`: argument {param} is `{ty}`, and the kernel declares `{declared}`")]
    #[diagnostic(code(codegen::declaration_type), help("declare it as one of: {choices}"))]
    DeclarationType {
        index: usize,
        kernel: String,
        param: usize,
        ty: String,
        declared: String,
        choices: String,
    },

    #[error("STACK_SIZE is {found} bytes; {allowed} are allowed")]
    #[diagnostic(
        code(codegen::stack_size),
        help("give at most -DSTACK_SIZE={allowed}; the public guide promises 400 KB only (409600)")
    )]
    StackSize { found: u64, allowed: u64 },

    #[error("the wrapper's template does not render: {reason}")]
    #[diagnostic(
        code(codegen::template),
        help("this is a fault of the tool: please report it with the schemas")
    )]
    Template { reason: String },
}
