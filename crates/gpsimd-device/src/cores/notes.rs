//! What a bus notes in the course of a call.
//!
//! Unaware of what the repeated instruction of the moment needs, and of what is made of the notes.

use std::collections::HashMap;

use crate::cores::definedness::Definedness;
use crate::cores::streams::Streams;
use crate::cores::touches::Touches;
use crate::memory::heap::Chain;
use crate::report::counters::Counters;

/// All that outlasts an instruction, besides memory itself.
#[derive(Clone, Default)]
pub struct Notes {
    /// Undefined bits in memory.
    pub definedness: Definedness,
    /// Places of the program that touch tensors.
    pub touches: Touches,
    /// Places of the program that write tensors in the core's own memory; the region is the offset of the block.
    pub own: Touches,
    /// Who allocated these blocks.
    pub owners: HashMap<usize, Chain>,
    /// The block that was written last: first offset and length.
    pub(crate) last_own: (usize, usize),
    /// Buffers that may be streams'.
    pub streams: Streams,
    /// Counts.
    pub counters: Counters,
    /// Per region, which of its first eight bytes were read (scalars only).
    pub scalar_reads: Vec<u8>,
}

impl Notes {
    /// None yet, of a call with so many tensors.
    pub fn of(regions: usize) -> Notes {
        Notes { scalar_reads: vec![0; regions], ..Notes::default() }
    }
}
