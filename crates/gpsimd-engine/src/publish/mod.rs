//! What a build leaves: the manifest, and the generation of files that becomes visible at once.
//!
//! Unaware of how files are made.

pub(crate) mod audit;
pub(crate) mod file;
pub(crate) mod generation;
pub(crate) mod manifest;
pub(crate) mod origin;
pub(crate) mod publication;
pub(crate) mod split;
