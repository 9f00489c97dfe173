//! From an archive to an installed toolchain, without root, a network or packages.
//!
//! Unaware of the archive's form. Everything is made beside the final place, checked, tried, and renamed at the end: an
//! archive that is not good leaves what was there before as it was.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{FORMAT, HOST, Member, pack, read};
use crate::error::IoContext as _;
use crate::install::workshop::create_dir;
use crate::install::{Event, Outcome, Site, Step, selfcheck};
use crate::open::{self, Manifest};
use crate::{Home, Machine, OpenToolchain, RECIPE, ToolchainError, sysroot, tree};

/// Installs the archive `from`, a path or a `file://` URL, in `home`. `sha256` is what it must hash to; where it is not
/// given, `FILE.sha256` beside the archive says it, if that is there.
pub fn import(
    machine: &Machine,
    home: &Home,
    from: &OsStr,
    sha256: Option<&str>,
    tell: &(dyn Fn(Event) + Sync),
) -> Result<Outcome, ToolchainError> {
    let archive = &local(from)?;
    check_sum(archive, sha256)?;
    let site = Site::take(home, tell)?;
    let unfinished = site.unfinished()?;
    let dir = unfinished.path();
    tell(Event::Progress { step: Step::Archive, done: 0, total: 1 });
    let file = File::open(archive).context("cannot open", archive)?;
    let manifest = read(archive, file, &mut |member| place(archive, dir, member))?;
    fits(archive, &manifest)?;
    open::write_manifest(dir, &manifest)?;
    tell(Event::Progress { step: Step::Archive, done: 1, total: 1 });

    let toolchain = OpenToolchain::in_dir(machine, dir.to_owned(), manifest.clone())?;
    toolchain.verify().map_err(|error| match error {
        ToolchainError::Damaged { found, recorded, .. } => ToolchainError::ArchiveChanged {
            archive: archive.clone(),
            found,
            expected: recorded,
            by: "its manifest".into(),
        },
        other => other,
    })?;
    let to = site.toolchains().join(open::travelling_name(&manifest));
    if let Ok(manifest) = open::read_manifest(&to) {
        let there = OpenToolchain::in_dir(machine, to.clone(), manifest)?;
        if there.manifest == toolchain.manifest && there.verify().is_ok() {
            open::prefer(&to)?;
            return Ok(Outcome::AlreadyThere(there));
        }
    }
    tell(Event::Progress { step: Step::SelfCheck, done: 0, total: 1 });
    let scratch = site.unfinished()?;
    selfcheck::check(&toolchain, machine, scratch.path())?;
    site.publish(unfinished, &to)?;
    tell(Event::Progress { step: Step::SelfCheck, done: 1, total: 1 });
    Ok(Outcome::Installed(OpenToolchain::in_dir(machine, to, manifest)?))
}

/// The path of what may be a URL; this program opens no connection.
fn local(from: &OsStr) -> Result<PathBuf, ToolchainError> {
    let Some(text) = from.to_str().filter(|text| text.contains("://")) else { return Ok(from.into()) };
    match text.strip_prefix("file://").map(|rest| rest.strip_prefix("localhost").unwrap_or(rest)) {
        Some(path) if path.starts_with('/') => Ok(PathBuf::from(decoded(path))),
        _ => Err(ToolchainError::ArchiveRemote { url: text.to_owned() }),
    }
}

/// `%20` and its like as bytes.
fn decoded(path: &str) -> std::ffi::OsString {
    let mut out = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let byte = (*first == b'%')
            .then(|| u8::from_str_radix(std::str::from_utf8(others.get(..2)?).ok()?, 16).ok())
            .flatten();
        out.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { others.get(2..).unwrap_or_default() } else { others };
    }
    OsStr::from_bytes(&out).to_owned()
}

fn check_sum(archive: &Path, given: Option<&str>) -> Result<(), ToolchainError> {
    let beside = pack::sum_file(archive);
    let (expected, by) = match given {
        Some(hash) => (hash.to_ascii_lowercase(), "the one given".to_owned()),
        None => match fs::read_to_string(&beside) {
            Ok(text) => {
                (text.split_whitespace().next().unwrap_or_default().to_owned(), beside.display().to_string())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).context("cannot read", beside),
        },
    };
    let file = File::open(archive).context("cannot open", archive)?;
    let found = tree::hash_of(file).context("cannot read", archive)?;
    if found == expected {
        return Ok(());
    }
    Err(ToolchainError::ArchiveChanged { archive: archive.to_owned(), found, expected, by })
}

fn place(archive: &Path, dir: &Path, member: Member<'_>) -> Result<(), ToolchainError> {
    let to = dir.join(member.name);
    if let Some(parent) = to.parent() {
        create_dir(parent)?;
    }
    let mode = if member.is_executable { 0o755 } else { 0o644 };
    let mut file =
        File::options().write(true).create_new(true).mode(mode).open(&to).context("cannot create", &to)?;
    // Only the file system's errors carry an errno; the decoders make up theirs.
    io::copy(member.content, &mut file).map(drop).map_err(|error| match error.raw_os_error() {
        Some(_) => ToolchainError::Io { action: "cannot write", path: to.clone(), source: error },
        None => ToolchainError::ArchiveUnreadable { archive: archive.to_owned(), problem: error.to_string() },
    })
}

/// Whether this program can use what the manifest describes.
fn fits(archive: &Path, manifest: &Manifest) -> Result<(), ToolchainError> {
    let travels = manifest.travels.as_ref();
    let text = |found: Option<String>| found.unwrap_or_else(|| "none".into());
    let rows = [
        ("layout", text(travels.map(|t| t.format.to_string())), FORMAT.to_string()),
        ("host", text(travels.map(|t| t.host.clone())), HOST.to_owned()),
        ("recipe", manifest.recipe.to_string(), RECIPE.to_string()),
        ("sysroot's source", manifest.versions.sysroot.clone(), sysroot::hash()),
    ];
    for (what, found, wanted) in rows {
        if found != wanted {
            return Err(ToolchainError::ArchiveUnfit { archive: archive.to_owned(), what, found, wanted });
        }
    }
    // Written by whoever made the archive; commands name them.
    let is_inside = |path: &PathBuf| {
        path.iter().next() == Some(OsStr::new("programs"))
            && path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    let is_plain =
        |word: &str| (6..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let content = travels.map(|t| t.content.as_str()).unwrap_or_default();
    if !manifest.compiler_headers.iter().all(is_inside) || !is_plain(&manifest.key) || !is_plain(content) {
        return Err(ToolchainError::ArchiveRefused {
            archive: archive.to_owned(),
            member: open::MANIFEST.into(),
            problem: "it names a place out of the archive, or could".into(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_an_archive_is() {
        let rows: &[(&str, Option<&str>)] = &[
            ("a.tar.xz", Some("a.tar.xz")),
            ("/a b/c%20d", Some("/a b/c%20d")),
            ("file:///a%20b/c%2", Some("/a b/c%2")),
            ("file://localhost/a", Some("/a")),
            ("file://elsewhere/a", None),
            ("https://example.org/a", None),
        ];
        for (from, want) in rows {
            let found = local(OsStr::new(from)).ok();
            assert_eq!(found.as_deref(), want.map(Path::new), "{from}");
        }
    }
}
