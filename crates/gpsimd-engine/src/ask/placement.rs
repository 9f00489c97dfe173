//! Between compile and link: is everything in the objects in sections that an image has?
//!
//! The linker would only call such a section an orphan; here it is traced back to the attribute. Unaware of ops.

use std::path::{Path, PathBuf};

use gpsimd_image::{Placement, placements};
use gpsimd_lsp::{Lsp, Variant};
use miette::{Diagnostic, NamedSource, SourceSpan};

use crate::ask::functions::Function;
use crate::words::error::{EngineError, Problem};

/// Sources longer than this are not searched.
const MAX_SOURCE: u64 = 4 << 20;

/// Something in a section that images do not have.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{what} is put into section {section}, which an image does not have")]
#[diagnostic(code(kernel::section), help("{help}"))]
struct NoSuchSection {
    what: String,
    section: String,
    help: &'static str,
    #[source_code]
    source_text: Option<NamedSource<String>>,
    #[label("put there by this")]
    at: Option<SourceSpan>,
}

/// What is wrong with where the objects put things; `functions` tell which sources they are made of.
///
/// # Errors
/// [`EngineError::Io`] and [`EngineError::Stage`] when an object cannot be read.
pub(crate) fn misplaced(objects: &[PathBuf], functions: &[Function]) -> Result<Vec<Problem>, EngineError> {
    let lsp = Lsp::custom_op(Variant::Single);
    let mut problems = Vec::new();
    for object in objects {
        let bytes = std::fs::read(object).map_err(EngineError::io("cannot read", object))?;
        let placed = placements(&bytes)
            .map_err(|error| EngineError::Stage { path: object.clone(), problem: Problem::new(error) })?;
        let odd = placed.into_iter().filter(|placement| !lsp.takes(&placement.section));
        problems.extend(odd.map(|placement| Problem::new(explain(placement, object, functions))));
    }
    Ok(problems)
}

fn explain(placement: Placement, object: &Path, functions: &[Function]) -> NoSuchSection {
    let Placement { section, symbol } = placement;
    let mut files: Vec<&str> = functions
        .iter()
        .filter(|function| function.object == object)
        .filter_map(|function| Some(function.place.as_ref()?.file.as_str()))
        .collect();
    files.dedup();
    let spot = files.iter().find_map(|file| attribute(file, &section));
    let (source_text, at) = spot.map_or((None, None), |(source, at)| (Some(source), Some(at)));
    NoSuchSection {
        what: symbol.map_or_else(|| format!("something in {}", object.display()), |name| format!("`{name}`")),
        help: remedy(&section),
        section,
        source_text,
        at,
    }
}

/// Where a source names the section.
fn attribute(file: &str, section: &str) -> Option<(NamedSource<String>, SourceSpan)> {
    if std::fs::metadata(file).ok()?.len() > MAX_SOURCE {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let quoted = format!("\"{section}\"");
    let at = text.find(&quoted)?;
    Some((NamedSource::new(file, text), (at, quoted.len()).into()))
}

fn remedy(section: &str) -> &'static str {
    match section {
        local if [".tcm", ".dram", ".iram", ".sram"].iter().any(|name| local.starts_with(name)) => {
            "remove the attribute: local memory is handed out while a kernel runs, by torch::neuron::tcm_malloc(); static data lies in device memory"
        }
        kept if kept.starts_with(".noinit") || kept.starts_with(".persistent") => {
            "remove the attribute: static data is set when the library is loaded, and keeps its value from call to call"
        }
        table if table.contains("_array") => {
            "remove the attribute: start-up code walks .ctors, which __attribute__((constructor)) fills"
        }
        tls if tls.starts_with(".tdata") || tls.starts_with(".tbss") => {
            "remove thread_local: a core has one thread"
        }
        _ => {
            "remove the attribute: the compiler knows where code (.text), constants (.rodata) and data (.data, .bss) go"
        }
    }
}
