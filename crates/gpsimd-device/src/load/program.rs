//! One core's image as files hold it, and what of it explains a run.
//!
//! Unaware of where it is loaded from and of what is in the bytes.

use crate::explain::symbols::Symbols;

/// One core's image, with its unstripped form where there is one.
#[derive(Debug, Clone)]
pub struct CoreImage {
    /// `.so`, `.stripped.so` or `.packed.so` bytes.
    pub bytes: Vec<u8>,
    /// Unstripped `.so` bytes for names and lines; `None`: take them from `bytes` if it has any.
    pub debug: Option<Vec<u8>>,
}

impl CoreImage {
    /// An image without separate debug information.
    pub fn new(bytes: Vec<u8>) -> CoreImage {
        CoreImage { bytes, debug: None }
    }

    pub(crate) fn symbols(&self) -> Symbols<'_> {
        Symbols::read(self.debug.as_deref().unwrap_or(&self.bytes))
    }
}
