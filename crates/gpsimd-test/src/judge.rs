//! One op under test: its libraries, loaded, and what they make of a case.
//!
//! Unaware of how cases are chosen and made smaller.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use gpsimd_device::{Arg, Code, Control, Dtype, Ending, Finding, RunReport, Severity, Tensor, TensorSpec};
use gpsimd_schema::Signature;
use gpsimd_shapes::{Failure as NoShape, Shapes};

use crate::case::{Case, Group, Slot};
use crate::compare::{Tolerance, has_nan, worst};
use crate::made::Kind;
use crate::report::Failure;
use crate::rules::Rule;
use crate::ways::{Way, WayKind};

/// What a kernel should compute, by somebody else.
pub trait Reference {
    /// The result for these arguments; `output` is what the op's shape function says of it.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn output(&mut self, args: &[Arg], output: &TensorSpec) -> Result<Tensor, String>;

    /// Whether it knows the results of other cases than the caller's own.
    fn knows_all(&self) -> bool {
        true
    }
}

/// Results of more elements than this are not compared with a reference: other cases show the same.
const REFERENCE_ELEMENTS: u64 = 20_000;

/// What became of a case.
pub(crate) enum Outcome {
    /// As it should be.
    Passed,
    /// Not taken, by the shape function or, in words of its own, by the kernel.
    Refused,
    /// Not tried to its end: too long, too large.
    Skipped,
    /// A rule is broken.
    Failed(Box<Failure>),
}

/// What the output will be.
enum Answer {
    Is(TensorSpec),
    Refused,
    Wrong(String),
}

/// One op under test.
pub struct Tester<'a> {
    /// Its kernel function.
    pub kernel: String,
    /// What it takes.
    pub signature: Signature,
    /// Its shape functions.
    pub shapes: Option<Shapes>,
    /// The library's ways to the device; what the first gives, the others must.
    pub ways: Vec<Way<'a>>,
    /// What it should compute.
    pub reference: Option<Arc<Mutex<dyn Reference + Send>>>,
    /// How exactly.
    pub tolerance: Tolerance,
    /// Checks whose findings are not failures.
    pub allowed: BTreeSet<Code>,
    /// Stops a run.
    pub control: Arc<Control>,
    /// What could not be tried.
    pub notes: BTreeSet<String>,
}

impl<'a> Tester<'a> {
    /// Of an op, with nothing but its libraries.
    pub fn new(
        kernel: String,
        signature: Signature,
        ways: Vec<Way<'a>>,
        control: Arc<Control>,
    ) -> Tester<'a> {
        Tester {
            kernel,
            signature,
            shapes: None,
            ways,
            reference: None,
            tolerance: Tolerance::default(),
            allowed: BTreeSet::new(),
            control,
            notes: BTreeSet::new(),
        }
    }

    /// What becomes of a case.
    pub(crate) fn judge(&mut self, case: &Case) -> Outcome {
        let spec = match self.expected(case) {
            Answer::Is(spec) => spec,
            Answer::Refused => return Outcome::Refused,
            Answer::Wrong(message) => return self.failed(case, Rule::Shape, None, message, &[]),
        };
        let Ok(args) = case.args(&self.signature) else { return Outcome::Skipped };
        let Some(report) = self.call(0, &args, &spec) else { return Outcome::Skipped };
        if let Some(outcome) = self.ended(case, &spec, &args, &report) {
            return outcome;
        }
        if let Some(message) = self.loses_nan(case, &report) {
            return self.failed(case, Rule::Nan, None, message, &[]);
        }
        if case.group == Group::Calls
            && let Some(message) = self.remembers(case, &args, &report)
        {
            return self.failed(case, Rule::Calls, None, message, &["--calls", "2"]);
        }
        for at in 1..self.ways.len() {
            if case.beside.contains(&self.ways[at].kind)
                && let Some(outcome) = self.beside(case, at, &args, &report)
            {
                return outcome;
            }
        }
        match self.by_reference(case, &args, &report) {
            Some((rule, message)) => self.failed(case, rule, None, message, &["-o", "got.npy"]),
            None => Outcome::Passed,
        }
    }

    /// How well a case is taken: 0 for a clean run, 1 for one with findings, 2 for one that ends badly, nothing where it is refused.
    pub(crate) fn taken(&mut self, case: &Case) -> Option<u8> {
        let Answer::Is(spec) = self.expected(case) else { return None };
        let args = case.args(&self.signature).ok()?;
        let report = self.call(0, &args, &spec)?;
        let has_ended = report.cores.iter().all(|core| core.outcome == Ending::Completed);
        Some(match (has_ended, self.finding(&report)) {
            (true, None) => 0,
            (true, Some(_)) => 1,
            (false, _) => 2,
        })
    }

    /// Whether the shape function takes a case; without one everything is taken.
    pub(crate) fn accepts(&mut self, case: &Case) -> bool {
        matches!(self.expected(case), Answer::Is(_))
    }

    fn call(&mut self, way: usize, args: &[Arg], spec: &TensorSpec) -> Option<RunReport> {
        let report = self.ways[way].call(&self.kernel, args.to_vec(), spec.clone(), &self.control);
        report.ok().filter(|report| report.cores.iter().all(|core| core.outcome != Ending::Cancelled))
    }

    /// The output that the shape function promises, else the first tensor's type and shape.
    fn expected(&mut self, case: &Case) -> Answer {
        let Some(shapes) = &mut self.shapes else {
            return case.first().map_or(Answer::Refused, Answer::Is);
        };
        let op = format!("{}::{}", self.signature.namespace, self.signature.op);
        match shapes.output(&op, &case.questions()) {
            Ok(shape) => match Dtype::from_name(&shape.dtype) {
                Some(dtype) => Answer::Is(TensorSpec::new(dtype, shape.shape)),
                None => Answer::Wrong(format!(
                    "the shape function answers {}, which no tensor of the device has",
                    shape.dtype
                )),
            },
            Err(NoShape::Refused { .. }) => Answer::Refused,
            Err(failure) => Answer::Wrong(format!("the shape function gives no shape: {failure}")),
        }
    }

    /// The worst finding that counts; that the kernel aborted is judged apart.
    fn finding<'r>(&self, report: &'r RunReport) -> Option<&'r Finding> {
        let counts = |finding: &&Finding| {
            finding.severity != Severity::Note
                && finding.code != Code::Abort
                && !self.allowed.contains(&finding.code)
        };
        report.findings.iter().find(counts)
    }

    /// What the first way's run says by itself.
    fn ended(&mut self, case: &Case, spec: &TensorSpec, args: &[Arg], report: &RunReport) -> Option<Outcome> {
        let any = |ending: Ending| report.cores.iter().any(|core| core.outcome == ending);
        // sizes are not chosen for how long they take
        if any(Ending::BudgetExhausted) && case.group == Group::Blocks {
            return Some(Outcome::Skipped);
        }
        if any(Ending::Aborted)
            && self.finding(report).is_none_or(|finding| finding.code != Code::ReadOutside)
        {
            let may = matches!(case.group, Group::Blocks | Group::Dtypes | Group::Unusual);
            if may || case.pattern.has_positions() {
                return Some(Outcome::Refused);
            }
            let text = report.text();
            let said = text.lines().last().unwrap_or("the kernel aborted").to_owned();
            return Some(self.failed(case, Rule::Refused, Some(Code::Abort), said, &[]));
        }
        let finding = self.finding(report)?;
        let (code, told) = (finding.code, told(finding));
        let (rule, message) = match self.other_shape(case, spec, args) {
            Some(message) => (Rule::Shape, format!("{message} ({told})")),
            None if case.group == Group::Dtypes => (
                Rule::Dtype,
                format!(
                    "neither the shape function nor the kernel refuses {}: {told}",
                    case.questions().join(" ")
                ),
            ),
            None => (Rule::Finding, told),
        };
        Some(self.failed(case, rule, Some(code), message, &[]))
    }

    /// Another output that the kernel writes without a finding, where the shape function's has one.
    fn other_shape(&mut self, case: &Case, spec: &TensorSpec, args: &[Arg]) -> Option<String> {
        if self.shapes.is_none() || case.group == Group::Dtypes {
            return None;
        }
        let shapes: BTreeSet<Vec<u64>> = args
            .iter()
            .filter_map(|arg| match &arg.value {
                gpsimd_device::Value::Tensor(tensor) => Some(tensor.spec.shape.clone()),
                _ => None,
            })
            .chain([spec.shape.clone()])
            .collect();
        let dtypes = [spec.dtype, Dtype::Float32, Dtype::Int32];
        let others =
            shapes.iter().flat_map(|shape| dtypes.map(|dtype| TensorSpec::new(dtype, shape.clone())));
        for other in others.filter(|other| other != spec) {
            let report = self.call(0, args, &other)?;
            if report.is_clean() {
                return Some(format!(
                    "the shape function answers {}, but the kernel writes {}",
                    words(spec),
                    words(&other)
                ));
            }
        }
        None
    }

    /// Whether NaN goes in everywhere and comes out nowhere; a reference knows better.
    fn loses_nan(&self, case: &Case, report: &RunReport) -> Option<String> {
        let is_float = |dtype| matches!(dtype, Dtype::Float32 | Dtype::Float16 | Dtype::Bfloat16);
        let goes_in = case
            .pattern
            .slots
            .iter()
            .any(|slot| matches!(slot, Slot::Tensor { kind: Kind::Nan, dtype, .. } if is_float(*dtype)));
        let is_lost = goes_in && self.reference.is_none() && has_nan(&report.output) == Some(false);
        is_lost.then(|| "every float that goes in is NaN, and none that comes out".to_owned())
    }

    /// How a call differs from the same call of a fresh library, or after another one.
    fn remembers(&mut self, case: &Case, args: &[Arg], warm: &RunReport) -> Option<String> {
        let spec = &warm.output.spec;
        let (kernel, control) = (self.kernel.clone(), Arc::clone(&self.control));
        let fresh = self.ways[0].call_first(&kernel, args.to_vec(), spec.clone(), &control).ok()?;
        let other = Case { seed: case.seed.wrapping_add(1000), ..case.clone() }.args(&self.signature).ok()?;
        self.call(0, &other, spec)?;
        let again = self.call(0, args, spec)?;
        let apart = |what: &str, report: &RunReport| {
            let worst = worst(&report.output, &fresh.output, 0)?;
            Some(format!("{what} is not what the first call of a fresh library gives: {worst}"))
        };
        apart("a later call", warm).or_else(|| apart("the same call after another", &again))
    }

    /// What another way makes of the case.
    fn beside(&mut self, case: &Case, at: usize, args: &[Arg], first: &RunReport) -> Option<Outcome> {
        let kind = self.ways[at].kind;
        let report = self.call(at, args, &first.output.spec)?;
        let name = kind.name();
        // a kernel that counts eight cores where it is alone is not meant for one
        if kind == WayKind::One && report.findings.iter().any(|finding| finding.code == Code::Unwritten) {
            self.ways.remove(at);
            self.notes.insert(
                "not compared with one core: the kernel divides by get_cpu_count() there, too (GPSIMD_SINGLE_CORE says that it is alone)".to_owned(),
            );
            return Some(self.judge(case));
        }
        if let Some(finding) = self.finding(&report) {
            let (code, message) = (finding.code, format!("on {name}, {}", told(finding)));
            return Some(self.failed_on(case, Rule::Finding, Some(code), message, &[], at));
        }
        let worst = worst(&report.output, &first.output, 0)?;
        let rule = match kind {
            WayKind::Eight | WayKind::One => Rule::Cores,
            WayKind::Record => Rule::Lanes,
            WayKind::Checked => Rule::Checked,
        };
        let message = format!("{name} and {} do not agree: {worst}", self.ways[0].kind.name());
        let words = case.words();
        let lines = vec![
            self.ways[0].line(&self.kernel, &words, &["-o", "first.npy"]),
            self.ways[at].line(&self.kernel, &words, &["-o", "second.npy"]),
        ];
        let failure =
            Failure { rule, check: None, group: case.group, message, inputs: words, lines, cases: 1 };
        Some(Outcome::Failed(Box::new(failure)))
    }

    /// What the reference has against the result.
    fn by_reference(&mut self, case: &Case, args: &[Arg], report: &RunReport) -> Option<(Rule, String)> {
        let spec = &report.output.spec;
        if spec.shape.iter().product::<u64>().max(case.elements()) > REFERENCE_ELEMENTS {
            return None;
        }
        let reference = Arc::clone(self.reference.as_ref()?);
        let mut reference = reference.lock().unwrap_or_else(PoisonError::into_inner);
        if case.group != Group::Given && !reference.knows_all() {
            return None;
        }
        let want = match reference.output(args, spec) {
            Ok(want) => want,
            Err(why) => {
                self.notes.insert(format!("not compared for {}: {why}", case.questions().join(" ")));
                return None;
            }
        };
        if want.spec != *spec {
            let message = format!("the reference gives {}, the op {}", words(&want.spec), words(spec));
            return Some((Rule::Shape, message));
        }
        let worst = worst(&report.output, &want, self.tolerance.of(spec.dtype))?;
        Some((Rule::Reference, worst.to_string()))
    }

    fn failed(
        &self,
        case: &Case,
        rule: Rule,
        check: Option<Code>,
        message: String,
        more: &[&str],
    ) -> Outcome {
        self.failed_on(case, rule, check, message, more, 0)
    }

    fn failed_on(
        &self,
        case: &Case,
        rule: Rule,
        check: Option<Code>,
        message: String,
        more: &[&str],
        at: usize,
    ) -> Outcome {
        let inputs = case.words();
        let lines = vec![self.ways[at].line(&self.kernel, &inputs, more)];
        Outcome::Failed(Box::new(Failure {
            rule,
            check,
            group: case.group,
            message,
            inputs,
            lines,
            cases: 1,
        }))
    }
}

/// `float32 [2, 3]`.
fn words(spec: &TensorSpec) -> String {
    format!("{} {:?}", spec.dtype, spec.shape)
}

/// A finding in one line.
fn told(finding: &Finding) -> String {
    let place = finding.site.as_ref().filter(|site| !site.file.is_empty());
    let place = place.map(|site| format!(", at {}:{}", site.file, site.line)).unwrap_or_default();
    format!("{}: {}{place}", finding.code, finding.message)
}
