//! Why a library cannot be loaded.

use crate::memory::image::ImageError;

/// A library that cannot be loaded.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum LoadError {
    /// Neither one nor eight images.
    #[error("{found} images given; a library has 1 (single core) or 8 (all cores)")]
    #[diagnostic(
        code(device::image_count),
        help("give the images of all eight cores, in order, or the single-core image")
    )]
    ImageCount {
        /// Images given.
        found: usize,
    },
    /// Impossible memory sizes.
    #[error("{dataram} bytes of data RAM cannot hold the runtime's scratch and {stack} bytes of stack")]
    #[diagnostic(
        code(device::sizes),
        help("both sizes must be multiples of 64; 65536 and 8192 are the device's")
    )]
    Sizes {
        /// Bytes of data RAM.
        dataram: u32,
        /// Bytes of stack.
        stack: u32,
    },
    /// An image that is damaged or not for its core.
    #[error("the image for core {core} cannot be loaded")]
    #[diagnostic(code(device::image), help("{}", miette::Diagnostic::help(.source).map(|help| help.to_string()).unwrap_or_default()))]
    Image {
        /// Core.
        core: u8,
        /// What is wrong with it.
        source: ImageError,
    },
    /// The library's entry reported a failure.
    #[error("the library refuses to start on core {core}: status {status}, {meaning}")]
    #[diagnostic(
        code(device::boot_status),
        help("link against this SDK's runtime; it may be another version")
    )]
    Status {
        /// Core.
        core: u8,
        /// Status code.
        status: u32,
        /// What it stands for.
        meaning: &'static str,
    },
    /// The library's entry did not return.
    #[error("the library does not start on core {core}: {why}{}", if text.is_empty() { String::new() } else { format!("\n{text}") })]
    #[diagnostic(code(device::boot), help("static constructors run here; look for one that aborts or loops"))]
    Boot {
        /// Core.
        core: u8,
        /// How it ended.
        why: String,
        /// What it printed.
        text: String,
    },
    /// Cores with different functions.
    #[error("core {core} registers {names:?}, core 0 {first:?}")]
    #[diagnostic(code(device::different_libraries), help("all eight images must come from one build"))]
    Different {
        /// Core.
        core: u8,
        /// Its functions.
        names: Vec<String>,
        /// Core 0's functions.
        first: Vec<String>,
    },
}
