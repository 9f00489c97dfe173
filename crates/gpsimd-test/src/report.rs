//! What testing an op hands back: plain data, serialisable.

use gpsimd_device::Code;
use schemars::JsonSchema;
use serde::Serialize;

use crate::case::Group;
use crate::rules::Rule;

/// All about one op.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OpReport {
    /// Its kernel function.
    pub op: String,
    /// Its schema, as it is called.
    pub call: String,
    /// What it was found to take, one word a parameter.
    pub takes: Vec<Vec<String>>,
    /// What was tried.
    pub groups: Vec<GroupReport>,
    /// What is wrong, each kind once, with the smallest case.
    pub failures: Vec<Failure>,
    /// What could not be tried, and why.
    pub notes: Vec<String>,
}

/// Cases of one kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GroupReport {
    /// Which.
    pub group: Group,
    /// Cases that are as they should be.
    pub passed: usize,
    /// Cases that the shape function or the kernel refuses.
    pub refused: usize,
    /// Cases that take too long, or have no wire form.
    pub skipped: usize,
    /// Cases that fail.
    pub failed: usize,
    /// How long they took.
    pub seconds: f64,
}

/// A rule that is broken.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Failure {
    /// Which.
    pub rule: Rule,
    /// The check of the device model that speaks, where it is one.
    pub check: Option<Code>,
    /// By a case of this group.
    pub group: Group,
    /// What happened.
    pub message: String,
    /// The smallest inputs that show it.
    pub inputs: Vec<String>,
    /// The lines that repeat it.
    pub lines: Vec<String>,
    /// Cases that fail the same way.
    pub cases: usize,
}

impl OpReport {
    /// Whether nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.failures.is_empty()
    }
}

impl Failure {
    /// Whether both have one cause, as far as one can see.
    pub(crate) fn is_like(&self, other: &Failure) -> bool {
        (self.rule, self.check) == (other.rule, other.check)
    }
}
