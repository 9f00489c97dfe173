//! `pack`, `unpack`, `inspect`: one image at a time.

use std::path::{Path, PathBuf};

use gpsimd_image::Summary;
use gpsimd_lsp::Variant;
use miette::{Result, WrapErr};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Sized, Status, prelink, report};
use crate::cli::{Inspect, Pack, Unpack};
use crate::files::{read, write};
use crate::library::Library;
use crate::render::Render;

/// What `pack` wrote, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Packed {
    /// The loadable image.
    stripped: Sized,
    /// The same inside an object.
    packed: Sized,
}

/// What `inspect` found, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// In the order given.
    files: Vec<FileDocument>,
}

/// One file.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FileDocument {
    /// An image for a fixed address.
    Image(Box<ImageDocument>),
    /// A file of the way by load record.
    Other(prelink::FileDocument),
}

/// An image for a fixed address.
#[derive(Serialize, JsonSchema)]
pub struct ImageDocument {
    /// The file.
    file: PathBuf,
    /// Which core it is for, by its name.
    variant: Variant,
    /// What is in it.
    image: Summary,
}

/// Strips and packs a linked image.
pub fn pack(arguments: &Pack, render: &Render) -> Result<Status> {
    let linked = read(&arguments.image)?;
    let about = || arguments.image.display().to_string();
    let stripped = gpsimd_image::strip(&linked).map_err(miette::Report::from).wrap_err_with(about)?;
    let packed = gpsimd_image::pack(&stripped).map_err(miette::Report::from).wrap_err_with(about)?;
    let stripped_path = arguments.stripped.clone().unwrap_or_else(|| beside(&arguments.image, "stripped.so"));
    let packed_path = arguments.output.clone().unwrap_or_else(|| beside(&arguments.image, "packed.so"));
    write(&stripped_path, &stripped)?;
    write(&packed_path, &packed)?;
    let document = Packed {
        stripped: Sized { file: stripped_path.clone(), size: stripped.len() },
        packed: Sized { file: packed_path.clone(), size: packed.len() },
    };
    render.result(&document, || {
        format!(
            "{}  {} bytes\n{}  {} bytes\n",
            stripped_path.display(),
            stripped.len(),
            packed_path.display(),
            packed.len()
        )
    })?;
    Ok(Status::Good)
}

/// `dir/k.so` gives `dir/k.<extension>`.
fn beside(image: &Path, extension: &str) -> PathBuf {
    image.with_extension(extension)
}

/// Takes the image out of a packed object.
pub fn unpack(arguments: &Unpack, render: &Render) -> Result<Status> {
    let packed = read(&arguments.packed)?;
    let image = gpsimd_image::unpack(&packed)
        .map_err(miette::Report::from)
        .wrap_err_with(|| arguments.packed.display().to_string())?;
    write(&arguments.output, image)?;
    render.result(&Sized { file: arguments.output.clone(), size: image.len() }, || {
        format!("{}  {} bytes\n", arguments.output.display(), image.len())
    })?;
    Ok(Status::Good)
}

/// Shows what is in images and record files.
pub fn inspect(arguments: &Inspect, render: &Render) -> Result<Status> {
    let mut summaries = Vec::new();
    let mut others = Vec::new();
    for path in &files(&arguments.images)? {
        let bytes = read(path)?;
        if let Some(inspection) = prelink::inspect(path, &bytes, arguments.generation)? {
            others.push(inspection);
            continue;
        }
        let about = || path.display().to_string();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let variant = Variant::of_file_name(&name);
        let image = if name.ends_with(".packed.so") {
            gpsimd_image::unpack(&bytes).map_err(miette::Report::from).wrap_err_with(about)?
        } else {
            &bytes
        };
        let summary =
            gpsimd_image::summary(image, variant).map_err(miette::Report::from).wrap_err_with(about)?;
        summaries.push((path.clone(), variant, summary));
    }
    if let Some(map) = &arguments.map {
        let [(path, _, summary)] = summaries.as_slice() else {
            miette::bail!(
                code = "cli::map",
                help = "name one image",
                "--map draws one image, {} are named",
                summaries.len()
            );
        };
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        write(map, gpsimd_image::map_svg(summary, &title).as_bytes())?;
    }
    let images = summaries.iter().map(|(path, variant, summary)| text(path, *variant, summary));
    let texts: Vec<String> = images.chain(others.iter().map(|other| other.text.clone())).collect();
    let fault = others.iter().find_map(|other| other.fault.clone());
    let images = summaries.into_iter().map(|(path, variant, image)| {
        FileDocument::Image(Box::new(ImageDocument { file: path, variant, image }))
    });
    let others = others.into_iter().map(|other| FileDocument::Other(other.document));
    render.verdict(fault, &Document { files: images.chain(others).collect() }, || texts.join("\n"))
}

/// The files that are named, and those of the libraries that are.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in named {
        let is_manifest = path.to_string_lossy().ends_with(".manifest.json");
        // what is neither a file nor a directory may be a library's name; a pipe or a device is for read() to judge
        if path.exists() && !path.is_dir() && !is_manifest {
            found.push(path.clone());
            continue;
        }
        for library in Library::all(path)? {
            found.extend(library.telling().into_iter().map(Path::to_owned));
        }
    }
    Ok(found)
}

fn text(path: &Path, variant: Variant, summary: &Summary) -> String {
    let mut text = format!(
        "{}\n  {}, machine {}, flags {:#x}, entry {:#010x}, {}\n  window {variant} {}: {}\n",
        path.display(),
        summary.kind,
        summary.machine,
        summary.flags,
        summary.entry,
        if summary.is_stripped { "no symbols".to_owned() } else { format!("{} symbols", summary.symbols) },
        summary.window,
        report::window_use(summary),
    );
    text += "\n  segment   access  address     file        memory\n";
    for segment in &summary.segments {
        text += &format!(
            "  {:9} {:7} {:#010x}  {:#010x}  {:#010x}\n",
            segment.kind, segment.access, segment.address, segment.file_size, segment.memory_size
        );
    }
    text += "\n  section               address     size        align\n";
    for section in summary.sections.iter().filter(|section| section.size > 0) {
        text += &format!(
            "  {:21} {:#010x}  {:#010x}  {}\n",
            section.name, section.address, section.size, section.align
        );
    }
    text
}
