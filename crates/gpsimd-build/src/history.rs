//! The stages that a library has behind it before it is loaded, as its manifest tells them.
//!
//! Unaware of devices. Nothing is made up: what a bare image does not tell is left out.

use gpsimd_device::{Stage, Trace};
use gpsimd_engine::{FileEntry, FileKind, ImageEntry, Manifest};

use crate::cli::Lane;

/// From the schema to the files that ship.
pub fn of(manifest: &Manifest, lane: Lane) -> Trace {
    let op = |op: &gpsimd_engine::OpEntry| ("op", op.schema.clone());
    let launchers: Vec<String> =
        manifest.ops.iter().map(|op| format!("{0}_wrapper, {0}_stack_switch", op.kernel)).collect();
    let count = manifest.ops.len();
    // a content hash tells nobody anything here
    let compiler: Vec<&str> =
        manifest.versions.toolchain.split_whitespace().filter(|word| word.len() < 64).collect();
    let kernels: Vec<&str> = manifest.ops.iter().map(|op| op.kernel.as_str()).collect();
    let objects = format!("{} and wrapper.cpp to objects, C++14, elf32-xtensa-le", kernels.join(", "));
    let mut stages = vec![
        Stage::new("schema", manifest.ops.iter().map(op), Vec::new()),
        Stage::new(
            "wrapper",
            [("functions", format!("{}; get_func_cnt() = {count}", launchers.join(", ")))],
            Vec::new(),
        ),
        Stage::new("compile", [("objects", objects), ("compiler", compiler.join(" "))], Vec::new()),
    ];
    let mut links = Vec::new();
    if let Some(first) = manifest.images.first() {
        links.push(("windows", windows(first, manifest.images.len())));
        links.extend(files(&manifest.images, FileKind::Linked).map(|files| ("images", files)));
    }
    if let (Some(split), Lane::Ucpl) = (&manifest.split, lane) {
        links.extend(
            split
                .files
                .iter()
                .filter(|file| file.kind == FileKind::Linked)
                .map(|file| ("split", sized(file))),
        );
    }
    stages.push(Stage::new("link", links, Vec::new()));
    for (name, kind) in [("strip", FileKind::Stripped), ("pack", FileKind::Packed)] {
        if let Some(files) = files(&manifest.images, kind) {
            stages.push(Stage::new(name, [("images", files)], Vec::new()));
        }
    }
    Trace { stages }
}

fn windows(first: &ImageEntry, count: usize) -> String {
    let (base, len) = (first.window_base, first.window_len);
    match count {
        1 => format!("one of {len:#x} bytes at {base:#x}"),
        _ => format!("{count} of {len:#x} bytes, at {base:#x} + n * {len:#x}"),
    }
}

/// The files of one kind, by the name of the first and the sizes of all.
fn files(images: &[ImageEntry], kind: FileKind) -> Option<String> {
    let of_kind = |image: &ImageEntry| image.files.iter().find(|file| file.kind == kind).cloned();
    let files: Vec<FileEntry> = images.iter().filter_map(of_kind).collect();
    let (least, most) =
        (files.iter().map(|file| file.size).min()?, files.iter().map(|file| file.size).max()?);
    match files.as_slice() {
        [only] => Some(sized(only)),
        [first, ..] => {
            let size = if least == most { most.to_string() } else { format!("{least} to {most}") };
            Some(format!("{} … {} files, {size} bytes each", first.file, files.len()))
        }
        [] => None,
    }
}

fn sized(file: &FileEntry) -> String {
    format!("{}, {} bytes", file.file, file.size)
}
