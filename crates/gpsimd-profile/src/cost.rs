//! Sums of what spots and lines cost, over all cores.
//!
//! Unaware of how they are shown.

use std::collections::BTreeMap;

use gpsimd_device::Profile;
use gpsimd_device::report::counters::Counters;
use gpsimd_device::report::profile::{Line, Spot};

/// What something cost on all cores.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Cost {
    pub counters: Counters,
    pub cycles: u64,
}

impl Cost {
    pub fn add(&mut self, counters: Counters, cycles: u64) {
        self.counters += counters;
        self.cycles += cycles;
    }
}

/// Costs of all cores, by what `key` makes of a place.
pub(crate) fn by<K: Ord>(profiles: &[Profile], key: impl Fn(&Spot) -> K) -> BTreeMap<K, Cost> {
    let mut costs: BTreeMap<K, Cost> = BTreeMap::new();
    for spot in profiles.iter().flat_map(|profile| &profile.spots) {
        costs.entry(key(spot)).or_default().add(spot.counters, spot.cycles);
    }
    costs
}

/// Costs of all cores by the author's lines, by what `key` makes of one.
pub(crate) fn by_line<K: Ord>(profiles: &[Profile], key: impl Fn(&Line) -> K) -> BTreeMap<K, Cost> {
    let mut costs: BTreeMap<K, Cost> = BTreeMap::new();
    for line in profiles.iter().flat_map(|profile| &profile.lines) {
        costs.entry(key(line)).or_default().add(line.counters, line.cycles);
    }
    costs
}

/// A part in percent of the whole.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
