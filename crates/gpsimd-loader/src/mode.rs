//! Whose rules the prelinker goes by.
//!
//! Unaware of the rules. Facts: spec `prelink.md` §17.

/// Whose rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Ours: everything whose effect on the device would be undefined is refused.
    Strict,
    /// The vendor's: the same verdicts and bytes, quirks included, save that nothing outside the file is read.
    Compat,
}
