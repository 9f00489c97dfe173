//! `verify`: images checked, alone and against each other.

use std::path::{Path, PathBuf};

use gpsimd_engine::Damage;
use gpsimd_image::verify::{self, FileEntry};
use gpsimd_loader::Generation;
use miette::{Diagnostic as _, Result};
use serde_json::json;

use super::{Status, prelink, report};
use crate::cli::Verify;
use crate::files::{read, write};
use crate::library::Library;
use crate::render::Render;

/// Checks the named files.
pub fn run(arguments: &Verify, render: &Render) -> Result<Status> {
    let mut files = Vec::new();
    let mut split = Vec::new();
    let mut damage = Vec::new();
    for argument in &arguments.files {
        let Named { paths, generation, damage: of_library } = named(argument)?;
        damage.extend(of_library);
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
    if let Some(findings) = document["findings"].as_array_mut() {
        findings.extend(damage.iter().map(described));
    }
    if !split.is_empty() {
        document["split"] = split.iter().map(|inspection| inspection.document.clone()).collect();
    }
    let is_sound = split.iter().all(|inspection| inspection.is_sound);
    render.result(&document, || {
        let mut text: String =
            damage.iter().map(|damage| format!("error[{}] {damage}\n", code(damage))).collect();
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
    Ok(if is_sound && found.is_clean() && damage.is_empty() { Status::Good } else { Status::AtFault })
}

/// What an argument stands for.
struct Named {
    /// The image files.
    paths: Vec<PathBuf>,
    /// What a split image among them is for.
    generation: Option<Generation>,
    /// Of the library that is named.
    damage: Vec<Damage>,
}

/// A file stands for itself, a library for those that are there.
fn named(argument: &Path) -> Result<Named> {
    if argument.is_file() && argument.extension().is_none_or(|extension| extension != "json") {
        return Ok(Named { paths: vec![argument.to_owned()], generation: None, damage: Vec::new() });
    }
    let library = Library::find(argument)?;
    let split = library.manifest.as_ref().and_then(|manifest| manifest.split.as_ref());
    let generation = split.map(|split| split.generation);
    let damage = library.damage()?;
    let paths = library.files().into_iter().filter(|path| path.exists()).map(Path::to_owned).collect();
    Ok(Named { paths, generation, damage })
}

/// As the checks of images describe what they find.
fn described(damage: &Damage) -> serde_json::Value {
    let text = damage.to_string();
    let (file, message) = text.split_once(": ").unwrap_or(("", &text));
    let help = damage.help().map(|help| help.to_string());
    json!({ "code": code(damage), "severity": "error", "file": file, "message": message, "help": help })
}

fn code(damage: &Damage) -> String {
    damage.code().map_or_else(String::new, |code| code.to_string())
}
