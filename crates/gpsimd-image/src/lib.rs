//! Device ELF images: read, check, strip, pack, unpack. Bytes in, bytes out.

mod error;
mod image;
mod pack;
mod strip;
mod summary;
pub mod verify;

pub use error::ImageError;
pub use image::{FLAGS, Header, Image, MACHINE, Relocation, Section, Segment, Symbol};
pub use pack::{PAYLOAD_SECTION, PAYLOAD_SYMBOL, pack, unpack};
pub use strip::strip;
pub use summary::{Class, SectionSummary, SegmentSummary, Summary, summary};
