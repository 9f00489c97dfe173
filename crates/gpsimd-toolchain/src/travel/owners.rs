//! Which packages files come from, by dpkg's records.
//!
//! Unaware of what the files are for. Reads the records themselves: no program of dpkg is needed, and a test can make some.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::Package;
use crate::error::IoContext as _;
use crate::{Machine, ToolchainError};

const INFO: &str = "/var/lib/dpkg/info";
const STATUS: &str = "/var/lib/dpkg/status";

/// The packages that own these files, sorted; a file without an owner is an error.
pub(super) fn of(machine: &Machine, files: &BTreeSet<PathBuf>) -> Result<Vec<Package>, ToolchainError> {
    let mut wanted: BTreeMap<String, PathBuf> =
        files.iter().map(|file| (without_usr(&file.to_string_lossy()).to_owned(), file.clone())).collect();
    let info = machine.file(INFO);
    let mut lists: Vec<PathBuf> =
        std::fs::read_dir(&info).context("cannot list", &info)?.flatten().map(|entry| entry.path()).collect();
    lists.retain(|path| path.extension().is_some_and(|extension| extension == "list"));
    lists.sort_unstable();
    let mut owners = BTreeSet::new();
    for list in lists {
        let text = std::fs::read(&list).context("cannot read", &list)?;
        for line in String::from_utf8_lossy(&text).lines() {
            if wanted.remove(without_usr(line)).is_some() {
                let name = list.file_stem().unwrap_or_default().to_string_lossy();
                owners.insert(name.split(':').next().unwrap_or_default().to_owned());
            }
        }
    }
    if let Some(file) = wanted.into_values().next() {
        return Err(ToolchainError::NotExportable {
            problem: format!("no package owns {}, so its source and licence are unknown", file.display()),
        });
    }
    let status = machine.file(STATUS);
    let text = std::fs::read(&status).context("cannot read", &status)?;
    let text = String::from_utf8_lossy(&text);
    let mut packages = owners.iter().map(|name| {
        text.split("\n\n").find_map(|paragraph| package(paragraph, name)).ok_or_else(|| {
            ToolchainError::NotExportable {
                problem: format!("{} has no version of {name}", status.display()),
            }
        })
    });
    packages.by_ref().collect()
}

/// Directories of `/` are links into `/usr` nowadays, and records name either.
fn without_usr(path: &str) -> &str {
    path.strip_prefix("/usr").unwrap_or(path)
}

fn package(paragraph: &str, name: &str) -> Option<Package> {
    let field = |field: &str| {
        let value = paragraph.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
        Some(value.trim())
    };
    if field("Package") != Some(name) || !field("Status")?.ends_with(" installed") {
        return None;
    }
    let version = field("Version")?;
    // `Source: name (version)`; either is left out where it is the package's own.
    let source = field("Source").unwrap_or(name);
    let (source, source_version) = match source.split_once(" (") {
        Some((source, rest)) => (source, rest.trim_end_matches(')')),
        None => (source, version),
    };
    Some(Package {
        name: name.to_owned(),
        version: version.to_owned(),
        source: source.to_owned(),
        source_version: source_version.to_owned(),
    })
}

/// Where a package's licence is told.
pub(super) fn copyright(machine: &Machine, package: &Package) -> PathBuf {
    machine.file("/usr/share/doc").join(&package.name).join("copyright")
}

/// A file as the records name it: links on the way are followed.
pub(super) fn recorded(path: &Path) -> Result<PathBuf, ToolchainError> {
    path.canonicalize().context("cannot look at", path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_source_of_its_package() {
        let dir = tempfile::tempdir().unwrap();
        let machine = Machine::at(dir.path(), "", false);
        let put = |path: &str, text: &str| {
            let path = machine.file(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("/var/lib/dpkg/info/libc6:amd64.list", "/.\n/lib\n/lib/libc.so.6\n");
        put("/var/lib/dpkg/info/cc.list", "/usr/bin/cc\n");
        put(
            "/var/lib/dpkg/status",
            "Package: cc\nStatus: install ok installed\nVersion: 12+3\nSource: gcc (12)\n\n\
             Package: libc6\nStatus: deinstall ok config-files\nVersion: 1\n\n\
             Package: libc6\nStatus: install ok installed\nSource: glibc\nVersion: 2.36-9\nDescription: x\n",
        );
        let packages = |files: &[&str]| of(&machine, &files.iter().map(PathBuf::from).collect());
        let found = packages(&["/usr/bin/cc", "/usr/lib/libc.so.6"]).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|p| format!("{} {} {} {}", p.name, p.version, p.source, p.source_version))
            .collect();
        assert_eq!(shown, ["cc 12+3 gcc 12", "libc6 2.36-9 glibc 2.36-9"]);
        let error = packages(&["/usr/bin/own"]).unwrap_err().to_string();
        assert!(error.contains("no package owns /usr/bin/own"), "{error}");
    }
}
