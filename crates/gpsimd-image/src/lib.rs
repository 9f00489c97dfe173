#![doc = include_str!("../README.md")]

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
