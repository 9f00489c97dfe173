//! A built library as files: its manifest, its images, their unstripped companions.
//!
//! Unaware of what is done with them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gpsimd_device::{Config, CoreImage, LoadError, Machine, Shipment, Trace};
use gpsimd_engine::{Damage, FileEntry, FileKind, Manifest, Stale};
use gpsimd_loader::Generation;
use gpsimd_loader::kernel_table::TableRef;
use gpsimd_loader::selector::Environment;
use gpsimd_lsp::{CpuId, Variant};
use miette::Diagnostic;

use crate::file::{FileError, read};
use crate::prelinked;

/// Why a path is no library.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub enum LibraryError {
    /// Neither an image nor the stem of a manifest.
    #[error("{path} is no library: there is no such file, and no {path}.manifest.json", path = .path.display())]
    #[diagnostic(code(library::missing), help("{help}"))]
    Missing {
        /// As given.
        path: PathBuf,
        /// What there is instead.
        help: String,
    },
    /// Where libraries are, if any.
    #[error("{path} is a directory, and a library is a name in it", path = .path.display())]
    #[diagnostic(code(library::directory), help("{help}"))]
    Directory {
        /// As given.
        path: PathBuf,
        /// What there is.
        help: String,
    },
    /// A manifest that does not read.
    #[error("{path} is no manifest: {reason}", path = .path.display())]
    #[diagnostic(code(library::manifest), help("name image files, or build the library again"))]
    Manifest {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Nothing at fixed addresses.
    #[error("the library has no images at fixed addresses")]
    #[diagnostic(
        code(run::only_split),
        help("run its split image with --lane ucpl, or build it with --image both")
    )]
    OnlySplit,
    /// Cores are those that the library was built for.
    #[error("{path} was built for one core, and --multicore asks for eight", path = .path.display())]
    #[diagnostic(
        code(run::cores),
        help(
            "build it with `compile --multicore`; --multicore is for a bare split image, which does not say how many cores it is for"
        )
    )]
    OneCore {
        /// The library.
        path: PathBuf,
    },
    /// Records for what makes its own.
    #[error("{path} is no prelinked image: the records are made when it is staged", path = .path.display())]
    #[diagnostic(code(library::records), help("name the image that the records load: build/NAME.ucpl"))]
    Records {
        /// The library.
        path: PathBuf,
    },
    /// No split image.
    #[error("{path} has no split image", path = .path.display())]
    #[diagnostic(code(library::no_split), help("build it with `compile --image split` or `--image both`"))]
    NoSplit {
        /// The library.
        path: PathBuf,
    },
}

/// How a library gets to the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lane {
    /// Images linked for a fixed address.
    #[default]
    Fixed,
    /// Prelinked split images, loaded by record, dispatched through 0xF0 instructions.
    Ucpl,
}

/// A library found on disk.
#[derive(Debug)]
pub struct Library {
    /// What it consists of; a bare image has none.
    pub manifest: Option<Manifest>,
    /// The image that tells output shapes, if it was built from shape sources.
    pub shapes: Option<PathBuf>,
    /// One group per core.
    images: Vec<ImageFiles>,
    /// The split image.
    split: Option<ImageFiles>,
    /// Whether its prelinked form is what was named.
    is_prelinked: bool,
    /// As named.
    path: PathBuf,
    /// The manifest as it lies on disk.
    text: Vec<u8>,
}

/// The files of one core.
#[derive(Debug, Default)]
struct ImageFiles {
    linked: Option<PathBuf>,
    stripped: Option<PathBuf>,
    packed: Option<PathBuf>,
    prelinked: Option<PathBuf>,
    shapes: Option<PathBuf>,
}

impl Library {
    /// Finds the library that `path` names: a manifest, a manifest without its ending, or any one of its images.
    pub fn find(path: &Path) -> miette::Result<Self> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".manifest.json") {
            return Self::of_manifest(path);
        }
        let mut manifest = path.as_os_str().to_owned();
        manifest.push(".manifest.json");
        if Path::new(&manifest).is_file() {
            return Self::of_manifest(Path::new(&manifest));
        }
        if let Some(stem) = name.strip_suffix(".ucpl").filter(|_| path.is_file()) {
            return Self::of_prelinked(path, stem);
        }
        if path.is_file() {
            tracing::debug!(image = %path.display(), "no manifest: taken by its name");
            return Ok(Self::of_image(path, &name));
        }
        let path = path.to_owned();
        if path.is_dir() {
            let help = there(&path);
            return Err(LibraryError::Directory { path, help }.into());
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        // where compile puts it
        let usual = Path::new("build").join(&path);
        let help = match Path::new(&format!("{}.manifest.json", usual.display())).is_file() {
            true => format!("did you mean {}?", usual.display()),
            false => there(parent.unwrap_or(Path::new("."))),
        };
        Err(LibraryError::Missing { path, help }.into())
    }

    /// The libraries that `path` names: every one in it if it is a directory.
    pub fn all(path: &Path) -> miette::Result<Vec<Self>> {
        match libraries(path).as_slice() {
            [] => Ok(vec![Self::find(path)?]),
            several => several.iter().map(|manifest| Self::of_manifest(manifest)).collect(),
        }
    }

    /// A file of each image that says most about it: the linked one where it is.
    pub fn telling(&self) -> Vec<&Path> {
        let linked = |files: &ImageFiles| {
            let kinds = [&files.linked, &files.stripped, &files.packed].map(|file| file.as_deref());
            kinds.into_iter().flatten().find(|file| file.exists()).map(Path::to_owned)
        };
        let of_images = self.images.iter().chain(&self.split).filter_map(linked);
        let prelinked = self.split.iter().filter_map(|files| files.prelinked.clone());
        let named: Vec<PathBuf> = of_images.chain(prelinked).collect();
        self.files().into_iter().filter(|file| named.iter().any(|name| name == file)).collect()
    }

    /// A prelinked image: by itself, or with what a manifest beside it tells.
    fn of_prelinked(path: &Path, stem: &str) -> miette::Result<Self> {
        let manifest = path.with_file_name(format!("{stem}.manifest.json"));
        let mut library = match manifest.is_file() {
            true => Self::of_manifest(&manifest)?,
            false => Self::of_image(path, &format!("{stem}.split.so")),
        };
        let split = library.split.take().unwrap_or_default();
        library.split = Some(ImageFiles { prelinked: Some(path.to_owned()), ..split });
        // what is named is what runs, and only that
        library.images.clear();
        library.is_prelinked = true;
        Ok(library)
    }

    fn of_manifest(path: &Path) -> miette::Result<Self> {
        let bad = |reason: String| LibraryError::Manifest { path: path.to_owned(), reason };
        let text = read(path)?;
        let manifest = Manifest::parse(&text).map_err(|fault| bad(fault.to_string()))?;
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let locate = |name: &str| Manifest::locate(directory, name).map_err(|fault| bad(fault.to_string()));
        let group = |entries: &[FileEntry]| {
            let mut files = ImageFiles::default();
            for file in entries {
                let path = Some(locate(&file.file)?);
                match file.kind {
                    FileKind::Linked => files.linked = path,
                    FileKind::Stripped => files.stripped = path,
                    FileKind::Packed => files.packed = path,
                    FileKind::Prelinked => files.prelinked = path,
                    FileKind::Shapes => files.shapes = path,
                }
            }
            Ok(files)
        };
        let images: Vec<ImageFiles> =
            manifest.images.iter().map(|entry| group(&entry.files)).collect::<Result<_, LibraryError>>()?;
        let split = manifest.split.as_ref().map(|entry| group(&entry.files)).transpose()?;
        let shapes = manifest.shapes.as_ref().map(|entry| group(std::slice::from_ref(entry))).transpose()?;
        let shapes = shapes.and_then(|files| files.shapes);
        tracing::debug!(manifest = %path.display(), images = images.len(), split = split.is_some(), "library");
        let path = path.to_owned();
        Ok(Self { manifest: Some(manifest), shapes, images, split, is_prelinked: false, path, text })
    }

    /// A bare image; one that is named for a core stands for its seven siblings too.
    fn of_image(path: &Path, name: &str) -> Self {
        if let Some(stem) = name.strip_suffix(".split.so").or(name.strip_suffix(".split.packed.so")) {
            let linked = Some(path.with_file_name(format!("{stem}.split.so"))).filter(|path| path.is_file());
            let packed = name.ends_with(".packed.so").then(|| path.to_owned());
            let split = Some(ImageFiles { linked, packed, ..ImageFiles::default() });
            return Self {
                manifest: None,
                shapes: None,
                images: Vec::new(),
                split,
                is_prelinked: false,
                path: path.to_owned(),
                text: Vec::new(),
            };
        }
        let kind = ["packed.so", "stripped.so"].into_iter().find(|kind| name.ends_with(&format!(".{kind}")));
        let stem =
            kind.map_or_else(|| name.trim_end_matches(".so"), |kind| &name[..name.len() - kind.len() - 1]);
        let variant = Variant::of_file_name(name);
        let base = stem.strip_suffix(variant.file_suffix()).unwrap_or(stem);
        let variants: Vec<Variant> = match variant {
            Variant::Single => vec![Variant::Single],
            Variant::Cpu(_) => CpuId::all().map(Variant::Cpu).collect(),
        };
        let files = |variant: Variant| {
            let file = |ending: &str| path.with_file_name(format!("{base}{}{ending}", variant.file_suffix()));
            let linked = Some(file(".so")).filter(|path| path.is_file());
            match kind {
                Some("packed.so") => {
                    ImageFiles { linked, packed: Some(file(".packed.so")), ..ImageFiles::default() }
                }
                Some(_) => {
                    ImageFiles { linked, stripped: Some(file(".stripped.so")), ..ImageFiles::default() }
                }
                None if variants.len() == 1 => {
                    ImageFiles { linked: Some(path.to_owned()), ..ImageFiles::default() }
                }
                None => ImageFiles { linked: Some(file(".so")), ..ImageFiles::default() },
            }
        };
        let images = variants.iter().map(|&variant| files(variant)).collect();
        let path = path.to_owned();
        Self {
            manifest: None,
            shapes: None,
            images,
            split: None,
            is_prelinked: false,
            path,
            text: Vec::new(),
        }
    }

    /// What is not as it was built; nothing is known of a bare image.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn damage(&self) -> miette::Result<Vec<Damage>> {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let Some(manifest) = &self.manifest else { return Ok(Vec::new()) };
        Ok(manifest.damage(&self.text, directory)?)
    }

    /// Whether it is older than its sources, as far as is known.
    pub fn stale(&self) -> Option<Stale> {
        let directory = std::path::absolute(self.path.parent().unwrap_or(Path::new("."))).ok()?;
        gpsimd_engine::stale(&directory, self.manifest.as_ref()?)
    }

    /// The files that it was built from, as far as that is known here.
    pub fn sources(&self) -> Vec<PathBuf> {
        let directory = std::path::absolute(self.path.parent().unwrap_or(Path::new("."))).ok();
        let of = |directory: PathBuf| Some(gpsimd_engine::built_from(&directory, self.manifest.as_ref()?));
        let mut files = directory.and_then(of).unwrap_or_default();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// As a person names it.
    fn named(&self) -> PathBuf {
        PathBuf::from(self.path.to_string_lossy().trim_end_matches(".manifest.json"))
    }

    /// Every file there is.
    pub fn files(&self) -> Vec<&Path> {
        self.images
            .iter()
            .chain(&self.split)
            .flat_map(|files| [&files.linked, &files.stripped, &files.packed, &files.prelinked])
            .filter_map(Option::as_deref)
            .collect()
    }

    /// The library as it gets to the device.
    ///
    /// # Errors
    /// The library has no images for this lane, or they cannot be read, or are not the library's.
    pub fn loadable(&self, staging: &Staging) -> miette::Result<Loadable> {
        if staging.records.is_some() && !self.is_prelinked {
            return Err(LibraryError::Records { path: self.path.clone() }.into());
        }
        let is_for_one = self.manifest.as_ref().is_some_and(|manifest| manifest.total_cpus == 1);
        if staging.cores > 1 && is_for_one {
            return Err(LibraryError::OneCore { path: self.path.clone() }.into());
        }
        match staging.lane {
            Lane::Fixed if self.images.is_empty() && self.split.is_some() => {
                Err(LibraryError::OnlySplit.into())
            }
            Lane::Fixed => {
                let images: Result<Arc<[CoreImage]>, FileError> =
                    self.images.iter().map(ImageFiles::image).collect();
                Ok(Loadable::Fixed(images?))
            }
            Lane::Ucpl => Ok(Loadable::Split(Box::new(self.shipment(staging)?))),
        }
    }

    /// The split image as it goes to the device.
    fn shipment(&self, staging: &Staging) -> miette::Result<Shipment> {
        let files = self.split.as_ref().ok_or_else(|| LibraryError::NoSplit { path: self.named() })?;
        let built = self.manifest.as_ref().and_then(|manifest| Some((manifest.split.as_ref()?, manifest)));
        let prelinked = files.prelinked.as_deref();
        let image = match prelinked.filter(|_| self.is_prelinked) {
            Some(path) => {
                CoreImage { bytes: read(path)?, debug: files.linked.as_deref().map(read).transpose()? }
            }
            None => files.image()?,
        };
        // a bare image says nothing about cores
        let (cores, generation) = match built {
            Some((split, manifest)) => (manifest.total_cpus, split.generation),
            None => (staging.cores, prelinked::home(&image.bytes)),
        };
        let generation = match staging.generation {
            Some(asked) if !self.is_prelinked => asked,
            _ => generation,
        };
        if let (false, Some(path), Some((split, _))) = (self.is_prelinked, prelinked, built)
            && split.generation == generation
            && let Some(made) = prelinked::prelinks_to(&image.bytes, generation)
            && let Some(unfit) = prelinked::unfit(path, &read(path)?, &made)
        {
            return Err(unfit.into());
        }
        let table = built.map(|(split, _)| TableRef { addr: split.table.addr, rows: split.table.rows });
        let records = staging.records.as_deref().map(read).transpose()?.unwrap_or_default();
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        let environment = Environment::from_names(names);
        Ok(Shipment { image, cores, generation, environment, table, records })
    }

    /// Whether it has images at fixed addresses.
    pub fn has_fixed(&self) -> bool {
        !self.images.is_empty()
    }

    /// Whether it has a split image.
    pub fn has_split(&self) -> bool {
        self.split.is_some()
    }
}

/// How a library is to get to the device, as far as it does not say itself.
#[derive(Debug, Clone)]
pub struct Staging {
    /// Which of its images.
    pub lane: Lane,
    /// The generation to prelink for, if it is not the one that it was built for.
    pub generation: Option<Generation>,
    /// Cores that a bare split image is for.
    pub cores: u8,
    /// Records to load a prelinked image by, instead of ones made for it.
    pub records: Option<PathBuf>,
}

impl Staging {
    /// By this lane, and otherwise as the library says.
    pub fn by(lane: Lane) -> Self {
        Self { lane, generation: None, cores: 1, records: None }
    }
}

/// A library's bytes, ready for a device.
#[derive(Debug, Clone)]
pub enum Loadable {
    /// Images at fixed places, in core order.
    Fixed(Arc<[CoreImage]>),
    /// A split image, with what goes along.
    Split(Box<Shipment>),
}

impl Loadable {
    /// On the device's side of things, yet to be loaded. `trace` has the stages up to a failure.
    ///
    /// # Errors
    /// [`LoadError`] of the host's stages.
    pub fn machine(&self, config: Config, trace: &mut Trace) -> Result<Machine, LoadError> {
        match self {
            Loadable::Fixed(images) => Ok(Machine::fixed(images.clone(), config)),
            Loadable::Split(shipment) => Machine::ship(shipment, config, trace),
        }
    }
}

/// The manifests in a directory, by name.
fn libraries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let is_manifest = |path: &PathBuf| path.to_string_lossy().ends_with(".manifest.json");
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_manifest).collect();
    found.sort();
    found
}

/// Most libraries listed in a message.
const MOST: usize = 12;

/// The libraries of a directory, in words.
fn there(directory: &Path) -> String {
    let named = |manifest: &PathBuf| {
        let text = manifest.display().to_string();
        let name = text.trim_end_matches(".manifest.json").trim_start_matches("./").to_owned();
        match Library::of_manifest(manifest).ok().and_then(|library| library.manifest) {
            Some(manifest) if manifest.total_cpus == 1 => format!("{name} (one core)"),
            Some(manifest) => format!("{name} ({} cores)", manifest.total_cpus),
            None => name,
        }
    };
    let found = libraries(directory);
    let names: Vec<String> = found.iter().take(MOST).map(named).collect();
    let more = if found.len() > MOST { format!(" and {} more", found.len() - MOST) } else { String::new() };
    let directory = directory.display();
    match names.as_slice() {
        [] => {
            format!("no library is in {directory}; gpsimd-build compile makes one, build/NAME unless you say")
        }
        names => {
            format!("libraries in {directory}: {}{more}; or name one of their .so files", names.join(", "))
        }
    }
}

impl ImageFiles {
    fn image(&self) -> Result<CoreImage, FileError> {
        let shipped = self.stripped.as_deref().or(self.packed.as_deref());
        let linked = self.linked.as_deref();
        let bytes = shipped.or(linked).map(read).transpose()?.unwrap_or_default();
        let debug = linked.filter(|_| shipped.is_some()).map(read).transpose()?;
        Ok(CoreImage { bytes, debug })
    }
}
