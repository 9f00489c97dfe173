//! A profile by the ways of calls: folded lines for flame graphs, and speedscope's format.
//!
//! Unaware of source lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gpsimd_device::Profile;
use serde_json::{Value, json};

/// Positions of the calls that lead to one, outermost first, itself last.
fn way(profile: &Profile, call: usize) -> Vec<usize> {
    let parent = |at: &usize| profile.calls.get(*at).and_then(|call| call.parent);
    let mut way: Vec<usize> = std::iter::successors(Some(call), parent).collect();
    way.reverse();
    way
}

/// A line for every way of calls: its functions from the outermost on, and the cycles of the last.
pub fn folded(profiles: &[Profile]) -> String {
    let mut text = String::new();
    for profile in profiles {
        for (at, _) in profile.calls.iter().enumerate().filter(|(_, call)| call.cycles > 0) {
            let names = way(profile, at).into_iter().map(|at| profile.calls[at].function.replace(';', ":"));
            let names: Vec<String> = names.collect();
            let _ = writeln!(text, "core {};{} {}", profile.core, names.join(";"), profile.calls[at].cycles);
        }
    }
    text
}

/// <https://www.speedscope.app/file-format-schema.json>: one sampled profile a core, weighted by estimated cycles.
pub fn speedscope(op: &str, profiles: &[Profile]) -> Value {
    let mut frames: BTreeMap<&str, usize> = BTreeMap::new();
    let names = profiles.iter().flat_map(|profile| &profile.calls).map(|call| call.function.as_str());
    for name in names {
        frames.entry(name).or_default();
    }
    for (number, place) in frames.values_mut().enumerate() {
        *place = number;
    }
    let cores = profiles.iter().map(|profile| {
        let spent = profile.calls.iter().enumerate().filter(|(_, call)| call.cycles > 0);
        let (samples, weights): (Vec<Vec<usize>>, Vec<u64>) = spent
            .map(|(at, call)| {
                let frame = |at: usize| frames[profile.calls[at].function.as_str()];
                (way(profile, at).into_iter().map(frame).collect(), call.cycles)
            })
            .unzip();
        let end: u64 = weights.iter().sum();
        json!({
            "type": "sampled", "name": format!("core {}", profile.core), "unit": "none",
            "startValue": 0, "endValue": end, "samples": samples, "weights": weights,
        })
    });
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": op,
        "exporter": concat!("gpsimd-build ", env!("CARGO_PKG_VERSION")),
        "activeProfileIndex": 0,
        "shared": { "frames": frames.keys().map(|name| json!({ "name": name })).collect::<Vec<_>>() },
        "profiles": cores.collect::<Vec<_>>(),
    })
}
