//! `lsp`: linker support packages as files.

use gpsimd_lsp::{Lsp, Variant};
use miette::Result;
use serde_json::json;

use super::Status;
use crate::cli::Lsp as Arguments;
use crate::files::{create_directory, write};
use crate::render::Render;

/// Writes the chosen packages.
pub fn run(arguments: &Arguments, render: &Render) -> Result<Status> {
    let mut written = Vec::new();
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
        written.push(json!({ "variant": variant, "directory": directory, "window": variant.window() }));
    }
    render.result(&written, || {
        written.iter().map(|lsp| format!("{}\n", lsp["directory"].as_str().unwrap_or_default())).collect()
    })?;
    Ok(Status::Good)
}

fn variants(named: &[Variant]) -> Vec<Variant> {
    if named.is_empty() { Variant::all().collect() } else { named.to_vec() }
}
