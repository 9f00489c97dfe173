#![doc = include_str!("../README.md")]
//!
//! # Its parts
//!
//! [`MemoryMap`] is a parsed map, [`Lsp`] the package made from one, [`Variant`] and [`Window`] are what custom ops are
//! linked for. Facts: spec `lsp-and-memory.md` §2-§7.

mod attributes;
mod error;
mod map;
mod package;
mod parse;
mod script;
mod specs;
mod validate;
mod window;

pub use attributes::CacheAttributes;
pub use error::MapError;
pub use map::{Access, MemKind, Memory, MemoryMap, Segment};
pub use package::{LinkMode, Lsp};
pub use script::{DEBUG_SECTIONS, NON_ALLOC_SECTIONS};
pub use window::{CpuId, Variant, Window};

#[doc(hidden)]
pub mod fuzz {
    //! Entry points for fuzzers: outside bytes in, nothing out, no panic.

    /// Parses and renders a memory map.
    pub fn fuzz_xmm(data: &[u8]) {
        if let Ok(text) = std::str::from_utf8(data)
            && let Ok(map) = crate::MemoryMap::parse(text)
        {
            crate::Lsp::from_map("fuzz", map).render();
        }
    }
}
