//! An op's cases, tried one after the other, and the report.
//!
//! Unaware of what a case is judged by.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crate::case::{Case, Group, Pattern};
use crate::discover;
use crate::judge::{Outcome, Tester};
use crate::plan::{Shard, plan};
use crate::report::{Failure, GroupReport, OpReport};
use crate::rules::Rule;
use crate::shrink::shrink;

/// Failures of one group after which its other cases are left: they would say the same, and may each take long.
const ENOUGH: usize = 25;

/// What to try.
#[derive(Debug, Clone)]
pub struct Wish {
    /// One good call, where its parts are not to be found by trying.
    pub given: Option<(Pattern, Vec<u64>)>,
    /// Other numbers.
    pub seed: u32,
    /// Which part of the cases.
    pub shard: Shard,
    /// Only these groups; none for all.
    pub groups: Vec<Group>,
}

impl Tester<'_> {
    /// Tries everything; `observe` is told the group, the number of the case and how many there are.
    pub fn run(
        &mut self,
        wish: &Wish,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(Group, usize, usize),
    ) -> OpReport {
        let patterns = match &wish.given {
            Some((pattern, _)) => vec![pattern.clone()],
            None => discover::patterns(self),
        };
        let mut report = OpReport {
            op: self.kernel.clone(),
            call: self.signature.python_call(),
            takes: Vec::new(),
            groups: Vec::new(),
            failures: Vec::new(),
            notes: Vec::new(),
        };
        let mut cases = plan(&patterns, wish.seed, wish.shard);
        if let Some((pattern, sizes)) = &wish.given {
            let beside = self.ways.iter().map(|way| way.kind).collect();
            let case = Case {
                group: Group::Given,
                pattern: pattern.clone(),
                sizes: sizes.clone(),
                seed: wish.seed,
                beside,
            };
            cases.insert(0, case);
        }
        report.takes = patterns.iter().map(Pattern::words).collect();
        if patterns.is_empty() {
            report.failures.push(Failure {
                rule: Rule::Inputs,
                check: None,
                group: Group::Given,
                message: "everything that was made up is refused".to_owned(),
                inputs: Vec::new(),
                lines: vec![
                    "give one good call: --input rand:16x24 --input 0.5, a word for each parameter"
                        .to_owned(),
                ],
                cases: 0,
            });
        }
        for group in Group::ALL {
            let is_wished = wish.groups.is_empty() || wish.groups.contains(&group);
            let of_group: Vec<&Case> = cases.iter().filter(|case| case.group == group && is_wished).collect();
            if !of_group.is_empty() && !stop.load(Ordering::Relaxed) {
                report.groups.push(self.group(group, &of_group, &mut report.failures, stop, observe));
            }
        }
        report.notes = self.notes.iter().cloned().collect();
        report
    }

    fn group(
        &mut self,
        group: Group,
        cases: &[&Case],
        failures: &mut Vec<Failure>,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(Group, usize, usize),
    ) -> GroupReport {
        let begin = Instant::now();
        let mut report = GroupReport { group, passed: 0, refused: 0, skipped: 0, failed: 0, seconds: 0.0 };
        for (number, case) in cases.iter().enumerate() {
            if stop.load(Ordering::Relaxed) || report.failed >= ENOUGH {
                report.skipped += cases.len() - number;
                break;
            }
            observe(group, number, cases.len());
            match self.judge(case) {
                Outcome::Passed => report.passed += 1,
                Outcome::Refused => report.refused += 1,
                Outcome::Skipped => report.skipped += 1,
                Outcome::Failed(failure) => {
                    report.failed += 1;
                    match failures.iter_mut().find(|known| known.is_like(&failure)) {
                        Some(known) => known.cases += 1,
                        None => failures.push(self.smallest(case, *failure)),
                    }
                }
            }
        }
        report.seconds = begin.elapsed().as_secs_f64();
        report
    }

    /// The failure as the smallest case tells it.
    fn smallest(&mut self, case: &Case, failure: Failure) -> Failure {
        let mut told = failure.clone();
        shrink(case.clone(), |candidate| match self.judge(candidate) {
            Outcome::Failed(other) if other.is_like(&failure) => {
                told = *other;
                true
            }
            _ => false,
        });
        told
    }
}
