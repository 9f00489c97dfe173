//! Job to actions: the whole build, written down before any of it runs. Each part of it has a builder of its own.
//!
//! Looks up what exists in the tool's data directory and touches nothing else. Unaware of threads and of time.

mod checked;
mod images;
mod kernels;
mod native;
mod place;
mod runtime;
mod shapes;
mod split;

use std::path::PathBuf;

use crate::plan::place::Place;
use crate::publish::file::{FileEntry, FileKind};
use crate::publish::manifest::{ImageEntry, Manifest, OpEntry, Versions};
use crate::publish::publication::Publication;
use crate::publish::split::SplitEntry;
use crate::stages::registrations::Registrations;
use crate::words::action::Action;
use crate::words::images::{CoreFiles, SplitFiles};
use crate::words::kit::Kit;
use crate::words::request::{Job, Project};

/// All actions of one build and what they make.
#[derive(Debug)]
pub struct Plan<'k> {
    /// In an order in which they could run one after the other.
    pub actions: Vec<Action>,
    /// One image per core, in core order; their files are what gets published.
    pub images: Vec<CoreFiles>,
    /// The split image, published with the others.
    pub split: Option<SplitFiles>,
    /// What is published.
    pub(crate) publication: Publication,
    /// The report of the checks, which stands for them: nothing unchecked is published.
    pub(crate) report: Option<PathBuf>,
    /// Scratch files: objects, wrapper, scripts. Kept between builds, never published.
    pub(crate) work: PathBuf,
    /// What the plan builds with.
    pub(crate) kit: &'k Kit,
    /// What the plan is for.
    pub job: Job,
}

/// Plans the build of `job`.
pub fn plan(job: Job, kit: &Kit) -> Plan<'_> {
    let place = Place::new(&job.project, kit);
    let mut actions = Vec::new();
    if kit.compiles_sdk() || !job.project.shapes.is_empty() || job.project.native.is_some() {
        actions.extend(runtime::write_sdk(kit));
    }
    let fixed =
        job.project.images.has_fixed().then(|| runtime::archives(&place, &runtime::FIXED, &mut actions));
    let movable = job.split.as_ref().map(|_| runtime::archives(&place, &runtime::SPLIT, &mut actions));
    let mut objects = kernels::objects(&place, &mut actions);
    let native = native::twin(&place, &job.named, &objects, &mut actions);
    let wrapper = kernels::wrapper(&place, &job.named, &objects, &mut actions);
    objects.push(wrapper);
    let images =
        fixed.map(|archives| images::images(&place, &objects, &archives, &mut actions)).unwrap_or_default();
    let is_checked = job.project.is_checked();
    // its mark is what the checks refuse
    let report = (!images.is_empty() && !is_checked).then(|| images::verify(&place, &images, &mut actions));
    let split = job.split.as_ref().zip(movable).map(|((target, rows), archives)| {
        split::split(&place, &objects, archives, target.generation, rows, &mut actions)
    });
    let shapes = shapes::image(&place, &mut actions);
    let publication =
        Publication { native, ..publication(&place, &job, &images, split.as_ref(), shapes.as_ref()) };
    let work = place.work;
    Plan { actions, images, split, publication, report, work, kit, job }
}

fn publication(
    place: &Place,
    job: &Job,
    images: &[CoreFiles],
    split: Option<&SplitFiles>,
    shapes: Option<&PathBuf>,
) -> Publication {
    let rows = job.split.as_ref().map_or(&[][..], |(_, rows)| rows);
    let sdk = if place.kit.compiles_sdk() { place.kit.sdk.hash() } else { "the toolchain's" };
    Publication {
        out_dir: job.project.out_dir.clone(),
        made: place.out(),
        native: Vec::new(),
        manifest: Manifest {
            format: 1,
            name: job.project.name.clone(),
            total_cpus: job.project.cores.count(),
            ops: OpEntry::all(&job.named),
            images: images.iter().map(ImageEntry::of).collect(),
            shapes: FileEntry::named([(FileKind::Shapes, shapes)]).pop(),
            split: split.map(|image| SplitEntry::of(image, rows)),
            versions: Versions::of(place.kit.toolchain.identity(), sdk),
            seal: String::new(),
        },
    }
}

/// Every archive of the device SDK that a build with the kit may need, and the actions that make them.
pub(crate) fn sdk(project: &Project, kit: &Kit) -> (Vec<Action>, Vec<PathBuf>) {
    let place = Place::new(project, kit);
    let mut actions: Vec<Action> = runtime::write_sdk(kit).into_iter().collect();
    let mut archives = vec![shapes::lister(&place, &mut actions)];
    archives.extend(runtime::archives(&place, &runtime::FIXED, &mut actions));
    // checked images are not split
    let unchecked = Project { sanitizers: Vec::new(), ..project.clone() };
    archives.extend(runtime::archives(&Place::new(&unchecked, kit), &runtime::SPLIT, &mut actions));
    (actions, archives)
}

/// The part of a build that finds out what its ops are; its actions are some of the whole plan's.
pub(crate) struct Discovery {
    pub(crate) actions: Vec<Action>,
    /// What answers.
    pub(crate) evidence: Evidence,
}

/// What tells the ops of a library.
pub(crate) enum Evidence {
    /// The kernel objects.
    Kernels(Vec<PathBuf>),
    /// What the shape sources register.
    Registrations(PathBuf),
}

/// Plans what must run before the ops of `project` are known.
pub(crate) fn discovery(project: &Project, kit: &Kit) -> Discovery {
    let place = Place::new(project, kit);
    let mut actions: Vec<Action> = runtime::write_sdk(kit).into_iter().collect();
    let Some(image) = shapes::image(&place, &mut actions) else {
        let objects = kernels::objects(&place, &mut actions);
        return Discovery { actions, evidence: Evidence::Kernels(objects) };
    };
    let output = place.work.join("shapes/registrations.json");
    actions.push(Action::stage(
        "read the registrations",
        vec![image.clone()],
        vec![output.clone()],
        Registrations { image, output: output.clone() },
    ));
    Discovery { actions, evidence: Evidence::Registrations(output) }
}
