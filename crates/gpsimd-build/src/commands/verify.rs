//! `verify`: images checked, alone and against each other.

use std::path::{Path, PathBuf};

use gpsimd_engine::Damage;
use gpsimd_image::verify::{self, FileEntry, FileReport, Severity};
use gpsimd_loader::Generation;
use miette::{Diagnostic as _, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Status, prelink, report};
use crate::answer::{self, Diagnosis, Place};
use crate::cli::Verify;
use crate::files::{read, write};
use crate::library::Library;
use crate::render::Render;

/// What the checks say, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// What is wrong or worth knowing.
    findings: Vec<Finding>,
    /// Every image that could be read.
    images: Vec<FileReport>,
    /// Files of the way by load record.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    split: Vec<prelink::FileDocument>,
}

/// Something found.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Finding {
    /// In an image, or between images.
    Image(Box<verify::Finding>),
    /// A file that is not what the manifest says.
    Damage(Changed),
}

/// A file that is not what the manifest says.
#[derive(Serialize, JsonSchema)]
pub struct Changed {
    /// Stable name.
    code: String,
    /// `error`.
    severity: answer::Severity,
    /// The file.
    file: String,
    /// What is wrong with it.
    message: String,
    /// What to do.
    help: Option<String>,
}

/// Checks the named files.
pub fn run(arguments: &Verify, render: &Render) -> Result<Status> {
    let mut files = Vec::new();
    let mut split = Vec::new();
    let mut damage = Vec::new();
    for argument in &arguments.files {
        for Named { paths, generation, damage: of_library } in named(argument)? {
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
    }
    let entries: Vec<FileEntry> = files.iter().map(|(name, bytes)| FileEntry::new(name, bytes)).collect();
    let found = verify::verify(&entries);
    if let Some(path) = &arguments.report {
        let text = serde_json::to_vec(&found).map_err(|error| miette::miette!("{error}"))?;
        write(path, &text)?;
    }
    let of_images = found.findings.iter().map(|finding| Finding::Image(Box::new(finding.clone())));
    let document = Document {
        findings: of_images.chain(damage.iter().map(|damage| Finding::Damage(changed(damage)))).collect(),
        images: found.images.clone(),
        split: split.iter().map(|inspection| inspection.document.clone()).collect(),
    };
    let is_sound = split.iter().all(|inspection| inspection.fault.is_none());
    let fault = || split.iter().find_map(|inspection| inspection.fault.clone());
    let error = || found.findings.iter().find(|finding| finding.severity == Severity::Error).map(diagnosis);
    let first = damage.first().map(|damage| Diagnosis::of(damage)).or_else(fault).or_else(error);
    render.verdict(first, &document, || {
        let mut text: String =
            damage.iter().map(|damage| format!("error[{}] {damage}\n", code(damage))).collect();
        for inspection in split.iter().filter(|inspection| inspection.fault.is_some()) {
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
    })
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

/// A file stands for itself, a library for its files that are there, a directory for every library in it.
fn named(argument: &Path) -> Result<Vec<Named>> {
    if argument.is_file() && argument.extension().is_none_or(|extension| extension != "json") {
        return Ok(vec![Named { paths: vec![argument.to_owned()], generation: None, damage: Vec::new() }]);
    }
    Library::all(argument)?.iter().map(of_library).collect()
}

fn of_library(library: &Library) -> Result<Named> {
    let split = library.manifest.as_ref().and_then(|manifest| manifest.split.as_ref());
    let generation = split.map(|split| split.generation);
    let damage = library.damage()?;
    let paths = library.files().into_iter().filter(|path| path.exists()).map(Path::to_owned).collect();
    Ok(Named { paths, generation, damage })
}

/// As the checks of images describe what they find.
fn changed(damage: &Damage) -> Changed {
    let text = damage.to_string();
    let (file, message) = text.split_once(": ").unwrap_or(("", &text));
    Changed {
        code: code(damage),
        severity: answer::Severity::Error,
        file: file.to_owned(),
        message: message.to_owned(),
        help: damage.help().map(|help| help.to_string()),
    }
}

/// The same as any error is told.
fn diagnosis(finding: &verify::Finding) -> Diagnosis {
    Diagnosis {
        code: Some(finding.code.to_string()),
        severity: answer::Severity::Error,
        headline: finding.message.clone(),
        detail: None,
        place: Some(Place { file: Some(finding.file.clone()), ..Place::default() }),
        remedy: Some(finding.help.to_string()),
        labels: Vec::new(),
        related: Vec::new(),
    }
}

fn code(damage: &Damage) -> String {
    damage.code().map_or_else(String::new, |code| code.to_string())
}
