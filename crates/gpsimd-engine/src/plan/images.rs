//! The images of a library at fixed addresses: linked, stripped, packed, checked.
//!
//! Unaware of how objects came to be.

use std::path::PathBuf;
use std::sync::Arc;

use gpsimd_lsp::Variant;
use gpsimd_toolchain::{LinkJob, PackJob, Relocations};

use crate::plan::checked;
use crate::plan::place::{Place, with_suffix};
use crate::stages::lsp::RenderLsp;
use crate::stages::moving::Move;
use crate::stages::package::Package;
use crate::stages::verify::Verify;
use crate::words::action::{Action, Work};
use crate::words::disk::file_name;
use crate::words::images::CoreFiles;
use crate::words::request::Packer;

/// One image per core.
pub(crate) fn images(
    place: &Place,
    objects: &[PathBuf],
    archives: &[PathBuf],
    actions: &mut Vec<Action>,
) -> Vec<CoreFiles> {
    let project = place.project;
    let mut images = Vec::new();
    for variant in project.cores.variants() {
        let lsp = lsp(place, variant, actions);
        let image = CoreFiles::new(&place.out(), &project.name, variant, project.packaged);
        let link = LinkJob {
            objects: objects.to_vec(),
            archives: archives.to_vec(),
            ldflags: [checked::ldflags(&project.sanitizers), project.ldflags.clone()].concat(),
            ..LinkJob::new(&image.linked, &lsp)
        };
        images.push((image, link));
    }
    match images.first() {
        Some((_, first)) if project.is_linked_once => link_once(place, first, &images, actions),
        _ => link_each(place, &images, actions),
    }
    images.into_iter().map(|(image, _)| image).collect()
}

/// Checks all images of the library; gives the report's file.
pub(crate) fn verify(place: &Place, images: &[CoreFiles], actions: &mut Vec<Action>) -> PathBuf {
    let report = place.work.join("verify.json");
    actions.push(Action::stage(
        "verify",
        images.iter().flat_map(CoreFiles::files).cloned().collect(),
        vec![report.clone()],
        Verify { images: images.to_vec(), report: report.clone() },
    ));
    report
}

/// One link, whose relocations tell how each core's image differs (`docs/fast.md`).
fn link_once(place: &Place, first: &LinkJob, images: &[(CoreFiles, LinkJob)], actions: &mut Vec<Action>) {
    let kept = place.work.join("link").join(format!("{}.so", place.project.name));
    let link = LinkJob { output: kept.clone(), relocations: Relocations::Keep, ..first.clone() };
    actions.push(self::link(place, format!("link {}", place.project.name), link));
    let places = Arc::default();
    for (image, link) in images {
        let (kept, places) = (kept.clone(), Arc::clone(&places));
        actions.push(Action::stage(
            format!("make the image for {}", image.variant),
            [vec![kept.clone()], inputs(link)].concat(),
            image.files().cloned().collect(),
            Move { kept, image: image.clone(), link: place.kit.toolchain.link(link), places },
        ));
    }
}

fn link_each(place: &Place, images: &[(CoreFiles, LinkJob)], actions: &mut Vec<Action>) {
    for (image, link) in images {
        actions.push(self::link(place, format!("link {}", file_name(&image.linked)), link.clone()));
        let (Some(stripped), Some(packed)) = (&image.stripped, &image.packed) else { continue };
        let label = format!("strip and pack {}", file_name(&image.linked));
        let (inputs, outputs) = (vec![image.linked.clone()], vec![stripped.clone(), packed.clone()]);
        let mut action = Action::stage(label, inputs, outputs, Package(image.clone()));
        if place.project.packer == Packer::Toolchain {
            let job =
                PackJob { linked: image.linked.clone(), stripped: stripped.clone(), packed: packed.clone() };
            // the check has seen that it has one
            if let Some(command) = place.kit.toolchain.pack(&job) {
                action.work = Work::Process(command);
            }
        }
        actions.push(action);
    }
}

pub(crate) fn link(place: &Place, label: String, mut link: LinkJob) -> Action {
    let toolchain = &place.kit.toolchain;
    link.depfile = toolchain.lists_link_inputs().then(|| with_suffix(link.output.clone(), ".d"));
    Action {
        label,
        inputs: inputs(&link),
        outputs: vec![link.output.clone()],
        depfile: link.depfile.clone(),
        work: Work::Process(toolchain.link(&link)),
    }
}

fn inputs(link: &LinkJob) -> Vec<PathBuf> {
    [&link.objects[..], &link.archives, &[link.script()]].concat()
}

/// The linker support package of a core, rendered unless the toolchain brings it.
pub(crate) fn lsp(place: &Place, variant: Variant, actions: &mut Vec<Action>) -> PathBuf {
    if let Some(own) = place.kit.toolchain.device_sdk() {
        return own.lsps.join(variant.lsp_name());
    }
    let directory = place.work.join("lsp");
    let lsp = directory.join(variant.lsp_name());
    let script = LinkJob::new("", &lsp).script();
    // a library for one core and its shape functions are linked alike
    if actions.iter().any(|action| action.outputs.contains(&script)) {
        return lsp;
    }
    actions.push(Action::stage(
        format!("render {}", variant.lsp_name()),
        Vec::new(),
        vec![script],
        RenderLsp { variant, directory },
    ));
    lsp
}
