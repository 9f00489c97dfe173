//! From what an op takes to the cases that are tried. Pure: the same op, seed and shard give the same cases.
//!
//! Unaware of libraries and verdicts.

use gpsimd_device::Dtype;

use crate::case::{Case, Group, Pattern, Slot};
use crate::made::Kind;
use crate::ways::WayKind;

/// Every leading extent up to here.
const EXTENTS: u64 = 300;

/// The largest extent that the guides allow.
const LARGEST: u64 = 65_535;

/// Sizes that programs cut blocks of.
const BLOCKS: [u64; 8] = [64, 128, 256, 512, 1024, 2048, 3072, 4096];

/// Sizes of what is not varied: nothing that divides anything.
const OTHERS: [u64; 5] = [11, 5, 3, 2, 7];

/// A part of the cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub part: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// All of them.
    pub const WHOLE: Shard = Shard { part: 1, of: 1 };
}

/// The cases for an op that takes these patterns, the first the most particular.
pub fn plan(patterns: &[Pattern], seed: u32, shard: Shard) -> Vec<Case> {
    let mut cases = Vec::new();
    for (at, pattern) in patterns.iter().enumerate() {
        let maker = Maker { pattern, seed };
        cases.extend(maker.calls());
        // where two ranks are taken both are looked at closely: the split between cores may go by rows or by elements
        cases.extend(maker.extents(if at < 2 { EXTENTS } else { 20 }));
        if at < 2 {
            cases.extend(maker.blocks());
        }
        if at == 0 {
            cases.extend(maker.dtypes());
        }
        cases.extend(maker.unusual());
    }
    cases.sort_by_key(|case| case.group);
    let is_ours = |at: usize| at % shard.of == shard.part - 1;
    cases.into_iter().enumerate().filter(|(at, _)| is_ours(*at)).map(|(_, case)| case).collect()
}

struct Maker<'p> {
    pattern: &'p Pattern,
    seed: u32,
}

const ALL: [WayKind; 4] = [WayKind::Eight, WayKind::One, WayKind::Record, WayKind::Checked];

impl Maker<'_> {
    fn case(&self, group: Group, sizes: Vec<u64>, beside: &[WayKind]) -> Case {
        Case { group, pattern: self.pattern.clone(), sizes, seed: self.seed, beside: beside.to_vec() }
    }

    /// Sizes with the first as given and the others small.
    fn leading(&self, first: u64) -> Vec<u64> {
        let others = OTHERS.into_iter().cycle().skip(1);
        [first].into_iter().chain(others).take(self.pattern.symbols()).collect()
    }

    fn calls(&self) -> Vec<Case> {
        [8, 11, 64].into_iter().map(|first| self.case(Group::Calls, self.leading(first), &[])).collect()
    }

    fn extents(&self, most: u64) -> Vec<Case> {
        let case = |first: u64| {
            // images differ in where they lie, not in how they count: a sample of sizes will do for those
            let beside = if first <= 17 || first % 64 == 1 { &ALL[..] } else { &ALL[..2] };
            self.case(Group::Extents, self.leading(first), beside)
        };
        (1..=most).map(case).collect()
    }

    fn blocks(&self) -> Vec<Case> {
        let symbols = self.pattern.symbols();
        if symbols == 0 {
            return Vec::new();
        }
        let around = BLOCKS.into_iter().flat_map(|size| [size - 1, size, size + 1]).chain([LARGEST]);
        let mut cases = Vec::new();
        for size in around {
            // the first size, then the last, with little else
            for varied in if symbols == 1 { vec![0] } else { vec![0, symbols - 1] } {
                let mut sizes = vec![if size == LARGEST { 1 } else { 2 }; symbols];
                sizes[0] = if varied == 0 || size == LARGEST { 1 } else { 9 };
                sizes[varied] = size;
                cases.push(self.case(Group::Blocks, sizes, &[WayKind::One]));
            }
        }
        cases
    }

    fn dtypes(&self) -> Vec<Case> {
        let Some((_, base)) = self.pattern.first() else { return Vec::new() };
        let tensors: Vec<usize> = (0..)
            .zip(&self.pattern.slots)
            .filter(|(_, slot)| matches!(slot, Slot::Tensor { .. }))
            .map(|(at, _)| at)
            .collect();
        let mut cases = Vec::new();
        let mut add = |pattern: Pattern| {
            let maker = Maker { pattern: &pattern, seed: self.seed };
            cases.push(maker.case(Group::Dtypes, self.leading(11), &[WayKind::One]));
        };
        for other in Dtype::ALL {
            if other != base {
                // all that have the first one's type
                add(self.pattern.clone().retyped(|_, dtype| if dtype == base { other } else { dtype }));
            }
            if tensors.len() > 1 {
                for &alone in &tensors {
                    let changed =
                        self.pattern.clone().retyped(|at, dtype| if at == alone { other } else { dtype });
                    if changed != *self.pattern {
                        add(changed);
                    }
                }
            }
        }
        cases
    }

    fn unusual(&self) -> Vec<Case> {
        let of = |kind: Kind, first: u64| {
            let pattern = self.pattern.clone().of_kind(kind);
            Maker { pattern: &pattern, seed: self.seed }.case(Group::Unusual, self.leading(first), &ALL)
        };
        let mixed = [1, 8, 9, 37, 101].map(|first| of(Kind::Unusual, first));
        let plain = [Kind::Zeros, Kind::Ones, Kind::Nan].map(|kind| of(kind, 9));
        mixed.into_iter().chain(plain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Dim;

    fn rows() -> Pattern {
        let tensor = |dims: &[usize]| Slot::Tensor {
            dims: dims.iter().map(|symbol| Dim::Symbol(*symbol)).collect(),
            dtype: Dtype::Float32,
            kind: Kind::Rand,
        };
        Pattern { slots: vec![tensor(&[0, 1]), tensor(&[1])] }
    }

    #[test]
    fn every_leading_extent_and_tied_sizes() {
        let cases = plan(&[rows()], 0, Shard::WHOLE);
        let extents: Vec<&Case> = cases.iter().filter(|case| case.group == Group::Extents).collect();
        let first: Vec<u64> = extents.iter().map(|case| case.sizes[0]).collect();
        assert_eq!(first, (1..=300).collect::<Vec<u64>>());
        assert_eq!(extents[8].words(), ["rand:9x5", "rand:5:float32:1"]);
        assert!(cases.iter().any(|case| case.sizes == [65_535, 1]));
    }

    #[test]
    fn shards_are_all_of_it() {
        let whole = plan(&[rows()], 3, Shard::WHOLE);
        let parts: usize = (1..=3).map(|part| plan(&[rows()], 3, Shard { part, of: 3 }).len()).sum();
        assert_eq!(parts, whole.len());
    }
}
