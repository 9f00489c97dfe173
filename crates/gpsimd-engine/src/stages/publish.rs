//! The end of an exported plan: finished files become the visible outputs.
//!
//! Unaware of builds in this process, which publish for themselves.

use serde::{Deserialize, Serialize};

use crate::publish::generation;
use crate::publish::publication::Publication;
use crate::stages::Hidden;
use crate::words::action::{Made, Tools};
use crate::words::error::EngineError;

/// Publishes what a plan made.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Publish {
    /// What, and how it is described.
    pub(crate) publication: Publication,
}

impl Hidden for Publish {
    const NAME: &'static str = "publish";

    fn run(&self, tools: &Tools) -> Result<Made, EngineError> {
        let _lock = generation::own(&self.publication.library(), || {})?;
        self.publication.clone().publish(tools.files)?;
        Ok(Made::default())
    }
}
