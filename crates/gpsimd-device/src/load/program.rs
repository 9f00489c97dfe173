//! What is to be loaded: one core's image as files hold it and what of it explains a run, and how a split library ships.
//!
//! Unaware of where it is loaded from and of what is in the bytes.

use gpsimd_loader::Generation;
use gpsimd_loader::kernel_table::TableRef;
use gpsimd_loader::selector::Environment;

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

/// A split library on its way to the device, in the form in which it ships.
#[derive(Debug, Clone)]
pub struct Shipment {
    /// The library, as it is or packed, or a prelinked image, whose very bytes are staged then.
    pub image: CoreImage,
    /// 1 or 8.
    pub cores: u8,
    /// The generation to prelink for, or that it was prelinked for.
    pub generation: Generation,
    /// What the runtime's environment says.
    pub environment: Environment,
    /// Where the kernel table of a prelinked image lies, if that is known.
    pub table: Option<TableRef>,
    /// Records that load and unload a prelinked image; none: the host writes them.
    pub records: Vec<u8>,
}

impl Shipment {
    /// Whether the host prelinked it before.
    pub fn is_prelinked(&self) -> bool {
        self.image.bytes.starts_with(b"UCPL")
    }
}
