//! Linker support packages, rendered: `lsp`.
//!
//! Unaware of linkers.

use std::ffi::OsString;
use std::path::PathBuf;

use gpsimd_lsp::{Lsp, Variant};

use crate::words::action::{Made, Stage, Tools};
use crate::words::error::EngineError;

/// Renders one linker support package.
#[derive(Debug)]
pub(crate) struct RenderLsp {
    /// Which.
    pub(crate) variant: Variant,
    /// Directory that gets `<lsp name>/`.
    pub(crate) directory: PathBuf,
}

impl Stage for RenderLsp {
    fn words(&self) -> Vec<OsString> {
        let variant = self.variant.to_string().into();
        vec![
            "lsp".into(),
            "--variant".into(),
            variant,
            "--dir".into(),
            self.directory.clone().into_os_string(),
        ]
    }

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let folder = self.directory.join(self.variant.lsp_name());
        for (name, text) in Lsp::custom_op(self.variant).render() {
            tools.files.write(&folder.join(name), text.into_bytes())?;
        }
        Ok(Made::default())
    }
}
