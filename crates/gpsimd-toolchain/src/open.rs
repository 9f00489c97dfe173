//! The open toolchain: Debian's `xtensa-lx106-elf` programs, turned to the windowed ABI of the GPSIMD cores by a
//! configuration plugin and a C/C++ runtime of our own build.
//!
//! Unaware of how the directory came about ([`crate::install`]). Nothing but `XTENSA_GNU_CONFIG` in the child's
//! environment and flags makes the difference; floating-point instructions stay off, because the cores' known register
//! files do not include one for them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::driver::Driver;
use crate::error::IoContext as _;
use crate::job::joined;
use crate::{Command, Home, Machine, ToolchainError, process, sysroot, tree, versions};

/// Variable that names the plugin by which the compiler knows the cores.
pub(crate) const CONFIGURATION: &str = "XTENSA_GNU_CONFIG";

/// Prefix of the Debian programs.
pub(crate) const TARGET: &str = "xtensa-lx106-elf";

/// Version of the steps in [`crate::install`]. Raise it whenever they change what is built.
pub const RECIPE: u32 = 1;

/// Name of the manifest in an installed directory.
pub(crate) const MANIFEST: &str = "toolchain.json";

/// What the result depends on besides the recipe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Versions {
    /// First line of `xtensa-lx106-elf-g++ --version`; Debian's revision is in it.
    pub(crate) compiler: String,
    /// First line of `xtensa-lx106-elf-as --version`.
    pub(crate) assembler: String,
    /// Hash of the sources in `sdk/sysroot`.
    pub(crate) sysroot: String,
}

impl Versions {
    pub(crate) fn of(machine: &Machine) -> Result<Versions, ToolchainError> {
        Ok(Versions {
            compiler: version_line(&program(machine, "g++")?)?,
            assembler: version_line(&program(machine, "as")?)?,
            sysroot: sysroot::hash(),
        })
    }
}

/// What an installed directory says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) recipe: u32,
    pub(crate) key: String,
    pub(crate) versions: Versions,
    /// Source archives: name and size in bytes.
    pub(crate) sources: Vec<(String, u64)>,
    /// The compiler's own header directories.
    pub(crate) compiler_headers: Vec<PathBuf>,
    /// Hash over `lib/` and `target/`, names and contents.
    pub(crate) tree: String,
}

/// An installed open toolchain, ready to make commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenToolchain {
    dir: PathBuf,
    manifest: Manifest,
    pub(crate) driver: Driver,
}

impl OpenToolchain {
    /// The one installed in `home` that was built by this recipe for the programs now in `PATH`.
    pub fn discover(machine: &Machine, home: &Home) -> Result<OpenToolchain, ToolchainError> {
        let (compiler, assembler) = (program(machine, "g++")?, program(machine, "as")?);
        let [compiler, assembler] = versions::lines(home, [&compiler, &assembler])?;
        let versions = Versions { compiler, assembler, sysroot: sysroot::hash() };
        let mut stale = None;
        for dir in installed(home)? {
            let Ok(manifest) = read_manifest(&dir) else { continue };
            match difference(&manifest.versions, &versions) {
                None => return OpenToolchain::in_dir(machine, dir, manifest),
                Some((what, built, found)) => {
                    stale = stale.or(Some(ToolchainError::Stale { dir, what, found, built }))
                }
            }
        }
        Err(stale.unwrap_or_else(|| ToolchainError::NotInstalled { home: home.toolchains(), recipe: RECIPE }))
    }

    pub(crate) fn in_dir(
        machine: &Machine,
        dir: PathBuf,
        manifest: Manifest,
    ) -> Result<OpenToolchain, ToolchainError> {
        let driver = Driver {
            gcc: program(machine, "gcc")?,
            gxx: program(machine, "g++")?,
            ar: program(machine, "ar")?,
            env: vec![config_variable(&dir)],
            target: TARGET_FLAGS.iter().map(OsString::from).collect(),
            c_headers: [c_headers(&dir, &manifest.compiler_headers), vec![place_map(&dir)]].concat(),
            cxx_headers: cxx_headers(&dir),
            start_objects: vec![dir.join("target/lib/crti.o"), dir.join("target/lib/crtbegin.o")],
            end_objects: vec![dir.join("target/lib/crtend.o"), dir.join("target/lib/crtn.o")],
            library_dirs: vec![dir.join("target/lib")],
            // libnosys only holds weak stand-ins and so is last.
            libraries: vec!["-lstdc++-lite", "-lm", "-lc", "-lhal", "-lgcc", "-lnosys"],
            warns_of_rwx: true,
        };
        Ok(OpenToolchain { dir, manifest, driver })
    }

    /// The installed directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Hash over everything installed, as taken at installation.
    pub fn tree_hash(&self) -> &str {
        &self.manifest.tree
    }

    /// Name of the installed directory's content: recipe, package versions, sysroot sources.
    pub fn key(&self) -> &str {
        &self.manifest.key
    }

    /// First line of the compiler's `--version`.
    pub fn compiler_version(&self) -> &str {
        &self.manifest.versions.compiler
    }

    /// Content identity: two toolchains of the same identity make the same bytes.
    pub fn identity(&self) -> String {
        let Manifest { versions, tree, .. } = &self.manifest;
        format!("open {} {tree} {} / {}", self.manifest.recipe, versions.compiler, versions.assembler)
    }

    /// Its own directory, and the compiler's headers: the distribution's, of the version that is part of the identity.
    pub(crate) fn immutable_directories(&self) -> Vec<PathBuf> {
        let words = self.driver.cxx_headers.iter().chain(&self.driver.c_headers);
        let headers = words.clone().zip(words.skip(1)).filter(|(flag, _)| *flag == "-isystem");
        [self.dir.clone()].into_iter().chain(headers.map(|(_, directory)| directory.into())).collect()
    }

    /// Its manifest, and the directory in which another installation would appear.
    pub(crate) fn witnesses(&self) -> Vec<PathBuf> {
        [self.dir.join(MANIFEST)].into_iter().chain(self.dir.parent().map(Path::to_owned)).collect()
    }

    /// Hashes the installed files again and compares with what was installed.
    pub fn verify(&self) -> Result<(), ToolchainError> {
        let damaged = |found| ToolchainError::Damaged {
            dir: self.dir.clone(),
            found,
            recorded: self.manifest.tree.clone(),
        };
        match tree::hash(&self.dir, HASHED) {
            Ok(found) if found == self.manifest.tree => Ok(()),
            Ok(found) => Err(damaged(found)),
            Err(error) => Err(damaged(error.to_string())),
        }
    }

    /// A command of another program of the toolchain (`ld`, `nm`, `objdump`, `readelf`, …) without arguments.
    pub fn tool(&self, machine: &Machine, name: &str) -> Result<Command, ToolchainError> {
        let mut command = Command::new(program(machine, name)?);
        command.env.clone_from(&self.driver.env);
        Ok(command)
    }
}

/// What of an installed directory is content; wrappers in `bin/` name the directory itself and so differ.
pub(crate) const HASHED: &[&str] = &["lib", "target"];

/// GCC 12 makes call0 code unless told otherwise, whatever the plugin says; calls may be farther than 512 KiB.
pub(crate) const TARGET_FLAGS: &[&str] = &["-mabi=windowed", "-mlongcalls"];

pub(crate) fn config_variable(dir: &Path) -> (OsString, OsString) {
    (CONFIGURATION.into(), dir.join("lib/xtensa-q7.so").into_os_string())
}

pub(crate) fn c_headers(dir: &Path, compiler_headers: &[PathBuf]) -> Vec<OsString> {
    let mut words = vec![OsString::from("-nostdinc")];
    let newlib = dir.join("target/include");
    for header_dir in compiler_headers.iter().chain([&newlib]) {
        words.extend(["-isystem".into(), header_dir.clone().into_os_string()]);
    }
    words
}

/// Debug info names headers: without this map, where a toolchain is would show in what it makes.
pub(crate) fn place_map(dir: &Path) -> OsString {
    let mut word = joined("-ffile-prefix-map=", dir);
    word.push("=/toolchain");
    word
}

pub(crate) fn cxx_headers(dir: &Path) -> Vec<OsString> {
    let base = dir.join("target/include/c++/12");
    let mut words = vec![OsString::from("-nostdinc++")];
    for header_dir in [base.clone(), base.join(TARGET), base.join("backward")] {
        words.extend(["-isystem".into(), header_dir.into_os_string()]);
    }
    words
}

/// The Debian program, by its name without the target's prefix.
pub(crate) fn program(machine: &Machine, name: &str) -> Result<PathBuf, ToolchainError> {
    let program = format!("{TARGET}-{name}");
    let package = if matches!(name, "gcc" | "g++") { "gcc-xtensa-lx106" } else { "binutils-xtensa-lx106" };
    machine.program(&program).ok_or_else(|| ToolchainError::ProgramMissing {
        program,
        help: format!(
            "it comes with the Debian package {package}; `gpsimd-build toolchain install` tells how to get it"
        ),
    })
}

pub(crate) fn version_line(program: &Path) -> Result<String, ToolchainError> {
    let output = process::captured(&Command::new(program).arg("--version"), Path::new("/"))?;
    Ok(output.lines().next().unwrap_or_default().trim().to_owned())
}

/// Directories of this recipe, newest name first so that the choice does not depend on the file system's order.
fn installed(home: &Home) -> Result<Vec<PathBuf>, ToolchainError> {
    let toolchains = home.toolchains();
    let entries = match std::fs::read_dir(&toolchains) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(ToolchainError::Io { action: "cannot list", path: toolchains, source }),
    };
    let prefix = format!("open-{RECIPE}-");
    let mut dirs: Vec<PathBuf> = entries
        .flatten()
        .filter(|e| e.file_name().to_str().is_some_and(|n| n.starts_with(&prefix)))
        .map(|e| e.path())
        .collect();
    dirs.sort_unstable_by(|a, b| b.cmp(a));
    Ok(dirs)
}

pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest, ToolchainError> {
    let path = dir.join(MANIFEST);
    let text = std::fs::read(&path).context("cannot read", &path)?;
    serde_json::from_slice(&text).map_err(std::io::Error::from).context("cannot read", path)
}

fn difference(built: &Versions, now: &Versions) -> Option<(&'static str, String, String)> {
    let parts = [
        ("the compiler", &built.compiler, &now.compiler),
        ("the assembler", &built.assembler, &now.assembler),
        ("the sysroot's source", &built.sysroot, &now.sysroot),
    ];
    parts.into_iter().find(|(_, a, b)| a != b).map(|(what, a, b)| (what, a.clone(), b.clone()))
}
