//! The steps to a split image: its kernel table, its linker script, and what makes a static link loadable.
//!
//! One image serves every core, for its code and data move where the loader wants them. Unaware of how kernels are
//! compiled. Facts: spec `prelink.md` §4, §17, `load-and-dispatch.md` §0.2, §4.2.

use std::path::PathBuf;

use gpsimd_loader::kernel_table::{self, TableOp};
use gpsimd_loader::{Mode, prelink, split};
use gpsimd_toolchain::text;
use serde::{Deserialize, Serialize};

use crate::stages::Hidden;
use crate::words::action::{Made, Tools};
use crate::words::disk;
use crate::words::error::EngineError;
use crate::words::images::SplitFiles;

/// Writes the linker script.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WriteScript {
    /// Where the linker finds it.
    #[serde(with = "text")]
    pub(crate) output: PathBuf,
}

impl Hidden for WriteScript {
    const NAME: &'static str = "split-script";

    fn run(&self, _: &Tools) -> Result<Made, EngineError> {
        disk::write(&self.output, split::SCRIPT.as_bytes())?;
        Ok(Made::default())
    }
}

/// Renders the kernel table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WriteTable {
    /// In registration order.
    pub(crate) rows: Vec<TableOp>,
    /// The source.
    #[serde(with = "text")]
    pub(crate) output: PathBuf,
}

impl Hidden for WriteTable {
    const NAME: &'static str = "kernel-table";

    fn run(&self, _: &Tools) -> Result<Made, EngineError> {
        let text = kernel_table::source(&self.rows).map_err(EngineError::stage(&self.output))?;
        disk::write(&self.output, text.as_bytes())?;
        Ok(Made::default())
    }
}

/// Makes the library from the static link, packs it, prelinks it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Synthesize {
    /// From and to.
    pub(crate) image: SplitFiles,
}

impl Hidden for Synthesize {
    const NAME: &'static str = "synthesize";

    fn run(&self, _: &Tools) -> Result<Made, EngineError> {
        let SplitFiles { generation, linked, library, packed, prelinked } = &self.image;
        let bounds = generation.bounds();
        let made = split::synthesize(&disk::read(linked)?, &bounds).map_err(EngineError::stage(library))?;
        disk::write(library, &made.elf)?;
        let shipped = match packed {
            Some(path) => {
                let stripped = split::strip(&made.elf).map_err(EngineError::stage(library))?;
                disk::write(path, &gpsimd_image::pack(&stripped).map_err(EngineError::stage(path))?)?;
                stripped
            }
            None => made.elf,
        };
        let image =
            prelink(&shipped, &bounds, Mode::Strict, &mut |_| {}).map_err(EngineError::stage(prelinked))?;
        disk::write(prelinked, &image.image())?;
        Ok(Made::default())
    }
}
