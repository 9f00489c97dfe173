//! The functions that compiled objects define, from debug information where there is some, else from symbols.
//!
//! Unaware of ops and schemas.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use gpsimd_codegen::ParamDecl;
use gpsimd_image::{ElfFile, FunctionSignature, Linkage, Place, SignatureError, Symbol, signatures};

use crate::words::error::{EngineError, Problem};

/// A function that an object defines.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    /// Unqualified.
    pub(crate) name: String,
    /// Declaration with names, or what the symbol says.
    pub(crate) text: String,
    /// In a namespace or class; then `text` tells which.
    pub(crate) is_nested: bool,
    /// How the linker sees it.
    pub(crate) linkage: Linkage,
    /// Mangled.
    pub(crate) symbol: String,
    /// What it returns; a symbol does not say.
    pub(crate) result: Option<String>,
    /// None when the symbol cannot be read.
    pub(crate) params: Option<Vec<Param>>,
    /// None without debug information.
    pub(crate) place: Option<Place>,
    /// Where it is defined.
    pub(crate) object: PathBuf,
}

/// A parameter of a [`Function`].
#[derive(Debug, Clone)]
pub(crate) struct Param {
    /// None when unnamed, or without debug information.
    pub(crate) name: Option<String>,
    /// As the source spells it.
    pub(crate) written: String,
    /// As an argument can be passed to it, if at all.
    pub(crate) decl: Option<ParamDecl>,
}

impl Function {
    /// Whether it has C linkage.
    pub(crate) fn is_c(&self) -> bool {
        self.symbol == self.name
    }

    /// Whether a wrapper in another file can call it by its plain name.
    pub(crate) fn is_callable(&self) -> bool {
        !self.is_nested && !self.is_c() && matches!(self.linkage, Linkage::Global | Linkage::Weak)
    }

    /// Whether it returns one tensor, as far as is known.
    pub(crate) fn returns_tensor(&self) -> bool {
        self.result.as_deref().is_none_or(|result| ParamDecl::read(result) == Some(ParamDecl::TensorValue))
    }

    /// How each parameter is declared, if arguments can be passed to all of them.
    ///
    /// A writable reference to a tensor is none of them: a kernel must not change its arguments, and the reference
    /// generator declares `const` (codegen.md §3.4).
    pub(crate) fn decls(&self) -> Option<Vec<ParamDecl>> {
        let decl = |param: &Param| param.decl.filter(|decl| *decl != ParamDecl::TensorRef);
        self.params.as_ref()?.iter().map(decl).collect()
    }

    /// `at::Tensor relu(const at::Tensor& x) (relu.cpp:12)`.
    pub(crate) fn placed(&self) -> String {
        match &self.place {
            Some(place) => format!("{} ({place})", self.text),
            None => self.text.clone(),
        }
    }
}

/// Every function that the objects define.
///
/// # Errors
/// An object that cannot be read. Unreadable debug information counts as none.
pub(crate) fn functions(objects: &[PathBuf]) -> Result<Vec<Function>, EngineError> {
    let mut found = Vec::new();
    for object in objects {
        let bytes = std::fs::read(object).map_err(EngineError::io("cannot read", object))?;
        of_object(&bytes, object, &mut found)?;
    }
    // as a person reads them: compilers describe functions in an order of their own
    let key = |function: &Function| {
        function.place.as_ref().map(|place| (place.file.clone(), place.line)).unwrap_or_default()
    };
    found.sort_by_cached_key(key);
    Ok(found)
}

fn of_object(bytes: &[u8], object: &Path, found: &mut Vec<Function>) -> Result<(), EngineError> {
    let stage = |error| EngineError::Stage { path: object.to_owned(), problem: Problem::new(error) };
    let described = match signatures(bytes) {
        Ok(described) => described,
        Err(SignatureError::Image(error)) => return Err(stage(error)),
        // compressed or split debug information: the symbols remain
        Err(_) => Vec::new(),
    };
    let known: HashSet<&str> = described.iter().map(|function| function.symbol.as_str()).collect();
    let image = ElfFile::parse(bytes).map_err(stage)?;
    let undescribed = image
        .symbols
        .iter()
        .filter(|symbol| symbol.is_defined() && symbol.is_function() && !known.contains(symbol.name));
    found.extend(undescribed.map(|symbol| of_symbol(symbol, object)));
    found.extend(described.iter().map(|function| of_signature(function, object)));
    Ok(())
}

const STB_LOCAL: u8 = 0;
const STB_WEAK: u8 = 2;

fn of_signature(function: &FunctionSignature, object: &Path) -> Function {
    let param = |param: &gpsimd_image::Parameter| Param {
        name: param.name.clone(),
        written: param.ty.written.clone(),
        decl: ParamDecl::read(&param.ty.canonical),
    };
    Function {
        name: function.name.clone(),
        text: function.to_string(),
        is_nested: !function.scope.is_empty(),
        linkage: function.linkage,
        symbol: function.symbol.clone(),
        result: Some(function.result.canonical.clone()),
        params: Some(function.params.iter().map(param).collect()),
        place: Some(function.place.clone()).filter(|place| place.line > 0),
        object: object.to_owned(),
    }
}

fn of_symbol(symbol: &Symbol<'_>, object: &Path) -> Function {
    let text = demangled(symbol.name);
    // the one scope whose name has parentheses of its own
    let plain = text.replace("(anonymous namespace)", "{anonymous}");
    let (head, list) = plain.split_once('(').unwrap_or((&plain, ""));
    let name = head.rsplit("::").next().unwrap_or(head).to_owned();
    Function {
        is_nested: head.contains("::"),
        linkage: match symbol.binding {
            STB_LOCAL => Linkage::Internal,
            STB_WEAK => Linkage::Weak,
            _ => Linkage::Global,
        },
        symbol: symbol.name.to_owned(),
        result: None,
        params: list.strip_suffix(')').and_then(params_of_text),
        place: None,
        object: object.to_owned(),
        name,
        text,
    }
}

/// Parameters of a demangled symbol; none if a template's commas are among them.
fn params_of_text(list: &str) -> Option<Vec<Param>> {
    if list.contains(['<', '(']) {
        return None;
    }
    let types = list.split(',').map(str::trim).filter(|text| !text.is_empty());
    Some(
        types
            .map(|text| Param { name: None, written: text.to_owned(), decl: ParamDecl::read(text) })
            .collect(),
    )
}

/// The function that a symbol means, as far as it is mangled.
pub(crate) fn demangled(symbol: &str) -> String {
    cpp_demangle::Symbol::new(symbol)
        .ok()
        .and_then(|parsed| parsed.demangle().ok())
        .unwrap_or_else(|| symbol.to_owned())
}

/// The callable function whose name is most like `name`, if any is like it at all.
pub(crate) fn nearest<'a>(name: &str, functions: &'a [Function]) -> Option<&'a Function> {
    functions
        .iter()
        .filter(|function| function.is_callable())
        .map(|function| (distance(name, &function.name), function))
        .filter(|(distance, _)| *distance <= name.chars().count() / 2)
        .min_by_key(|(distance, function)| (*distance, function.name.clone()))
        .map(|(_, function)| function)
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A function known by its symbol alone.
    pub(crate) fn by_symbol(symbol: &str, binding: u8) -> Function {
        let symbol = Symbol { name: symbol, value: 0, size: 0, kind: 2, binding, section: 1 };
        of_symbol(&symbol, Path::new("k.o"))
    }

    #[test]
    fn symbols_tell_names_scopes_and_parameters() {
        // symbol, name, nested, parameters that arguments can be passed to
        let rows = [
            ("_Z3addRKN2at6TensorEi", "add", false, Some(2)),
            ("_ZL3addRKN2at6TensorE", "add", false, Some(1)),
            ("_ZN2my3addERKN2at6TensorE", "add", true, Some(1)),
            ("_ZN12_GLOBAL__N_13addERKN2at6TensorE", "add", true, Some(1)),
            ("_Z3addRN2at6TensorE", "add", false, None),
            ("_Z3addj", "add", false, None),
            ("_Z3addv", "add", false, Some(0)),
            ("add", "add", false, None),
            ("_Z3addSt6vectorIiSaIiEE", "add", false, None),
        ];
        for (symbol, name, is_nested, params) in rows {
            let found = by_symbol(symbol, 1);
            assert_eq!((found.name.as_str(), found.is_nested), (name, is_nested), "{symbol}");
            assert_eq!(found.decls().map(|decls| decls.len()), params, "{symbol}: {}", found.text);
        }
    }

    #[test]
    fn the_nearest_name_is_offered() {
        let defined = [by_symbol("_Z10vector_addRKN2at6TensorE", 1), by_symbol("_Z5helloi", 1)];
        assert_eq!(nearest("vector_ad", &defined).map(|f| f.name.as_str()), Some("vector_add"));
        assert_eq!(nearest("relu", &defined).map(|f| f.name.as_str()), None);
    }
}
