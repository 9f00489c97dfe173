//! The caller's sources and the wrapper that calls them, compiled.
//!
//! Unaware of images. Kernel objects in source order, then the wrapper's: the link order (toolchain.md §2, §3).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::plan::checked;
use crate::plan::place::{Place, with_suffix};
use crate::stages::wrapper::{Adapt, Codegen};
use crate::words::action::Action;
use crate::words::request::{Cores, NamedOp};

/// Tells a kernel that it is alone: the device's count of cores is 8 on one core, too (`gpsimd/share.hpp` asks for this).
const ALONE: &str = "-DGPSIMD_SINGLE_CORE";

/// Kernel objects in source order.
pub(crate) fn objects(place: &Place, actions: &mut Vec<Action>) -> Vec<PathBuf> {
    // toolchains with an SDK of their own get the reference's command lines, word for word
    let mut cflags: Vec<OsString> = alone(place).filter(|_| place.kit.compiles_sdk()).into_iter().collect();
    cflags.extend(checked::cflags(&place.project.sanitizers, &place.project.cflags));
    let mut objects = Vec::new();
    for source in &place.project.sources {
        let object = with_suffix(place.work.join("obj").join(&source.object_stem), ".o");
        actions.push(place.compile(&source.path, &object, &cflags, &place.project.includes));
        objects.push(object);
    }
    objects
}

/// The flag that tells a kernel that it is alone, if it is.
pub(crate) fn alone(place: &Place) -> Option<OsString> {
    (place.project.cores == Cores::Single).then(|| ALONE.into())
}

/// The wrapper's object.
pub(crate) fn wrapper(
    place: &Place,
    ops: &[NamedOp],
    kernels: &[PathBuf],
    actions: &mut Vec<Action>,
) -> PathBuf {
    let source = place.work.join("wrapper.cpp");
    actions.push(Action::stage(
        "generate wrapper.cpp",
        Vec::new(),
        vec![source.clone()],
        Codegen { ops: ops.to_vec(), output: source.clone() },
    ));
    // the schema alone tells how most kernels are declared, so the wrapper need not wait for them
    let guess = place.work.join("obj/wrapper.guess.o");
    // the reference hands the wrapper's compile no include directories of the caller (toolchain.md §2)
    actions.push(place.compile(&source, &guess, &place.project.cflags, &[]));
    let wrapper = place.work.join("obj/wrapper.o");
    let source = place.work.join("adapted/wrapper.cpp");
    let inputs = [kernels, std::slice::from_ref(&guess)].concat();
    let adapt = Adapt {
        ops: ops.to_vec(),
        objects: kernels.to_vec(),
        guess,
        compile: place.compile_command(&source, &wrapper, &place.project.cflags, &[]),
        source,
        wrapper: wrapper.clone(),
        cores: place.project.cores,
    };
    actions.push(Action {
        depfile: Some(wrapper.with_extension("d")),
        ..Action::stage("check kernel signatures", inputs, vec![wrapper.clone()], adapt)
    });
    wrapper
}
