//! From moments, told by counts, to stretches of estimated time.
//!
//! Unaware of names.

use crate::cores::profile::{Happened, Moment, Profile};
use crate::report::costs::Costs;
use crate::report::counters::Counters;
use crate::report::profile::{Doing, Span};

/// The stretches of a core's time until `end`, by their beginnings; outer calls first.
pub(super) fn of(counted: &Profile, end: u64, costs: &Costs) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for Moment { what, counted, took } in counted.moments() {
        let now = counted.cycles(costs).min(end);
        match what {
            Happened::Entered(call) => {
                open.push(spans.len());
                spans.push(Span { what: Doing::Call(*call), begin: now, len: 0 });
            }
            Happened::Left => close(&mut spans, open.pop(), now),
            Happened::Moved => {
                let Counters { window_misses: moves, dma_transfers: count, dma_bytes: bytes, .. } = *took;
                let transfer = Counters { dma_transfers: count, dma_bytes: bytes, ..Counters::default() };
                let window = Counters { window_misses: moves, ..Counters::default() };
                if count > 0 {
                    spans.push(ending(Doing::Transfer { count, bytes }, now, transfer.cycles(costs)));
                }
                if moves > 0 {
                    spans.push(ending(Doing::Window(moves), now, window.cycles(costs)));
                }
            }
        }
    }
    while !open.is_empty() {
        close(&mut spans, open.pop(), end);
    }
    spans
}

fn ending(what: Doing, now: u64, len: u64) -> Span {
    let len = len.min(now);
    Span { what, begin: now - len, len }
}

fn close(spans: &mut [Span], at: Option<usize>, now: u64) {
    if let Some(span) = at.and_then(|at| spans.get_mut(at)) {
        span.len = now.saturating_sub(span.begin);
    }
}
