//! What would make a kernel faster: at most three changes, each with its line, what to write instead, and what it promises.
//!
//! A promise is in estimated cycles of the slowest core, which is what one waits for. The pairs in `examples/tuning` show
//! each kind, before and after, and a test holds every promise to at least its half. Unaware of how advice is shown.

use gpsimd_device::report::profile::{Line, Part};
use gpsimd_device::{CoreReport, Profile, RunReport};

mod kinds;

/// Most that is said at once.
const MOST: usize = 3;
/// Percent of the time, and cycles, that are worth a word.
const LEAST: (u64, u64) = (5, 2_000);

/// What is slow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AdviceKind")]
pub enum Kind {
    /// Elements are read and written one by one in device memory.
    ElementAccesses,
    /// Blocks are copied in small pieces.
    SmallTransfers,
    /// Memory that DMA cannot reach is copied by the core, word by word.
    CopiedByCore,
    /// One core does all the work.
    OneCore,
    /// Some cores have more work than others.
    UnevenCores,
    /// The stack is in device memory.
    StackInDeviceMemory,
    /// Arithmetic of `double`.
    Double,
    /// Memory is allocated again and again.
    AllocatedInLoop,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Advice {
    /// What is slow.
    pub kind: Kind,
    /// The same with numbers.
    pub message: String,
    /// What to write instead.
    pub instead: String,
    /// Source file of the line where most of it happens; empty without line information.
    pub file: String,
    /// That line, from 1; 0 without line information.
    pub line: u32,
    /// Its function.
    pub function: String,
    /// Estimated cycles that the slowest core would save.
    pub gain: u64,
    /// The same in percent of all its cycles.
    pub percent: u64,
}

/// What is known of a run: the slowest core is what counts.
pub(crate) struct Facts<'a> {
    report: &'a RunReport,
    slowest: &'a CoreReport,
    profile: &'a Profile,
}

/// What would gain most, in this order; nothing for a run without a profile.
pub fn advice(report: &RunReport) -> Vec<Advice> {
    let slowest = report.cores.iter().rev().max_by_key(|core| core.cycles);
    let profile =
        slowest.and_then(|slowest| report.profiles.iter().find(|profile| profile.core == slowest.core));
    let (Some(slowest), Some(profile)) = (slowest, profile) else { return Vec::new() };
    let facts = Facts { report, slowest, profile };
    let found = kinds::ALL.iter().filter_map(|kind| kind(&facts));
    let mut all: Vec<Advice> =
        found.filter(|advice| advice.percent >= LEAST.0 && advice.gain >= LEAST.1).collect();
    all.sort_by_key(|advice| std::cmp::Reverse(advice.gain));
    all.truncate(MOST);
    all
}

impl<'a> Facts<'a> {
    /// The lines that `wanted` picks, the one that costs most first.
    fn lines(&self, wanted: impl Fn(&Line) -> bool) -> Vec<&'a Line> {
        let mut lines: Vec<&Line> = self.profile.lines.iter().filter(|line| wanted(line)).collect();
        lines.sort_by_key(|line| std::cmp::Reverse((line.line > 0, line.cycles)));
        lines
    }

    /// The lines of one purpose.
    fn of(&self, part: Part) -> Vec<&'a Line> {
        self.lines(|line| line.part == part)
    }

    /// An advice about lines, the first of which is named.
    fn advise(
        &self,
        kind: Kind,
        lines: &[&Line],
        gain: u64,
        message: String,
        instead: &str,
    ) -> Option<Advice> {
        let first = lines.first()?;
        let percent = u128::from(gain) * 100 / u128::from(self.slowest.cycles.max(1));
        Some(Advice {
            kind,
            message,
            instead: instead.to_owned(),
            file: first.file.trim_start_matches("./").to_owned(),
            line: first.line,
            function: first.function.clone(),
            gain,
            percent: u64::try_from(percent).unwrap_or(100).min(100),
        })
    }
}
