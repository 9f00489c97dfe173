//! What differs between cores and between configurations.
//!
//! Unaware of everything else.

/// What a 16 or 32-bit access does at an address that is not a multiple of its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Unaligned {
    /// [`crate::FaultKind::Unaligned`].
    #[default]
    Fault,
    /// The access is split into bytes.
    Split,
}

/// What a host decides about a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Config {
    /// Value of PRID (special register 235): the number of the core.
    pub prid: u32,
    /// Treatment of unaligned accesses.
    pub unaligned: Unaligned,
    /// Whether library functions that are recognised are computed by the host.
    pub native: bool,
    /// How often a block is interpreted before it is translated to host code, where there is a translator for the host;
    /// `None` for ever.
    pub translate_after: Option<u32>,
}

/// So often a block is interpreted that it pays to translate it.
const HOT: u32 = 40;

impl Default for Config {
    fn default() -> Self {
        Self { prid: 0, unaligned: Unaligned::default(), native: true, translate_after: Some(HOT) }
    }
}
