//! Which bits in memory are undefined, and where they came from: the notes of one call.
//!
//! Unaware of memory itself and of what is done with the bits.

use std::collections::HashMap;

use crate::cores::incident::{History, Near};
use crate::memory::heap::Chain;

/// Undefined bits in memory, and where all undefined bits came from.
#[derive(Clone, Default)]
pub struct Definedness {
    /// Whether the core tracks them.
    pub tracking: bool,
    /// Pc and stack pointer of each live frame, while an instruction is being repeated.
    pub frames: Vec<(u32, u32)>,
    pub(super) origins: Vec<Origin>,
    pub(super) numbers: HashMap<Near, u32>,
    pub(super) moves: HashMap<(u32, Chain), u32>,
    /// Undefined bits and origin of bytes that were stored or copied without a value; their state says
    /// [`crate::memory::ram::KNOWN`].
    pub(super) bytes: HashMap<(u8, usize), (u8, u32)>,
    /// Per byte of the transfer at work that has no value, its undefined bits and origin.
    pub(super) transferred: HashMap<usize, (u8, u32)>,
}

/// Where undefined bits came from.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    /// The memory that nothing had written.
    pub near: Near,
    /// Who allocated it, or whose frame it is in.
    pub history: History,
    /// Who put them into a tensor that the kernel made, from which the runtime copies them to the output.
    pub moved: Chain,
}
