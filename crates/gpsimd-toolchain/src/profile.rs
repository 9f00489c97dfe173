//! The distributions' compilers that the recipe knows, a row each: what differs between them in names and places.
//!
//! Unaware of what is installed; [`crate::packages`] looks. How a row's sources are compiled is [`crate::install`]'s.

use crate::Machine;

/// A GCC of a major version, and where its distributions have the sources of that same version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Profile {
    /// The major version: also the name of the directory of C++ headers.
    pub(crate) gcc: &'static str,
    /// The package of GCC's sources.
    pub(crate) package: &'static str,
    /// Its directory, and how the name of the archive there begins.
    pub(crate) sources: (&'static str, &'static str),
    /// Major version of the newlib beside it.
    pub(crate) newlib: u32,
    /// Releases that have these packages, by the name in `os-release` and, of Debian, by the number in `debian_version`.
    releases: &'static [(&'static str, Option<&'static str>)],
}

/// The one a machine without any of the packages is told of is the first.
pub(crate) const PROFILES: [Profile; 2] = [
    Profile {
        gcc: "12",
        package: "gcc-12-source",
        sources: ("/usr/src/gcc-12", "gcc-12"),
        newlib: 3,
        releases: &[("bookworm", Some("12"))],
    },
    Profile {
        gcc: "13",
        package: "gcc-13-source",
        sources: ("/usr/src/gcc-13", "gcc-13"),
        newlib: 4,
        releases: &[("trixie", Some("13")), ("noble", None)],
    },
];

/// What of it is said to those whose machine has something else.
pub(crate) const SUPPORTED: &str =
    "GCC 12 with newlib 3 (Debian 12), GCC 13 with newlib 4 (Debian 13, Ubuntu 24.04)";

impl Profile {
    /// By the compiler that is there, else by the release.
    pub(crate) fn of(machine: &Machine) -> &'static Profile {
        let installed = PROFILES.iter().find(|profile| {
            machine.newest("/usr/lib/gcc/xtensa-lx106-elf", &format!("{}.", profile.gcc), "").is_some()
        });
        let offered = || PROFILES.iter().find(|profile| profile.is_offered_by(&Release::of(machine)));
        installed.or_else(offered).unwrap_or(&PROFILES[0])
    }

    /// By the first line of a compiler's `--version`.
    pub(crate) fn of_compiler(version_line: &str) -> Option<&'static Profile> {
        let version = version_line.rsplit(' ').next()?;
        PROFILES.iter().find(|profile| version.split('.').next() == Some(profile.gcc))
    }

    /// Whether the release's `apt-get` has the packages.
    pub(crate) fn is_offered_by(&self, release: &Release) -> bool {
        self.releases.iter().any(|(name, number)| {
            release.name.as_deref() == Some(name) || number.is_some() && release.number.as_deref() == *number
        })
    }
}

/// What a machine says it is.
pub(crate) struct Release {
    name: Option<String>,
    number: Option<String>,
    /// For people.
    pub(crate) title: String,
}

impl Release {
    pub(crate) fn of(machine: &Machine) -> Release {
        let text = |file| std::fs::read_to_string(machine.file(file)).unwrap_or_default();
        let release = text("/etc/os-release");
        let field = |name: &str| {
            let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            value.map(|v| v.trim().trim_matches(['"', '\'']).to_owned())
        };
        let number = text("/etc/debian_version");
        Release {
            name: field("VERSION_CODENAME"),
            number: number.trim().split('.').next().map(str::to_owned),
            title: field("PRETTY_NAME").unwrap_or_else(|| "of an unknown kind".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let machine = Machine::at(dir.path(), dir.path().join("bin"), true);
        (dir, machine)
    }

    #[test]
    fn the_compiler_decides_then_the_release() {
        let trixie = ("etc/os-release", "VERSION_CODENAME=trixie\n");
        let noble = ("etc/os-release", "PRETTY_NAME=\"Ubuntu 24.04\"\nVERSION_CODENAME=noble\n");
        let rows: [(&[(&str, &str)], &str); 6] = [
            (&[], "12"),
            (&[("etc/debian_version", "12.11\n")], "12"),
            (&[("etc/debian_version", "13.1\n")], "13"),
            (&[trixie], "13"),
            (&[noble], "13"),
            (&[trixie, ("usr/lib/gcc/xtensa-lx106-elf/12.2.0/cc1", "")], "12"),
        ];
        for (files, gcc) in rows {
            let (_dir, machine) = machine(files);
            assert_eq!(Profile::of(&machine).gcc, gcc, "{files:?}");
        }
    }

    #[test]
    fn a_compiler_says_its_version_last() {
        let of = |line| Profile::of_compiler(line).map(|profile| profile.gcc);
        assert_eq!(of("xtensa-lx106-elf-g++ (12.2.0-14+deb12u1+13+b2) 12.2.0"), Some("12"));
        assert_eq!(of("xtensa-lx106-elf-g++ (13.3.0-16+14+b4) 13.3.0"), Some("13"));
        assert_eq!(of("xtensa-lx106-elf-g++ (14) 14.2.0"), None);
        assert_eq!(of(""), None);
    }
}
