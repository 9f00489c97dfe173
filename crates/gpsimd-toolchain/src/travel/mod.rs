//! A toolchain that travels: one archive that holds all a compiler needs of a machine but its kernel.
//!
//! An archive is a tar of regular files, sorted by name, without times and owners, in an xz stream; its first member is
//! the manifest. It unpacks to a directory like one that [`crate::install`] builds, and besides that
//!
//! ```text
//! programs/bin/xtensa-lx106-elf-g++    a launcher: 2 KB, needs no library
//! programs/lib/gcc/…/cc1plus           another, where the driver looks for it
//! programs/host/loader, host/lib/*     the loader and C library that the programs were linked for
//! programs/host/real/…                 the programs, one of each launcher's name
//! sdk/                                 archives of the device SDK, so that nobody need compile it again
//! licenses/                            what each part comes from, and under which terms
//! ```
//!
//! No file names a place. A launcher finds itself and the rest from there, and tells the program about the core, so
//! commands need no variable. Unaware of builds; [`crate::OpenToolchain`] makes the commands.

mod export;
mod import;
mod launcher;
mod owners;
mod pack;
mod unpack;
mod wheel;

use serde::{Deserialize, Serialize};

pub use export::{Exported, More, export};
pub(crate) use export::{LOADER, gather};
pub use import::import;
pub(crate) use unpack::{Member, read};
pub use wheel::wheel;

/// Version of the layout. Raise it when a launcher or a reader of before could not use what is written now.
pub(crate) const FORMAT: u32 = 2;

/// What its programs run on.
pub(crate) const HOST: &str = "x86_64-linux";

/// What of a directory travels besides what [`crate::open::HASHED`] names, and is hashed on its own: the hash of the
/// other part is the same wherever a toolchain is from.
pub(crate) const BROUGHT: &[&str] = &["bin", "licenses", "programs", "sdk"];

/// Directory of the launchers a user would call.
pub(crate) const PROGRAMS: &str = "programs/bin";

/// The compiler's own directory below `programs`, and where Debian has it.
pub(crate) const GCC: (&str, &str) = ("programs/lib/gcc", "/usr/lib/gcc");

/// What a manifest says of a toolchain that travels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Travels {
    /// Must be [`FORMAT`].
    pub(crate) format: u32,
    /// Must be [`HOST`].
    pub(crate) host: String,
    /// Hash over [`BROUGHT`], names and contents.
    pub(crate) content: String,
    /// What the files came from.
    pub(crate) packages: Vec<Package>,
}

/// A distribution's package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    /// Name and version of the source package that it is built from.
    pub(crate) source: String,
    pub(crate) source_version: String,
}
