//! `pack`, `unpack`, `inspect`: one image at a time.

use std::path::{Path, PathBuf};

use gpsimd_image::{Bundles, Container, ElfFile, HARDWARE, Producer, Summary};
use gpsimd_library::Library;
use gpsimd_lsp::Variant;
use miette::{Result, WrapErr};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Sized, Status, extisa, report};
use crate::cli::{Inspect, Pack, Unpack};
use crate::files::{read, write};
use crate::loadable;
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
    /// With `--extisa`: the vendor's built-in libraries.
    #[serde(skip_serializing_if = "Option::is_none")]
    extisa: Option<Vec<extisa::Entry>>,
}

/// One file.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FileDocument {
    /// An image for a fixed address.
    Image(Box<ImageDocument>),
    /// A file of the way by load record.
    Other(loadable::FileDocument),
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
    /// The object around it, if it is packed.
    container: Option<Container>,
    /// Who made it.
    producers: Vec<Producer>,
    /// The hardware that its core's configuration is of.
    hardware: &'static str,
    /// Instructions of the vector unit in it, which nothing here executes.
    bundles: Bundles,
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

/// An image, looked into.
struct Looked<'a> {
    path: &'a Path,
    variant: Variant,
    summary: Summary,
    /// The object around it, if it is packed.
    container: Option<Container>,
    producers: Vec<Producer>,
    bundles: Bundles,
}

/// Shows what is in images and record files.
pub fn inspect(arguments: &Inspect, render: &Render) -> Result<Status> {
    let mut looked = Vec::new();
    let mut others = Vec::new();
    let paths = files(&arguments.images)?;
    for path in &paths {
        let bytes = read(path)?;
        if let Some(inspection) = loadable::inspect(path, &bytes, arguments.generation)? {
            others.push(inspection);
            continue;
        }
        looked.push(
            look(path, &bytes).map_err(miette::Report::from).wrap_err_with(|| path.display().to_string())?,
        );
    }
    if let Some(map) = &arguments.map {
        let [Looked { path, summary, .. }] = looked.as_slice() else {
            miette::bail!(
                code = "cli::map",
                help = "name one image",
                "--map draws one image, {} are named",
                looked.len()
            );
        };
        let title = path.file_name().unwrap_or_default().to_string_lossy();
        write(map, gpsimd_image::map_svg(summary, &title).as_bytes())?;
    }
    let catalogue = arguments.extisa.as_deref().map(extisa::catalogue).transpose()?;
    let words = others.iter().map(loadable::Inspection::words);
    let libraries = catalogue.iter().map(|catalogue| extisa::text(catalogue));
    let texts: Vec<String> = looked.iter().map(text).chain(words).chain(libraries).collect();
    let fault = others.iter().find_map(loadable::Inspection::fault);
    let files = others.iter().map(|other| FileDocument::Other(other.told()));
    let files = looked.into_iter().map(Looked::document).chain(files).collect();
    render.verdict(fault, &Document { files, extisa: catalogue }, || texts.join("\n"))
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

impl Looked<'_> {
    fn document(self) -> FileDocument {
        FileDocument::Image(Box::new(ImageDocument {
            file: self.path.to_owned(),
            variant: self.variant,
            image: self.summary,
            container: self.container,
            producers: self.producers,
            hardware: HARDWARE,
            bundles: self.bundles,
        }))
    }
}

fn look<'a>(path: &'a Path, bytes: &[u8]) -> Result<Looked<'a>, gpsimd_image::ImageError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let variant = Variant::of_file_name(&name);
    let container = gpsimd_image::container(bytes).filter(|_| name.ends_with(".packed.so"));
    let image = if name.ends_with(".packed.so") { gpsimd_image::unpack(bytes)? } else { bytes };
    let file = ElfFile::parse(image)?;
    Ok(Looked {
        path,
        variant,
        summary: Summary::of(&file, variant),
        container,
        producers: gpsimd_image::producers(&file),
        bundles: gpsimd_image::bundles(&file),
    })
}

/// Who made it, for which core, and whether a simulator can run it.
fn origin(image: &Looked<'_>) -> String {
    let mut text = String::new();
    if let Some(Container { kind, section, size, symbol, offset, is_global }) = &image.container {
        let binding = if *is_global { "GLOBAL" } else { "LOCAL" };
        text += &format!(
            "  packed {kind}, {section} {size} bytes, {symbol} {binding} at {section}+{offset:#x}\n"
        );
    }
    for Producer { text: line, tools } in &image.producers {
        let axis = tools.map_or_else(String::new, |tools| format!(" ({tools})"));
        text += &format!("  made by {line}{axis}\n");
    }
    text += &format!("  core {HARDWARE}\n");
    let Bundles { total, formats, first: Some(first), function } = &image.bundles else { return text };
    let counts: Vec<String> = formats.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let place = function.as_ref().map_or_else(String::new, |function| format!(" in {function}"));
    text + &format!(
        "  {total} bundles ({}), first at {first:#010x}{place}: not simulatable\n",
        counts.join(", ")
    )
}

fn text(image: &Looked<'_>) -> String {
    let Looked { path, variant, summary, .. } = image;
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
    text += &origin(image);
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
