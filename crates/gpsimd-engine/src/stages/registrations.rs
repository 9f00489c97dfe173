//! A shape image's answer to what it registers, as a file.
//!
//! Unaware of what is registered.

use std::path::PathBuf;

use gpsimd_toolchain::text;
use serde::{Deserialize, Serialize};

use crate::ask::registrations;
use crate::stages::Hidden;
use crate::words::action::{Made, Tools};
use crate::words::error::EngineError;

/// Asks a shape image what it registers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Registrations {
    /// Made of the shape sources.
    #[serde(with = "text")]
    pub(crate) image: PathBuf,
    /// Its answer, as JSON.
    #[serde(with = "text")]
    pub(crate) output: PathBuf,
}

impl Hidden for Registrations {
    const NAME: &'static str = "registrations";

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let listing = registrations::list(&self.image, &tools.files.bytes(&self.image)?)?;
        tools.files.write(&self.output, listing.into_bytes())?;
        Ok(Made::default())
    }
}
