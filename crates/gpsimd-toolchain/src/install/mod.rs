//! Builds the open toolchain from distribution packages into `<home>/toolchains/open-<recipe>-<key>`.
//!
//! All or nothing: everything is made in a directory beside the final one and renamed at the end, so a killed install
//! is as if it had not run, and the next one clears its rest away. A file lock makes two installs take turns. The
//! content (`lib/`, `target/`) depends on the packages only, not on the place or the number of jobs.
//!
//! Unaware of terminals: progress is told to a callback.

mod cxx;
mod headers;
mod libc;
mod libgcc;
mod pieces;
mod plugin;
pub(crate) mod selfcheck;
mod site;
pub(crate) mod unpack;
pub(crate) mod workshop;
pub(crate) mod wrappers;

use std::fmt;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::IoContext as _;
use crate::open::{self, HASHED, Manifest, Versions};
use crate::packages::{self, Tarballs};
use crate::profile::{Profile, SUPPORTED};
use crate::{Home, Machine, OpenToolchain, RECIPE, ToolchainError, process, sysroot, tree};
pub(crate) use site::Site;
use workshop::Workshop;

/// One part of the work. Some run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// Unpack the instruction table of binutils; progress in bytes of the archive.
    BinutilsSource,
    /// Unpack newlib; progress in bytes of the archive.
    NewlibSource,
    /// Unpack libgcc and libstdc++; progress in bytes of the archive.
    GccSource,
    /// The configuration plugin for assembler and linker.
    Plugin,
    /// C headers.
    CHeaders,
    /// `libc.a`.
    Libc,
    /// `libm.a`.
    Libm,
    /// `libhal.a`, `libnosys.a`, `crtbegin.o`, `crtend.o`: our own pieces.
    Pieces,
    /// `libgcc.a`, `crti.o`, `crtn.o`.
    Libgcc,
    /// C++ headers.
    CxxHeaders,
    /// `libstdc++-lite.a`.
    CxxLibrary,
    /// Compile and link a program with the result.
    SelfCheck,
    /// Unpack a toolchain that was exported elsewhere; no other step but the self-check follows.
    Archive,
    /// Unpack packages for an install without root; progress in packages. The steps of a build follow.
    Packages,
    /// Gather the programs of those packages, what they load, and the compiled device SDK in the toolchain.
    Gather,
}

impl Step {
    /// All steps of a build from packages, in the order in which they begin.
    pub const ALL: [Step; 12] = [
        Step::GccSource,
        Step::NewlibSource,
        Step::BinutilsSource,
        Step::Plugin,
        Step::CHeaders,
        Step::Libc,
        Step::Libm,
        Step::Pieces,
        Step::Libgcc,
        Step::CxxHeaders,
        Step::CxxLibrary,
        Step::SelfCheck,
    ];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Step::BinutilsSource => "unpack binutils",
            Step::NewlibSource => "unpack newlib",
            Step::GccSource => "unpack gcc",
            Step::Plugin => "core configuration",
            Step::CHeaders => "C headers",
            Step::Libc => "libc",
            Step::Libm => "libm",
            Step::Pieces => "start files and HAL",
            Step::Libgcc => "libgcc",
            Step::CxxHeaders => "C++ headers",
            Step::CxxLibrary => "libstdc++-lite",
            Step::SelfCheck => "self-check",
            Step::Archive => "unpack toolchain",
            Step::Packages => "unpack packages",
            Step::Gather => "gather all of it",
        })
    }
}

/// What an install tells while it runs. Events come from several threads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Another install is at work in this home; this one goes on when it has ended.
    Waiting {
        /// The lock both want.
        lock: PathBuf,
    },
    /// What a killed install left behind has been removed.
    Cleared {
        /// The directory removed.
        dir: PathBuf,
    },
    /// `apt-get` says this.
    Said {
        /// One line.
        line: String,
    },
    /// A step has done `done` of `total`; its first event has `done` 0, its last `done == total`.
    Progress {
        /// Which.
        step: Step,
        /// Units done (files, or bytes when unpacking).
        done: u64,
        /// Units in all.
        total: u64,
    },
}

/// Whether there was anything to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Built now.
    Installed(OpenToolchain),
    /// It was there, and its files are as they were installed.
    AlreadyThere(OpenToolchain),
}

impl Outcome {
    /// The toolchain, either way.
    pub fn toolchain(self) -> OpenToolchain {
        match self {
            Outcome::Installed(toolchain) | Outcome::AlreadyThere(toolchain) => toolchain,
        }
    }
}

/// Installs the open toolchain in `home`, running `jobs` compilers at a time.
pub fn install(
    machine: &Machine,
    home: &Home,
    jobs: NonZeroUsize,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Outcome, ToolchainError> {
    let recipe = Recipe::of(machine)?;
    let site = Site::take(home, tell)?;
    let dir = site.toolchains().join(open::built_name(&recipe.key));
    if let Ok(manifest) = open::read_manifest(&dir) {
        let toolchain = OpenToolchain::in_dir(machine, dir.clone(), manifest)?;
        if toolchain.verify().is_ok() {
            return Ok(Outcome::AlreadyThere(toolchain));
        }
    }

    let unfinished = site.unfinished()?;
    let manifest = make(machine, recipe, unfinished.path(), &dir, jobs, tell)?;
    site.publish(unfinished, &dir)?;
    Ok(Outcome::Installed(OpenToolchain::in_dir(machine, dir, manifest)?))
}

/// What is built, and from what.
pub(crate) struct Recipe {
    tarballs: Tarballs,
    versions: Versions,
    profile: &'static Profile,
    /// Source archives: name and size in bytes.
    sources: Vec<(String, u64)>,
    key: String,
}

impl Recipe {
    /// What the machine's packages give.
    pub(crate) fn of(machine: &Machine) -> Result<Recipe, ToolchainError> {
        let tarballs = packages::tarballs(machine)?;
        let versions = Versions::of(machine)?;
        let profile = profile(&versions)?;
        let sources = [&tarballs.binutils, &tarballs.gcc, &tarballs.newlib].map(|path| source_entry(path));
        let sources = sources.into_iter().collect::<Result<Vec<_>, _>>()?;
        let key = key(&versions, &sources);
        Ok(Recipe { tarballs, versions, profile, sources, key })
    }
}

/// Builds in `root` what will be called `dir`.
pub(crate) fn make(
    machine: &Machine,
    recipe: Recipe,
    root: &Path,
    dir: &Path,
    jobs: NonZeroUsize,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Manifest, ToolchainError> {
    let Recipe { tarballs, versions, profile, sources, key } = recipe;
    let workshop = Workshop::new(machine, profile, root, jobs, tell)?;
    wrappers::write_inner(workshop.root, machine)?;
    build(&workshop, &tarballs)?;
    wrappers::write_all(&workshop, dir)?;
    workshop.drop_sources()?;
    let manifest = Manifest {
        recipe: RECIPE,
        key,
        versions,
        sources,
        compiler_headers: workshop.compiler_headers.clone(),
        tree: tree::hash(root, HASHED)?,
        travels: None,
    };
    selfcheck::run(&workshop, machine, &manifest)?;
    open::write_manifest(root, &manifest)?;
    Ok(manifest)
}

/// The steps. The GCC archive takes longest to unpack, and libc does not wait for it.
fn build(workshop: &Workshop, tarballs: &Tarballs) -> Result<(), ToolchainError> {
    workshop.write_sysroot()?;
    std::thread::scope(|scope| {
        let refused = |tarball| {
            move |source| ToolchainError::Io { action: "no thread to unpack", path: tarball, source }
        };
        let thread = std::thread::Builder::new;
        let gcc = thread()
            .spawn_scoped(scope, || unpack::gcc(workshop, &tarballs.gcc))
            .map_err(refused(tarballs.gcc.clone()))?;
        let newlib = thread()
            .spawn_scoped(scope, || unpack::newlib(workshop, &tarballs.newlib))
            .map_err(refused(tarballs.newlib.clone()))?;
        let early = (|| {
            unpack::binutils(workshop, &tarballs.binutils)?;
            plugin::build(workshop)?;
            join(newlib)?;
            headers::c(workshop, &tarballs.newlib)?;
            libc::libc(workshop)?;
            libc::libm(workshop)?;
            pieces::build(workshop)
        })();
        // The scope would wait for it anyway; of two errors the first in order is told.
        let gcc = join(gcc);
        early?;
        gcc?;
        libgcc::build(workshop)?;
        headers::cxx(workshop)?;
        cxx::build(workshop)
    })
}

fn join<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The recipe knows what these compilers do and do not (reading the plugin, emitting instructions); another major version
/// would make other code from the same flags.
fn profile(versions: &Versions) -> Result<&'static Profile, ToolchainError> {
    Profile::of_compiler(&versions.compiler).ok_or_else(|| ToolchainError::UnsupportedVersion {
        what: "gcc-xtensa-lx106",
        found: versions.compiler.clone(),
        supported: SUPPORTED,
    })
}

fn source_entry(path: &Path) -> Result<(String, u64), ToolchainError> {
    let len = fs::metadata(path).context("cannot look at", path)?.len();
    Ok((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), len))
}

/// Short name of everything the result depends on.
fn key(versions: &Versions, sources: &[(String, u64)]) -> String {
    let mut hasher = Sha256::new();
    tree::absorb(&mut hasher, b"recipe", &RECIPE.to_le_bytes());
    for part in [&versions.compiler, &versions.assembler, &versions.sysroot] {
        tree::absorb(&mut hasher, b"version", part.as_bytes());
    }
    for (name, len) in sources {
        tree::absorb(&mut hasher, name.as_bytes(), &len.to_le_bytes());
    }
    tree::hex(hasher).chars().take(12).collect()
}
