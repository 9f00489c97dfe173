//! The release's notes, and the hashes of its files.
//!
//! Unaware of how the files are made.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::bill::Bill;
use super::{Release, git, sha256};

const NOTES: &str = "NOTES.md";
const SUMS: &str = "SHA256SUMS";

/// What each file is for, by how its name ends.
const PURPOSES: [(&str, &str); 7] = [
    ("x86_64-linux", "the program alone: static, runs on any x86-64 Linux"),
    ("x86_64-linux.tar.xz", "the same with manual, completions and terms, to unpack below a prefix"),
    (".deb", "the same for Debian and Ubuntu; depends on nothing"),
    (".whl", "the Python package, with the program in it"),
    (".cdx.json", "bill of materials, CycloneDX 1.5"),
    (".tar.xz", "the sources"),
    (".crate", "a crate, as `cargo publish` sends it"),
];

/// Writes both, of what is there.
pub fn write(release: &Release, bill: &Bill, floor: Option<&str>) -> Result<()> {
    let names = names(&release.dir)?;
    let mut table = String::new();
    let mut sums = String::new();
    for name in &names {
        let bytes = fs::read(release.dir.join(name)).with_context(|| name.clone())?;
        let hash = sha256(&bytes);
        writeln!(table, "| `{name}` | {} | {:.1} MB |", purpose(name), bytes.len() as f64 / 1e6)?;
        writeln!(sums, "{hash}  {name}")?;
    }
    let wheel = match floor {
        Some(floor) => format!("The wheel needs glibc {floor} or later and Python 3.9 or later.\n"),
        None => String::new(),
    };
    let notes = format!(
        "# gpsimd-build {}\n\nFrom commit `{}`. {} crates are linked into the program.\n\n\
         | file | what | size |\n|---|---|---|\n{table}\n{wheel}\
         The toolchain is not part of a release: `gpsimd-build toolchain install` builds it from a distribution's packages, and\n\
         `toolchain export` makes the archive that other machines take with `toolchain install --from`.\n\n\
         `sha256sum --check {SUMS}` checks the copies. Equal sources, compilers and packages give equal files.\n\n\
         ## Since {}\n\n{}\n",
        release.version,
        release.commit,
        bill.components.len(),
        previous().as_deref().unwrap_or("the beginning: the last 20 changes"),
        changes()?,
    );
    writeln!(sums, "{}  {NOTES}", sha256(notes.as_bytes()))?;
    release.put(NOTES, notes.as_bytes())?;
    release.put(SUMS, sums.as_bytes())
}

/// Everything that was made, as seen from there, sorted.
fn names(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.path().is_dir() {
            true => names.extend(self::names(&entry.path())?.iter().map(|inner| format!("{name}/{inner}"))),
            false => names.push(name),
        }
    }
    names.sort();
    Ok(names)
}

fn purpose(name: &str) -> &'static str {
    PURPOSES.iter().find(|(end, _)| name.ends_with(end)).map_or("", |(_, purpose)| purpose)
}

/// The tag before this commit's own.
fn previous() -> Option<String> {
    git(&["describe", "--tags", "--abbrev=0", "HEAD^"]).ok()
}

fn changes() -> Result<String> {
    match previous() {
        Some(tag) => git(&["log", "--format=- %s", &format!("{tag}..HEAD")]),
        None => git(&["log", "--format=- %s", "-20"]),
    }
}

#[cfg(test)]
mod tests {
    use super::{names, purpose};

    #[test]
    fn crates_are_told_from_sources() {
        let dir = std::env::temp_dir().join(format!("xtask-notes-{}", std::process::id()));
        std::fs::create_dir_all(dir.join("crates")).unwrap();
        for name in ["x-0.1.0.tar.xz", "crates/x-0.1.0.crate"] {
            std::fs::write(dir.join(name), name).unwrap();
        }
        let found = names(&dir).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(found, ["crates/x-0.1.0.crate", "x-0.1.0.tar.xz"]);
        assert!(purpose(&found[0]).starts_with("a crate"));
        assert_eq!(purpose(&found[1]), "the sources");
    }
}
