//! The table of a native twin's kernels, as they turned out to be declared.
//!
//! Unaware of how it is compiled.

use std::path::PathBuf;

use gpsimd_toolchain::text;
use serde::{Deserialize, Serialize};

use crate::ask::check::named_ops;
use crate::ask::kernels;
use crate::stages::Hidden;
use crate::words::action::{Made, Tools};
use crate::words::error::EngineError;
use crate::words::request::NamedOp;

/// Writes the table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    /// In registration order.
    pub(crate) ops: Vec<NamedOp>,
    /// The device's kernel objects, which say how kernels are declared.
    #[serde(with = "text")]
    pub(crate) objects: Vec<PathBuf>,
    /// The source.
    #[serde(with = "text")]
    pub(crate) output: PathBuf,
}

impl Hidden for Table {
    const NAME: &'static str = "native-table";

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let ops = kernels::match_kernels(&named_ops(&self.ops)?, &self.objects)?;
        let text = gpsimd_codegen::native_table(&ops).map_err(EngineError::stage(&self.output))?;
        tools.files.write(&self.output, text.into_bytes())?;
        Ok(Made::default())
    }
}
