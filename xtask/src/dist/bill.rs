//! The bill of materials: every crate that is linked into the program, as CycloneDX JSON.
//!
//! What is linked is what cargo resolves for the target, followed from the tool over its ordinary dependencies; what only
//! builds or tests is not in it. Unaware of what terms say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Release, program::TARGET};
use crate::chores::{cargo, root};

/// What is linked into a program.
pub struct Bill {
    name: String,
    version: String,
    /// The commit that the release is made from.
    commit: String,
    pub components: Vec<Component>,
}

/// A crate that is linked.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Component {
    pub name: String,
    pub version: String,
    pub licence: String,
    /// Hash of its package, as the lock file has it; of our own crates there is none.
    pub sha256: Option<String>,
    /// Where its sources are here.
    pub directory: PathBuf,
    /// Positions of those that it needs.
    needs: Vec<String>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

/// What of the lock file is read here.
#[derive(Deserialize)]
struct Lock {
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    version: String,
    checksum: Option<String>,
}

impl Bill {
    /// Of the crate `name` of this tree.
    pub fn of(name: &str, release: &Release) -> Result<Bill> {
        let output = cargo()
            .args(["metadata", "--format-version=1", "--locked", "--filter-platform", TARGET])
            .output()
            .context("cargo metadata")?;
        ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        let lock = std::fs::read_to_string(root().join("Cargo.lock")).context("Cargo.lock")?;
        let components = linked(name, &output.stdout, &lock)?;
        Ok(Bill {
            name: name.to_owned(),
            version: release.version.clone(),
            commit: release.commit.clone(),
            components,
        })
    }

    /// In CycloneDX's form, without times and random numbers.
    pub fn json(&self) -> Result<String> {
        let itself = reference(&self.name, &self.version);
        let component = |component: &Component| -> Value {
            let mut entry = json!({
                "type": "library",
                "bom-ref": component.reference(),
                "name": component.name,
                "version": component.version,
                "purl": component.reference(),
                "licenses": [{ "expression": component.licence.replace('/', " OR ") }],
            });
            if let (Some(sha256), Some(entry)) = (&component.sha256, entry.as_object_mut()) {
                entry.insert("hashes".into(), json!([{ "alg": "SHA-256", "content": sha256 }]));
            }
            entry
        };
        let others = || self.components.iter().filter(|component| component.reference() != itself);
        let bill = json!({
            "bomFormat": "CycloneDX",
            "specVersion": "1.5",
            "version": 1,
            "metadata": {
                "component": {
                    "type": "application",
                    "bom-ref": itself,
                    "name": self.name,
                    "version": self.version,
                    "licenses": [{ "expression": "Apache-2.0" }],
                    "properties": [{ "name": "git:commit", "value": self.commit }],
                },
            },
            "components": others().map(component).collect::<Vec<_>>(),
            "dependencies": self.components.iter()
                .map(|component| json!({ "ref": component.reference(), "dependsOn": component.needs }))
                .collect::<Vec<_>>(),
        });
        Ok(serde_json::to_string_pretty(&bill)? + "\n")
    }
}

impl Component {
    fn reference(&self) -> String {
        reference(&self.name, &self.version)
    }
}

/// The name by which other programs know a crate.
fn reference(name: &str, version: &str) -> String {
    format!("pkg:cargo/{name}@{version}")
}

/// The crates that end up in `name`, itself among them, sorted.
fn linked(name: &str, metadata: &[u8], lock: &str) -> Result<Vec<Component>> {
    let Metadata { packages, resolve } = serde_json::from_slice(metadata).context("cargo metadata")?;
    let Lock { package: locked } = toml::from_str(lock).context("Cargo.lock")?;
    let packages: BTreeMap<&str, &Package> =
        packages.iter().map(|package| (package.id.as_str(), package)).collect();
    let needs: BTreeMap<&str, Vec<&str>> = resolve
        .nodes
        .iter()
        .map(|node| {
            let ordinary = |dependency: &&Dependency| dependency.dep_kinds.iter().any(|k| k.kind.is_none());
            (node.id.as_str(), node.deps.iter().filter(ordinary).map(|d| d.pkg.as_str()).collect())
        })
        .collect();
    let start = packages.values().find(|package| package.name == name).context("no such crate")?;
    let (mut seen, mut todo) = (BTreeSet::new(), vec![start.id.as_str()]);
    while let Some(id) = todo.pop() {
        if seen.insert(id) {
            todo.extend(needs.get(id).into_iter().flatten());
        }
    }
    let package = |id: &str| packages.get(id).copied().with_context(|| format!("no package {id}"));
    let mut components = Vec::new();
    for id in seen {
        let Package { name, version, license, manifest_path, .. } = package(id)?;
        let mut below = Vec::new();
        for needed in needs.get(id).into_iter().flatten() {
            let needed = package(needed)?;
            below.push(reference(&needed.name, &needed.version));
        }
        below.sort();
        let entry = locked.iter().find(|locked| locked.name == *name && locked.version == *version);
        components.push(Component {
            name: name.clone(),
            version: version.clone(),
            licence: license.clone().with_context(|| format!("{name} names no licence"))?,
            sha256: entry.and_then(|entry| entry.checksum.clone()),
            directory: manifest_path.parent().unwrap_or(manifest_path).to_owned(),
            needs: below,
        });
    }
    components.sort();
    Ok(components)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_builds_or_tests_is_not_linked() {
        let package = |name: &str| {
            json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
                    "manifest_path": format!("/src/{name}/Cargo.toml") })
        };
        let needs = |name: &str, kind: Option<&str>| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let packages = ["tool", "a", "b", "cc", "insta", "unused"].map(package);
        let metadata = json!({
            "packages": packages,
            "resolve": { "nodes": [
                { "id": "tool", "deps": [needs("b", None), needs("insta", Some("dev"))] },
                { "id": "b", "deps": [needs("a", None), needs("cc", Some("build"))] },
                { "id": "a", "deps": [] }, { "id": "cc", "deps": [] },
                { "id": "insta", "deps": [] }, { "id": "unused", "deps": [] },
            ] },
        });
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"abc\"\n";
        let components = linked("tool", metadata.to_string().as_bytes(), lock).unwrap();
        let names: Vec<&str> = components.iter().map(|component| component.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "tool"]);
        let bill = Bill { name: "tool".into(), version: "1.0.0".into(), commit: "c".into(), components };
        let bill: Value = serde_json::from_str(&bill.json().unwrap()).unwrap();
        assert_eq!(bill["components"][0]["hashes"][0]["content"], "abc");
        assert_eq!(bill["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
        assert_eq!(bill["components"].as_array().unwrap().len(), 2, "the tool is not its own component");
        assert_eq!(bill["dependencies"][1]["dependsOn"], json!(["pkg:cargo/a@1.0.0"]));
    }
}
