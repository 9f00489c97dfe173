//! Blocks that run often, as host code: the translator where there is one for the host, and one that declines where not.
//!
//! Translated code assumes that all registers hold values; a load of bytes that do not is refused by the bus like any other
//! that is not plain, and the interpreter takes over. Unaware of how blocks are found.

#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod access;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod arithmetic;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod asm;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod code;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
#[allow(unsafe_code, reason = "code calls back with pointers")]
mod context;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod emit;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod region;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod routine;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod tally;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
mod told;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
#[allow(unsafe_code, reason = "code is jumped to")]
mod translator;

#[cfg(not(all(target_arch = "x86_64", feature = "translate")))]
mod none;

#[cfg(not(all(target_arch = "x86_64", feature = "translate")))]
pub(crate) use none::Translator;
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
pub(crate) use translator::Translator;

use crate::isa::Insn;
use crate::native::Routine;

/// Blocks by address.
pub(crate) trait Blocks {
    /// Instructions of the block there, and its end.
    fn at(&self, pc: u32) -> Option<(&[Insn], u32)>;
    /// Whether zero-overhead loops may end at an address, and where the one that does probably begins.
    fn loop_start(&self, end: u32) -> Option<Option<u32>>;
    /// What the host may do instead of the function that begins there.
    fn routine(&self, pc: u32) -> Option<Routine>;
}

/// Where translated code begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry(usize);

/// Why there is no translation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Declined {
    /// Not for this block.
    Impossible,
    /// There is room only after everything else is forgotten.
    Full,
}

/// Why translated code came back; the core's pc says where to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// With the interpreter.
    Interpret,
    /// Wherever that is; by this link, if there is one.
    Go(Option<u32>),
    /// The instruction there did not complete, for the reason in the core's `fault`.
    Fault,
    /// The instruction before it wrote to code.
    Written,
}
