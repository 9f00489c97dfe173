//! An instruction that the sequencer fetched, with what a trace tells of it.
//!
//! Unaware of who executes it and of which way the library came.

use gpsimd_loader::device::sequencer::{Fault, Handed, INSTRUCTION, Sequencer};

use super::trace::Trace;

/// The front of an instruction stream.
#[derive(Debug)]
pub(super) struct Fetched<'s> {
    /// For the pool.
    pub handed: Handed<'s>,
    /// Its own bytes.
    pub instruction: &'s [u8],
    /// What follows it and belongs to it.
    pub blocks: &'s [u8],
    /// The rest of the stream.
    pub behind: &'s [u8],
    /// What was logged on the way.
    pub log: Vec<String>,
}

impl<'s> Fetched<'s> {
    /// The next instruction of `stream`; nothing at its end. A failure is in the trace, too.
    ///
    /// # Errors
    /// [`Fault`] of the sequencer.
    pub fn next(
        sequencer: &mut Sequencer,
        stream: &'s [u8],
        trace: &mut Trace,
    ) -> Result<Option<Self>, Fault> {
        let fetched = sequencer.fetch(stream);
        let log = std::mem::take(&mut sequencer.log);
        let (handed, behind) = match fetched {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(fault) => {
                trace.fail("fetch", &fault, log);
                return Err(fault);
            }
        };
        let (instruction, rest) = stream.split_at(INSTRUCTION.min(stream.len()));
        let blocks = rest.get(..rest.len() - behind.len()).unwrap_or_default();
        Ok(Some(Self { handed, instruction, blocks, behind, log }))
    }
}
