//! The vendor's built-in libraries by the names of their getters: which of them a directory has, and what a prelinker makes of
//! these.
//!
//! Unaware of how they would be loaded.

use std::path::Path;

use gpsimd_loader::kernel_table;
use gpsimd_loader::registry::Getter;
use gpsimd_loader::{Mode, prelink};
use miette::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::files::read;

/// A library of the catalogue.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Entry {
    /// Which generation it is for.
    generation: &'static str,
    /// The selector that picks it.
    index: u64,
    /// The getter of its image.
    so_get: String,
    /// The getter of its description.
    json_get: String,
    /// Bytes of the image, if it is there.
    image: Option<usize>,
    /// Bytes of the description, if it is there.
    description: Option<usize>,
    /// What a prelinker makes of it.
    verdict: String,
    /// Opcode and spec of each kernel.
    kernels: Vec<(u8, u8)>,
}

/// All libraries there are, with what `directory` has of them.
pub fn catalogue(directory: &Path) -> Result<Vec<Entry>> {
    let supplied = |name: String| {
        let path = directory.join(name);
        path.is_file().then(|| read(&path)).transpose()
    };
    let mut entries = Vec::new();
    for getter in Getter::all() {
        let image = supplied(format!("{}.so", getter.stem))?;
        let description = supplied(format!("{}.json", getter.stem))?;
        let (verdict, kernels) = judged(&getter, image.as_deref());
        entries.push(Entry {
            generation: getter.generation.name(),
            index: getter.index,
            so_get: getter.image(),
            json_get: getter.description(),
            image: image.map(|bytes| bytes.len()),
            description: description.map(|bytes| bytes.len()),
            verdict,
            kernels,
        });
    }
    Ok(entries)
}

fn judged(getter: &Getter, image: Option<&[u8]>) -> (String, Vec<(u8, u8)>) {
    let bounds = getter.generation.bounds();
    match image {
        None if getter.is_weak() => {
            ("not here; weak in the runtime, so that creating it gives 3".to_owned(), Vec::new())
        }
        None => ("not here; creating it would give 3".to_owned(), Vec::new()),
        Some(bytes) => match prelink(bytes, &bounds, Mode::Compat, &mut |_| {}) {
            Ok(made) => {
                let table = made.kernel_table;
                let at = table.map_or(0, |table| table.addr.wrapping_sub(bounds.data.base)) as usize;
                let count = table.map_or(0, |table| table.rows) as usize;
                let rows = kernel_table::parse(made.data.get(at..).unwrap_or_default());
                let kernels: Vec<_> = rows.iter().take(count).map(|row| (row.opcode, row.spec)).collect();
                (format!("prelinks to {} bytes, {} kernels", made.image().len(), kernels.len()), kernels)
            }
            Err(error) => (format!("does not prelink: {}", error.verdict()), Vec::new()),
        },
    }
}

/// For people.
pub fn text(entries: &[Entry]) -> String {
    let mut text = "built-in libraries, by the getters of the vendor's runtime\n".to_owned();
    for Entry { so_get, image, description, verdict, .. } in entries {
        let size = |size: &Option<usize>| size.map_or_else(|| "-".to_owned(), |size| size.to_string());
        text += &format!("  {so_get:45} {:>7} {:>6}  {verdict}\n", size(image), size(description));
    }
    text
}
