//! `verify`: images checked, alone and against each other.

use std::path::{Path, PathBuf};

use gpsimd_engine::Manifest;
use gpsimd_image::verify::{self, FileEntry};
use miette::{Diagnostic, Result};

use super::{Outcome, read, report, write};
use crate::cli::Verify;
use crate::render::Render;

/// Why a library cannot be verified.
#[derive(Debug, thiserror::Error, Diagnostic)]
enum ManifestError {
    #[error("{path} is no manifest: {reason}", path = .path.display())]
    #[diagnostic(code(cli::manifest), help("name image files, or a library that gpsimd-build compile made"))]
    Unreadable { path: PathBuf, reason: String },
}

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
    let manifest = if argument.extension().is_some_and(|extension| extension == "json") {
        argument.to_owned()
    } else if argument.is_file() {
        return Ok(vec![argument.to_owned()]);
    } else {
        let mut path = argument.as_os_str().to_owned();
        path.push(".manifest.json");
        path.into()
    };
    let text = read(&manifest)?;
    let unreadable = |reason: String| ManifestError::Unreadable { path: manifest.clone(), reason };
    let parsed: Manifest = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
    let directory = manifest.parent().unwrap_or(Path::new("."));
    let mut paths = Vec::new();
    for file in parsed.images.iter().flat_map(|image| &image.files) {
        if Path::new(&file.file).components().count() != 1 {
            return Err(unreadable(format!("{:?} is not a plain file name", file.file)).into());
        }
        paths.push(directory.join(&file.file));
    }
    Ok(paths)
}
