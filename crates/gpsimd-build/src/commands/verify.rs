//! `verify`: images checked, alone and against each other.

use std::path::{Path, PathBuf};

use gpsimd_image::verify::{self, FileEntry};
use miette::Result;

use super::{Outcome, read, report, write};
use crate::cli::Verify;
use crate::library::Library;
use crate::render::Render;

/// Checks the named files.
pub fn run(arguments: &Verify, render: &Render) -> Result<Outcome> {
    let mut files = Vec::new();
    for argument in &arguments.files {
        for path in image_files(argument)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, read(&path)?));
        }
    }
    let entries: Vec<FileEntry> = files.iter().map(|(name, bytes)| FileEntry::new(name, bytes)).collect();
    let found = verify::verify(&entries);
    if let Some(path) = &arguments.report {
        let text = serde_json::to_vec(&found).map_err(|error| miette::miette!("{error}"))?;
        write(path, &text)?;
    }
    render.result(&found, || report::checks(&found))?;
    Ok(if found.is_clean() { Outcome::Good } else { Outcome::Findings })
}

/// The image files an argument stands for: itself, or those of the library it names.
fn image_files(argument: &Path) -> Result<Vec<PathBuf>> {
    if argument.is_file() && argument.extension().is_none_or(|extension| extension != "json") {
        return Ok(vec![argument.to_owned()]);
    }
    Ok(Library::find(argument)?.files().into_iter().map(Path::to_owned).collect())
}
