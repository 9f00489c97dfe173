//! `run`: an op of a library, executed on the simulated device.

mod findings;
mod last;
mod profile;
mod table;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpsimd_device::{Arg, Config, Control, CoreReport, Costs, Dtype, Ending, Finding, Machine};
use gpsimd_device::{Profile, RunReport, Severity, Sources, TensorSpec, Trace, Value};
use gpsimd_library::arguments::{checks, dtype};
use gpsimd_library::{Library, Loadable, Op, Ops, ShapeFunctions, Staging};
use gpsimd_profile::{Advice, Called, Comparison};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::{Diagnostic, Result};
use schemars::JsonSchema;
use serde::Serialize;

use self::last::Took;
use super::{Status, sources};
use crate::answer::{self, Diagnosis, Place};
use crate::cli::{Lane, Run};
use crate::files::{FileError, read_at_most, write};
use crate::history;
use crate::inputs;
use crate::interrupt;
use crate::memory;
use crate::npy;
use crate::output::{print, print_raw, say};
use crate::render::{Render, output_width};

/// Why a run cannot begin.
#[derive(Debug, thiserror::Error, Diagnostic)]
pub(super) enum RunError {
    /// Nothing tells the output.
    #[error("the output's shape is not known")]
    #[diagnostic(
        code(run::output),
        help(
            "say --like N (shape and type of input N, from 0), or --shape 2x3 --dtype float32; a library built with --shape-src knows"
        )
    )]
    WhichOutput,
    /// `--like` with a number.
    #[error("--like {index}: input {index} is no tensor")]
    #[diagnostic(code(run::like), help("name one of the tensor inputs, counted from 0"))]
    Like { index: usize },
    /// `--expect` with another tensor.
    #[error("{} is {found}; the output is {needed}", .path.display())]
    #[diagnostic(
        code(run::expected),
        help("name the .npy file of what the output should be: same type, same shape")
    )]
    Expected { path: PathBuf, found: String, needed: String },
    /// A core that did not come to its end.
    #[error("core {core} did not complete: {ending}")]
    #[diagnostic(
        code(run::incomplete),
        help("see what the kernel printed; a finding that was allowed may be the reason")
    )]
    Incomplete { core: u8, ending: String },
}

/// What an op did, for programs.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    /// Its kernel function.
    op: &'a str,
    /// The tensor that it gave.
    output: Output<'a>,
    /// What each core did.
    cores: &'a [CoreReport],
    /// What is wrong or worth knowing.
    findings: &'a [Finding],
    /// With `--lane ucpl` or `--trace`: every stage.
    trace: Option<&'a Trace>,
    /// With `--profile`: what every instruction and function cost, core by core.
    #[serde(skip_serializing_if = "<[Profile]>::is_empty")]
    profiles: &'a [Profile],
    /// With `--profile`: what would gain most, at most three changes.
    #[serde(skip_serializing_if = "<[Advice]>::is_empty")]
    advice: &'a [Advice],
    /// With `--compare`: what differs from the other library's run.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<&'a Comparison>,
    /// What the last run of the same op with the same inputs took, if that was something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<Took>,
    /// What the estimated cycles were made from.
    costs: Costs,
}

/// The tensor that an op gave.
#[derive(Serialize, JsonSchema)]
pub struct Output<'a> {
    /// Where it was written, if it was.
    file: Option<&'a Path>,
    /// Element type.
    dtype: Dtype,
    /// Extents.
    shape: &'a [u64],
}

/// Bytes of memory for each byte of the output: two for what cores wrote, three when it is put together. Inputs are in
/// memory already.
const OUTPUT_COPIES: u64 = 5;

/// Loads the library, calls the op, shows what happened.
pub fn run(arguments: &Run, render: &Render) -> Result<Status> {
    let allowed = checks(&arguments.allow)?;
    let library = Library::find(&sources::library(arguments, render)?)?;
    if let Some(stale) = library.stale() {
        render.warn(&stale);
    }
    let default = Config::default();
    let limits = arguments.budget.map_or(default, |budget| default.with_budget(budget));
    let hbm = arguments.hbm.map_or(default.hbm, |gib| u64::from(gib) << 30);
    let (native, translate) = (!arguments.no_native, !arguments.no_translate);
    let (profile, costs) = (is_profiled(arguments), costs(arguments)?);
    let config = Config { hbm, native, translate, profile, costs, ..limits };
    let control = Arc::new(Control::default());
    let handle = Arc::clone(&control);
    interrupt::listen();
    interrupt::on_stop(move || handle.stop());
    let bar = Bar::new(render.is_json());
    let history = library
        .manifest
        .as_ref()
        .map(|manifest| history::of(manifest, arguments.call.lane))
        .unwrap_or_default();
    let whole = |trace: Trace| Trace { stages: [history.stages.clone(), trace.stages].concat() };
    let loadable = library.loadable(&Staging::from(arguments))?;
    let mut machine = loaded(&loadable, config).map_err(|(error, trace)| {
        let told = || format!("{}\n", whole(trace));
        // an answer has no result then; what failed is told with it, so that text that cannot be shown is no news
        match (arguments.trace, render.is_json()) {
            (true, true) => say(&told()),
            (true, false) => drop(print(&told())),
            (false, _) => {}
        }
        error
    })?;
    let kernels = machine.functions().iter().map(|function| function.name.as_str());
    let op = Ops::of(&library, kernels).find(name(arguments))?.clone();
    let call = |machine: &mut Machine, call: u32| -> Result<RunReport> {
        let (args, output) = call_of(arguments, &library, &op, call)?;
        Ok(machine.call(&op.kernel, args, output, &control, |executed| bar.show(executed))?)
    };
    let (args, output) = call_of(arguments, &library, &op, 0)?;
    let key = last::key(&arguments.library, &op.kernel, &args, &output, costs);
    let mut report = machine.call(&op.kernel, args, output, &control, |executed| bar.show(executed))?;
    for number in 1..arguments.calls {
        let again = call(&mut machine, number)?;
        let mut fresh = loaded(&loadable, config).map_err(|(error, _)| error)?;
        report.compare(number + 1, &again, &call(&mut fresh, number)?);
        fresh.unload()?;
        fresh.destroy()?;
    }
    machine.unload()?;
    let trace = whole(machine.destroy()?);
    let trace = Some(trace).filter(|_| arguments.trace || arguments.call.lane == Lane::Ucpl);
    bar.finish();
    report.allow(&allowed);

    // A file with wrong numbers in it would be taken for a result.
    let written = arguments.output.as_ref().filter(|_| !report.has_failed());
    if let Some(path) = written {
        let bytes = npy::write(&report.output).map_err(FileError::of("write", path))?;
        write(path, &bytes)?;
    }
    let is_stopped = report.cores.iter().any(|core| core.outcome == Ending::Cancelled);
    if is_stopped && render.is_json() {
        return Err(gpsimd_engine::EngineError::Stopped.into());
    }
    let sources = Sources::among(library.sources());
    let compared = match &arguments.compare {
        Some(other) if !is_stopped => {
            Some(compared(arguments, other, config, &control, (&report, &sources))?)
        }
        _ => None,
    };
    let took = Took::by(&report.cores);
    let is_complete = report.cores.iter().all(|core| core.outcome == Ending::Completed);
    let last = (is_complete && !report.has_failed())
        .then(|| last::replace(&key, took))
        .flatten()
        .filter(|last| *last != took);
    let advice = gpsimd_profile::advice(&report);
    let document = Document {
        op: &report.op,
        output: Output {
            file: written.map(PathBuf::as_path),
            dtype: report.output.spec.dtype,
            shape: &report.output.spec.shape,
        },
        cores: &report.cores,
        findings: &report.findings,
        trace: trace.as_ref(),
        profiles: &report.profiles,
        advice: &advice,
        comparison: compared.as_ref(),
        last,
        costs: report.costs,
    };
    let paged = match &arguments.report {
        Some(path) if !is_stopped => {
            page(&report, &call_of(arguments, &library, &op, 0)?.0, arguments, &sources, path)?
        }
        _ => String::new(),
    };
    let profiled = match &arguments.profile {
        Some(formats) if !is_stopped => profile::show(&report, &sources, formats, &profile_place(arguments))?,
        _ => String::new(),
    };
    if !render.is_json() {
        if arguments.raw {
            print_raw(report.text().as_bytes())?;
        }
        let trace = trace.as_ref().filter(|_| arguments.trace);
        let trace = trace.map_or_else(String::new, |trace| format!("{trace}\n"));
        print(&(trace + &table::printed(&report, arguments)))?;
        let look =
            findings::Look { width: output_width(), color: render.paints(), cores: report.cores.len() };
        let text = |finding| findings::text(finding, &sources, look);
        // what strangers wrote is spelled there, which leaves the tool's own colours
        print_raw(report.findings.iter().map(text).collect::<String>().as_bytes())?;
    }
    let status = render.verdict(fault(&report), &document, || {
        let other = compared.as_ref().zip(arguments.compare.as_ref());
        let name = |path: &Path| path.display().to_string();
        let other = other.map(|(other, path)| other.text(&name(path), &name(&arguments.library)));
        let since = last.map_or_else(String::new, |last| took.since(last));
        table::text(&report, arguments, &since) + &profiled + &other.unwrap_or_default() + &paged
    })?;
    if is_stopped { Err(gpsimd_engine::EngineError::Stopped.into()) } else { Ok(status) }
}

/// Whether it is to be known who answers for what was counted.
fn is_profiled(arguments: &Run) -> bool {
    arguments.profile.is_some() || arguments.report.is_some() || arguments.compare.is_some()
}

/// The same call of another library, compared with this one's.
fn compared(
    arguments: &Run,
    other: &Path,
    config: Config,
    control: &Control,
    this: (&RunReport, &Sources),
) -> Result<Comparison> {
    let library = Library::find(other)?;
    let loadable = library.loadable(&Staging::from(arguments))?;
    let mut machine = loaded(&loadable, config).map_err(|(error, _)| error)?;
    let kernels = machine.functions().iter().map(|function| function.name.as_str());
    let op = Ops::of(&library, kernels).find(name(arguments))?.clone();
    let (args, output) = call_of(arguments, &library, &op, 0)?;
    let report = machine.call(&op.kernel, args, output, control, |_| {})?;
    machine.unload()?;
    machine.destroy()?;
    Ok(gpsimd_profile::compare((&report, &Sources::among(library.sources())), this))
}

/// Writes the page that explains the run.
fn page(report: &RunReport, args: &[Arg], arguments: &Run, sources: &Sources, path: &Path) -> Result<String> {
    let expected = match &arguments.expect {
        None => None,
        Some(wanted) => {
            let bytes = read_at_most(wanted, inputs::LONGEST)?;
            let tensor = npy::read(wanted, bytes)?;
            let (found, needed) = (&tensor.spec, &report.output.spec);
            if found != needed {
                let (found, needed) = (found.to_string(), needed.to_string());
                return Err(RunError::Expected { path: wanted.clone(), found, needed }.into());
            }
            Some(tensor)
        }
    };
    let library = arguments.library.display().to_string();
    let called = Called { args, expected: expected.as_ref(), library: &library };
    write(path, gpsimd_profile::page(report, called, sources)?.as_bytes())?;
    Ok(format!("page: {}\n", path.display()))
}

/// The table that the estimate goes by.
fn costs(arguments: &Run) -> Result<Costs> {
    let Some(path) = &arguments.costs else { return Ok(Costs::default()) };
    let bytes = std::fs::read(path).map_err(FileError::of("read", path))?;
    Ok(Costs::parse(&String::from_utf8_lossy(&bytes))?)
}

/// Why the run is not clean: the first finding that is more than a note, else a core that did not complete.
fn fault(report: &RunReport) -> Option<Diagnosis> {
    let first = |severity| report.findings.iter().find(move |finding| finding.severity == severity);
    if let Some(finding) = first(Severity::Error).or_else(|| first(Severity::Warning)) {
        return Some(diagnosis(finding));
    }
    let core = report.cores.iter().find(|core| core.outcome != Ending::Completed)?;
    Some(Diagnosis::of(&RunError::Incomplete { core: core.core, ending: ending(core.outcome) }))
}

/// A finding as any error is told.
fn diagnosis(finding: &Finding) -> Diagnosis {
    let place = finding.site.as_ref().filter(|site| !site.file.is_empty()).map(|site| Place {
        file: Some(site.file.clone()),
        line: usize::try_from(site.line).ok().filter(|line| *line > 0),
        column: usize::try_from(site.column).ok().filter(|column| *column > 0),
        ..Place::default()
    });
    Diagnosis {
        code: Some(finding.code.to_string()),
        severity: match finding.severity {
            Severity::Error => answer::Severity::Error,
            Severity::Warning => answer::Severity::Warning,
            Severity::Note => answer::Severity::Note,
        },
        headline: finding.message.clone(),
        detail: None,
        place,
        remedy: Some(finding.help.clone()),
        labels: Vec::new(),
        related: Vec::new(),
    }
}

/// Where files of the profile go.
fn profile_place(arguments: &Run) -> PathBuf {
    let beside = || arguments.output.as_ref().and_then(|path| path.parent()).map(Path::to_path_buf);
    arguments.profile_out.clone().or_else(beside).unwrap_or_default()
}

/// `budget_exhausted`.
fn ending(ending: Ending) -> String {
    let name = serde_json::to_value(ending).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().to_owned()
}

/// The library on its cores; if it does not get there, how far it came.
pub(super) fn loaded(loadable: &Loadable, config: Config) -> Result<Machine, (miette::Report, Trace)> {
    let mut trace = Trace::default();
    let mut machine = match loadable.machine(config, &mut trace) {
        Ok(machine) => machine,
        Err(error) => return Err((error.into(), trace)),
    };
    match machine.load() {
        Ok(()) => Ok(machine),
        Err(error) => Err((error.into(), machine.trace())),
    }
}

/// What an op is called with, the n-th time.
pub(super) fn call_of(
    arguments: &Run,
    library: &Library,
    op: &Op,
    call: u32,
) -> Result<(Vec<Arg>, TensorSpec)> {
    let texts: Vec<String> =
        arguments.call.inputs.iter().cloned().chain(op.defaults(arguments.call.inputs.len())).collect();
    let args = args(op, &texts, call)?;
    let output = output(arguments, &texts, &args, library, op)?;
    // what is too large for the device is the device's to say
    if output.byte_len() <= arguments.hbm.map_or(Config::default().hbm, |gib| u64::from(gib) << 30) {
        memory::check("the tensors", OUTPUT_COPIES * output.byte_len())?;
    }
    Ok((args, output))
}

/// The op's name; a source's may come with its schema.
pub(super) fn name(arguments: &Run) -> Option<&str> {
    let op = arguments.call.op.as_deref()?;
    Some(op.split_once('=').map_or(op, |(kernel, _)| kernel).trim())
}

fn args(op: &Op, texts: &[String], call: u32) -> Result<Vec<Arg>> {
    op.check_count(texts.len())?;
    let argument = |(index, text): (usize, &String)| {
        let (name, ty) = op.parameter(index);
        inputs::argument(index, &name, text, ty, call)
    };
    texts.iter().enumerate().map(argument).collect()
}

fn output(arguments: &Run, texts: &[String], args: &[Arg], library: &Library, op: &Op) -> Result<TensorSpec> {
    if let Some(index) = arguments.call.like {
        return match args.get(index).map(|arg| &arg.value) {
            Some(Value::Tensor(tensor)) => Ok(tensor.spec.clone()),
            _ => Err(RunError::Like { index }.into()),
        };
    }
    let Some(shape) = &arguments.call.shape else {
        if let (Some(image), Some(name)) = (&library.shapes, &op.qualified) {
            let described = |(arg, text): (&Arg, &String)| match &arg.value {
                Value::Tensor(tensor) => tensor.spec.to_string(),
                _ => text.clone(),
            };
            let texts: Vec<String> = args.iter().zip(texts).map(described).collect();
            return ShapeFunctions::open(image)?.output(name, &texts);
        }
        // what nearly every op without a shape function gives
        let first = args.iter().find_map(|arg| match &arg.value {
            Value::Tensor(tensor) => Some(tensor.spec.clone()),
            _ => None,
        });
        return Ok(first.ok_or(RunError::WhichOutput)?);
    };
    let dtype = arguments.call.dtype.as_deref().map_or(Ok(Dtype::Float32), dtype)?;
    Ok(TensorSpec::new(dtype, inputs::shape(shape)?))
}

/// A long run on a terminal: how many instructions so far.
struct Bar {
    bar: ProgressBar,
    begin: Instant,
}

impl Bar {
    fn new(silent: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} [{elapsed}] {wide_msg}") {
            bar.set_style(style);
        }
        if !silent && std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Self { bar, begin: Instant::now() }
    }

    fn show(&self, executed: u64) {
        let elapsed = self.begin.elapsed();
        if elapsed > Duration::from_millis(300) {
            self.bar.set_message(format!("{} million instructions", executed / 1_000_000));
            self.bar.tick();
        }
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
