//! `integrations`: what other build systems include, written out.

use std::path::Path;

use include_dir::{Dir, include_dir};
use miette::Result;

use super::{Files, Status};
use crate::cli::Integrations;
use crate::files::{create_directory, write};
use crate::render::Render;

static CMAKE: Dir = include_dir!("$CARGO_MANIFEST_DIR/integrations/cmake");
static MAKE: Dir = include_dir!("$CARGO_MANIFEST_DIR/integrations/make");

/// Writes `cmake/` and `make/`.
pub fn run(arguments: &Integrations, render: &Render) -> Result<Status> {
    let mut written = Vec::new();
    for (folder, files) in [("cmake", &CMAKE), ("make", &MAKE)] {
        let folder = arguments.dir.join(folder);
        create_directory(&folder)?;
        for file in files.files() {
            let path = folder.join(file.path());
            write(&path, &filled_in(file.contents()))?;
            written.push(path);
        }
    }
    let document = Files { files: written };
    render.result(&document, || {
        let mut text: String = document.files.iter().map(|path| format!("{}\n", path.display())).collect();
        text += &format!(
            "\nCMake: -DGpsimdBuild_DIR={}\nMake:  include {}\n",
            absolute(&arguments.dir.join("cmake")).display(),
            absolute(&arguments.dir.join("make/gpsimd.mk")).display()
        );
        text
    })?;
    Ok(Status::Good)
}

/// The version is the tool's; where the tool is, the user's `PATH` or cache variable says.
fn filled_in(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace("@GPSIMD_BUILD_VERSION@", env!("CARGO_PKG_VERSION")).into_bytes()
}

fn absolute(path: &Path) -> std::path::PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
