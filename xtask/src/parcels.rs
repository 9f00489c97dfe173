//! Judges each crate as the package that others get: what it includes is in it, and it says what it is.
//!
//! `cargo package` follows links: a crate takes templates, headers and pages from where they are through a link, which
//! stands at the same path inside the crate. Unaware of what cargo makes of it; `cargo xtask soak publish` asks.

use std::fs;
use std::path::{Path, PathBuf};

use toml::Table;

use crate::chores::root;
use crate::dist::crates::published;

/// Tests that hold the repository's pages to the code; a package has no such pages.
const OF_THE_REPOSITORY: [&str; 2] = ["src/explanations/collected.rs", "src/schemas.rs"];

/// What makes a path of a text.
const INCLUDING: [&str; 6] =
    ["include_str!", "include_bytes!", "include_dir!", "#[path", "rerun-if-changed", "CARGO_MANIFEST_DIR"];

/// A crate that is published.
struct Parcel {
    name: String,
    directory: PathBuf,
    /// `[package]`.
    about: Table,
}

fn parcels() -> Vec<Parcel> {
    let parcels: Vec<Parcel> = published()
        .unwrap()
        .into_iter()
        .map(|package| {
            let directory = root().join("crates").join(&package.name);
            let manifest: Table =
                toml::from_str(&fs::read_to_string(directory.join("Cargo.toml")).unwrap()).unwrap();
            Parcel { name: package.name, about: manifest["package"].as_table().unwrap().clone(), directory }
        })
        .collect();
    assert!(parcels.len() > 10, "{} crates", parcels.len());
    parcels
}

/// Everything below a directory: links are not followed.
fn below(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => below(&entry.path(), into),
            false => into.push(entry.path()),
        }
    }
}

/// Includes of `text` that lead out of the crate; `depth` is how many directories of it are around the file.
fn leading_out(text: &str, depth: usize) -> Vec<&str> {
    let leads_out = |literal: &str, depth: usize| {
        let up =
            literal.split('/').skip_while(|part| !part.ends_with("..")).take_while(|p| p.ends_with(".."));
        up.count() > depth
    };
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(how) = INCLUDING.iter().find(|how| line.contains(*how)) else { continue };
        // what does not begin at the file begins at the crate
        let is_of_the_file = ["include_str!", "include_bytes!", "#[path"].contains(how);
        let depth = if is_of_the_file { depth } else { 0 };
        found.extend(line.split('"').skip(1).step_by(2).filter(|literal| leads_out(literal, depth)));
    }
    found
}

#[test]
fn what_a_crate_includes_is_in_its_package() {
    let mut faults = Vec::new();
    for parcel in parcels() {
        let mut files = Vec::new();
        below(&parcel.directory, &mut files);
        for file in files.iter().filter(|file| file.extension().is_some_and(|ext| ext == "rs")) {
            let inside = file.strip_prefix(&parcel.directory).unwrap();
            if OF_THE_REPOSITORY.iter().any(|known| inside == Path::new(known)) || file.is_symlink() {
                continue;
            }
            let text = fs::read_to_string(file).unwrap();
            let out = leading_out(&text, inside.components().count() - 1);
            faults.extend(out.iter().map(|path| format!("{}: {path}", file.display())));
        }
    }
    assert!(faults.is_empty(), "link the file into the crate, and include the link:\n{}", faults.join("\n"));
}

#[test]
fn ways_out() {
    let rows: &[(&str, usize, &[&str])] = &[
        (r#"include_str!("../README.md")"#, 1, &[]),
        (r#"include_str!("../../README.md")"#, 1, &["../../README.md"]),
        (r#"include_dir!("$CARGO_MANIFEST_DIR/sdk/src")"#, 2, &[]),
        (r#"include_dir!("$CARGO_MANIFEST_DIR/../../sdk")"#, 2, &["$CARGO_MANIFEST_DIR/../../sdk"]),
        (r#"Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")"#, 3, &["../.."]),
        (
            r#"println!("cargo:rerun-if-changed=../sdk/{part}");"#,
            0,
            &["cargo:rerun-if-changed=../sdk/{part}"],
        ),
        (r#"let path = "../../elsewhere";"#, 0, &[]),
    ];
    for (text, depth, want) in rows {
        assert_eq!(leading_out(text, *depth), *want, "{text}");
    }
}

/// Who sees a link knows where the file is.
#[test]
fn a_link_stands_where_its_file_does() {
    let root = root().canonicalize().unwrap();
    let mut links = Vec::new();
    for parcel in parcels() {
        let mut files = Vec::new();
        below(&parcel.directory, &mut files);
        for link in files.into_iter().filter(|file| file.is_symlink()) {
            let inside = link.strip_prefix(&parcel.directory).unwrap();
            let end = link.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", link.display()));
            // a test may share what another crate's test has
            let is_there = end == root.join(inside) || end.starts_with(root.join("crates"));
            assert!(is_there, "{} leads to {}", link.display(), end.display());
            assert!(fs::read_link(&link).unwrap().is_relative(), "{}", link.display());
            links.push(link);
        }
    }
    assert!(links.len() > 20, "{links:?}");
}

/// A package is seen alone: on a registry, in an editor, by whoever judges licences.
#[test]
fn a_crate_says_what_it_is() {
    let mut lacking = Vec::new();
    for Parcel { name, directory, about } in parcels() {
        let mut want = |is_there: bool, what: &str| {
            if !is_there {
                lacking.push(format!("{name}: {what}"));
            }
        };
        for key in ["description", "license", "documentation", "keywords", "categories", "rust-version"] {
            want(about.contains_key(key), key);
        }
        want(directory.join("LICENSE").is_file(), "LICENSE");
        let page = fs::read_to_string(directory.join("README.md")).unwrap_or_default();
        want(page.starts_with(&format!("# {name}\n")), "README.md");
        let Ok(library) = fs::read_to_string(directory.join("src/lib.rs")) else { continue };
        want(
            library.starts_with("#![doc = include_str!(\"../README.md\")]\n"),
            "README.md as what lib.rs says",
        );
        want(page.contains("\n```rust"), "code in README.md");
        let examples = fs::read_dir(directory.join("examples")).into_iter().flatten().flatten();
        let names: Vec<String> = examples
            .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".rs")?.to_owned()))
            .collect();
        want(!names.is_empty(), "examples");
        for example in names {
            want(page.contains(&format!("--example {example}")), &format!("{example} in README.md"));
        }
    }
    assert!(lacking.is_empty(), "lacking:\n{}", lacking.join("\n"));
}
