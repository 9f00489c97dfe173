//! What the author's lines cost, the library functions that they call included.
//!
//! Every count of the profile is in exactly one line. A library function's counts are known as a whole, and by the places it
//! was called from as a whole; each instruction's go to those places by their shares. Unaware of how a profile is shown.

use std::collections::BTreeMap;

use super::parts;
use super::symbols::{Frame, Symbols};
use crate::cores::profile::{Call, Profile};
use crate::report::costs::Costs;
use crate::report::counters::Counters;
use crate::report::profile::{Estimate, Line, Part};

/// File, line, function; what for.
type Key = (String, u32, String, Part);

/// The lines of a core's profile, by file and number.
pub(super) fn of(counted: &Profile, symbols: &Symbols<'_>, costs: &Costs) -> Vec<Line> {
    let mut lines: BTreeMap<Key, (Counters, u64)> = BTreeMap::new();
    // what the author's own functions do not answer for, by the function that does
    let mut library: BTreeMap<u32, Counters> = BTreeMap::new();
    let mut entries: Vec<u32> = counted.calls().iter().map(|call| call.entry).collect();
    entries.sort_unstable();
    for spot in counted.spots() {
        let frames = symbols.frames(spot.pc);
        match frames.iter().find(|frame| !frame.is_runtime()) {
            Some(frame) => lines.entry(key(frame, parts::inlined(&frames))).or_default().0 += spot.counters,
            None => {
                let after = entries.partition_point(|entry| *entry <= spot.pc);
                let entry = after.checked_sub(1).and_then(|at| entries.get(at)).copied();
                *library.entry(entry.unwrap_or_default()).or_default() += spot.counters;
            }
        }
    }
    let places = Places::of(counted.calls(), symbols);
    for (entry, whole) in library {
        let calls = || (0..).zip(counted.calls()).filter(|(_, call)| call.entry == entry);
        let weight = |call: &Call| call.counters.instructions.max(1);
        let all: u64 = calls().map(|(_, call)| weight(call)).sum();
        let (mut given, mut reached) = (Counters::default(), 0);
        for (at, call) in calls() {
            reached += weight(call);
            let upto = whole.share(reached, all);
            let line = lines.entry(places.key(at)).or_default();
            line.0 += upto - given;
            line.1 += if places.is_first(at) { call.calls } else { 0 };
            given = upto;
        }
        lines.entry(nowhere()).or_default().0 += whole - given;
    }
    let mut estimate = Estimate::by(costs);
    let line = |((file, line, function, part), (counters, calls)): (Key, (Counters, u64))| Line {
        file,
        line,
        function,
        part,
        calls,
        counters,
        cycles: estimate.next(counters),
    };
    lines.into_iter().filter(|(_, (counters, _))| *counters != Counters::default()).map(line).collect()
}

fn key(frame: &Frame, part: Part) -> Key {
    (frame.file.clone(), frame.line, frame.function.clone(), part)
}

/// What no line of the author's led to: the launcher and the wrapper.
fn nowhere() -> Key {
    (String::new(), 0, String::new(), Part::Library)
}

/// For every call, the author's line that led to it, and what for.
struct Places {
    keys: Vec<Key>,
    /// Whether the author's code itself made the call.
    firsts: Vec<bool>,
}

impl Places {
    fn of(calls: &[Call], symbols: &Symbols<'_>) -> Places {
        let mut places = Places { keys: Vec::new(), firsts: Vec::new() };
        for call in calls {
            // callers come first; the first call is its own
            let caller = places.keys.get(call.parent).cloned().unwrap_or_else(nowhere);
            let frames = symbols.frames(call.site);
            let author = frames.iter().find(|frame| !frame.is_runtime() && frame.line > 0);
            let name = symbols.function_or_label(call.entry).unwrap_or_default();
            let (place, is_first) = match author {
                Some(frame) => (key(frame, parts::inlined(&frames)), true),
                None => (caller, false),
            };
            let part = match (place.3, parts::named(&name)) {
                // an outer purpose is the purpose, but arithmetic is arithmetic wherever it is
                (_, Some(float @ (Part::Float | Part::Double))) => float,
                (Part::Own | Part::Library, Some(named)) => named,
                (Part::Own, None) => Part::Library,
                (outer, _) => outer,
            };
            places.keys.push((place.0, place.1, place.2, part));
            places.firsts.push(is_first);
        }
        places
    }

    fn key(&self, call: usize) -> Key {
        self.keys.get(call).cloned().unwrap_or_else(nowhere)
    }

    fn is_first(&self, call: usize) -> bool {
        self.firsts.get(call).copied().unwrap_or(false)
    }
}
