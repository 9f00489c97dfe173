//! The end of a build: what was made is published, and what the result depends on is told.
//!
//! Unaware of how the actions ran.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use gpsimd_image::verify::Report;

use crate::fresh::receipt::Basis;
use crate::plan::Plan;
use crate::publish::manifest::Manifest;
use crate::publish::origin::{self, Origin, Replaced};
use crate::publish::publication::Published;
use crate::run::log;
use crate::run::yard::Ran;
use crate::words::digest::Digest;
use crate::words::error::EngineError;

/// A finished build.
#[derive(Debug)]
pub struct Built<'k> {
    /// What was done.
    pub plan: Plan<'k>,
    /// As written beside the outputs.
    pub manifest: Manifest,
    /// Where the manifest and the files it names are.
    pub out_dir: PathBuf,
    /// The checks' report; it has no errors, or the build would have failed.
    pub report: Report,
    /// Every command of the build and what it said.
    pub log: PathBuf,
    /// Whether any output differs from the last build's.
    pub changed: bool,
    /// What was there under its name and is no more.
    pub replaced: Vec<Replaced>,
    /// What the result depends on, to recognise that it still holds; absent when some of it changed meanwhile.
    pub basis: Option<Basis>,
}

impl Built<'_> {
    /// The native twin and its operators, as far as they were made.
    pub fn native(&self) -> Vec<PathBuf> {
        self.plan.publication.visible_native().collect()
    }
}

/// Takes what the actions made and publishes it with its manifest.
pub(crate) fn publish<'k>(plan: Plan<'k>, ran: Ran) -> Result<Built<'k>, EngineError> {
    let library = plan.job.project.library();
    let origin = origin(&plan, &ran);
    let sources = sources(&plan);
    let replaced = origin::replaced(&plan.job.project.out_dir, &plan.publication.manifest, &sources);
    let Published { manifest, changed, digests } = plan.publication.clone().publish(ran.files)?;
    // what cannot be remembered leaves a library of which nothing is known
    if let Err(error) = Origin::new(sources, origin).save(&library) {
        tracing::warn!("{error}");
    }
    let basis = ran.is_settled.then(|| Basis { digests, ..basis(&plan, &ran) });
    Ok(Built {
        manifest,
        out_dir: plan.job.project.out_dir.clone(),
        report: ran.report,
        log: log::path(&library),
        changed,
        replaced,
        basis,
        plan,
    })
}

/// The sources that were named, absolute.
fn sources(plan: &Plan) -> Vec<PathBuf> {
    let named = plan.job.project.sources.iter().chain(&plan.job.project.shapes);
    named.map(|source| std::path::absolute(&source.path).unwrap_or_else(|_| source.path.clone())).collect()
}

/// What the author's files contained when they were read: not those that this tool made or brings along.
fn origin(plan: &Plan, ran: &Ran) -> BTreeMap<PathBuf, Digest> {
    let made: BTreeSet<&PathBuf> = plan.actions.iter().flat_map(|action| &action.outputs).collect();
    let mut brought = plan.kit.toolchain.immutable_directories();
    brought.push(plan.kit.sdk.root().to_owned());
    brought.push(plan.job.project.library());
    brought.extend(plan.job.project.native.clone());
    let records = plan.actions.iter().filter_map(|action| ran.records.get(action.outputs.first()?));
    let read = records.flat_map(|record| record.inputs.iter().chain(&record.found));
    let is_own =
        |path: &PathBuf| !made.contains(path) && !brought.iter().any(|folder| path.starts_with(folder));
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    read.filter(|(path, _)| is_own(path)).map(|(path, digest)| (absolute(path), *digest)).collect()
}

/// All files that the outputs were made from and are: what a receipt lists.
fn basis(plan: &Plan, ran: &Ran) -> Basis {
    let made: BTreeSet<&PathBuf> = plan.actions.iter().flat_map(|action| &action.outputs).collect();
    let (mut read, mut absent, mut directories) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for action in &plan.actions {
        let Some(record) = action.outputs.first().and_then(|output| ran.records.get(output)) else {
            continue;
        };
        let paths = record.inputs.iter().chain(&record.found).map(|(path, _)| path);
        read.extend(paths.filter(|path| !made.contains(path)).cloned());
        absent.extend(record.absent.iter().cloned());
        directories.extend(record.listings.iter().map(|(path, _)| path.clone()));
    }
    let mut files: Vec<PathBuf> = plan.publication.visible().chain(read).collect();
    let (there, missing): (Vec<_>, Vec<_>) =
        plan.kit.toolchain.witnesses().into_iter().partition(|path| path.exists());
    files.extend(there);
    absent.extend(missing);
    Basis {
        files,
        absent: absent.into_iter().collect(),
        directories: directories.into_iter().collect(),
        ..Basis::default()
    }
}
