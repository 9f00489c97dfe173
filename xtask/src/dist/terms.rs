//! The terms of what is linked, as whoever passes a binary on must: every crate with its licence and its own texts.
//!
//! Unaware of which licences are fit; `licences` judges those.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::bill::Component;

const BEGINNINGS: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

const HEAD: &str = "\
gpsimd-build is under the Apache License 2.0. Linked into it are the crates below, each under the terms that it
names, and parts of the GNU C Library (LGPL-2.1 or later: whoever wants to link with another version of it does so with
the source package and `cargo xtask dist`). Texts that several crates share are here once.
";

/// One text of them all.
pub fn text(components: &[Component]) -> Result<String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut out = String::from(HEAD);
    out.push('\n');
    for component in components.iter().filter(|component| component.sha256.is_some()) {
        let name = format!("{} {}", component.name, component.version);
        out += &format!("{name}: {}\n", component.licence);
        for text in own(&component.directory)? {
            texts.entry(text).or_default().push(name.clone());
        }
    }
    let mut texts: Vec<(String, Vec<String>)> = texts.into_iter().collect();
    texts.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    for (text, names) in texts {
        out += &format!("\n{}\n{}\n\n{}\n", "=".repeat(80), names.join(", "), text.trim_end());
    }
    Ok(out)
}

/// Files at the top of a crate whose names say that they hold terms.
fn own(directory: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(directory).with_context(|| directory.display().to_string())?;
    let mut paths: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.sort();
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    });
    let read = |path: &std::path::PathBuf| {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        Ok(String::from_utf8_lossy(&bytes).replace("\r\n", "\n"))
    };
    paths.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn texts_are_known_by_their_names() {
        let dir = std::env::temp_dir().join(format!("xtask-terms-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for name in ["LICENSE-MIT", "license-apache", "Cargo.toml", "COPYING"] {
            std::fs::write(dir.join(name), name).unwrap();
        }
        let found = own(&dir).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(found, ["COPYING", "LICENSE-MIT", "license-apache"]);
    }
}
