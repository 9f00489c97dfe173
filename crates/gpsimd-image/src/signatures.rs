//! What the functions of a compiled object take and give: symbols joined with DWARF 4 and 5.
//!
//! A mangled name tells neither the return type nor the parameters' names nor the source line; debug information
//! does, and the symbol table says what the linker will see. Unaware of tensors, ops and schemas: types are text.
//! Facts: spec codegen.md §4.4; DWARF 5 §2.15, §3.3.

mod sections;
mod spelling;
mod walk;

use std::collections::HashMap;
use std::fmt;

use object::elf;
use serde::Serialize;

use crate::elf_file::ElfFile;
use crate::error::ImageError;
use sections::Sections;

/// Entries of debug information read before giving up. Large template headers make some 100,000.
const MAX_ENTRIES: usize = 2 << 20;

/// Why the debug information of an object cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs)] // the messages say what each field is
pub enum SignatureError {
    #[error(transparent)]
    #[diagnostic(transparent)]
    Image(#[from] ImageError),

    #[error("the debug information cannot be read: {detail}")]
    #[diagnostic(
        code(image::debug_info),
        help("compile with -gdwarf-4 or -gdwarf-5 and without -gz and -gsplit-dwarf")
    )]
    DebugInfo { detail: String },

    #[error("the debug information has more than {allowed} entries")]
    #[diagnostic(
        code(image::debug_info_size),
        help("the object is damaged, or the source includes far too much; split it")
    )]
    DebugInfoSize { allowed: usize },
}

/// How the linker sees a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Linkage {
    /// Other files can call it.
    Global,
    /// Other files can call it, and several may define it: an inline function or a template.
    Weak,
    /// Only this file can call it: `static`, or in an anonymous namespace.
    Internal,
    /// An external function that was inlined everywhere: no code is left to call.
    Inlined,
}

/// A function that an object defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionSignature {
    /// Unqualified name: `relu_forward`.
    pub name: String,
    /// Enclosing namespaces and classes, outermost first.
    pub scope: Vec<String>,
    /// Mangled name; the plain name for C linkage.
    pub symbol: String,
    /// How the linker sees it.
    pub linkage: Linkage,
    /// What it returns; `void` for nothing.
    pub result: TypeText,
    /// Its parameters in order, `this` and the ellipsis left out.
    pub params: Vec<Parameter>,
    /// Where its source is.
    pub place: Place,
}

/// A type as text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct TypeText {
    /// As written, typedefs kept: `int64_t`.
    pub written: String,
    /// Typedefs resolved: `long long int`.
    pub canonical: String,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// None when the source gives none.
    pub name: Option<String>,
    /// Its type.
    #[serde(flatten)]
    pub ty: TypeText,
}

/// A place in a source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Place {
    /// The file as the compiler names it; empty when unknown.
    pub file: String,
    /// From 1; 0 when unknown.
    pub line: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(&format!("{}:{}", self.file, self.line))
    }
}

impl fmt::Display for FunctionSignature {
    /// A declaration: `at::Tensor my::scale(const at::Tensor& a, float by)`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let param = |param: &Parameter| match &param.name {
            Some(name) => format!("{} {name}", param.ty.written),
            None => param.ty.written.clone(),
        };
        let params: Vec<String> = self.params.iter().map(param).collect();
        f.pad(&format!("{} {}({})", self.result.written, self.qualified_name(), params.join(", ")))
    }
}

impl FunctionSignature {
    /// The name with its scopes: `my::scale`.
    pub fn qualified_name(&self) -> String {
        let scopes: String = self.scope.iter().map(|scope| format!("{scope}::")).collect();
        format!("{scopes}{}", self.name)
    }
}

/// The functions that an object defines, in the order of its debug information. Empty without debug information.
///
/// # Errors
/// The object or its debug information is malformed.
pub fn signatures(object: &[u8]) -> Result<Vec<FunctionSignature>, SignatureError> {
    let image = ElfFile::parse(object)?;
    let sections = Sections::read(&image)?;
    let linkage = linkages(&image);
    let mut found = Vec::new();
    for function in walk::functions(&sections.dwarf())? {
        // the symbol table has the last word: an inlined function has debug information but no code
        let linkage = match linkage.get(function.symbol.as_str()) {
            Some(linkage) => *linkage,
            None if function.linkage == Linkage::Internal => Linkage::Internal,
            None => Linkage::Inlined,
        };
        found.push(FunctionSignature { linkage, ..function });
    }
    Ok(found)
}

/// Every defined function symbol.
fn linkages<'d>(image: &ElfFile<'d>) -> HashMap<&'d str, Linkage> {
    let functions = image.symbols.iter().filter(|s| s.is_defined() && s.is_function());
    functions
        .map(|symbol| {
            let linkage = match symbol.binding {
                binding if binding == elf::STB_LOCAL.0 => Linkage::Internal,
                binding if binding == elf::STB_WEAK.0 => Linkage::Weak,
                _ => Linkage::Global,
            };
            (symbol.name, linkage)
        })
        .collect()
}
