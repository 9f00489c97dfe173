//! `apt-get` as an ordinary user: lists, cache and status of its own in a directory, the machine's sources and keys.
//!
//! Unaware of what the packages are for. `apt-get` checks signatures and hashes; its status file is empty, so that what is
//! fetched needs nothing of the machine, and is the same wherever the sources are the same.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::IoContext as _;
use crate::install::Event;
use crate::install::workshop::{create_dir, write};
use crate::{Command, ToolchainError, process};

/// What a machine's own settings must not decide. Hooks are for the system's lists and cache.
const SETTINGS: &str = r#"#clear APT::Architectures;
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Sandbox::User "root";
APT::Install-Recommends "false";
APT::Install-Suggests "false";
APT::Get::Assume-Yes "true";
Acquire::Languages { "none"; };
Acquire::GzipIndexes "true";
Acquire::IndexTargets::deb-src::Sources::DefaultEnabled "false";
Debug::NoLocking "true";
"#;

pub(super) struct Apt<'a> {
    program: PathBuf,
    dir: &'a Path,
    /// What it complained of so far; the cause often shows long before the failure.
    complaints: Vec<String>,
    tell: &'a (dyn Fn(Event) + Sync),
}

/// Packages that must run, with what they need, and packages whose files are only read.
pub(super) struct Wanted {
    pub(super) programs: Vec<&'static str>,
    pub(super) sources: Vec<&'static str>,
}

impl<'a> Apt<'a> {
    /// `dir` is absolute, and this one's alone.
    pub(super) fn new(
        program: PathBuf,
        dir: &'a Path,
        tell: &'a (dyn Fn(Event) + Sync),
    ) -> Result<Apt<'a>, ToolchainError> {
        for partial in ["lists/partial", "cache/archives/partial", "log"] {
            create_dir(&dir.join(partial))?;
        }
        write(&dir.join("status"), "")?;
        write(&dir.join("settings"), SETTINGS)?;
        Ok(Apt { program, dir, complaints: Vec::new(), tell })
    }

    /// Fetches the lists. Sources that the packages are not from may fail; one that they are from is missed soon enough.
    pub(super) fn update(&mut self) -> Result<(), ToolchainError> {
        match self.run(&["update"]) {
            Err(ToolchainError::CommandFailed { .. }) => Ok(()),
            other => other,
        }
    }

    /// Names and versions of all that would be fetched.
    pub(super) fn candidates(
        &mut self,
        wanted: &Wanted,
    ) -> Result<BTreeSet<(String, String)>, ToolchainError> {
        let mut candidates = BTreeSet::new();
        for words in wanted.calls() {
            let command = self.get(&[&["--print-uris", "-qq"], words.as_slice()].concat());
            let text = process::captured(&command, self.dir).map_err(|error| self.failure(error))?;
            candidates.extend(text.lines().filter_map(package));
        }
        Ok(candidates)
    }

    /// Fetches the packages and gives their files, sorted.
    pub(super) fn fetch(&mut self, wanted: &Wanted) -> Result<Vec<PathBuf>, ToolchainError> {
        for words in wanted.calls() {
            self.run(&words).map_err(|error| self.failure(error))?;
        }
        let archives = self.archives();
        let entries = std::fs::read_dir(&archives).context("cannot list", &archives)?.flatten();
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "deb"));
        files.sort_unstable();
        Ok(files)
    }

    fn archives(&self) -> PathBuf {
        self.dir.join("cache/archives")
    }

    fn run(&mut self, words: &[&str]) -> Result<(), ToolchainError> {
        let (command, dir) = (self.get(words), self.archives());
        let (complaints, tell) = (&mut self.complaints, self.tell);
        process::streaming(&command, &dir, &mut |line| {
            if is_complaint(line) {
                complaints.push(line.to_owned());
            }
            tell(Event::Said { line: line.to_owned() });
        })
    }

    fn get(&self, words: &[&str]) -> Command {
        let place = |name: &str, path: &str| {
            let mut word = std::ffi::OsString::from(format!("{name}="));
            word.push(self.dir.join(path));
            ["-o".into(), word]
        };
        let places = [
            place("Dir::State", ""),
            place("Dir::State::lists", "lists"),
            place("Dir::State::status", "status"),
            place("Dir::State::extended_states", "extended_states"),
            place("Dir::Cache", "cache"),
            place("Dir::Cache::archives", "cache/archives"),
            place("Dir::Log", "log"),
        ];
        let settings = self.dir.join("settings");
        Command::new(&self.program)
            .arg("-c")
            .arg(settings)
            .args(places.into_iter().flatten())
            .args(words.iter().copied())
    }

    /// A failed call as what `apt-get` said of its reasons; what else went wrong stays what it is.
    fn failure(&self, error: ToolchainError) -> ToolchainError {
        let ToolchainError::CommandFailed { output, .. } = &error else { return error };
        let is_new = |line: &&str| is_complaint(line) && !self.complaints.iter().any(|said| said == line);
        let mut lines: Vec<&str> = self.complaints.iter().map(String::as_str).collect();
        lines.extend(output.lines().filter(is_new));
        let problem = if lines.is_empty() { output.trim().to_owned() } else { lines.join("\n") };
        ToolchainError::Fetch { problem }
    }
}

impl Wanted {
    /// Of the packages that only hold sources, what they depend on is for those who build all of them.
    fn calls(&self) -> [Vec<&'static str>; 2] {
        let programs = [&["install", "--download-only"], self.programs.as_slice()].concat();
        let sources = [&["download"], self.sources.as_slice()].concat();
        [programs, sources]
    }
}

/// `Err:` is of an attempt, of which there may be more; these two are of what came of it.
fn is_complaint(line: &str) -> bool {
    line.starts_with("E: ") || line.starts_with("W: ")
}

/// Of a line `'URI' NAME_VERSION_ARCHITECTURE.deb SIZE HASH`, where a colon in the version is written `%3a`.
fn package(line: &str) -> Option<(String, String)> {
    let file = line.strip_prefix('\'')?.split(' ').nth(1)?;
    let mut parts = file.strip_suffix(".deb")?.split('_');
    let (name, version) = (parts.next()?, parts.next()?);
    Some((name.to_owned(), version.replace("%3a", ":").replace("%5f", "_")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn a_line_names_a_package_and_its_version() {
        let rows = [
            (
                "'http://h/p/zlib1g_1.2.deb' zlib1g_1%3a1.2-1_amd64.deb 86684 SHA256:0",
                Some(("zlib1g", "1:1.2-1")),
            ),
            (
                "'http://h/p/n.deb' newlib-source_3.3.0-1.3+deb12u1_all.deb 5 ",
                Some(("newlib-source", "3.3.0-1.3+deb12u1")),
            ),
            ("Reading package lists...", None),
            ("'http://h/InRelease' h_InRelease 0 ", None),
            ("", None),
        ];
        for (line, want) in rows {
            let want = want.map(|(name, version)| (name.to_owned(), version.to_owned()));
            assert_eq!(package(line), want, "{line}");
        }
    }

    /// An `apt-get` that is this script, with its subcommand in `$call`.
    fn with_apt(script: &str, check: impl FnOnce(&mut Apt<'_>, &Wanted)) {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("apt-get");
        let calls = "case \"$*\" in *' update') call=update;; *' download '*) call=download;; *) call=install;; esac\n";
        testing::script(&program, &format!("{calls}{script}"));
        let place = dir.path().join("apt");
        let mut apt = Apt::new(program, &place, &|_| {}).unwrap();
        check(&mut apt, &Wanted { programs: vec!["gcc"], sources: vec!["gcc-12-source"] });
    }

    #[test]
    fn the_reason_is_told_wherever_it_shows() {
        let rows = [
            (
                "echo 'Err:1 x'; echo 'W: no route'; test $call = update || { echo 'E: no such package'; exit 100; }",
                "W: no route\nE: no such package",
            ),
            ("test $call = update || { echo 'E: no room'; exit 100; }", "E: no room"),
            ("exit 7", ""),
        ];
        for (script, want) in rows {
            with_apt(script, |apt, wanted| {
                apt.update().unwrap();
                for result in [apt.candidates(wanted).map(drop), apt.fetch(wanted).map(drop)] {
                    match result {
                        Err(ToolchainError::Fetch { problem }) => {
                            assert!(
                                problem.ends_with(want) && problem.lines().count() <= 3,
                                "{script}: {problem}"
                            )
                        }
                        other => panic!("{script}: {other:?}"),
                    }
                }
            });
        }
    }

    #[test]
    fn files_lie_where_apt_puts_them() {
        with_apt(
            "case $call in install) touch b_1_all.deb c;; download) touch a_1_all.deb;; esac",
            |apt, wanted| {
                let files = apt.fetch(wanted).unwrap();
                let names: Vec<_> =
                    files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
                assert_eq!(names, ["a_1_all.deb", "b_1_all.deb"]);
            },
        );
    }
}
