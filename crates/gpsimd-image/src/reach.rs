//! What the functions of compiled objects refer to, directly and through each other, by their relocations.
//!
//! Unaware of what a name means. A call through a pointer counts where the pointer is taken.

use std::collections::{BTreeMap, BTreeSet};

use object::{Object as _, ObjectSection as _, ObjectSymbol as _, RelocationTarget, SectionFlags, elf};

use crate::error::ImageError;

/// A section of one of the objects.
type Node = (usize, usize);

/// The references between functions of some objects, each compiled with a section per function.
#[derive(Debug, Default)]
pub struct References {
    /// Names that a section refers to, and sections of its own object that it refers to without a name.
    edges: BTreeMap<Node, (BTreeSet<String>, BTreeSet<usize>)>,
    /// Where each name is defined.
    defined: BTreeMap<String, Node>,
}

impl References {
    /// Reads the objects.
    ///
    /// # Errors
    /// [`ImageError::Malformed`] for one that is no readable object.
    pub fn of<'d>(objects: impl IntoIterator<Item = &'d [u8]>) -> Result<References, ImageError> {
        let mut references = References::default();
        for (index, bytes) in objects.into_iter().enumerate() {
            let file = object::File::parse(bytes)
                .map_err(|error| ImageError::Malformed { what: "object", detail: error.to_string() })?;
            references.add(index, &file);
        }
        Ok(references)
    }

    fn add(&mut self, index: usize, file: &object::File<'_>) {
        for symbol in file.symbols().filter(|symbol| symbol.is_definition()) {
            if let (Ok(name), Some(section)) = (symbol.name(), symbol.section_index()) {
                self.defined.entry(name.to_owned()).or_insert((index, section.0));
            }
        }
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else { continue };
            if !sh_flags.contains(elf::SHF_ALLOC) {
                continue;
            }
            let (names, sections) = self.edges.entry((index, section.index().0)).or_default();
            for (_, relocation) in section.relocations() {
                let RelocationTarget::Symbol(symbol) = relocation.target() else { continue };
                let Ok(symbol) = file.symbol_by_index(symbol) else { continue };
                match (symbol.name(), symbol.section_index()) {
                    (Ok(name), _) if !name.is_empty() && !symbol.is_local() => {
                        names.insert(name.to_owned());
                    }
                    (_, Some(section)) => {
                        sections.insert(section.0);
                    }
                    _ => {}
                }
            }
        }
    }

    /// Every name that the function `symbol` refers to, or that what it refers to does.
    pub fn from(&self, symbol: &str) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut next: Vec<Node> = self.defined.get(symbol).copied().into_iter().collect();
        while let Some(node) = next.pop() {
            if !seen.insert(node) {
                continue;
            }
            let Some((named, sections)) = self.edges.get(&node) else { continue };
            next.extend(sections.iter().map(|section| (node.0, *section)));
            for name in named {
                names.insert(name.as_str());
                next.extend(self.defined.get(name));
            }
        }
        names
    }
}
