//! The device SDK: embedded in the tool, written out once per content, compiled by the plan.
//!
//! Unaware of compilers. Everything is keyed by a hash of the SDK's files, so two versions of the tool, or a
//! tool and a work tree of the SDK (`GPSIMD_SDK_DIR`), never mix their headers or archives.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gpsimd_toolchain::Source;
use include_dir::{Dir, include_dir};

use crate::words::digest::Digest;
use crate::words::disk;
use crate::words::error::EngineError;

static INCLUDE: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/include");
static SOURCES: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/src");
static HOST: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/host");
static NATIVE: Dir = include_dir!("$CARGO_MANIFEST_DIR/sdk/native");

/// The archives of the device runtime in link order: folder below `src/`, archive below the SDK's root
/// (customop-abi.md §1.2; toolchain.md §3).
const ARCHIVES: [(&str, &str); 3] = [
    ("src/neuroncustomop", "neuron/libneuroncustomop.a"),
    ("src/c10", "c10/lib/libc10.a"),
    (TOOLCHAIN_SOURCES, "toolchain/libruntime.a"),
];

/// What a foreign toolchain's own runtime lacks.
const TOOLCHAIN_SOURCES: &str = "src/toolchain";

/// The SDK's files and where they are written out.
#[derive(Debug, Clone)]
pub struct Sdk {
    files: BTreeMap<String, Vec<u8>>,
    root: PathBuf,
    hash: String,
    /// Holds one directory per SDK.
    parent: PathBuf,
    /// Names of the sources that stand in for what the toolchain's runtime lacks.
    pub(crate) runtime: Vec<String>,
}

/// An archive of the runtime and the sources of its members.
#[derive(Debug, Clone)]
pub(crate) struct RuntimeArchive {
    /// Relative to the SDK's root.
    pub(crate) archive: &'static str,
    /// Absolute paths, sorted: the member order.
    pub(crate) sources: Vec<PathBuf>,
}

impl Sdk {
    /// The SDK in force: the directory named by `GPSIMD_SDK_DIR`, else the embedded one. `home` is the tool's
    /// data directory.
    ///
    /// # Errors
    /// [`EngineError::Io`] when the named directory cannot be read.
    pub fn locate(home: &Path) -> Result<Self, EngineError> {
        let mut files = BTreeMap::new();
        match std::env::var_os("GPSIMD_SDK_DIR") {
            Some(directory) => {
                let directory = PathBuf::from(directory);
                for part in ["include", "src", "host", "native"] {
                    read_tree(&directory.join(part), part, &mut files)?;
                }
            }
            None => {
                let trees = [("include", &INCLUDE), ("src", &SOURCES), ("host", &HOST), ("native", &NATIVE)];
                for (part, tree) in trees {
                    embedded_tree(tree, part, &mut files);
                }
            }
        }
        Ok(Self::of(home.join("sdk"), files))
    }

    fn of(parent: PathBuf, files: BTreeMap<String, Vec<u8>>) -> Self {
        let hash = hash(&files);
        let root = parent.join(&hash[..16]);
        Self { files, root, hash, parent, runtime: Vec::new() }
    }

    /// The same SDK with sources that stand in for what a toolchain's runtime lacks.
    pub(crate) fn with_runtime(self, sources: Vec<Source>) -> Self {
        if sources.is_empty() {
            return self;
        }
        let mut files = self.files;
        for source in &sources {
            // members of an archive have no directories
            let name = source.name.replace('/', "-");
            files.insert(format!("{TOOLCHAIN_SOURCES}/{name}"), source.text.to_vec());
        }
        let runtime = sources.iter().map(|source| source.name.to_owned()).collect();
        Self { runtime, ..Self::of(self.parent, files) }
    }

    /// SHA-256 over every file's name and content, in hexadecimal.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The directory the SDK is written to; exists only after [`Sdk::write`].
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a toolchain that came in an archive has what was compiled of this SDK, below its own directory.
    pub(crate) fn brought(&self) -> PathBuf {
        Path::new("sdk").join(&self.hash[..16])
    }

    /// The one directory of device headers.
    pub fn include_dir(&self) -> PathBuf {
        self.root.join("include")
    }

    /// The half for shape functions: headers, and what asks them (user-api.md §9).
    pub fn host_dir(&self) -> PathBuf {
        self.root.join("host")
    }

    /// The device of a native twin: one source, and the header of its table of ops.
    pub(crate) fn native_dir(&self) -> PathBuf {
        self.root.join("native")
    }

    /// What is linked with shape sources, so that they can be asked.
    pub(crate) fn lister(&self) -> RuntimeArchive {
        let sources = ["list_registrations.cpp", "start.cpp"].map(|name| self.host_dir().join(name));
        RuntimeArchive { archive: "shapes/liblister.a", sources: sources.to_vec() }
    }

    /// Whether the files are already on disk; they are renamed into place whole, so the directory decides.
    pub fn is_written(&self) -> bool {
        self.root.is_dir()
    }

    /// Writes the SDK's files, all or none. A no-op when they are there.
    ///
    /// # Errors
    /// [`EngineError::Io`] when the data directory cannot be written.
    pub fn write(&self) -> Result<(), EngineError> {
        if self.is_written() {
            return Ok(());
        }
        disk::directory(&self.root, &self.files)
    }

    /// The runtime's archives in link order.
    pub(crate) fn archives(&self) -> Vec<RuntimeArchive> {
        ARCHIVES.iter().filter_map(|(folder, archive)| self.archive(folder, archive)).collect()
    }

    /// The handlers of checked builds.
    pub(crate) fn checked_archive(&self) -> Option<RuntimeArchive> {
        self.archive("src/checked", "checked/libchecked.a")
    }

    fn archive(&self, folder: &str, archive: &'static str) -> Option<RuntimeArchive> {
        let is_source = |name: &&String| {
            Path::new(name).parent() == Some(Path::new(folder))
                && [".cpp", ".cc", ".c", ".S"].iter().any(|ending| name.ends_with(ending))
        };
        let sources: Vec<PathBuf> =
            self.files.keys().filter(is_source).map(|name| self.root.join(name)).collect();
        (!sources.is_empty()).then_some(RuntimeArchive { archive, sources })
    }
}

fn hash(files: &BTreeMap<String, Vec<u8>>) -> String {
    Digest::of_parts(files.iter().flat_map(|(name, bytes)| [name.as_bytes(), bytes])).to_string()
}

fn embedded_tree(tree: &Dir, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for file in tree.files() {
        files.insert(format!("{prefix}/{}", file.path().display()), file.contents().to_vec());
    }
    for directory in tree.dirs() {
        embedded_tree(directory, prefix, files);
    }
}

fn read_tree(
    directory: &Path,
    prefix: &str,
    files: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), EngineError> {
    let entries = std::fs::read_dir(directory).map_err(EngineError::io("cannot read", directory))?;
    for entry in entries {
        let path = entry.map_err(EngineError::io("cannot read", directory))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let relative = format!("{prefix}/{name}");
        if path.is_dir() {
            read_tree(&path, &relative, files)?;
        } else {
            files.insert(relative, std::fs::read(&path).map_err(EngineError::io("cannot read", &path))?);
        }
    }
    Ok(())
}
