//! What of other people's code runs on this machine while the tool is built, and which versions of it are known to be bad.
//!
//! `deny.toml` says both, for `cargo deny` too; this holds where that is not installed. Unaware of licences.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use semver::{Version, VersionReq};
use serde::Deserialize;

use crate::chores::{cargo, root};

/// What of `deny.toml` is read here.
#[derive(Deserialize)]
struct Deny {
    bans: Bans,
}

#[derive(Deserialize)]
struct Bans {
    build: Build,
    #[serde(default)]
    deny: Vec<Denied>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Build {
    allow_build_scripts: Vec<String>,
}

/// `name@requirement`, and why.
#[derive(Deserialize)]
struct Denied {
    #[serde(rename = "crate")]
    spec: String,
    reason: String,
}

/// What of `cargo metadata` is read here.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: Version,
    source: Option<String>,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
}

impl Package {
    fn has(&self, kind: &str) -> bool {
        self.targets.iter().any(|target| target.kind.iter().any(|found| found == kind))
    }
}

/// Checks every package that this machine would build.
pub fn check() -> Result<()> {
    let text = std::fs::read_to_string(root().join("deny.toml")).context("deny.toml")?;
    let Bans { build, deny } = toml::from_str::<Deny>(&text).context("deny.toml")?.bans;
    let metadata =
        ["metadata", "--format-version=1", "--locked", "--filter-platform=x86_64-unknown-linux-gnu"];
    let output = cargo().args(metadata).output().context("cargo metadata")?;
    if !output.status.success() {
        bail!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    }
    let Metadata { mut packages, resolve } =
        serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    let built: BTreeSet<String> = resolve.nodes.into_iter().map(|node| node.id).collect();
    packages.retain(|package| built.contains(&package.id) && package.source.is_some());
    let mut faults = Vec::new();
    for denied in &deny {
        let (name, bad) = parsed(&denied.spec)?;
        for package in packages.iter().filter(|package| package.name == name && bad.matches(&package.version))
        {
            faults.push(format!("{} {}: {}", package.name, package.version, denied.reason));
        }
    }
    let with = |kind| packages.iter().filter(move |package| package.has(kind));
    let scripts: BTreeSet<&str> = with("custom-build").map(|package| package.name.as_str()).collect();
    let allowed: BTreeSet<&str> = build.allow_build_scripts.iter().map(String::as_str).collect();
    let new = scripts
        .difference(&allowed)
        .map(|name| format!("{name} has a build script that deny.toml does not allow"));
    let gone =
        allowed.difference(&scripts).map(|name| format!("{name} has no build script; deny.toml allows one"));
    faults.extend(new.chain(gone));
    if !faults.is_empty() {
        bail!("dependencies to think about before building: {}", faults.join("; "));
    }
    println!(
        "xtask: of {} dependencies {} run build scripts and {} are macros; none of {} known bad versions",
        packages.len(),
        scripts.len(),
        with("proc-macro").count(),
        deny.len()
    );
    Ok(())
}

/// A name and the versions of it that are bad.
fn parsed(spec: &str) -> Result<(&str, VersionReq)> {
    let (name, versions) = spec.split_once('@').unwrap_or((spec, "*"));
    Ok((name, versions.parse().with_context(|| format!("deny.toml: {spec}"))?))
}

#[cfg(test)]
mod tests {
    use super::{check, parsed};

    #[test]
    fn the_dependencies_are_as_deny_toml_says() {
        check().expect("dependencies");
    }

    #[test]
    fn versions() {
        let rows =
            [("tar@<0.4.36", "0.4.35", true), ("tar@<0.4.36", "0.4.36", false), ("atty", "1.0.0", true)];
        for (spec, version, want) in rows {
            let (_, bad) = parsed(spec).expect("a specification");
            assert_eq!(bad.matches(&version.parse().expect("a version")), want, "{spec} {version}");
        }
        assert!(parsed("tar@new").is_err());
    }
}
