//! The shape program: shape sources and the SDK's lister, compiled and linked for this machine.
//!
//! It answers two questions, `list` and `eval OP ARGUMENT...`, and is published beside the images, for whoever needs an
//! output's shape. Unaware of kernels. Facts: user-api.md §1, §9.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpsimd_toolchain::{Command, PrefixMap};

use crate::plan::place::{Place, file_name, with_suffix};
use crate::words::action::{Action, Side, Work};
use crate::words::disk::SHAPES;
use crate::words::request::Source;

/// The shape program, if there are shape sources.
pub(crate) fn program(place: &Place, actions: &mut Vec<Action>) -> Option<PathBuf> {
    let shapes = place.project.shapes.as_ref()?;
    let sdk = &place.kit.sdk;
    let includes = [&[sdk.host_dir(), sdk.include_dir()], &place.project.includes[..]].concat();
    let defines = portable(&place.project.cflags);
    let lister = Source { path: sdk.lister(), object_stem: "lister".into() };
    let mut objects = Vec::new();
    for Source { path, object_stem } in shapes.sources.iter().chain([&lister]) {
        let object = with_suffix(place.work.join("shapes").join(object_stem), ".o");
        let command = compile(&shapes.compiler, path, &object, &includes, &defines, &place.prefix_maps());
        actions.push(Action {
            label: format!("compile {} for this machine", file_name(path)),
            inputs: [path.clone()].into_iter().chain(place.unwritten_sdk()).collect(),
            outputs: vec![object.clone()],
            depfile: Some(object.with_extension("d")),
            work: Work::Process(Side::Host, command),
        });
        objects.push(object);
    }
    let program = with_suffix(place.out().join(&place.project.name), SHAPES);
    let command = link(&shapes.compiler, &objects, &program);
    actions.push(Action {
        label: format!("link {}", file_name(&program)),
        inputs: objects,
        outputs: vec![program.clone()],
        depfile: None,
        work: Work::Process(Side::Host, command),
    });
    Some(program)
}

/// Compiles one source of the shape program. `maps` are directories whose names must not show.
fn compile(
    compiler: &Path,
    source: &Path,
    object: &Path,
    includes: &[PathBuf],
    defines: &[OsString],
    maps: &[PrefixMap],
) -> Command {
    let mut command = Command::new(compiler).args(["-std=c++17", "-O0", "-MMD", "-MP", "-MF"]);
    command = command.arg(object.with_extension("d")).args(["-MT", "object"]);
    for PrefixMap { from, to } in maps {
        let mut word = OsString::from("-ffile-prefix-map=");
        word.push(from);
        word.push(format!("={to}"));
        command = command.arg(word);
    }
    for include in includes {
        command = command.arg("-I").arg(include);
    }
    command.args(defines.iter().cloned()).args(["-c", "-x", "c++", "-o"]).arg(object).arg(source)
}

/// Links the shape program.
fn link(compiler: &Path, objects: &[PathBuf], program: &Path) -> Command {
    Command::new(compiler).args(["-s", "-o"]).arg(program).args(objects)
}

/// The flags among a kernel's that mean the same to the host's compiler: macros and include directories.
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
