//! The end of a build: what was made is published, and what the result depends on is told.
//!
//! Unaware of how the actions ran.

use std::collections::BTreeSet;
use std::path::PathBuf;

use gpsimd_image::verify::Report;

use crate::fresh::receipt::Basis;
use crate::plan::Plan;
use crate::publish::manifest::Manifest;
use crate::publish::publication::Published;
use crate::run::log;
use crate::run::yard::Ran;
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
    /// What the result depends on, to recognise that it still holds; absent when some of it changed meanwhile.
    pub basis: Option<Basis>,
}

/// Takes what the actions made and publishes it with its manifest.
pub(crate) fn publish<'k>(plan: Plan<'k>, ran: Ran) -> Result<Built<'k>, EngineError> {
    let Published { manifest, changed, digests } = plan.publication.clone().publish(ran.files)?;
    let basis = ran.is_settled.then(|| Basis { digests, ..basis(&plan, &ran) });
    Ok(Built {
        manifest,
        out_dir: plan.job.project.out_dir.clone(),
        report: ran.report,
        log: log::path(&plan.job.project.library()),
        changed,
        basis,
        plan,
    })
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
    files.extend(plan.kit.toolchain.witnesses());
    Basis {
        files,
        absent: absent.into_iter().collect(),
        directories: directories.into_iter().collect(),
        ..Basis::default()
    }
}
