//! From the one link for cpu0 to the image of a core (`docs/fast.md`).
//!
//! Unaware of the other cores, but for what is found in the link once for all.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gpsimd_image::{Places, Rebase};
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
    /// What moves, or why that cannot be told; those of one plan share it.
    #[serde(skip)]
    pub(crate) places: Arc<OnceLock<Result<Places, String>>>,
}

impl Hidden for Move {
    const NAME: &'static str = "move";

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let Self { kept, image, link, places } = self;
        let kept = tools.files.bytes(kept)?;
        let Variant::Cpu(cpu) = image.variant else {
            return Err(EngineError::PlanIncomplete { path: image.linked.clone() });
        };
        let find = || Rebase::of(&kept).map(Rebase::into_places).map_err(|refusal| refusal.to_string());
        let refusal = match places.get_or_init(find) {
            Ok(places) => {
                let linked = places.image_for(&kept, cpu);
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
