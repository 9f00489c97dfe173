//! The open toolchain: Debian's `xtensa-lx106-elf` programs, turned to the windowed ABI of the GPSIMD cores by a
//! configuration plugin and a C/C++ runtime of our own build.
//!
//! Unaware of how the directory came about ([`crate::install`]). Nothing but flags, and scripts that say
//! `XTENSA_GNU_CONFIG` to the assembler and the linker, makes the difference; floating-point instructions stay off, because the cores' known register
//! files do not include one for them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::driver::{Driver, NAMES_AS_GIVEN};
use crate::error::IoContext as _;
use crate::install::selfcheck;
use crate::job::{joined, prefix_map};
use crate::profile::{PROFILES, Profile};
use crate::travel::{self, Travels};
use crate::{Command, Home, Machine, PrefixMap, ToolchainError, home, process, sysroot, tree, versions};

/// Variable that names the plugin by which the compiler knows the cores.
pub(crate) const CONFIGURATION: &str = "XTENSA_GNU_CONFIG";

/// The plugin in an installed directory.
pub(crate) const PLUGIN: &str = "lib/xtensa-q7.so";

/// Prefix of the Debian programs.
pub(crate) const TARGET: &str = "xtensa-lx106-elf";

/// Version of the steps in [`crate::install`]. Raise it whenever they change what is built.
pub const RECIPE: u32 = 2;

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
    /// The compiler's own header directories: absolute, or in a toolchain that travels below its directory.
    pub(crate) compiler_headers: Vec<PathBuf>,
    /// Hash over `lib/` and `target/`, names and contents.
    pub(crate) tree: String,
    /// What it brings along, if it came in an archive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) travels: Option<Travels>,
}

impl Manifest {
    /// The compiler's major version.
    pub(crate) fn gcc(&self) -> &'static str {
        Profile::of_compiler(&self.versions.compiler).map_or(PROFILES[0].gcc, |profile| profile.gcc)
    }

    /// A program: its own, or the distribution's.
    fn program(&self, machine: &Machine, dir: &Path, name: &str) -> Result<PathBuf, ToolchainError> {
        match self.travels {
            Some(_) => Ok(own_program(dir, name)),
            None => program(machine, name),
        }
    }
}

/// An installed open toolchain, ready to make commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenToolchain {
    dir: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) driver: Driver,
}

impl OpenToolchain {
    /// The one in `home`: what came in an archive and fits this program, else what was built by this recipe for the
    /// programs now in `PATH`.
    pub fn discover(machine: &Machine, home: &Home) -> Result<OpenToolchain, ToolchainError> {
        let sysroot = sysroot::hash();
        let mut stale = None;
        for dir in installed(home, TRAVELLING)? {
            let Ok(manifest) = read_manifest(&dir) else { continue };
            let (fits, built) = (manifest.versions.sysroot == sysroot, manifest.versions.sysroot.clone());
            match (manifest.travels.is_some(), fits) {
                (true, true) => return OpenToolchain::in_dir(machine, dir, manifest),
                (true, false) => {
                    let (what, found) = ("the sysroot's source", sysroot.clone());
                    stale = stale.or(Some(ToolchainError::Stale { dir, what, found, built }));
                }
                (false, _) => {}
            }
        }
        OpenToolchain::built_here(machine, home).map_err(|error| match error {
            ToolchainError::ProgramMissing { .. } | ToolchainError::NotInstalled { .. } => {
                stale.unwrap_or(error)
            }
            other => other,
        })
    }

    fn built_here(machine: &Machine, home: &Home) -> Result<OpenToolchain, ToolchainError> {
        let (compiler, assembler) = (program(machine, "g++")?, program(machine, "as")?);
        let [compiler, assembler] = versions::lines(home, [&compiler, &assembler])?;
        let versions = Versions { compiler, assembler, sysroot: sysroot::hash() };
        let mut stale = None;
        for dir in installed(home, BUILT)? {
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
        let program = |name| manifest.program(machine, &dir, name);
        let mut c_headers = c_headers(&dir, &manifest.compiler_headers);
        let maps = place_maps(&dir, manifest.travels.is_some());
        c_headers.extend(maps.iter().map(|map| prefix_map(&map.from, &map.to)));
        c_headers.push(NAMES_AS_GIVEN.into());
        let (env, target) = match manifest.travels {
            Some(_) => (Vec::new(), TARGET_FLAGS.iter().map(OsString::from).collect()),
            // `collect2` would look for a script of the linker's in a list of directories, which a colon takes apart
            None => (vec![config_variable(&dir)], target_words(&dir)),
        };
        let driver = Driver {
            gcc: program("gcc")?,
            gxx: program("g++")?,
            ar: program("ar")?,
            env,
            target,
            c_headers,
            cxx_headers: cxx_headers(&dir, manifest.gcc()),
            start_objects: vec![dir.join("target/lib/crti.o"), dir.join("target/lib/crtbegin.o")],
            end_objects: vec![dir.join("target/lib/crtend.o"), dir.join("target/lib/crtn.o")],
            library_dirs: vec![dir.join("target/lib")],
            // libnosys only holds weak stand-ins and so is last.
            libraries: vec!["-lstdc++-lite", "-lm", "-lc", "-lhal", "-lgcc", "-lnosys"],
            warns_of_rwx: true,
        };
        Ok(OpenToolchain { dir, manifest, driver })
    }

    /// The plugin by which its programs know the core.
    pub fn configuration(&self) -> PathBuf {
        self.dir.join(PLUGIN)
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

    /// What objects call its directories.
    pub(crate) fn prefix_maps(&self) -> Vec<PrefixMap> {
        place_maps(&self.dir, self.travels())
    }

    /// Its manifest, and the directories in which another installation would appear.
    pub(crate) fn witnesses(&self) -> Vec<PathBuf> {
        let beside = self.dir.parent().map(Path::to_owned);
        [self.dir.join(MANIFEST)].into_iter().chain(beside).chain(home::shared()).collect()
    }

    /// Hashes the installed files again and compares with what was installed.
    pub fn verify(&self) -> Result<(), ToolchainError> {
        self.compare(HASHED, &self.manifest.tree)?;
        match &self.manifest.travels {
            Some(travels) => self.compare(travel::BROUGHT, &travels.content),
            None => Ok(()),
        }
    }

    fn compare(&self, parts: &[&str], recorded: &str) -> Result<(), ToolchainError> {
        let damaged =
            |found| ToolchainError::Damaged { dir: self.dir.clone(), found, recorded: recorded.to_owned() };
        match tree::hash(&self.dir, parts) {
            Ok(found) if found == recorded => Ok(()),
            Ok(found) => Err(damaged(found)),
            Err(error) => Err(damaged(error.to_string())),
        }
    }

    /// Compiles and links a small program: files can be as they were and yet not run where they are.
    pub fn try_out(&self, machine: &Machine) -> Result<(), ToolchainError> {
        // not every machine has a directory for temporary files that can be written to; its own was, once
        let beside = || tempfile::tempdir_in(self.dir.parent().unwrap_or(&self.dir));
        let scratch = tempfile::tempdir()
            .or_else(|error| beside().map_err(|_| error))
            .context("cannot create a directory in", std::env::temp_dir())?;
        selfcheck::check(self, machine, scratch.path())
    }

    /// Whether it came in an archive and needs nothing of this machine.
    pub fn travels(&self) -> bool {
        self.manifest.travels.is_some()
    }

    /// Names and versions of the packages that are in it; none where it is built from the machine's own.
    pub fn packages(&self) -> Vec<(&str, &str)> {
        let packages = self.manifest.travels.iter().flat_map(|travels| &travels.packages);
        packages.map(|package| (package.name.as_str(), package.version.as_str())).collect()
    }

    /// A command of another program of the toolchain (`ld`, `nm`, `objdump`, `readelf`, …) without arguments.
    pub fn tool(&self, machine: &Machine, name: &str) -> Result<Command, ToolchainError> {
        let mut command = Command::new(self.manifest.program(machine, &self.dir, name)?);
        command.env.clone_from(&self.driver.env);
        Ok(command)
    }
}

/// In a toolchain built here, where compilers find the programs that must know the core: `-B` says so.
pub(crate) const INNER: &str = "bin/inner";

/// What of an installed directory is content; wrappers in `bin/` name the directory itself and so differ.
pub(crate) const HASHED: &[&str] = &["lib", "target"];

/// GCC 12 makes call0 code unless told otherwise, whatever the plugin says; calls may be farther than 512 KiB.
pub(crate) const TARGET_FLAGS: &[&str] = &["-mabi=windowed", "-mlongcalls"];

/// What a compiler is told in a toolchain built here.
pub(crate) fn target_words(dir: &Path) -> Vec<OsString> {
    let flags = TARGET_FLAGS.iter().map(OsString::from);
    [joined("-B", &dir.join(INNER))].into_iter().chain(flags).collect()
}

/// For the assembler, the linker and their like. Not for compilers: GCC 13 would take other instructions from it than those
/// that code for the cores is made of, and GCC 12 would not.
pub(crate) fn config_variable(dir: &Path) -> (OsString, OsString) {
    (CONFIGURATION.into(), dir.join(PLUGIN).into_os_string())
}

pub(crate) fn c_headers(dir: &Path, compiler_headers: &[PathBuf]) -> Vec<OsString> {
    let mut words = vec![OsString::from("-nostdinc")];
    let newlib = dir.join("target/include");
    for header_dir in compiler_headers.iter().chain([&newlib]) {
        words.extend(["-isystem".into(), dir.join(header_dir).into_os_string()]);
    }
    words
}

/// Debug info names headers: without this map, where a toolchain is would show in what it makes.
pub(crate) fn place_map(dir: &Path) -> OsString {
    prefix_map(dir, PLACE)
}

/// What objects call an installed directory.
const PLACE: &str = "/toolchain";

/// That map, and of a toolchain that travels one more: the compiler's headers are called what they are called where it is
/// built from packages, so that both make the same bytes.
fn place_maps(dir: &Path, travels: bool) -> Vec<PrefixMap> {
    let (here, there) = travel::GCC;
    let gcc = travels.then(|| PrefixMap::new(dir.join(here), there));
    [PrefixMap::new(dir, PLACE)].into_iter().chain(gcc).collect()
}

pub(crate) fn cxx_headers(dir: &Path, gcc: &str) -> Vec<OsString> {
    let base = dir.join("target/include/c++").join(gcc);
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
            "it comes with the Debian package {package}; `gpsimd-build toolchain install` tells how to get it, and with --from FILE takes an archive that needs no packages"
        ),
    })
}

pub(crate) fn version_line(program: &Path) -> Result<String, ToolchainError> {
    let output = process::captured(&Command::new(program).arg("--version"), Path::new("/"))?;
    Ok(output.lines().next().unwrap_or_default().trim().to_owned())
}

/// Where a launcher is.
fn own_program(dir: &Path, name: &str) -> PathBuf {
    dir.join(travel::PROGRAMS).join(format!("{TARGET}-{name}"))
}

/// The programs that the open toolchain in `home` consists of, as absolute paths; `None` if one is missing.
pub(crate) fn programs<const N: usize>(
    machine: &Machine,
    home: &Home,
    names: [&str; N],
) -> Option<Vec<PathBuf>> {
    let travelling = installed(home, TRAVELLING).ok().into_iter().flatten().next();
    let find = |name: &str| match &travelling {
        Some(dir) => Some(own_program(dir, name)).filter(|program| program.is_file()),
        None => machine.program(&format!("{TARGET}-{name}")),
    };
    names.into_iter().map(find).collect()
}

/// How the names of directories begin, before the recipe: of toolchains built here, and of those from archives.
const BUILT: &str = "open";
const TRAVELLING: &str = "travelling";

/// Directory of a toolchain that was built here.
pub(crate) fn built_name(key: &str) -> String {
    format!("{BUILT}-{RECIPE}-{key}")
}

/// Directory of a toolchain from an archive; libraries of another update of the same distribution make it another, and so
/// does another way to build it, even where nobody raised [`RECIPE`].
pub(crate) fn travelling_name(manifest: &Manifest) -> String {
    let mut hasher = Sha256::new();
    let content = manifest.travels.as_ref().map(|travels| travels.content.as_str()).unwrap_or_default();
    tree::absorb(&mut hasher, content.as_bytes(), manifest.tree.as_bytes());
    format!("{TRAVELLING}-{RECIPE}-{}-{:.6}", manifest.key, tree::hex(hasher))
}

/// Makes it the one in force among those that travel: the last one that was asked for is.
pub(crate) fn prefer(dir: &Path) -> Result<(), ToolchainError> {
    let path = dir.join(MANIFEST);
    let file = std::fs::File::options().append(true).open(&path).context("cannot open", &path)?;
    file.set_modified(std::time::SystemTime::now()).context("cannot change", path)
}

/// Directories of this recipe: of those that travel first what came with the program, then the last installed first.
fn installed(home: &Home, kind: &str) -> Result<Vec<PathBuf>, ToolchainError> {
    let mut dirs = match home.shared().filter(|_| kind == TRAVELLING) {
        Some(shared) => below(shared, kind)?,
        None => Vec::new(),
    };
    dirs.extend(below(&home.toolchains(), kind)?);
    Ok(dirs)
}

fn below(toolchains: &Path, kind: &str) -> Result<Vec<PathBuf>, ToolchainError> {
    let entries = match std::fs::read_dir(toolchains) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).context("cannot list", toolchains),
    };
    let prefix = format!("{kind}-{RECIPE}-");
    let mut dirs: Vec<PathBuf> = entries
        .flatten()
        .filter(|e| e.file_name().to_str().is_some_and(|n| n.starts_with(&prefix)))
        .map(|e| e.path())
        .collect();
    let installed_at = |dir: &PathBuf| std::fs::metadata(dir.join(MANIFEST)).and_then(|m| m.modified()).ok();
    // where that cannot tell, the choice does not depend on the file system's order
    dirs.sort_by_cached_key(|dir| std::cmp::Reverse((installed_at(dir), dir.clone())));
    Ok(dirs)
}

pub(crate) fn read_manifest(dir: &Path) -> Result<Manifest, ToolchainError> {
    let path = dir.join(MANIFEST);
    let text = std::fs::read(&path).context("cannot read", &path)?;
    serde_json::from_slice(&text).map_err(std::io::Error::from).context("cannot read", path)
}

pub(crate) fn write_manifest(dir: &Path, manifest: &Manifest) -> Result<(), ToolchainError> {
    let path = dir.join(MANIFEST);
    let text = serde_json::to_vec_pretty(manifest).map_err(std::io::Error::from);
    text.and_then(|text| std::fs::write(&path, text)).context("cannot write", path)
}

fn difference(built: &Versions, now: &Versions) -> Option<(&'static str, String, String)> {
    let parts = [
        ("the compiler", &built.compiler, &now.compiler),
        ("the assembler", &built.assembler, &now.assembler),
        ("the sysroot's source", &built.sysroot, &now.sysroot),
    ];
    parts.into_iter().find(|(_, a, b)| a != b).map(|(what, a, b)| (what, a.clone(), b.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn manifest(content: &str, tree: &str) -> Manifest {
        let travels = Travels { format: 1, host: "h".into(), content: content.into(), packages: Vec::new() };
        let text = |text: &str| text.to_owned();
        Manifest {
            recipe: RECIPE,
            key: text("0123456789ab"),
            versions: Versions { compiler: text("c"), assembler: text("a"), sysroot: text("s") },
            sources: Vec::new(),
            compiler_headers: Vec::new(),
            tree: text(tree),
            travels: Some(travels),
        }
    }

    #[test]
    fn other_bytes_of_equal_packages_have_another_name() {
        let names = [("c", "t"), ("c", "u"), ("d", "t")].map(|(c, t)| travelling_name(&manifest(c, t)));
        assert!(names.iter().all(|name| name.starts_with("travelling-") && name.len() == names[0].len()));
        assert!(names[0] != names[1] && names[0] != names[2], "{names:?}");
    }

    #[test]
    fn the_last_that_was_asked_for_comes_first() {
        let scratch = tempfile::tempdir().unwrap();
        let home = Home::at(scratch.path()).unwrap();
        for (name, age) in [("a", 10), ("b", 30), ("c", 20)] {
            let dir = home.toolchains().join(format!("{TRAVELLING}-{RECIPE}-{name}"));
            std::fs::create_dir_all(&dir).unwrap();
            write_manifest(&dir, &manifest(name, "t")).unwrap();
            let file = std::fs::File::options().append(true).open(dir.join(MANIFEST)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        }
        let order = || {
            let dirs = installed(&home, TRAVELLING).unwrap();
            dirs.iter().map(|dir| dir.to_string_lossy().chars().last().unwrap()).collect::<String>()
        };
        assert_eq!(order(), "acb");
        prefer(&home.toolchains().join(format!("{TRAVELLING}-{RECIPE}-b"))).unwrap();
        assert_eq!(order(), "bac");
    }
}
