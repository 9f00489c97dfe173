//! Copies, fills and the length of a string, where all bytes concerned are plain memory; else their own instructions find
//! what is wrong with them, byte by byte.
//!
//! Unaware of calls.

use super::{Outcome, Routine};
use crate::bus::{Bulk, Bus};
use crate::core::Core;

/// Does what the routine does with `a2..a4`, unless it takes more than `most` instructions or any byte is not plain.
pub(super) fn judge<B: Bus>(
    core: &Core,
    bus: &mut B,
    routine: Routine,
    [to, from, len, _]: [u32; 4],
    most: u64,
) -> Option<Outcome> {
    let (words, rest) = (u64::from(len / 4), u64::from(len % 4));
    let bytes = u64::from(len);
    // Copying forwards must not read what it wrote.
    let in_order = to == from || to.wrapping_sub(from) >= len;
    let (bulk, size, instructions) = match routine {
        Routine::CopyBytes if in_order => (Bulk::Copy { to, from, len }, 1, 5 + 6 * bytes),
        Routine::CopyWords if in_order && (to | from) & 3 == 0 => {
            (Bulk::Copy { to, from, len }, 4, 16 + 7 * words + 6 * rest)
        }
        Routine::CopyWords if in_order => (Bulk::Copy { to, from, len }, 1, 9 + 6 * bytes),
        Routine::SetBytes => (Bulk::Fill { to, value: from as u8, len }, 1, 6 + 3 * bytes),
        Routine::SetWords if to & 3 == 0 => {
            (Bulk::Fill { to, value: from as u8, len }, 4, 20 + 3 * words + 3 * rest)
        }
        Routine::SetWords => (Bulk::Fill { to, value: from as u8, len }, 1, 13 + 3 * bytes),
        // Backwards where the destination begins inside the source, forwards else; a block move serves both.
        Routine::Move if from < to && to < from.wrapping_add(len) => {
            (Bulk::Copy { to, from, len }, 1, 12 + 7 * bytes)
        }
        Routine::Move => (Bulk::Copy { to, from, len }, 1, 6 + 6 * bytes + if from < to { 2 } else { 0 }),
        Routine::Length => {
            let len = bus.length(to, most.saturating_sub(7) / 3)?;
            return Outcome::new(len, 7 + 3 * u64::from(len));
        }
        _ => return None,
    };
    let is_read = matches!(bulk, Bulk::Copy { .. });
    let wraps = to.checked_add(len).is_none() || is_read && from.checked_add(len).is_none();
    if instructions > most || wraps || len > 0 && core.code.overlaps(to, len) {
        return None;
    }
    // Words first, then the bytes that are left.
    let accesses = if size == 4 { words + rest } else { bytes };
    (len == 0 || bus.bulk(bulk, accesses)).then_some(())?;
    Outcome::new(to, instructions)
}
