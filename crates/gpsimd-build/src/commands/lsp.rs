//! `lsp`: linker support packages as files.

use std::path::PathBuf;

use gpsimd_lsp::{Lsp, Variant, Window};
use miette::Result;
use schemars::JsonSchema;
use serde::Serialize;

use super::Status;
use crate::cli::Lsp as Arguments;
use crate::files::{create_directory, write};
use crate::render::Render;

/// What was written, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// Each package.
    packages: Vec<Package>,
}

/// A linker support package.
#[derive(Serialize, JsonSchema)]
pub struct Package {
    /// Which.
    variant: Variant,
    /// Where it is.
    directory: PathBuf,
    /// Where what it links will lie.
    window: Window,
}

/// Writes the chosen packages.
pub fn run(arguments: &Arguments, render: &Render) -> Result<Status> {
    let mut packages = Vec::new();
    for variant in variants(&arguments.variants) {
        let lsp = Lsp::custom_op(variant);
        let directory = arguments.dir.join(&lsp.name);
        for (name, text) in lsp.render() {
            let path = directory.join(name);
            if let Some(folder) = path.parent() {
                create_directory(folder)?;
            }
            write(&path, text.as_bytes())?;
        }
        packages.push(Package { variant, directory, window: variant.window() });
    }
    let document = Document { packages };
    render.result(&document, || {
        document.packages.iter().map(|package| format!("{}\n", package.directory.display())).collect()
    })?;
    Ok(Status::Good)
}

fn variants(named: &[Variant]) -> Vec<Variant> {
    if named.is_empty() { Variant::all().collect() } else { named.to_vec() }
}
