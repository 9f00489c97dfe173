//! Memory maps to windows, linker scripts and specs. Knows no ELF.
//!
//! A linker support package (LSP) is what `-mlsp=<directory>` names: a `specs` file and five linker scripts. This crate
//! parses the `.xmm` memory map such a package is made from and renders the nine packages a custom op needs, one per
//! [`Variant`]. Facts: spec `lsp-and-memory.md` §2-§7.
//!
//! ```
//! use gpsimd_lsp::{CpuId, Lsp, Variant};
//!
//! let cpu3 = Variant::Cpu(CpuId::new(3).unwrap());
//! assert_eq!(cpu3.window().to_string(), "[0x84600000, 0x84800000)");
//! let files = Lsp::custom_op(cpu3).render();
//! assert_eq!(files[0].0, "specs");
//! assert!(files[1].1.contains("ENTRY(_start)"));
//! ```

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
