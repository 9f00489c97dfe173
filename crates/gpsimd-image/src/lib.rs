//! Device ELF images: read, check, strip, pack, unpack, rebase. Bytes in, bytes out.
//!
//! ```no_run
//! use gpsimd_image::verify::{FileEntry, verify};
//! use gpsimd_image::{pack, strip};
//!
//! let linked = std::fs::read("build/vector_add_cpu0.so")?;
//! let stripped = strip(&linked)?;
//! let packed = pack(&stripped)?;
//! let report = verify(&[
//!     FileEntry::new("vector_add_cpu0.so", &linked),
//!     FileEntry::new("vector_add_cpu0.stripped.so", &stripped),
//!     FileEntry::new("vector_add_cpu0.packed.so", &packed),
//! ]);
//! for finding in &report.findings {
//!     println!("{finding}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bundles;
mod elf_file;
mod error;
#[doc(hidden)]
pub mod fuzz;
mod map;
mod mark;
mod pack;
mod placement;
mod provenance;
mod reach;
mod rebase;
mod signatures;
mod strip;
mod summary;
pub mod verify;

pub use bundles::{Bundles, bundles};
pub use elf_file::{ElfFile, FLAGS, Header, MACHINE, Relocation, Section, Segment, Symbol};
pub use error::ImageError;
pub use map::map_svg;
pub use mark::is_checked;
pub use pack::{Container, PAYLOAD_SECTION, PAYLOAD_SYMBOL, container, pack, unpack};
pub use placement::{Placement, placements};
pub use provenance::{HARDWARE, Producer, producers};
pub use reach::References;
pub use rebase::{Places, Rebase};
pub use signatures::{FunctionSignature, Linkage, Parameter, Place, SignatureError, TypeText, signatures};
pub use strip::strip;
pub use summary::{Class, SectionSummary, SegmentSummary, Summary, summary};
