//! A linked image, stripped and packed: `pack`.
//!
//! Unaware of how it was linked.

use std::ffi::OsString;

use crate::words::action::{Made, Stage, Tools};
use crate::words::error::EngineError;
use crate::words::images::CoreFiles;

/// Strips and packs an image.
#[derive(Debug)]
pub(crate) struct Package(pub(crate) CoreFiles);

impl Stage for Package {
    fn words(&self) -> Vec<OsString> {
        let CoreFiles { linked, stripped, packed, .. } = &self.0;
        let mut words: Vec<OsString> = vec!["pack".into(), linked.into()];
        for (option, file) in [("--stripped", stripped), ("--output", packed)] {
            words.extend(file.iter().flat_map(|file| [option.into(), file.into()]));
        }
        words
    }

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        package(&self.0, &tools.files.bytes(&self.0.linked)?, tools)?;
        Ok(Made::default())
    }
}

/// Writes what is to be made of an image.
pub(crate) fn package(image: &CoreFiles, linked: &[u8], tools: &Tools) -> Result<(), EngineError> {
    if image.stripped.is_none() && image.packed.is_none() {
        return Ok(());
    }
    let stripped = gpsimd_image::strip(linked).map_err(EngineError::stage(&image.linked))?;
    if let Some(path) = &image.packed {
        tools.files.write(path, gpsimd_image::pack(&stripped).map_err(EngineError::stage(path))?)?;
    }
    match &image.stripped {
        Some(path) => tools.files.write(path, stripped),
        None => Ok(()),
    }
}
