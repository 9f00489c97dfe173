//! What a person sees of a test: one line while it runs, then what was tried and what is wrong.
//!
//! Unaware of how anything was found out.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use gpsimd_test::{Failure, Group, OpReport};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::Result;
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Diagnosis, Severity};
use crate::render::Render;
use crate::status::Status;

/// The line that moves.
pub struct Line {
    bar: ProgressBar,
    begin: Instant,
}

impl Line {
    /// Nothing on a pipe, or where `silent`.
    pub fn new(silent: bool) -> Line {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("[{elapsed}] {wide_msg}") {
            bar.set_style(style);
        }
        if !silent && std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Line { bar, begin: Instant::now() }
    }

    /// Where it is.
    pub fn show(&self, op: &str, group: Group, at: usize, all: usize) {
        self.bar.set_message(format!("{op}: {} {}/{all}", group.name(), at + 1));
        self.bar.tick();
    }

    /// Takes it away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }
}

/// What was tried and what is wrong, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    /// Each op.
    ops: &'a [OpReport],
}

/// The first thing that is wrong.
fn fault(reports: &[OpReport]) -> Option<Diagnosis> {
    let failure = reports.iter().flat_map(|report| &report.failures).next()?;
    let entry = failure.rule.entry();
    Some(Diagnosis {
        code: Some(entry.name.to_owned()),
        severity: Severity::Error,
        headline: format!("{}: {}", entry.title, failure.message),
        detail: None,
        place: None,
        remedy: Some(entry.remedy.to_owned()),
        labels: Vec::new(),
        related: Vec::new(),
    })
}

/// The result.
pub fn reports(reports: &[OpReport], took: Duration, render: &Render) -> Result<Status> {
    render.verdict(fault(reports), &Document { ops: reports }, || {
        let cases: usize =
            reports.iter().flat_map(|report| &report.groups).map(|group| group.passed + group.failed).sum();
        let wrong: usize = reports.iter().map(|report| report.failures.len()).sum();
        let mut text: String = reports.iter().map(op).collect();
        let said =
            if wrong == 0 { "nothing is wrong".to_owned() } else { format!("{wrong} things are wrong") };
        let _ =
            writeln!(text, "{cases} cases of {} ops in {:.1} s: {said}", reports.len(), took.as_secs_f64());
        text
    })
}

/// What there is to say before everything is tried: in a line, or what is wrong.
pub fn first_look(reports: &[OpReport], took: Duration) -> String {
    let failures: Vec<String> = reports.iter().flat_map(|report| &report.failures).map(failure).collect();
    let calls: usize = reports.iter().flat_map(|report| &report.groups).map(|group| group.passed).sum();
    match failures.concat() {
        none if none.is_empty() => {
            format!("first look: good, {calls} calls in {:.2} s; now everything\n", took.as_secs_f64())
        }
        text => format!("first look: {text}"),
    }
}

fn op(report: &OpReport) -> String {
    let mut text = format!("{}\n", report.call);
    for takes in &report.takes {
        let _ = writeln!(text, "  takes    {}", takes.join(", "));
    }
    for group in &report.groups {
        let mut parts = vec![format!("{} passed", group.passed)];
        let others = [(group.failed, "failed"), (group.refused, "refused"), (group.skipped, "skipped")];
        parts.extend(
            others.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
        );
        let _ = writeln!(text, "  {:8} {}", group.group.name(), parts.join(", "));
    }
    for note in &report.notes {
        let _ = writeln!(text, "  note: {note}");
    }
    report.failures.iter().for_each(|one| text += &failure(one));
    text
}

fn failure(failure: &Failure) -> String {
    let entry = failure.rule.entry();
    let mut text = format!("error[{}]: {}: {}\n", failure.rule, entry.title, failure.message);
    if failure.cases > 1 {
        let _ = writeln!(text, "   and in {} more cases", failure.cases - 1);
    }
    for line in &failure.lines {
        let _ = writeln!(text, "   {line}");
    }
    let _ = writeln!(text, "   help: {}", entry.remedy);
    text
}
