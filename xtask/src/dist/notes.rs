//! The release's notes, and the hashes of its files.
//!
//! Unaware of how the files are made.

use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result};

use super::bill::Bill;
use super::{Release, git, sha256};

const NOTES: &str = "NOTES.md";
const SUMS: &str = "SHA256SUMS";

/// What each file is for, by how its name ends.
const PURPOSES: [(&str, &str); 6] = [
    ("x86_64-linux", "the program alone: static, runs on any x86-64 Linux"),
    ("x86_64-linux.tar.xz", "the same with manual, completions and terms, to unpack below a prefix"),
    (".deb", "the same for Debian and Ubuntu; depends on nothing"),
    (".whl", "the Python package, with the program in it"),
    (".cdx.json", "bill of materials, CycloneDX 1.5"),
    (".tar.xz", "the sources"),
];

/// Writes both, of what is there.
pub fn write(release: &Release, bill: &Bill, floor: Option<&str>) -> Result<()> {
    let mut names: Vec<String> = fs::read_dir(&release.dir)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
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
