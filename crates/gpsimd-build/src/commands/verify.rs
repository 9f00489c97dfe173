//! `verify`: images checked, alone and against each other.

use std::path::{Path, PathBuf};

use gpsimd_engine::{Damage, Manifest};
use gpsimd_image::verify::{self, FileEntry, FileReport, Severity};
use gpsimd_library::Library;
use gpsimd_loader::Generation;
use miette::{Diagnostic as _, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Status, report};
use crate::answer::{self, Diagnosis, Place};
use crate::cli::Verify;
use crate::files::{read, write};
use crate::loadable::{self, Expected, Inspection, What};
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
    split: Vec<loadable::FileDocument>,
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
    let mut damage: Vec<Damage> = Vec::new();
    let mut total_cpus = None;
    for argument in &arguments.files {
        for named in named(argument)? {
            total_cpus = total_cpus.or(named.total_cpus);
            let new = named.damage.into_iter().filter(|found| !damage.contains(found));
            damage.extend(new.collect::<Vec<_>>());
            for path in named.paths {
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let bytes = read(&path)?;
                let inspected = loadable::inspect(&path, &bytes, named.generation);
                match inspected.unwrap_or_else(|why| Some(Inspection::unread(&path, &*why))) {
                    Some(inspection) => split.push((path, inspection)),
                    None => files.push((name, bytes)),
                }
            }
        }
    }
    let expected = Expected { total_cpus, addr: arguments.addr, index: arguments.index };
    let are_held = loadable::compare(&mut split, expected);
    let are_records = |(_, file): &(PathBuf, Inspection)| matches!(file.what, What::Records(_));
    let is_open = !are_held && split.iter().any(are_records);
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
        split: split.iter().map(|(_, inspection)| inspection.told()).collect(),
    };
    let is_sound = split.iter().all(|(_, inspection)| inspection.faults.is_empty());
    let fault = || split.iter().find_map(|(_, inspection)| inspection.fault());
    let error = || found.findings.iter().find(|finding| finding.severity == Severity::Error).map(diagnosis);
    let first = damage.first().map(|damage| Diagnosis::of(damage)).or_else(fault).or_else(error);
    render.verdict(first, &document, || {
        let mut text: String =
            damage.iter().map(|damage| format!("error[{}] {damage}\n", code(damage))).collect();
        for (_, inspection) in split.iter().filter(|(_, inspection)| !inspection.faults.is_empty()) {
            text += &inspection.words();
        }
        text += &match split.len() {
            0 => String::new(),
            count if !is_sound => format!("loader: {count} files, not all of them loadable\n"),
            count if is_open => format!("loader: {count} files, well formed; {OPEN}\n"),
            count if !damage.is_empty() => format!("loader: {count} files; see what is said above\n"),
            count => format!("loader: {count} files, all would load\n"),
        };
        text += &match files.len() {
            0 => String::new(),
            count if found.is_clean() && !(is_sound && damage.is_empty()) => {
                format!("checks: {count} files, nothing but what is said above\n")
            }
            _ => report::checks(&found),
        };
        text
    })
}

/// Records alone.
const OPEN: &str = "whether the records load an image shows only when it is named, too";

/// What an argument stands for.
struct Named {
    /// The image files.
    paths: Vec<PathBuf>,
    /// What a split image among them is for.
    generation: Option<Generation>,
    /// Of the library that is named, or that lists the file.
    damage: Vec<Damage>,
    /// Cores of the library.
    total_cpus: Option<u8>,
}

/// A file stands for itself, with what the manifest says that lists it; a library for its files that are there; a directory for
/// every library in it.
fn named(argument: &Path) -> Result<Vec<Named>> {
    if argument.is_file() && argument.extension().is_none_or(|extension| extension != "json") {
        let listed = listed(argument)?;
        let split = listed.as_ref().and_then(|(manifest, _)| manifest.split.as_ref());
        let generation = split.map(|split| split.generation);
        let total_cpus = listed.as_ref().map(|(manifest, _)| manifest.total_cpus);
        let damage = listed.and_then(|(_, damage)| damage).into_iter().collect();
        return Ok(vec![Named { paths: vec![argument.to_owned()], generation, damage, total_cpus }]);
    }
    Library::all(argument)?.iter().map(of_library).collect()
}

fn of_library(library: &Library) -> Result<Named> {
    let split = library.manifest.as_ref().and_then(|manifest| manifest.split.as_ref());
    let generation = split.map(|split| split.generation);
    let total_cpus = library.manifest.as_ref().map(|manifest| manifest.total_cpus);
    let damage = library.damage()?;
    let paths = library.files().into_iter().filter(|path| path.exists()).map(Path::to_owned).collect();
    Ok(Named { paths, generation, damage, total_cpus })
}

/// The manifest beside a file that lists it, and whether the file is another one than was built.
fn listed(path: &Path) -> Result<Option<(Manifest, Option<Damage>)>> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let Ok(entries) = std::fs::read_dir(directory) else { return Ok(None) };
    for entry in entries.flatten() {
        if !entry.file_name().to_string_lossy().ends_with(".manifest.json") || !entry.path().is_file() {
            continue;
        }
        // a manifest that does not read is no reason not to look at an image
        let Some(manifest) = read(&entry.path()).ok().and_then(|text| Manifest::parse(&text).ok()) else {
            continue;
        };
        let Some(file) = manifest.entries().find(|file| file.file == name) else { continue };
        let damage = file.damage(directory)?;
        return Ok(Some((manifest, damage)));
    }
    Ok(None)
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
