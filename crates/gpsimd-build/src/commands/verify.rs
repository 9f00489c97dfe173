//! `verify`: images checked, alone and against each other.

use std::path::{Path, PathBuf};

use gpsimd_image::verify::{self, FileEntry};
use gpsimd_loader::Generation;
use miette::Result;

use super::{Status, prelink, report};
use crate::cli::Verify;
use crate::files::{read, write};
use crate::library::Library;
use crate::render::Render;

/// Checks the named files.
pub fn run(arguments: &Verify, render: &Render) -> Result<Status> {
    let mut files = Vec::new();
    let mut split = Vec::new();
    for argument in &arguments.files {
        let (paths, generation) = image_files(argument)?;
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let bytes = read(&path)?;
            match prelink::inspect(&path, &bytes, generation)? {
                Some(inspection) => split.push(inspection),
                None => files.push((name, bytes)),
            }
        }
    }
    let entries: Vec<FileEntry> = files.iter().map(|(name, bytes)| FileEntry::new(name, bytes)).collect();
    let found = verify::verify(&entries);
    if let Some(path) = &arguments.report {
        let text = serde_json::to_vec(&found).map_err(|error| miette::miette!("{error}"))?;
        write(path, &text)?;
    }
    let mut document = serde_json::to_value(&found).map_err(|error| miette::miette!("{error}"))?;
    if !split.is_empty() {
        document["split"] = split.iter().map(|inspection| inspection.document.clone()).collect();
    }
    let is_sound = split.iter().all(|inspection| inspection.is_sound);
    render.result(&document, || {
        let mut text = String::new();
        for inspection in split.iter().filter(|inspection| !inspection.is_sound) {
            text += &inspection.text;
        }
        text += &match split.len() {
            0 => String::new(),
            count if is_sound => format!("loader: {count} files, all would load\n"),
            count => format!("loader: {count} files, not all would load\n"),
        };
        if !files.is_empty() {
            text += &report::checks(&found);
        }
        text
    })?;
    Ok(if is_sound && found.is_clean() { Status::Good } else { Status::AtFault })
}

/// The image files an argument stands for: itself, or those of the library it names and what its split image is for.
fn image_files(argument: &Path) -> Result<(Vec<PathBuf>, Option<Generation>)> {
    if argument.is_file() && argument.extension().is_none_or(|extension| extension != "json") {
        return Ok((vec![argument.to_owned()], None));
    }
    let library = Library::find(argument)?;
    let split = library.manifest.as_ref().and_then(|manifest| manifest.split.as_ref());
    let generation = split.map(|split| split.generation);
    Ok((library.files().into_iter().map(Path::to_owned).collect(), generation))
}
