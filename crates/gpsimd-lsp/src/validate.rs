//! What a memory map must satisfy beyond its grammar: sizes, containment, disjointness, unique names.
//!
//! Unaware of the text but for the spans it is given. Facts: spec `lsp-and-memory.md` §3.3.

use std::collections::HashSet;

use miette::SourceSpan;

use crate::error::MapError;
use crate::map::{Memory, MemoryMap};

/// The linker keeps at most two program headers a segment, and scripts must stay readable.
const MAX_SEGMENTS: usize = 64;
/// Memories are data too: an absurd file is refused before anything is made from it.
const MAX_MEMORIES: usize = 256;

/// Where each memory and its segments were declared.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    pub memories: Vec<(SourceSpan, Vec<SourceSpan>)>,
}

pub(crate) fn check(map: &MemoryMap, spans: &Spans) -> Result<(), MapError> {
    let mut names = HashSet::new();
    let mut segment_names = HashSet::new();
    let mut segment_count = 0;
    for (memory, (at, segment_spans)) in map.memories.iter().zip(&spans.memories) {
        if names.len() == MAX_MEMORIES {
            return Err(MapError::TooMany {
                what: "memories",
                count: map.memories.len(),
                max: MAX_MEMORIES,
                at: *at,
            });
        }
        if !names.insert(&memory.name) {
            return Err(MapError::Duplicate { what: "memory", name: memory.name.clone(), at: *at });
        }
        check_memory(memory, *at)?;
        for (segment, at) in memory.segments.iter().zip(segment_spans) {
            segment_count += 1;
            if segment_count > MAX_SEGMENTS {
                return Err(MapError::TooMany {
                    what: "segments",
                    count: segment_count,
                    max: MAX_SEGMENTS,
                    at: *at,
                });
            }
            if !segment_names.insert(&segment.name) {
                return Err(MapError::Duplicate { what: "segment", name: segment.name.clone(), at: *at });
            }
            let what = format!("segment {}", segment.name);
            if segment.last < segment.first {
                let (first, last) = (segment.first.into(), segment.last.into());
                return Err(MapError::Empty { what, first, last, at: *at });
            }
            if !segment.first.is_multiple_of(8) {
                return Err(MapError::Misaligned { what, base: segment.first, at: *at });
            }
            if segment.first < memory.base {
                let (segment, first) = (segment.name.clone(), segment.first);
                return Err(MapError::Outside { segment, first, base: memory.base, at: *at });
            }
            if segment.end() > memory.end() {
                return Err(MapError::TooLong { what, end: segment.end(), limit: memory.end(), at: *at });
            }
        }
        let segments = memory.segments.iter().zip(segment_spans);
        disjoint(segments.map(|(s, at)| (s.name.as_str(), u64::from(s.first), s.end(), *at)))?;
    }
    let memories = map.memories.iter().zip(&spans.memories);
    disjoint(memories.map(|(m, (at, _))| (m.name.as_str(), u64::from(m.base), m.end(), *at)))
}

fn check_memory(memory: &Memory, at: SourceSpan) -> Result<(), MapError> {
    let what = format!("memory {}", memory.name);
    if memory.size == 0 {
        let base = memory.base.into();
        return Err(MapError::Empty { what, first: base, last: base, at });
    }
    if !memory.base.is_multiple_of(8) {
        return Err(MapError::Misaligned { what, base: memory.base, at });
    }
    if memory.end() > 1 << 32 {
        return Err(MapError::TooLong { what, end: memory.end(), limit: 1 << 32, at });
    }
    Ok(())
}

fn disjoint<'a>(ranges: impl Iterator<Item = (&'a str, u64, u64, SourceSpan)>) -> Result<(), MapError> {
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_by_key(|(_, start, ..)| *start);
    for pair in ranges.windows(2) {
        if let [(first, _, end, _), (second, start, _, at)] = pair
            && start < end
        {
            let (first, second) = ((*first).to_owned(), (*second).to_owned());
            return Err(MapError::Overlap { first, second, start: *start, end: *end, at: *at });
        }
    }
    Ok(())
}
