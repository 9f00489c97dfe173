#![doc = include_str!("../README.md")]
//!
//! # Its parts
//!
//! [`Toolchain`] turns jobs into [`Command`]s. [`install::install`] builds the open toolchain from distribution packages,
//! [`packages`] says which are missing; [`private`] fetches them where nobody may install them; [`travel`] takes it to
//! machines that have none.
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test stops where it fails"))]

mod apt;
mod command;
pub mod depfile;
mod driver;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod gnu;
mod home;
pub mod install;
mod job;
mod machine;
mod open;
pub mod packages;
pub mod precompiled;
pub mod private;
mod process;
mod profile;
mod sysroot;
#[cfg(test)]
mod testing;
pub mod text;
pub mod travel;
mod tree;
mod vendor;
mod vendor_host;
mod vendor_words;
mod versions;

pub use command::Command;
pub use error::ToolchainError;
pub use gnu::{Caveat, GnuToolchain};
pub use home::Home;
pub use job::{ArchiveJob, CompileJob, Language, LinkJob, PackJob, PrefixMap, Relocations};
pub use machine::Machine;
pub use open::{OpenToolchain, RECIPE};
pub use sysroot::{Source, runtime_source};
pub use vendor::{
    EXECUTABLE_STACK_REMEDY, Environment, LICENCE_REMEDY, Layout, Licence, MissingFile, NO_EXECUTABLE_STACK,
    NO_LICENCE, VendorError, XtensaTools,
};
pub use vendor_host::{
    StackPolicy, VendorPackage, forbids_executable_stacks, vendor_packages, version_clashes,
};

/// A compiler that makes code for the cores.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Toolchain {
    /// Debian's cross compiler with our configuration and runtime.
    Open(OpenToolchain),
    /// Another GNU cross compiler, by prefix.
    Gnu(GnuToolchain),
    /// The licensed compiler, with device runtime and linker support packages of its own.
    Vendor(XtensaTools),
}

/// What a toolchain brings of the device SDK, in place of ours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceSdk {
    /// Directory that holds one directory per linker support package.
    pub lsps: std::path::PathBuf,
    /// Archives of the link; it names them itself.
    pub archives: Vec<std::path::PathBuf>,
}

/// The programs of the GNU cross compiler with this prefix, else of the open toolchain, as absolute paths; `None` if one
/// of them is missing.
pub fn programs(machine: &Machine, home: &Home, gnu_prefix: Option<&str>) -> Option<Vec<std::path::PathBuf>> {
    let names = ["g++", "gcc", "as", "ld", "ar"];
    match gnu_prefix {
        Some(prefix) => names.into_iter().map(|name| machine.program(&format!("{prefix}{name}"))).collect(),
        None => open::programs(machine, home, names),
    }
}

impl Toolchain {
    /// The open toolchain installed in `home`.
    pub fn discover(machine: &Machine, home: &Home) -> Result<Toolchain, ToolchainError> {
        OpenToolchain::discover(machine, home).map(Toolchain::Open)
    }

    /// The GNU cross compiler whose programs begin with `prefix`.
    pub fn discover_gnu(machine: &Machine, prefix: &str) -> Result<Toolchain, ToolchainError> {
        GnuToolchain::discover(machine, prefix).map(Toolchain::Gnu)
    }

    /// Content identity, for cache keys: equal identities make equal bytes of equal jobs.
    pub fn identity(&self) -> String {
        match self {
            Toolchain::Open(open) => open.identity(),
            Toolchain::Gnu(gnu) => gnu.identity(),
            Toolchain::Vendor(vendor) => vendor.identity(),
        }
    }

    /// First line of the compiler's `--version`, for reports and manifests.
    pub fn compiler_version(&self) -> &str {
        match self {
            Toolchain::Open(open) => open.compiler_version(),
            Toolchain::Gnu(gnu) => gnu.compiler_version(),
            Toolchain::Vendor(vendor) => vendor.compiler_version(),
        }
    }

    /// What the compiler's code may stumble over on the device.
    pub fn caveats(&self) -> &[Caveat] {
        match self {
            Toolchain::Open(_) | Toolchain::Vendor(_) => &[],
            Toolchain::Gnu(gnu) => gnu.caveats(),
        }
    }

    /// Sources of ours that stand in for what the toolchain's runtime lacks.
    pub fn runtime_sources(&self) -> Vec<Source> {
        match self {
            Toolchain::Open(_) | Toolchain::Vendor(_) => Vec::new(),
            Toolchain::Gnu(gnu) => gnu.runtime_sources(),
        }
    }

    /// The device SDK's parts that come with it; `None` if ours are compiled.
    pub fn device_sdk(&self) -> Option<DeviceSdk> {
        match self {
            Toolchain::Open(_) | Toolchain::Gnu(_) => None,
            Toolchain::Vendor(vendor) => {
                let layout = vendor.layout();
                Some(DeviceSdk { lsps: layout.lsps(), archives: layout.archives().to_vec() })
            }
        }
    }

    /// Whether it has a program that strips and packs: [`Toolchain::pack`] gives commands.
    pub fn has_packer(&self) -> bool {
        matches!(self, Toolchain::Vendor(vendor) if vendor.packager.is_some())
    }

    /// Whether one link is known to serve all cores: its relocations tell all that differs.
    pub fn links_movably(&self) -> bool {
        matches!(self, Toolchain::Open(_))
    }

    /// Whether the linker can list what it opened ([`LinkJob::depfile`]): binutils 2.35 and later do, and of those only
    /// ours is known.
    pub fn lists_link_inputs(&self) -> bool {
        matches!(self, Toolchain::Open(_))
    }

    /// Whether objects are the same bytes when headers were parsed before ([`precompiled`]): of compilers only ours is known.
    pub fn precompiles(&self) -> bool {
        matches!(self, Toolchain::Open(_))
    }

    /// The directory that holds all of it and nothing else; `None` where it lies among other files.
    pub fn directory(&self) -> Option<&std::path::Path> {
        match self {
            Toolchain::Open(open) => Some(open.dir()),
            Toolchain::Gnu(_) | Toolchain::Vendor(_) => None,
        }
    }

    /// What objects call its own directories: for callers whose maps may cover these, to say again after them.
    pub fn prefix_maps(&self) -> Vec<PrefixMap> {
        match self {
            Toolchain::Open(open) => open.prefix_maps(),
            Toolchain::Gnu(_) | Toolchain::Vendor(_) => Vec::new(),
        }
    }

    /// Directories whose content follows from [`Toolchain::identity`]: what is read there need not be watched.
    pub fn immutable_directories(&self) -> Vec<std::path::PathBuf> {
        match self {
            Toolchain::Open(open) => open.immutable_directories(),
            Toolchain::Gnu(_) | Toolchain::Vendor(_) => Vec::new(),
        }
    }

    /// Files and directories that change, or appear, when another toolchain would be discovered, besides the programs.
    pub fn witnesses(&self) -> Vec<std::path::PathBuf> {
        match self {
            Toolchain::Open(open) => open.witnesses(),
            Toolchain::Gnu(_) | Toolchain::Vendor(_) => Vec::new(),
        }
    }

    /// Compiles one source.
    pub fn compile(&self, job: &CompileJob) -> Command {
        let command = match self {
            Toolchain::Open(open) => open.driver.compile(job),
            Toolchain::Gnu(gnu) => gnu.driver.compile(job),
            Toolchain::Vendor(vendor) => vendor.compile(job),
        };
        match (&job.launcher, self) {
            (None, _) => command,
            // ccache knows the compiler's file, but not the configuration that makes it ours
            (Some(launcher), Toolchain::Open(open)) => {
                command.started_by(launcher).env("CCACHE_EXTRAFILES", open.configuration())
            }
            (Some(launcher), _) => command.started_by(launcher),
        }
    }

    /// Links one image.
    pub fn link(&self, job: &LinkJob) -> Command {
        match self {
            Toolchain::Open(open) => open.driver.link(job),
            Toolchain::Gnu(gnu) => gnu.driver.link(job),
            Toolchain::Vendor(vendor) => vendor.link(job),
        }
    }

    /// Makes one archive.
    pub fn archive(&self, job: &ArchiveJob) -> Command {
        match self {
            Toolchain::Open(open) => open.driver.archive(job),
            Toolchain::Gnu(gnu) => gnu.driver.archive(job),
            Toolchain::Vendor(vendor) => vendor.archive(job),
        }
    }

    /// Strips and packs one image by a program of its own; `None` if it has none.
    pub fn pack(&self, job: &PackJob) -> Option<Command> {
        match self {
            Toolchain::Open(_) | Toolchain::Gnu(_) => None,
            Toolchain::Vendor(vendor) => vendor.pack(job),
        }
    }
}
