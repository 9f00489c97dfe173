//! Distribution packages the open toolchain is made from, and which of them are missing.
//!
//! Unaware of how they are got and of what is built from them. A package counts as there when the file it is needed for is there, however it
//! came; dpkg's records only tell an absent package from a broken one.

use std::path::PathBuf;

pub use crate::apt::{Missing, MissingPackage};
use crate::profile::Profile;
use crate::{Machine, ToolchainError};

/// What a package is needed for, and so how to see that it is there.
#[derive(Debug, Clone, Copy)]
enum Provides {
    Program(&'static str),
    File(&'static str),
    /// A file in a directory, by the start and end of its name.
    Source {
        dir: &'static str,
        start: &'static str,
        end: &'static str,
    },
}

struct Need {
    package: &'static str,
    purpose: &'static str,
    provides: Provides,
}

/// In the order of need. The GCC sources are of the cross compiler's own major version.
fn needs(profile: &Profile) -> [Need; 7] {
    [
        Need {
            package: "gcc-xtensa-lx106",
            purpose: "C and C++ compiler",
            provides: Provides::Program("xtensa-lx106-elf-g++"),
        },
        Need {
            package: "binutils-xtensa-lx106",
            purpose: "assembler, linker, ar",
            provides: Provides::Program("xtensa-lx106-elf-as"),
        },
        Need { package: "binutils-source", purpose: "instruction table", provides: BINUTILS_TARBALL },
        Need {
            package: profile.package,
            purpose: "libgcc and C++ library sources",
            provides: gcc_tarball(profile),
        },
        Need { package: "newlib-source", purpose: "C library sources", provides: NEWLIB_TARBALL },
        Need {
            package: "gcc",
            purpose: "host compiler for the instruction table",
            provides: Provides::Program("gcc"),
        },
        Need {
            package: "libc6-dev",
            purpose: "host headers for the instruction table",
            provides: Provides::File("/usr/include/stdlib.h"),
        },
    ]
}

const BINUTILS_TARBALL: Provides =
    Provides::Source { dir: "/usr/src/binutils", start: "binutils-", end: ".tar.xz" };
const NEWLIB_TARBALL: Provides =
    Provides::Source { dir: "/usr/src/newlib", start: "newlib-", end: ".tar.xz" };

fn gcc_tarball(profile: &Profile) -> Provides {
    let (dir, start) = profile.sources;
    Provides::Source { dir, start, end: ".tar.xz" }
}

impl Provides {
    fn find(self, machine: &Machine) -> Option<PathBuf> {
        match self {
            Provides::Program(name) => machine.program(name),
            Provides::File(path) => Some(machine.file(path)).filter(|p| p.exists()),
            Provides::Source { dir, start, end } => machine.newest(dir, start, end),
        }
    }
}

/// The source archives of the packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tarballs {
    pub(crate) binutils: PathBuf,
    pub(crate) gcc: PathBuf,
    pub(crate) newlib: PathBuf,
}

/// The source archives, or every package that is missing.
pub(crate) fn tarballs(machine: &Machine) -> Result<Tarballs, ToolchainError> {
    check(machine)?;
    let gcc = gcc_tarball(Profile::of(machine));
    match (BINUTILS_TARBALL.find(machine), gcc.find(machine), NEWLIB_TARBALL.find(machine)) {
        (Some(binutils), Some(gcc), Some(newlib)) => Ok(Tarballs { binutils, gcc, newlib }),
        // Removed between the two looks.
        _ => Err(check(machine)
            .err()
            .unwrap_or(ToolchainError::SelfCheck { problem: "source archives vanished".into() })),
    }
}

/// Whether everything is there; the error names all that is not.
pub fn check(machine: &Machine) -> Result<(), ToolchainError> {
    let packages: Vec<MissingPackage> = needs(Profile::of(machine))
        .into_iter()
        .filter(|need| need.provides.find(machine).is_none())
        .map(|need| MissingPackage {
            name: need.package,
            purpose: need.purpose,
            is_broken: is_recorded(machine, need.package),
        })
        .collect();
    if packages.is_empty() {
        return Ok(());
    }
    Err(ToolchainError::PackagesMissing { missing: Missing::on(machine, packages) })
}

/// Every package, as on a machine that has none of them.
pub(crate) fn all(machine: &Machine) -> Missing {
    let package = |need: Need| MissingPackage { name: need.package, purpose: need.purpose, is_broken: false };
    Missing::on(machine, needs(Profile::of(machine)).into_iter().map(package).collect())
}

/// Names of the packages whose programs and headers run, and of those that only hold sources.
pub(crate) fn kinds(machine: &Machine) -> (Vec<&'static str>, Vec<&'static str>) {
    let is_source = |need: &Need| matches!(need.provides, Provides::Source { .. });
    let (sources, programs): (Vec<Need>, Vec<Need>) =
        needs(Profile::of(machine)).into_iter().partition(is_source);
    let names = |needs: Vec<Need>| needs.into_iter().map(|need| need.package).collect();
    (names(programs), names(sources))
}

/// Whether dpkg lists the package's files (multi-arch packages carry the architecture in the name of the list).
fn is_recorded(machine: &Machine, package: &str) -> bool {
    let info = "/var/lib/dpkg/info";
    machine.file(&format!("{info}/{package}.list")).exists()
        || machine.newest(info, &format!("{package}:"), ".list").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn scratch(programs: &[&str], files: &[&str], is_root: bool) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str| testing::script(&dir.path().join(path.trim_start_matches('/')), "");
        std::fs::create_dir(dir.path().join("etc")).unwrap();
        std::fs::write(dir.path().join("etc/debian_version"), "12.11\n").unwrap();
        programs.iter().for_each(|p| put(&format!("bin/{p}")));
        files.iter().for_each(|f| put(f));
        let machine = Machine::at(dir.path(), dir.path().join("bin"), is_root);
        (dir, machine)
    }

    fn report(machine: &Machine) -> String {
        match check(machine) {
            Ok(()) => "nothing missing".into(),
            Err(error) => {
                let help = miette::Diagnostic::help(&error).map(|h| h.to_string()).unwrap_or_default();
                format!("{error}\n{help}")
            }
        }
    }

    #[test]
    fn an_empty_debian_gets_one_command() {
        let (_dir, machine) = scratch(&["apt-get"], &[], true);
        insta::assert_snapshot!(report(&machine), @r#"
        missing distribution packages: gcc-xtensa-lx106 (C and C++ compiler), binutils-xtensa-lx106 (assembler, linker, ar), binutils-source (instruction table), gcc-12-source (libgcc and C++ library sources), newlib-source (C library sources), gcc (host compiler for the instruction table), libc6-dev (host headers for the instruction table)
        install them with: DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends gcc-xtensa-lx106 binutils-xtensa-lx106 binutils-source gcc-12-source newlib-source gcc libc6-dev
        "#);
    }

    #[test]
    fn an_ordinary_user_needs_sudo_for_what_is_missing() {
        let programs = ["apt-get", "xtensa-lx106-elf-g++", "xtensa-lx106-elf-as", "gcc"];
        let files = [
            "/usr/include/stdlib.h",
            "/usr/src/newlib/newlib-3.3.0.tar.xz",
            "/usr/src/binutils/binutils-2.40.tar.xz",
        ];
        let (_dir, machine) = scratch(&programs, &files, false);
        insta::assert_snapshot!(report(&machine), @r#"
        missing distribution packages: gcc-12-source (libgcc and C++ library sources)
        install them with: sudo apt-get install -y --no-install-recommends gcc-12-source
        or leave the system as it is: with --yes, `gpsimd-build toolchain install` fetches and unpacks them for itself, without root
        "#);
    }

    #[test]
    fn a_package_without_its_file_is_reinstalled() {
        let programs = ["apt-get", "xtensa-lx106-elf-g++", "xtensa-lx106-elf-as", "gcc"];
        let files = [
            "/usr/src/gcc-12/gcc-12.2.0-dfsg.tar.xz",
            "/usr/src/newlib/newlib-3.3.0.tar.xz",
            "/usr/src/binutils/binutils-2.40.tar.xz",
            "/var/lib/dpkg/info/libc6-dev:amd64.list",
        ];
        let (_dir, machine) = scratch(&programs, &files, true);
        insta::assert_snapshot!(report(&machine), @r#"
        missing distribution packages: libc6-dev (host headers for the instruction table)
        install them with: DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends --reinstall libc6-dev
        "#);
    }

    #[test]
    fn without_apt_the_packages_are_named_all_the_same() {
        let (_dir, machine) = scratch(&["gcc"], &["/usr/include/stdlib.h"], true);
        insta::assert_snapshot!(report(&machine), @r#"
        missing distribution packages: gcc-xtensa-lx106 (C and C++ compiler), binutils-xtensa-lx106 (assembler, linker, ar), binutils-source (instruction table), gcc-12-source (libgcc and C++ library sources), newlib-source (C library sources)
        these are packages of Debian 12 and 13 and of Ubuntu 24.04, and this machine is of an unknown kind, without apt-get; use such a machine or container, or another windowed GNU cross compiler by its prefix
        "#);
    }
}
