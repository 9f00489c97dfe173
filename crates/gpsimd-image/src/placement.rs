//! Which sections a compiled object asks for, and for what.
//!
//! Unaware of which sections there are.

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SectionFlags, SymbolKind, elf};

use crate::error::ImageError;

/// A loaded section of an object that is not empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// Its name.
    pub section: String,
    /// What a source calls the first thing in it.
    pub symbol: Option<String>,
}

/// The sections that an object wants in memory.
///
/// # Errors
/// [`ImageError::Malformed`] for what is no readable object.
pub fn placements(object: &[u8]) -> Result<Vec<Placement>, ImageError> {
    let malformed =
        |error: object::Error| ImageError::Malformed { what: "object", detail: error.to_string() };
    let file = object::File::parse(object).map_err(malformed)?;
    let mut placed = Vec::new();
    for section in file.sections().filter(|section| section.size() > 0) {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
        if !sh_flags.contains(elf::SHF_ALLOC) {
            continue;
        }
        let is_named =
            |kind: SymbolKind| matches!(kind, SymbolKind::Data | SymbolKind::Text | SymbolKind::Tls);
        let mut symbols = file
            .symbols()
            .filter(|symbol| symbol.section_index() == Some(section.index()) && is_named(symbol.kind()));
        let symbol = symbols.find_map(|symbol| symbol.name().ok().map(spelled));
        placed.push(Placement { section: section.name().map_err(malformed)?.to_owned(), symbol });
    }
    Ok(placed)
}

/// As the source spells it.
fn spelled(name: &str) -> String {
    let demangled = cpp_demangle::Symbol::new(name).ok().and_then(|symbol| symbol.demangle().ok());
    demangled.unwrap_or_else(|| name.to_owned())
}
