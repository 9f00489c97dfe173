//! Why an op's kernel cannot be called: what was expected, what was found and where, and the way out.
//!
//! Unaware of how functions are found. Each error points into the kernel's source when that can be read.

use miette::{Diagnostic, NamedSource, SourceSpan};

use crate::ask::functions::Function;

/// Sources longer than this are named, not shown.
const MAX_SOURCE: u64 = 4 << 20;

/// Where a function's name stands in its source.
#[derive(Debug, Default)]
pub(crate) struct Spot {
    pub(crate) source: Option<NamedSource<String>>,
    pub(crate) span: Option<SourceSpan>,
}

impl Spot {
    /// The function's name on its line; nothing when the source is gone or has changed.
    pub(crate) fn of(function: &Function) -> Self {
        Self::find(function).unwrap_or_default()
    }

    fn find(function: &Function) -> Option<Self> {
        let place = function.place.as_ref()?;
        if std::fs::metadata(&place.file).ok()?.len() > MAX_SOURCE {
            return None;
        }
        let text = std::fs::read_to_string(&place.file).ok()?;
        let before = usize::try_from(place.line).ok()?.checked_sub(1)?;
        let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
        let line = text.get(start..)?.lines().next()?;
        let column = line.find(&function.name)?;
        let span = (start + column, function.name.len()).into();
        Some(Self { source: Some(NamedSource::new(&place.file, text)), span: Some(span) })
    }
}

/// Why an op's kernel cannot be called.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(crate) enum KernelError {
    #[error("op {kernel}: the kernel's parameters are not the schema's\n  schema:   {schema}\n  expected: {expected}\n  found:    {}\n{differences}", .found.join("\n            "))]
    #[diagnostic(code(kernel::signature), help("{help}"))]
    Signature {
        kernel: String,
        schema: String,
        expected: String,
        found: Vec<String>,
        differences: String,
        help: String,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("takes other parameters")]
        at: Option<SourceSpan>,
    },

    #[error(
        "op {kernel}: the kernel returns {result}, and an op's kernel returns at::Tensor\n  expected: {expected}\n  found:    {found}"
    )]
    #[diagnostic(
        code(kernel::result),
        help(
            "return the output tensor by value; a kernel that fills the output itself returns what get_dst_tensor() gave it"
        )
    )]
    Result {
        kernel: String,
        result: String,
        expected: String,
        found: String,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("returns {result}")]
        at: Option<SourceSpan>,
    },

    #[error("op {kernel}: no source defines its kernel function\n  expected: {expected}{}", near(.nearest.as_deref(), .candidates))]
    #[diagnostic(code(kernel::missing), help("{help}"))]
    Missing {
        kernel: String,
        expected: String,
        nearest: Option<String>,
        /// Other functions that could be meant.
        candidates: Vec<String>,
        help: String,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("the nearest name")]
        at: Option<SourceSpan>,
    },

    #[error(
        "op {kernel}: only its own file can call the kernel\n  expected: {expected}\n  found:    {found}"
    )]
    #[diagnostic(
        code(kernel::local),
        help(
            "the wrapper is another file: remove `static`, or take the kernel out of the anonymous namespace"
        )
    )]
    Local {
        kernel: String,
        expected: String,
        found: String,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("`static`, or in an anonymous namespace")]
        at: Option<SourceSpan>,
    },

    #[error(
        "op {kernel}: the kernel is an inline function, and no code of it is left\n  expected: {expected}\n  found:    {found}"
    )]
    #[diagnostic(
        code(kernel::inline),
        help("remove `inline`; the wrapper is another file and calls it there")
    )]
    Inline {
        kernel: String,
        expected: String,
        found: String,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("inlined wherever it was called")]
        at: Option<SourceSpan>,
    },

    #[error(
        "op {kernel}: the kernel is in a namespace or class\n  expected: {expected}\n  found:    {found}"
    )]
    #[diagnostic(
        code(kernel::namespaced),
        help(
            "the wrapper calls ::{kernel}; define it at global scope, or add a function there that calls it"
        )
    )]
    Namespaced {
        kernel: String,
        expected: String,
        found: String,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("not at global scope")]
        at: Option<SourceSpan>,
    },

    #[error(
        "op {kernel}: the kernel has C linkage\n  expected: {expected}\n  found:    extern \"C\" {found}"
    )]
    #[diagnostic(code(kernel::c_linkage), help("the wrapper calls a C++ function; remove extern \"C\""))]
    CLinkage {
        kernel: String,
        expected: String,
        found: String,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("C linkage")]
        at: Option<SourceSpan>,
    },

    #[error("op {kernel}: the kernel is defined {} times\n  {}", .found.len(), .found.join("\n  "))]
    #[diagnostic(code(kernel::twice), help("keep one of the definitions"))]
    Twice {
        kernel: String,
        found: Vec<String>,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("the first definition")]
        at: Option<SourceSpan>,
    },

    #[error("op {kernel}: {} overloads could be the kernel\n  schema:   {schema}\n  found:    {}", .found.len(), .found.join("\n            "))]
    #[diagnostic(
        code(kernel::overloaded),
        help("rename all but one of them; the device knows a kernel by its name alone")
    )]
    Overloaded {
        kernel: String,
        schema: String,
        found: Vec<String>,
        #[source_code]
        source_text: Option<NamedSource<String>>,
        #[label("the first of them")]
        at: Option<SourceSpan>,
    },
}

fn near(nearest: Option<&str>, candidates: &[String]) -> String {
    let mut text = nearest.map(|text| format!("\n  nearest:  {text}")).unwrap_or_default();
    if !candidates.is_empty() {
        text += &format!("\n  defined:  {}", candidates.join("\n            "));
    }
    text
}
