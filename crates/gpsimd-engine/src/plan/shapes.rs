//! The shape image: shape sources and the SDK's lister, for a simulated core of their own.
//!
//! It answers two questions, `list` and `eval OP ARGUMENT...`, and is published beside the other images, for whoever needs an
//! output's shape. Unaware of kernels. Facts: user-api.md §1, §9.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpsimd_lsp::Variant;
use gpsimd_toolchain::LinkJob;

use crate::plan::place::{Place, with_suffix};
use crate::plan::{images, runtime};
use crate::words::action::{Action, Work};
use crate::words::disk::{SHAPES, file_name};
use crate::words::request::Source;

/// A newer C++ than kernels have, with exceptions, which end the program in words there. Lines are all that anybody asks the
/// debug information for; warnings are the author's business, who compiles the same source elsewhere.
const FLAGS: [&str; 5] = ["-std=c++17", "-fexceptions", "-frtti", "-g1", "-w"];

/// The shape image, if there are shape sources.
pub(crate) fn image(place: &Place, actions: &mut Vec<Action>) -> Option<PathBuf> {
    if place.project.shapes.is_empty() {
        return None;
    }
    let mut objects = Vec::new();
    for Source { path, object_stem } in &place.project.shapes {
        let object = with_suffix(place.work.join("shapes").join(object_stem), ".o");
        actions.push(compile(place, path, &object, portable(&place.project.cflags), &place.project.includes));
        objects.push(object);
    }
    let archives = vec![lister(place, actions)];
    let image = with_suffix(place.out().join(&place.project.name), SHAPES);
    let lsp = images::lsp(place, Variant::Single, actions);
    let link = LinkJob { objects, archives, ..LinkJob::new(&image, &lsp) };
    actions.push(images::link(place, format!("link {}", file_name(&image)), link));
    Some(image)
}

/// The archive of what asks shape sources: the same for all libraries.
pub(crate) fn lister(place: &Place, actions: &mut Vec<Action>) -> PathBuf {
    let compile = |source: &Path, object: &Path| compile(place, source, object, vec!["-g0".into()], &[]);
    runtime::archive(place, &runtime::FIXED, &place.kit.sdk.lister(), compile, actions)
}

fn compile(place: &Place, source: &Path, object: &Path, own: Vec<OsString>, includes: &[PathBuf]) -> Action {
    let mut flags: Vec<OsString> = FLAGS.map(OsString::from).to_vec();
    // among the flags, because they must come before what a toolchain's own SDK has of the same names
    for directory in [place.kit.sdk.host_dir(), place.kit.sdk.include_dir()] {
        flags.extend(["-I".into(), directory.into_os_string()]);
    }
    flags.extend(own);
    Action {
        label: format!("compile {}", file_name(source)),
        inputs: [source.to_owned()].into_iter().chain(place.unwritten_sdk()).collect(),
        outputs: vec![object.to_owned()],
        depfile: Some(object.with_extension("d")),
        work: Work::Process(place.compile_command(source, object, &flags, includes)),
    }
}

/// The flags among a kernel's that shape sources get, too: macros and include directories.
fn portable(cflags: &[OsString]) -> Vec<OsString> {
    let is_portable = |flag: &&OsString| {
        let bytes = flag.as_encoded_bytes();
        bytes.len() > 2 && [b"-D", b"-U", b"-I"].iter().any(|prefix| bytes.starts_with(*prefix))
    };
    cflags.iter().filter(is_portable).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_and_include_directories_are_portable() {
        let flags: Vec<OsString> =
            ["-DN=4", "-O2", "-UN", "-Iinc", "-D", "-mlongcalls"].iter().map(OsString::from).collect();
        assert_eq!(portable(&flags), ["-DN=4", "-UN", "-Iinc"]);
    }
}
