//! Eight cores over time, in the Chrome trace event format, which Perfetto reads: calls, DMA queues and windows of each.
//!
//! A microsecond of the viewer is an estimated cycle. Unaware of where the trace goes.
//! Format: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

use gpsimd_device::report::profile::{Doing, Span};
use gpsimd_device::{Profile, RunReport};
use serde_json::{Value, json};

/// The rows of one core.
const TRACKS: [(u8, &str); 3] = [(1, "calls"), (2, "DMA queue"), (3, "windows")];

/// All that happened, one process a core.
pub fn timeline(report: &RunReport) -> Value {
    let events: Vec<Value> = report.profiles.iter().flat_map(of_core).collect();
    let cut: Vec<u8> =
        report.profiles.iter().filter(|profile| profile.is_cut).map(|profile| profile.core).collect();
    json!({
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {
            "op": report.op,
            "exporter": concat!("gpsimd-build ", env!("CARGO_PKG_VERSION")),
            "time": "1 us is 1 estimated cycle",
            "cut": cut,
        },
    })
}

fn of_core(profile: &Profile) -> Vec<Value> {
    let core = profile.core;
    let name = |what: &str, track: u8, name: String| json!({ "ph": "M", "pid": core, "tid": track, "name": what, "args": { "name": name } });
    let mut events = vec![name("process_name", 0, format!("core {core}"))];
    events.push(
        json!({ "ph": "M", "pid": core, "name": "process_sort_index", "args": { "sort_index": core } }),
    );
    events.extend(TRACKS.iter().map(|(track, title)| name("thread_name", *track, (*title).to_owned())));
    events.extend(profile.spans.iter().map(|span| event(profile, span)));
    events
}

fn event(profile: &Profile, span: &Span) -> Value {
    let (track, name, about) = match &span.what {
        Doing::Call(at) => {
            let function = profile.calls.get(*at).map_or("", |call| call.function.as_str());
            (1, function.to_owned(), json!({}))
        }
        Doing::Transfer { count, bytes } => {
            let name = if *count == 1 {
                format!("{bytes} bytes")
            } else {
                format!("{count} transfers, {bytes} bytes")
            };
            (2, name, json!({ "transfers": count, "bytes": bytes }))
        }
        Doing::Window(moves) => (3, "move".to_owned(), json!({ "moves": moves })),
    };
    json!({
        "ph": "X", "pid": profile.core, "tid": track, "ts": span.begin, "dur": span.len, "name": name, "args": about,
    })
}
