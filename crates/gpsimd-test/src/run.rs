//! An op's cases, tried by several testers at the same time, and the report.
//!
//! Which tester tries a case follows from its number, and what they say is read in order of the cases: a test that is repeated
//! says the same. Unaware of what a case is judged by.

use std::collections::BTreeSet;
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

/// Cases that a tester tries before all look at what was found.
const TURN: usize = 8;

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
    /// Most cases of a group.
    pub most: usize,
}

impl Tester<'_> {
    /// Tries everything, together with `others` that are made like this one; `observe` is told the group, the number of the case
    /// and how many there are.
    pub fn run(
        &mut self,
        others: &mut [Self],
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
            let of_group = cases.iter().filter(|case| case.group == group && is_wished);
            let of_group: Vec<&Case> = of_group.take(wish.most).collect();
            if !of_group.is_empty() && !stop.load(Ordering::Relaxed) {
                let found = &mut report.failures;
                report.groups.push(self.group(others, group, &of_group, found, stop, observe));
            }
        }
        let notes: BTreeSet<&String> =
            others.iter().flat_map(|other| &other.notes).chain(&self.notes).collect();
        report.notes = notes.into_iter().cloned().collect();
        report
    }

    fn group(
        &mut self,
        others: &mut [Self],
        group: Group,
        cases: &[&Case],
        failures: &mut Vec<Failure>,
        stop: &AtomicBool,
        observe: &mut dyn FnMut(Group, usize, usize),
    ) -> GroupReport {
        let begin = Instant::now();
        let mut report = GroupReport { group, passed: 0, refused: 0, skipped: 0, failed: 0, seconds: 0.0 };
        let mut tried = 0;
        'cases: for turn in cases.chunks(TURN * (others.len() + 1)) {
            observe(group, tried, cases.len());
            for (case, outcome) in turn.iter().zip(self.judge_all(others, turn, stop)) {
                if stop.load(Ordering::Relaxed) || report.failed >= ENOUGH {
                    report.skipped += cases.len() - tried;
                    break 'cases;
                }
                tried += 1;
                match outcome {
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
        }
        report.seconds = begin.elapsed().as_secs_f64();
        report
    }

    /// What becomes of these cases, in their order.
    fn judge_all(&mut self, others: &mut [Self], cases: &[&Case], stop: &AtomicBool) -> Vec<Outcome> {
        let testers = others.len() + 1;
        let share = |tester: &mut Self, first: usize| -> Vec<Outcome> {
            let mine = cases.iter().skip(first).step_by(testers);
            let judge = |case: &&Case| match stop.load(Ordering::Relaxed) {
                true => Outcome::Skipped,
                false => tester.judge(case),
            };
            mine.map(judge).collect()
        };
        let share = &share;
        let mut shares: Vec<std::vec::IntoIter<Outcome>> = std::thread::scope(|scope| {
            let start = |(at, other)| scope.spawn(move || share(other, at));
            let helpers: Vec<_> = (1..).zip(others).map(start).collect();
            let own = share(self, 0);
            let theirs = helpers.into_iter().map(|helper| match helper.join() {
                Ok(outcomes) => outcomes,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(own).chain(theirs).map(Vec::into_iter).collect()
        });
        (0..cases.len()).filter_map(|at| shares[at % testers].next()).collect()
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
