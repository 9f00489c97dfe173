//! From the one link for cpu0 to the image of a core (`docs/fast.md`).
//!
//! Unaware of the other cores.

use std::path::{Path, PathBuf};

use gpsimd_image::Rebase;
use gpsimd_lsp::Variant;
use gpsimd_toolchain::{Command, text};
use serde::{Deserialize, Serialize};

use crate::stages::Hidden;
use crate::stages::package::package;
use crate::words::action::{Made, Tools};
use crate::words::disk;
use crate::words::error::EngineError;
use crate::words::images::CoreFiles;

/// Moves a link for cpu0 to the image's core, or links for that core where it cannot be proven what would move; strips
/// and packs the result.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Move {
    /// The link for cpu0, relocations kept.
    #[serde(with = "text")]
    pub(crate) kept: PathBuf,
    /// What to make of it.
    pub(crate) image: CoreFiles,
    /// Links for the core itself, where the move cannot be proven right.
    pub(crate) link: Command,
}

impl Hidden for Move {
    const NAME: &'static str = "move";

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let Self { kept, image, link } = self;
        let kept = tools.files.bytes(kept)?;
        let Variant::Cpu(cpu) = image.variant else {
            return Err(EngineError::PlanIncomplete { path: image.linked.clone() });
        };
        let refusal = match Rebase::of(&kept) {
            Ok(rebase) => {
                let linked = rebase.image_for(cpu);
                package(image, &linked, tools)?;
                tools.files.write(&image.linked, linked)?;
                return Ok(Made::default());
            }
            Err(refusal) => refusal,
        };
        disk::create(image.linked.parent().unwrap_or(Path::new(".")))?;
        tools.files.forget(&image.linked);
        let label = format!("link {}", image.linked.display());
        let mut said = (tools.start)(&label, link)?;
        package(image, &tools.files.bytes(&image.linked)?, tools)?;
        // one of the eight speaks for all
        if cpu.index() == 0 {
            said.insert_str(
                0,
                &format!(
                    "warning: linked each core by itself, because one link cannot be proven to serve all: {refusal}\n"
                ),
            );
        }
        Ok(Made { report: None, said })
    }
}
