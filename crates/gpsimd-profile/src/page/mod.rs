//! One page that explains a run: self-contained HTML, without scripts.
//!
//! Unaware of files and of the command line.

mod charts;
mod picture;
mod source;

use gpsimd_device::report::counters::{Counters, Cycles};
use gpsimd_device::{Arg, Dtype, Ending, RunReport, Sources, Tensor, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use crate::advice::{Advice, advice};
use crate::cost::percent;
use crate::flame;
use picture::{Grid, numbers};

pub(crate) use charts::{escaped, hue};

const TEMPLATE: &str = include_str!("../../templates/report.html.j2");

/// Values of a tensor that are printed.
const VALUES: usize = 8;
/// Elements that differ which are listed.
const DIFFERENT: usize = 10;

/// What a run was called with.
#[derive(Debug, Clone, Copy)]
pub struct Called<'a> {
    /// The arguments.
    pub args: &'a [Arg],
    /// What the output should have been.
    pub expected: Option<&'a Tensor>,
    /// The library, as it was named.
    pub library: &'a str,
}

/// A page that cannot be made.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[error("the page cannot be made: {0}")]
#[diagnostic(code(run::page), help("this is a fault of the tool; `run --json` has all that the page shows"))]
pub struct PageError(minijinja::Error);

#[derive(Serialize)]
struct Shown {
    name: String,
    kind: String,
    values: String,
    picture: Option<String>,
    what: String,
}

#[derive(Serialize)]
struct Core {
    core: u8,
    outcome: String,
    counters: Counters,
    cycles: u64,
    share: f64,
    parts: Vec<(&'static str, f64)>,
    stack: u32,
    tcm: u32,
    timeline: Option<String>,
    memory: Option<String>,
    text: String,
}

#[derive(Serialize)]
struct Difference {
    count: usize,
    of: usize,
    worst: String,
    picture: Option<String>,
    rows: Vec<(String, String, String)>,
}

/// What the template is given.
#[derive(Serialize)]
struct Page<'a> {
    op: &'a str,
    library: &'a str,
    version: &'a str,
    failed: bool,
    clean: bool,
    slowest: u64,
    instructions: u64,
    inputs: Vec<Shown>,
    output: Shown,
    difference: Option<Difference>,
    findings: Vec<source::Found>,
    advice: Vec<Advice>,
    files: Vec<source::File>,
    flame: Option<String>,
    cores: Vec<Core>,
}

/// The page of a run.
///
/// # Errors
/// [`PageError`], a fault of the template.
pub fn page(report: &RunReport, called: Called<'_>, sources: &Sources) -> Result<String, PageError> {
    let slowest = report.cores.iter().map(|core| core.cycles).max().unwrap_or(0);
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let whole = Page {
        op: &report.op,
        library: called.library,
        version: env!("CARGO_PKG_VERSION"),
        failed: report.has_failed(),
        clean: report.is_clean(),
        slowest,
        instructions: report.cores.iter().map(|core| core.counters.instructions).sum(),
        inputs: called.args.iter().map(input).collect(),
        output: tensor("output", &report.output),
        difference: called.expected.map(|expected| difference(&report.output, expected)),
        findings: report.findings.iter().map(|finding| source::found(finding, sources)).collect(),
        advice: advice(report),
        files: source::heat(report, sources),
        flame: flame::drawn(&report.profiles),
        cores: (0..report.cores.len()).map(|at| core(report, at, slowest)).collect(),
    };
    let page = environment.render_str(TEMPLATE, minijinja::value::Serde(&whole));
    page.map_err(PageError)
}

fn input(arg: &Arg) -> Shown {
    match &arg.value {
        Value::Tensor(value) => tensor(&arg.name, value),
        other => Shown {
            name: arg.name.clone(),
            kind: "a value".to_owned(),
            values: format!("{other:?}"),
            picture: None,
            what: String::new(),
        },
    }
}

fn tensor(name: &str, tensor: &Tensor) -> Shown {
    let values = numbers(tensor);
    let extents: Vec<String> = tensor.spec.shape.iter().map(ToString::to_string).collect();
    let head: Vec<String> = values.iter().take(VALUES).map(|value| short(tensor, *value)).collect();
    let rest = if values.len() > VALUES { ", …" } else { "" };
    let grid = Grid::of(&tensor.spec.shape, &values);
    Shown {
        name: name.to_owned(),
        kind: format!("{} [{}]", tensor.spec.dtype, extents.join(", ")),
        values: format!("{}{rest}", head.join(", ")),
        picture: (values.len() > 1).then(|| grid.svg()),
        what: grid.what,
    }
}

/// A number in the fewest digits that its tensor's type tells from others.
fn short(tensor: &Tensor, value: f64) -> String {
    match tensor.spec.dtype {
        Dtype::Float32 | Dtype::Float16 | Dtype::Bfloat16 => (value as f32).to_string(),
        _ => value.to_string(),
    }
}

fn difference(output: &Tensor, expected: &Tensor) -> Difference {
    let (have, want) = (numbers(output), numbers(expected));
    let apart: Vec<f64> = have
        .iter()
        .zip(&want)
        .map(|(have, want)| match have == want || have.is_nan() && want.is_nan() {
            true => 0.0,
            false => (have - want).abs(),
        })
        .collect();
    let differs = || apart.iter().enumerate().filter(|(_, apart)| **apart != 0.0);
    let row = |(at, _): (usize, &f64)| {
        let index = format!("{:?}", output.spec.multi_index(at as u64));
        (index, short(output, have[at]), short(output, want[at]))
    };
    let worst = differs().filter(|(_, apart)| !apart.is_nan()).max_by(|(_, a), (_, b)| a.total_cmp(b));
    let worst = worst
        .map(|(at, apart)| format!("{} at {:?}", short(output, *apart), output.spec.multi_index(at as u64)));
    Difference {
        count: differs().count(),
        of: have.len(),
        worst: worst.unwrap_or_else(|| "not a number".to_owned()),
        picture: (apart.len() > 1).then(|| Grid::of(&output.spec.shape, &apart).svg()),
        rows: differs().take(DIFFERENT).map(row).collect(),
    }
}

fn core(report: &RunReport, at: usize, slowest: u64) -> Core {
    let core = &report.cores[at];
    let profile = report.profiles.iter().find(|profile| profile.core == core.core);
    let Cycles { instructions, window_loads, window_stores, window_moves, dma_wait, dma_copy } = core.spent;
    let parts = [
        ("instructions", instructions),
        ("loads", window_loads),
        ("stores", window_stores),
        ("moves", window_moves),
        ("wait", dma_wait),
        ("copy", dma_copy),
    ];
    Core {
        core: core.core,
        outcome: match core.outcome {
            Ending::Completed => "completed",
            Ending::Failed => "failed",
            Ending::Aborted => "aborted",
            Ending::Faulted => "faulted",
            Ending::BudgetExhausted => "budget exhausted",
            Ending::Cancelled => "cancelled",
        }
        .to_owned(),
        counters: core.counters,
        cycles: core.cycles,
        share: percent(core.cycles, slowest),
        parts: parts.into_iter().map(|(name, cycles)| (name, percent(cycles, slowest))).collect(),
        stack: core.stack_high_water,
        tcm: core.tcm_high_water,
        timeline: profile.map(|profile| charts::timeline(profile, slowest)),
        memory: profile.and_then(|profile| charts::memory(profile, core.counters.instructions)),
        text: core.text.clone(),
    }
}
