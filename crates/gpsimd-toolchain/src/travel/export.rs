//! From an installed toolchain to an archive: the programs and what they load are gathered in a directory, tried there,
//! and packed.
//!
//! Unaware of the archive's form. A toolchain that came in an archive is packed as it is, to the same bytes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{BROUGHT, FORMAT, GCC, HOST, PROGRAMS, Package, Travels, launcher, owners, pack};
use crate::error::IoContext as _;
use crate::install::workshop::{copy, create_dir, write, write_program};
use crate::install::{selfcheck, wrappers};
use crate::open::{self, HASHED, Manifest, TARGET};
use crate::{Command, Machine, OpenToolchain, ToolchainError, packages, process, tree};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The archive.
    pub file: PathBuf,
    /// Its hash; `FILE.sha256` holds it, too.
    pub sha256: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Size of what it unpacks to.
    pub unpacked: u64,
}

/// The programs that start others, that this crate starts, or that people would.
const CALLED: &[&str] = &["gcc", "g++"];
/// Programs that the driver looks for in its own directory.
const INNER: &[&str] = &["cc1", "cc1plus", "collect2"];
/// Programs that the driver looks for in the target's directory.
const TARGETS: &[&str] = &["as", "ld"];
/// What `ld` loads for the driver.
const LINKER_PLUGIN: &str = "liblto_plugin.so";

pub(crate) const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// Terms that the packages' own texts refer to.
const COMMON_LICENSES: &[&str] = &["Apache-2.0", "GPL-1", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1", "LGPL-3"];

/// Makes more of what goes along, by the toolchain in an empty directory: files, and their names below the toolchain's own.
pub type More<'a, E> = &'a dyn Fn(&OpenToolchain, &Path) -> Result<Vec<(PathBuf, PathBuf)>, E>;

/// Writes `toolchain` to `file`, and its hash beside it. One that came in an archive goes as it came; else `more` goes along,
/// below `sdk`.
pub fn export<E: From<ToolchainError>>(
    machine: &Machine,
    toolchain: &OpenToolchain,
    more: More<'_, E>,
    file: &Path,
) -> Result<Exported, E> {
    let absolute = std::path::absolute(file).context("cannot make absolute", file)?;
    let beside = absolute.parent().unwrap_or(Path::new("/"));
    staged(machine, toolchain, more, beside, |stage| pack::pack(stage, file))
}

/// Hands the directory of what an archive holds to `pack`; a new one is made in `beside`.
pub(super) fn staged<E: From<ToolchainError>, T>(
    machine: &Machine,
    toolchain: &OpenToolchain,
    more: More<'_, E>,
    beside: &Path,
    pack: impl FnOnce(&Path) -> Result<T, ToolchainError>,
) -> Result<T, E> {
    toolchain.verify()?;
    if toolchain.manifest.travels.is_some() {
        return Ok(pack(toolchain.dir())?);
    }
    let scratch = tempfile::Builder::new()
        .prefix(".export-")
        .tempdir_in(beside)
        .context("cannot create a directory in", beside)?;
    let stage = scratch.path().join("toolchain");
    gather(machine, toolchain, more, scratch.path(), &stage)?;
    Ok(pack(&stage)?)
}

/// Puts together what an archive holds; `scratch` is for what must be made on the way. What is made of the device SDK is made
/// by what travels: debug information names headers, and it alone calls them the same wherever it is.
pub(crate) fn gather<E: From<ToolchainError>>(
    machine: &Machine,
    toolchain: &OpenToolchain,
    more: More<'_, E>,
    scratch: &Path,
    stage: &Path,
) -> Result<Manifest, E> {
    let manifest = gather_own(machine, toolchain, scratch, stage)?;
    let mut travelling = OpenToolchain::in_dir(machine, stage.to_owned(), manifest)?;
    selfcheck::check(&travelling, machine, &scratch.join("check"))?;
    let sdk = scratch.join("sdk");
    create_dir(&sdk)?;
    for (name, file) in more(&travelling, &sdk)? {
        copy(&file, &stage.join(name))?;
    }
    if let Some(travels) = &mut travelling.manifest.travels {
        travels.content = tree::hash(stage, BROUGHT)?;
    }
    open::write_manifest(stage, &travelling.manifest)?;
    Ok(travelling.manifest)
}

/// All but what is made of the device SDK, and the manifest on disk.
fn gather_own(
    machine: &Machine,
    toolchain: &OpenToolchain,
    scratch: &Path,
    stage: &Path,
) -> Result<Manifest, ToolchainError> {
    for part in HASHED {
        copy_tree(&toolchain.dir().join(part), &stage.join(part))?;
    }
    let programs = programs(machine, toolchain)?;
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    let loader = machine.file(LOADER);
    for (from, name) in &programs {
        let file = owners::recorded(from)?;
        let program = machine.program_file(&file);
        copy(&program, &stage.join("programs/host/real").join(name))?;
        for (library, file) in libraries(machine, &loader, &program)? {
            copy(&file, &stage.join("programs/host/lib").join(library))?;
            files.insert(machine.name(&owners::recorded(&file)?));
        }
        files.insert(machine.name(&file));
    }
    copy(&loader, &stage.join("programs/host/loader"))?;
    files.insert(machine.name(&owners::recorded(&loader)?));
    let plugin = answer(toolchain, &format!("-print-file-name={LINKER_PLUGIN}"))?;
    copy(&plugin, &stage.join(travelled(machine, &plugin)?))?;
    let mut headers = Vec::new();
    for dir in &toolchain.manifest.compiler_headers {
        let to = travelled(machine, dir)?;
        copy_tree(dir, &stage.join(&to))?;
        headers.push(to);
    }

    let starts = tree::hash(stage, &["lib", "programs"])?;
    let launcher = launcher::bytes(machine, scratch, &starts)?;
    for (_, name) in &programs {
        write_program(&stage.join("programs").join(name), &launcher)?;
    }
    wrappers::write_travelling(stage, &headers, toolchain.manifest.gcc())?;

    let tarballs = packages::tarballs(machine)?;
    for tarball in [&tarballs.binutils, &tarballs.gcc, &tarballs.newlib] {
        files.insert(machine.name(&owners::recorded(tarball)?));
    }
    let packages = owners::of(machine, &files)?;
    licenses(machine, stage, &packages, &toolchain.manifest)?;
    // its hash is not known before all of it is there
    let travels = Travels { format: FORMAT, host: HOST.into(), content: String::new(), packages };
    Ok(Manifest { compiler_headers: headers, travels: Some(travels), ..toolchain.manifest.clone() })
}

/// Every program, and its name below `programs`.
fn programs(machine: &Machine, toolchain: &OpenToolchain) -> Result<Vec<(PathBuf, PathBuf)>, ToolchainError> {
    let bin = Path::new(PROGRAMS).strip_prefix("programs").unwrap_or(Path::new("bin"));
    let mut programs = Vec::new();
    for name in CALLED.iter().chain(wrappers::BINUTILS) {
        programs.push((open::program(machine, name)?, bin.join(format!("{TARGET}-{name}"))));
    }
    for name in INNER {
        let program = answer(toolchain, &format!("-print-prog-name={name}"))?;
        let to = travelled(machine, &program)?.strip_prefix("programs").unwrap_or(&program).to_owned();
        programs.push((program, to));
    }
    for name in TARGETS {
        let to = Path::new("lib").join(TARGET).join("bin").join(name);
        programs.push((open::program(machine, name)?, to));
    }
    Ok(programs)
}

/// Where a file of the compiler's own directory goes.
fn travelled(machine: &Machine, path: &Path) -> Result<PathBuf, ToolchainError> {
    let (to, from) = GCC;
    let name = machine.name(path);
    let rest = name.strip_prefix(from).map_err(|_| ToolchainError::NotExportable {
        problem: format!("{} is not below {from}, where the distribution's compiler is", path.display()),
    })?;
    Ok(Path::new(to).join(rest))
}

/// Asks the driver for a path.
fn answer(toolchain: &OpenToolchain, question: &str) -> Result<PathBuf, ToolchainError> {
    let command = Command::new(&toolchain.driver.gcc).arg(question);
    Ok(PathBuf::from(process::captured(&command, Path::new("/"))?.trim_end_matches('\n')))
}

/// Names and files of the libraries that a program loads, as the loader itself finds them.
fn libraries(
    machine: &Machine,
    loader: &Path,
    program: &Path,
) -> Result<Vec<(String, PathBuf)>, ToolchainError> {
    let list = Command::new(loader)
        .arg("--list")
        .arg(program)
        .env("LD_LIBRARY_PATH", machine.library_path())
        .env("LD_PRELOAD", "");
    let text = process::captured(&list, Path::new("/"))?;
    let library = |line: &str| {
        let (name, file) = line.trim().split_once(" => ")?;
        let (file, _) = file.rsplit_once(" (")?;
        (!name.contains('/')).then(|| (name.to_owned(), PathBuf::from(file)))
    };
    Ok(text.lines().filter_map(library).collect())
}

/// Terms of every package, and the list of sources that the GPL asks whoever passes programs on to name.
fn licenses(
    machine: &Machine,
    stage: &Path,
    packages: &[Package],
    manifest: &Manifest,
) -> Result<(), ToolchainError> {
    let dir = stage.join("licenses");
    let needed = |from: PathBuf, to: PathBuf| {
        if !from.is_file() {
            return Err(ToolchainError::NotExportable {
                problem: format!("the terms in {} are not here, and must go along", from.display()),
            });
        }
        copy(&from, &to)
    };
    for package in packages {
        needed(owners::copyright(machine, package), dir.join("packages").join(&package.name))?;
    }
    for name in COMMON_LICENSES {
        let from = machine.file("/usr/share/common-licenses").join(name);
        needed(from.canonicalize().unwrap_or(from), dir.join("common").join(name))?;
    }
    let mut text = String::from(SOURCES);
    for Package { name, version, source, source_version } in packages {
        text += &format!("{name} {version}\n    apt-get source {source}={source_version}\n");
    }
    text += "\nThe runtime (lib/, target/) was built from these archives of the source packages above:\n\n";
    for (name, bytes) in &manifest.sources {
        text += &format!("{name} ({bytes} bytes)\n");
    }
    write(&dir.join("SOURCES"), text)
}

const SOURCES: &str = "\
What this toolchain is made of. Programs and libraries in programs/ are unchanged files of the Debian packages below;
their terms are in packages/ and common/. Most are under the GNU GPL or LGPL: whoever passes this archive on must pass
on, or offer, the sources that are named here. The runtime in target/ has further terms in target/licenses. The
launchers, bin/ and what is not from a package are gpsimd-build's own, under Apache-2.0 (common/Apache-2.0).

";

/// Copies regular files; links are followed, so that none is left.
fn copy_tree(from: &Path, to: &Path) -> Result<(), ToolchainError> {
    let mut files = Vec::new();
    tree::collect(from, &mut files)?;
    for file in files {
        copy(&file, &to.join(file.strip_prefix(from).unwrap_or(&file)))?;
    }
    Ok(())
}
