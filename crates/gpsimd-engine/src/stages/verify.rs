//! All images of the library checked, alone and against each other: `verify`.
//!
//! Unaware of how they were made.

use std::ffi::OsString;
use std::path::PathBuf;

use gpsimd_image::verify::{self, FileEntry};

use crate::words::action::{Made, Stage, Tools};
use crate::words::error::EngineError;
use crate::words::images::CoreFiles;

/// Checks all images.
#[derive(Debug)]
pub(crate) struct Verify {
    /// One per core.
    pub(crate) images: Vec<CoreFiles>,
    /// The report, as JSON.
    pub(crate) report: PathBuf,
}

impl Verify {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.images.iter().flat_map(CoreFiles::files)
    }
}

impl Stage for Verify {
    fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["verify".into(), "--report".into(), (&self.report).into()];
        words.extend(self.files().map(Into::into));
        words
    }

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let read = self.files().map(|path| Ok((path, tools.files.bytes(path)?)));
        let read: Vec<_> = read.collect::<Result<_, EngineError>>()?;
        let entries: Vec<FileEntry> = read
            .iter()
            .map(|(path, bytes)| {
                FileEntry::new(path.file_name().unwrap_or_default().to_string_lossy(), bytes)
            })
            .collect();
        let report = verify::verify(&entries);
        if !report.is_clean() {
            return Err(EngineError::Verify { report: Box::new(report) });
        }
        let text = serde_json::to_vec(&report)
            .map_err(|error| EngineError::io("cannot write", &self.report)(error.into()))?;
        tools.files.write(&self.report, text)?;
        Ok(Made { report: Some(report), said: String::new() })
    }

    fn always_runs(&self) -> bool {
        true
    }
}
