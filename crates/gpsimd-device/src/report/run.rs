//! What a run hands back: the output, what each core did, its text, and the findings.
//!
//! Plain data, serialisable, in a fixed order. Unaware of how it was found out.

use crate::call::dtype::Dtype;
use crate::call::shared::Role;
use crate::call::tensor::Tensor;
use crate::memory::heap::Kind;
use crate::report::checks::{Code, Severity};
use crate::report::costs::Costs;
use crate::report::counters::{Counters, Cycles};
use crate::report::profile::Profile;

/// Result of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct RunReport {
    /// Operator called.
    pub op: String,
    /// The output tensor; bytes nobody wrote are zero.
    pub output: Tensor,
    /// One entry per core that ran, in order.
    pub cores: Vec<CoreReport>,
    /// What is wrong, worst first.
    pub findings: Vec<Finding>,
    /// Where what a call before has left is read first.
    pub kept: Option<super::Site>,
    /// Who answers for what was counted, one entry per core; empty unless that was asked.
    pub profiles: Vec<Profile>,
    /// What the estimates charge.
    pub costs: Costs,
}

/// How one core's part ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The launcher returned 0.
    Completed,
    /// The launcher returned something else.
    Failed,
    /// The program ended itself.
    Aborted,
    /// An instruction could not be executed.
    Faulted,
    /// The instruction budget was used up.
    BudgetExhausted,
    /// The caller stopped the run.
    Cancelled,
}

/// What one core did.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct CoreReport {
    /// Number of the core.
    pub core: u8,
    /// How its part ended.
    pub outcome: Ending,
    /// Counts.
    pub counters: Counters,
    /// Estimated cycles.
    pub cycles: u64,
    /// What they are spent on.
    pub spent: Cycles,
    /// Most TCM bytes allocated at once.
    pub tcm_high_water: u32,
    /// Most HBM heap bytes allocated at once, a stack in device memory included.
    pub hbm_high_water: u32,
    /// Most bytes of the local stack in use.
    pub stack_high_water: u32,
    /// Size and deepest use of the stack in device memory, if one was taken.
    pub hbm_stack: Option<HbmStackUse>,
    /// Text written to standard output and error, in order.
    pub text: String,
    /// Bytes of text that were not kept.
    pub text_dropped: u64,
    /// Forbidden accesses that are in no finding, because the core has too many different ones.
    pub incidents_dropped: u64,
}

/// A stack in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct HbmStackUse {
    /// Bytes requested.
    pub size: u32,
    /// Most bytes in use.
    pub high_water: u32,
}

/// A place in the program.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Site {
    /// Address of the instruction on the first core concerned.
    pub pc: u32,
    /// Function of the kernel author that leads there; empty without symbols.
    pub function: String,
    /// Its source file; empty without line information.
    pub file: String,
    /// Line, from 1; 0 without line information.
    pub line: u32,
    /// Column, from 1; 0 where it is not known.
    pub column: u32,
    /// The library function that did it on the author's behalf; empty if the author's code did it itself.
    pub via: String,
    /// The calls that led there, innermost first, up to the kernel's function; inlined ones are calls, too. Empty without
    /// line information, and for a place that is no instruction.
    pub stack: Vec<Step>,
}

/// One function of a call stack.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Step {
    /// Its name, without parameters.
    pub function: String,
    /// Source file of the place that it had come to; empty without line information.
    pub file: String,
    /// Line of that place, from 1; 0 without line information.
    pub line: u32,
    /// Column, from 1; 0 where it is not known.
    pub column: u32,
    /// Whether the compiler put it into its caller.
    pub inlined: bool,
    /// Whether it belongs to the library.
    pub library: bool,
}

/// A tensor that a finding is about.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "RunTensor")]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its element type.
    pub dtype: Dtype,
    /// Its extents.
    pub shape: Vec<u64>,
    /// What it is in the call.
    pub role: Role,
}

/// A block of a heap, from first to last.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "RunBlock")]
pub struct Life {
    /// Which heap.
    pub heap: Kind,
    /// Its bytes.
    pub len: u32,
    /// Where it was allocated, if that was seen.
    pub allocated: Option<Site>,
    /// Where it was freed, if it was.
    pub freed: Option<Site>,
}

/// An element of a tensor.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Element {
    /// Tensor.
    pub tensor: String,
    /// Row-major position; negative before the start, beyond the count past the end.
    pub element: i64,
    /// The same as one index per dimension; empty outside the tensor.
    pub index: Vec<u64>,
}

/// One thing that is wrong, with all its repetitions.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[schemars(rename = "RunFinding")]
pub struct Finding {
    /// Which check.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// What happened, first time.
    pub message: String,
    /// Cores concerned, in order.
    pub cores: Vec<u8>,
    /// Where in the program.
    pub site: Option<Site>,
    /// Which tensor element.
    pub element: Option<Element>,
    /// Where the block concerned was freed (use after free) or allocated (other findings about blocks), or where the
    /// value of a local variable was first read.
    pub history: Option<Site>,
    /// Where the live block was allocated that an overrun hits on the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Site>,
    /// The tensor concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<About>,
    /// The block concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<Life>,
    /// How often.
    pub count: u64,
    /// What to do.
    pub help: String,
}

impl Finding {
    /// A finding about the call as a whole.
    pub fn about_all(code: Code, message: String) -> Finding {
        let entry = code.entry();
        Finding {
            code,
            severity: entry.severity,
            message,
            cores: Vec::new(),
            site: None,
            element: None,
            history: None,
            neighbour: None,
            tensor: None,
            block: None,
            count: 1,
            help: format!("{}; {}", entry.cause, entry.remedy),
        }
    }
}

impl RunReport {
    /// Whether every core completed and nothing worse than a note was found.
    pub fn is_clean(&self) -> bool {
        self.cores.iter().all(|core| core.outcome == Ending::Completed)
            && self.findings.iter().all(|finding| finding.severity == Severity::Note)
    }

    /// Whether the output is not to be trusted: a core did not complete, or an error was found.
    pub fn has_failed(&self) -> bool {
        self.cores.iter().any(|core| core.outcome != Ending::Completed)
            || self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }

    /// Adds what a further call on the same library found, and what differs from the same call on a library of its own.
    pub fn compare(&mut self, number: u32, again: &RunReport, alone: &RunReport) {
        let place = |finding: &Finding| {
            (
                finding.code,
                finding.site.as_ref().map(|site| (site.file.clone(), site.line, site.function.clone())),
            )
        };
        for mut finding in again.findings.clone() {
            if !self.findings.iter().any(|known| place(known) == place(&finding)) {
                finding.message = format!("in call {number}, {}", finding.message);
                self.findings.push(finding);
            }
        }
        let size = alone.output.spec.dtype.size();
        let pairs = again.output.data.chunks(size).zip(alone.output.data.chunks(size));
        let differ: Vec<u64> = (0..).zip(pairs).filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
        let message = differ.first().map(|first| {
            let index = alone.output.spec.multi_index(*first);
            let total = again.output.data.len() / size;
            format!("call {number} differs from a first call with its inputs in {} of {total} elements, from {index:?} on", differ.len())
        });
        let held = |report: &RunReport| -> u32 {
            report.cores.iter().map(|core| core.tcm_high_water.saturating_add(core.hbm_high_water)).sum()
        };
        let more = held(again).saturating_sub(held(alone));
        let grown = (more > 0)
            .then(|| format!("call {number} holds {more} bytes more than a first call with its inputs"));
        if let Some(message) = message.or(grown)
            && !self.findings.iter().any(|known| known.code == Code::StateKept)
        {
            let site = again.kept.clone();
            self.findings.push(Finding { site, ..Finding::about_all(Code::StateKept, message) });
        }
        self.findings.sort_by_key(|finding| finding.code);
    }

    /// Drops findings of these checks.
    pub fn allow(&mut self, codes: &std::collections::BTreeSet<Code>) {
        self.findings.retain(|finding| !codes.contains(&finding.code));
    }

    /// The text of all cores, core by core, every line prefixed `P0: ` with the core's number.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for core in &self.cores {
            for line in core.text.lines() {
                text.push_str(&format!("P{}: {line}\n", core.core));
            }
        }
        text
    }
}
