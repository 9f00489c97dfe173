//! The split image: the same objects, a kernel table, a link of its own, and what makes it loadable.
//!
//! Unaware of images at fixed addresses.

use std::path::PathBuf;

use gpsimd_loader::Generation;
use gpsimd_loader::kernel_table::TableOp;
use gpsimd_toolchain::{LinkJob, Relocations};

use crate::plan::place::Place;
use crate::stages::split::{Synthesize, WriteScript, WriteTable};
use crate::words::action::{Action, Work};
use crate::words::disk::file_name;
use crate::words::images::SplitFiles;

/// The split image with these rows in its kernel table.
pub(crate) fn split(
    place: &Place,
    objects: &[PathBuf],
    archives: Vec<PathBuf>,
    generation: Generation,
    rows: &[TableOp],
    actions: &mut Vec<Action>,
) -> SplitFiles {
    let project = place.project;
    let folder = place.work.join("split");
    let image = SplitFiles::new(&place.out(), &project.name, generation, project.packaged);
    let table = folder.join("kernel_table.cpp");
    actions.push(Action::stage(
        "generate kernel_table.cpp",
        Vec::new(),
        vec![table.clone()],
        WriteTable { rows: rows.to_vec(), output: table.clone() },
    ));
    let object = table.with_extension("o");
    actions.push(place.compile(&table, &object, &project.cflags, &[]));
    let link = LinkJob {
        objects: [objects, &[object]].concat(),
        archives,
        ldflags: project.ldflags.clone(),
        relocations: Relocations::Keep,
        ..LinkJob::new(&image.linked, &folder)
    };
    let script = link.script();
    actions.push(Action::stage(
        "write the split linker script",
        Vec::new(),
        vec![script.clone()],
        WriteScript { output: script.clone() },
    ));
    actions.push(Action {
        label: format!("link {}", file_name(&image.linked)),
        inputs: [&link.objects[..], &link.archives, &[script]].concat(),
        outputs: vec![image.linked.clone()],
        depfile: None,
        work: Work::Process(place.kit.toolchain.link(&link)),
    });
    actions.push(Action::stage(
        format!("synthesize and prelink {}", file_name(&image.library)),
        vec![image.linked.clone()],
        image.files().cloned().collect(),
        Synthesize { image: image.clone() },
    ));
    image
}
