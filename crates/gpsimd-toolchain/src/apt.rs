//! Missing packages and how this machine gets them: the one `apt-get` command, and running it.
//!
//! Unaware of what the packages are for. Package names and versions are those of one Debian release, so `apt-get` of
//! another is no way to get them.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::profile::{Profile, Release};
use crate::{Command, Machine, ToolchainError, process};

/// One missing package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingPackage {
    /// Debian's name.
    pub name: &'static str,
    /// What the toolchain takes from it.
    pub purpose: &'static str,
    /// Whether dpkg has it on record although its file is not there.
    pub is_broken: bool,
}

/// All missing packages, and how this machine gets them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// In the order of need.
    pub packages: Vec<MissingPackage>,
    supply: Supply,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Supply {
    /// The program, and whether it may install by itself.
    Apt { program: PathBuf, is_root: bool },
    /// A machine that does not have these packages to offer, in words.
    Elsewhere(String),
}

impl Supply {
    fn of(machine: &Machine) -> Supply {
        let release = Release::of(machine);
        let is_known = Profile::of(machine).is_offered_by(&release);
        let name = release.title;
        match machine.program("apt-get") {
            Some(program) if is_known => Supply::Apt { program, is_root: machine.is_root() },
            Some(_) => Supply::Elsewhere(name),
            None => Supply::Elsewhere(format!("{name}, without apt-get")),
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, package) in self.packages.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{} ({})", package.name, package.purpose)?;
        }
        Ok(())
    }
}

impl Missing {
    pub(crate) fn on(machine: &Machine, packages: Vec<MissingPackage>) -> Missing {
        Missing { packages, supply: Supply::of(machine) }
    }

    /// The one command that installs them, where `apt-get` has them.
    pub fn install_command(&self) -> Option<Command> {
        match &self.supply {
            Supply::Apt { is_root, .. } => {
                Some(self.apt_get("apt-get".into(), *is_root, &self.install_words()))
            }
            Supply::Elsewhere(_) => None,
        }
    }

    /// `apt-get`, where it can fetch the packages for [`crate::private`]: what that makes is for one kind of processor.
    pub(crate) fn private_supply(&self) -> Option<PathBuf> {
        match &self.supply {
            Supply::Apt { program, .. } if cfg!(target_arch = "x86_64") => Some(program.clone()),
            _ => None,
        }
    }

    fn install_words(&self) -> Vec<&'static str> {
        let mut words = vec!["install", "-y", "--no-install-recommends"];
        if self.packages.iter().any(|p| p.is_broken) {
            words.push("--reinstall");
        }
        words.extend(self.packages.iter().map(|p| p.name));
        words
    }

    fn apt_get(&self, program: PathBuf, is_root: bool, words: &[&str]) -> Command {
        let command = if is_root {
            Command::new(program).env("DEBIAN_FRONTEND", "noninteractive")
        } else {
            // sudo drops the environment; -y answers apt, and none of these packages asks anything.
            Command::new("sudo").arg(program)
        };
        command.args(words.iter().copied())
    }

    pub(crate) fn help(&self) -> String {
        match (&self.supply, self.install_command()) {
            (Supply::Apt { is_root: false, .. }, Some(command)) if self.private_supply().is_some() => {
                format!(
                    "install them with: {command}\nor leave the system as it is: with --yes, `gpsimd-build toolchain install` fetches and \
                 unpacks them for itself, without root"
                )
            }
            (_, Some(command)) => format!("install them with: {command}"),
            (Supply::Elsewhere(machine), _) => format!(
                "these are packages of Debian 12 and 13 and of Ubuntu 24.04, and this machine is {machine}; use such a machine or container, \
                 or another windowed GNU cross compiler by its prefix"
            ),
            (Supply::Apt { .. }, None) => String::new(),
        }
    }

    /// Installs the packages, handing every line that apt-get prints to `line`. The package lists are fetched first when
    /// they do not know the packages, and once more when an archive that they name is gone.
    pub fn install(&self, line: &mut dyn FnMut(&str)) -> Result<(), ToolchainError> {
        let Supply::Apt { program, is_root } = &self.supply else {
            return Err(ToolchainError::PackagesMissing { missing: self.clone() });
        };
        let apt_get = |words: &[&str]| self.apt_get(program.clone(), *is_root, words);
        let install = apt_get(&self.install_words());
        let update = apt_get(&["update"]);
        let root = Path::new("/");
        let mut simulate = self.install_words();
        simulate.push("--simulate");
        let is_known = process::captured(&apt_get(&simulate), root).is_ok();
        if is_known && process::streaming(&install, root, line).is_ok() {
            return Ok(());
        }
        process::streaming(&update, root, line)?;
        process::streaming(&install, root, line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine of that release whose apt-get is this script; it logs its first two words to `log`.
    fn machine(release: &str, script: &str) -> (tempfile::TempDir, Machine) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("etc")).unwrap();
        std::fs::write(dir.path().join("etc/os-release"), release).unwrap();
        let apt = dir.path().join("bin/apt-get");
        let log = dir.path().join("log");
        let (here, log) = (dir.path().display(), log.display());
        crate::testing::script(&apt, &format!("cd '{here}'\necho \"$@\" >> '{log}'\n{script}"));
        let machine = Machine::at(dir.path(), dir.path().join("bin"), true);
        (dir, machine)
    }

    fn missing(machine: &Machine) -> Missing {
        Missing::on(
            machine,
            vec![MissingPackage { name: "newlib-source", purpose: "C library", is_broken: false }],
        )
    }

    const BOOKWORM: &str = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nVERSION_CODENAME=bookworm\n";

    #[test]
    fn lists_are_fetched_only_when_needed() {
        const SIMULATE: &str = "install -y --no-install-recommends newlib-source --simulate";
        const INSTALL: &str = "install -y --no-install-recommends newlib-source";
        type Row = (&'static str, &'static str, Result<&'static [&'static str], &'static [&'static str]>);
        let rows: &[Row] = &[
            ("lists know it", "", Ok(&[SIMULATE, INSTALL])),
            (
                "no lists yet",
                "test -e updated || test \"$1\" = update && touch updated",
                Ok(&[SIMULATE, "update", INSTALL]),
            ),
            (
                "lists are old",
                "case \"$*\" in update) touch updated;; *--simulate) ;; *) test -e updated;; esac",
                Ok(&[SIMULATE, INSTALL, "update", INSTALL]),
            ),
            ("no network", "echo no route; exit 100", Err(&[SIMULATE, "update"])),
        ];
        for (name, script, want) in rows {
            let (dir, machine) = machine(BOOKWORM, script);
            let mut lines = Vec::new();
            let result = missing(&machine).install(&mut |l| lines.push(l.to_owned()));
            let log = std::fs::read_to_string(dir.path().join("log")).unwrap();
            let log: Vec<&str> = log.lines().collect();
            match want {
                Ok(calls) => assert_eq!((result.is_ok(), &log[..]), (true, *calls), "{name}"),
                Err(calls) => {
                    assert_eq!((result.is_ok(), &log[..]), (false, *calls), "{name}");
                    assert_eq!(lines, ["no route"], "{name}");
                }
            }
        }
    }

    #[test]
    fn another_release_has_no_command() {
        let (_dir, machine) = machine("PRETTY_NAME='Ubuntu 22.04.1 LTS'\nVERSION_CODENAME=jammy\n", "");
        let missing = missing(&machine);
        assert_eq!(missing.install_command(), None);
        assert!(missing.help().contains("this machine is Ubuntu 22.04.1 LTS"), "{}", missing.help());
        assert!(matches!(missing.install(&mut |_| {}), Err(ToolchainError::PackagesMissing { .. })));
    }
}
