//! The crates as a registry gets them: `cargo package` of each that may be published.
//!
//! Equal commits give equal files: cargo leaves times and owners out. Nothing is compiled; `cargo xtask soak publish` does
//! that. Unaware of registries.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::{Order, Release};
use crate::chores::{cargo, run, target_directory};

/// Below `target/dist`.
const DIRECTORY: &str = "crates";
/// What a registry takes at most.
const MOST: u64 = 10 << 20;

/// What of `cargo metadata` is read here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// A crate of this tree.
#[derive(Deserialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    /// Registries that may have it; none where nothing is said.
    publish: Option<Vec<String>>,
}

impl Package {
    /// What its package is called.
    pub fn file(&self) -> String {
        format!("{}-{}.crate", self.name, self.version)
    }
}

/// Every crate that may be published, sorted.
pub fn published() -> Result<Vec<Package>> {
    let output = cargo().args(["metadata", "--format-version=1", "--no-deps", "--locked"]).output()?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let Metadata { mut packages } = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    packages.retain(|package| package.publish.is_none());
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

/// Has cargo pack them, and says where the packages are.
pub fn packed(packages: &[Package], more: &[&str]) -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["package", "--quiet", "--locked", "--no-verify"]).args(more);
    run(command.args(packages.iter().flat_map(|package| ["--package", &package.name])))?;
    Ok(target_directory().join("package"))
}

/// Packs them all.
pub fn pack(release: &Release, order: &Order) -> Result<()> {
    let packages = published()?;
    let made = packed(&packages, if order.dirty { &["--allow-dirty"] } else { &[] })?;
    let directory = release.dir.join(DIRECTORY);
    fs::create_dir_all(&directory)?;
    for file in packages.iter().map(Package::file) {
        let bytes = fs::read(made.join(&file)).context(file.clone())?;
        ensure!(bytes.len() as u64 <= MOST, "{file} has {} bytes: a registry takes {MOST}", bytes.len());
        release.put(&format!("{DIRECTORY}/{file}"), &bytes)?;
    }
    Ok(())
}
