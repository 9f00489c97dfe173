//! `nrtucode_ll_get_load_sequence` and its twin: the records that load or unload a handle's library on a core.
//!
//! Unaware of how records reach a device. Facts: spec `load-and-dispatch.md` §5.1, with C2 and C3 of its §14.

use crate::library::{ContextId, Library, Log, LogLine, Severity};
use crate::record::{Direction, RECORD, Record};
use crate::result::ResultCode;
use crate::selector::NullArgument;

/// Records for a core of a foreign context: as many as the pool has cores.
const FALLBACK: usize = 8;
const COMMON: &str = "nrtucode_ll_get_sequence_common";

/// A core that records are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Core {
    /// The context it belongs to.
    pub context: ContextId,
}

/// Why no record was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum SequenceError {
    /// The vendor would abort.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Null(#[from] NullArgument),
    /// 8: the buffer is not aligned.
    #[error("the record buffer starts {misalign} bytes behind a multiple of 8")]
    #[diagnostic(code(loader::sequence_alignment), help("align the buffer to 8 bytes"))]
    Misaligned {
        /// Address modulo 8.
        misalign: usize,
    },
    /// 7: the buffer is too small.
    #[error("the buffer holds {capacity} records; {needed} are needed")]
    #[diagnostic(
        code(loader::sequence_capacity),
        help("one record is enough if library and core share a context")
    )]
    Capacity {
        /// Records that fit.
        capacity: usize,
        /// Records there are.
        needed: usize,
    },
}

impl SequenceError {
    /// What the vendor returns, if it returns.
    pub fn code(&self) -> Option<ResultCode> {
        match self {
            SequenceError::Null(_) => None,
            SequenceError::Misaligned { .. } => Some(ResultCode::Invalid),
            SequenceError::Capacity { .. } => Some(ResultCode::NoSpace),
        }
    }
}

/// Writes the records that load `library` on `core` and returns their number: one, or eight identical ones if their
/// contexts differ. The buffer's capacity is counted in whole records; a refusal leaves it untouched.
///
/// # Errors
/// [`SequenceError`].
pub fn get_load_sequence(
    library: Option<&Library>,
    core: Option<&Core>,
    buffer: Option<&mut [u8]>,
    log: &mut Log,
) -> Result<usize, SequenceError> {
    write_sequence(Direction::Load, library, core, buffer, log)
}

/// Writes the records that unload `library` from `core`. Nothing is freed by it.
///
/// # Errors
/// [`SequenceError`].
pub fn get_unload_sequence(
    library: Option<&Library>,
    core: Option<&Core>,
    buffer: Option<&mut [u8]>,
    log: &mut Log,
) -> Result<usize, SequenceError> {
    write_sequence(Direction::Unload, library, core, buffer, log)
}

/// How many records there will be. The vendor's query reports a foreign context as code 8, which is also the number of
/// records.
pub fn num_instructions(library: &Library, core: &Core, direction: Direction, log: &mut Log) -> usize {
    count(library.context() == core.context, direction, log)
}

/// The same by what is asked: whether the core's context made the library.
pub fn count(is_own: bool, direction: Direction, log: &mut Log) -> usize {
    if is_own {
        return 1;
    }
    let function = match direction {
        Direction::Load => "nrtucode_ll_get_load_sequence_num_instrs",
        Direction::Unload => "nrtucode_ll_get_unload_sequence_num_instrs",
    };
    error(log, format!("{function}: check `ll->context == nrtucode_core_get_context(core)` failed"));
    FALLBACK
}

/// The record of a handle: address and size only for loading something that was staged.
pub fn record(library: &Library, direction: Direction) -> Record {
    let index = library.selector() as u32;
    match (direction, library.device_addr()) {
        // A staged image has at most 64 KiB.
        (Direction::Load, Some(addr)) => Record::load(addr, index, library.size() as u32),
        (Direction::Load, None) => Record::load(0, index, 0),
        (Direction::Unload, _) => Record::unload(index),
    }
}

fn write_sequence(
    direction: Direction,
    library: Option<&Library>,
    core: Option<&Core>,
    buffer: Option<&mut [u8]>,
    log: &mut Log,
) -> Result<usize, SequenceError> {
    let null = |argument| NullArgument { function: COMMON, argument };
    let library = library.ok_or(null("ll"))?;
    let core = core.ok_or(null("core"))?;
    let buffer = buffer.ok_or(null("instr_buf"))?;
    let misalign = buffer.as_ptr().addr() % 8;
    if misalign != 0 {
        error(log, format!("{COMMON}: instruction buffer is not correctly aligned"));
        return Err(SequenceError::Misaligned { misalign });
    }
    let needed = num_instructions(library, core, direction, log);
    let (slots, _) = buffer.as_chunks_mut::<RECORD>();
    let capacity = slots.len();
    let slots = slots.get_mut(..needed).ok_or(SequenceError::Capacity { capacity, needed })?;
    slots.fill(record(library, direction).encode());
    Ok(needed)
}

fn error(log: &mut Log, text: String) {
    log.push(LogLine { severity: Severity::Error, text });
}
