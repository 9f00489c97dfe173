//! The device SDK on disk, and the runtime archives made of it.
//!
//! Unaware of libraries: what is made here serves all that are built with the same kit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use gpsimd_toolchain::ArchiveJob;

use crate::plan::native;
use crate::plan::place::Place;
use crate::stages::sdk::{KeepArchive, WriteSdk};
use crate::words::action::{Action, Work};
use crate::words::digest::Digest;
use crate::words::disk::file_name;
use crate::words::kit::Kit;
use crate::words::sdk::RuntimeArchive;

/// A way to compile the runtime.
pub(crate) struct Flavour {
    /// Of the directories of its archives.
    suffix: &'static str,
    defines: &'static [&'static str],
}

/// For images at fixed addresses.
pub(crate) const FIXED: Flavour = Flavour { suffix: "", defines: &[] };

/// For split images: their data region of 8 KiB leaves less for the runtime's small pool, which takes as much by itself
/// in a fixed image.
pub(crate) const SPLIT: Flavour =
    Flavour { suffix: "-split", defines: &["-DNEURON_DEFAULT_POOL_SIZE=0x0800"] };

/// Writes the SDK's files, unless they are there.
pub(crate) fn write_sdk(kit: &Kit) -> Option<Action> {
    if kit.sdk.is_written() {
        return None;
    }
    let mut outputs = vec![kit.sdk.root().to_owned()];
    let runtimes = kit.sdk.archives().into_iter().chain(kit.sdk.checked_archive());
    outputs.extend(runtimes.flat_map(|runtime| runtime.sources));
    outputs.extend(kit.sdk.lister().sources);
    outputs
        .extend([native::RUNTIME, native::OPERATORS_SOURCE].map(|source| kit.sdk.native_dir().join(source)));
    Some(Action::stage("write the device SDK", Vec::new(), outputs, WriteSdk::of(&kit.sdk)))
}

/// The runtime archives, compiled unless an earlier build with this kit left them.
pub(crate) fn archives(place: &Place, flavour: &Flavour, actions: &mut Vec<Action>) -> Vec<PathBuf> {
    if let Some(own) = place.kit.toolchain.device_sdk() {
        return own.archives;
    }
    let defines: Vec<OsString> = flavour.defines.iter().map(OsString::from).collect();
    let mut archives = Vec::new();
    let checked = place.kit.sdk.checked_archive().filter(|_| place.project.is_checked());
    for runtime in place.kit.sdk.archives().into_iter().chain(checked) {
        let compile = |source: &Path, object: &Path| place.compile(source, object, &defines, &[]);
        archives.push(archive(place, flavour, &runtime, compile, actions));
    }
    archives
}

/// Name of the directory of archives that a kit gives.
fn key(place: &Place, flavour: &Flavour) -> String {
    // a directory name for the toolchain's identity, which is a line of text, and for what the archives are compiled with
    let identity = place.kit.toolchain.identity();
    let made_with =
        std::iter::once(identity.as_ref()).chain(flavour.defines.iter().copied()).collect::<Vec<_>>();
    Digest::of(made_with.join(" ").as_bytes()).short() + flavour.suffix
}

/// Where an archive is that every library built with the kit is linked with: it came with the toolchain, or an earlier build
/// left it, or this one makes it and keeps it.
pub(crate) fn archive(
    place: &Place,
    flavour: &Flavour,
    runtime: &RuntimeArchive,
    compile: impl Fn(&Path, &Path) -> Action,
    actions: &mut Vec<Action>,
) -> PathBuf {
    let (sdk, toolchain) = (&place.kit.sdk, &place.kit.toolchain);
    let name = Path::new(&key(place, flavour)).join(runtime.archive);
    let brought = toolchain.directory().map(|directory| directory.join(sdk.brought()).join(&name));
    if let Some(archive) = brought.filter(|archive| archive.exists()) {
        return archive;
    }
    let to = sdk.root().join("lib").join(name);
    if !to.exists() {
        make(place, flavour, runtime, &to, compile, actions);
    }
    to
}

fn make(
    place: &Place,
    flavour: &Flavour,
    runtime: &RuntimeArchive,
    to: &Path,
    compile: impl Fn(&Path, &Path) -> Action,
    actions: &mut Vec<Action>,
) {
    let made = place.work.join(format!("sdk{}", flavour.suffix)).join(runtime.archive);
    let folder = made.with_extension("objects");
    let mut objects = Vec::new();
    for source in &runtime.sources {
        // `start_exit.cpp` gives the member `start_exit.o` (customop-abi.md §1.1)
        let object = folder.join(source.file_name().unwrap_or_default()).with_extension("o");
        actions.push(compile(source, &object));
        objects.push(object);
    }
    let command = ArchiveJob { archive: made.clone(), objects: objects.clone() };
    actions.push(Action {
        label: format!("archive {}", file_name(&made)),
        inputs: objects,
        outputs: vec![made.clone()],
        depfile: None,
        work: Work::Process(place.kit.toolchain.archive(&command)),
    });
    actions.push(Action::stage(
        format!("keep {}", file_name(to)),
        vec![made.clone()],
        vec![to.to_owned()],
        KeepArchive { from: made, to: to.to_owned() },
    ));
}
