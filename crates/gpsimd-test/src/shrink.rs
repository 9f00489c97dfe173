//! The smallest case that still fails, found by trying smaller ones.
//!
//! Unaware of why a case fails.

use crate::case::{Case, Slot};
use crate::made::Kind;

/// Tries at most; a case that is small enough to read will do.
const TRIES: usize = 120;

/// A case for which `fails` is true, and than which none of those tried is smaller.
pub fn shrink(case: Case, mut fails: impl FnMut(&Case) -> bool) -> Case {
    let mut smallest = case;
    let mut tries = 0;
    loop {
        let next = smaller(&smallest).into_iter().find(|candidate| {
            tries += 1;
            tries <= TRIES && fails(candidate)
        });
        match next {
            Some(next) => smallest = next,
            None => return smallest,
        }
    }
}

/// Cases that are smaller in one respect, the boldest first.
fn smaller(case: &Case) -> Vec<Case> {
    let mut cases = Vec::new();
    for (symbol, &size) in case.sizes.iter().enumerate() {
        let mut tried = vec![1, 2, size / 8 * 8, size / 2, size - 1];
        tried.retain(|&smaller| smaller > 0 && smaller < size);
        tried.dedup();
        for smaller in tried {
            let mut next = case.clone();
            next.sizes[symbol] = smaller;
            cases.push(next);
        }
    }
    let is_noise = |slot: &Slot| matches!(slot, Slot::Tensor { kind: Kind::Rand, .. });
    if case.pattern.slots.iter().any(is_noise) {
        cases.push(Case { pattern: case.pattern.clone().of_kind(Kind::Ones), ..case.clone() });
    }
    if case.seed != 0 {
        cases.push(Case { seed: 0, ..case.clone() });
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Dim, Group, Pattern};
    use gpsimd_device::Dtype;

    #[test]
    fn the_smallest_that_fails() {
        let dims = vec![Dim::Symbol(0), Dim::Symbol(1)];
        let slot = Slot::Tensor { dims, dtype: Dtype::Float32, kind: Kind::Rand };
        let case = Case {
            group: Group::Extents,
            pattern: Pattern { slots: vec![slot] },
            sizes: vec![299, 40],
            seed: 5,
            beside: Vec::new(),
        };
        let small = shrink(case, |case| case.sizes[0] > 8 && case.sizes[0] % 8 != 0);
        assert_eq!((small.words(), small.seed), (vec!["ones:9x1".to_owned()], 0));
    }
}
