//! `run`: an op of a library, executed on the simulated device.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpsimd_device::{Arg, Config, Control, CoreReport, Dtype, Ending, Finding, Machine};
use gpsimd_device::{Profile, RunReport, Severity, Tensor, TensorSpec, Trace, Value};
use gpsimd_library::arguments::{checks, dtype};
use gpsimd_library::{Library, Loadable, Op, Ops, Staging, shapes};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::{Diagnostic, Result};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Status, profile, sources};
use crate::answer::{self, Diagnosis, Place};
use crate::cli::{Lane, Run};
use crate::files::{FileError, write};
use crate::history;
use crate::inputs;
use crate::interrupt;
use crate::memory;
use crate::npy;
use crate::output::{print, print_raw, say};
use crate::render::Render;

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
    let config = Config { hbm, native, translate, profile: arguments.profile.is_some(), ..limits };
    let control = Arc::new(Control::default());
    let handle = Arc::clone(&control);
    interrupt::listen();
    interrupt::on_stop(move || handle.stop());
    let bar = Bar::new(render.is_json());
    let history =
        library.manifest.as_ref().map(|manifest| history::of(manifest, arguments.lane)).unwrap_or_default();
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
    let mut report = call(&mut machine, 0)?;
    for number in 1..arguments.calls {
        let again = call(&mut machine, number)?;
        let mut fresh = loaded(&loadable, config).map_err(|(error, _)| error)?;
        report.compare(number + 1, &again, &call(&mut fresh, number)?);
        fresh.unload()?;
        fresh.destroy()?;
    }
    machine.unload()?;
    let trace = whole(machine.destroy()?);
    let trace = Some(trace).filter(|_| arguments.trace || arguments.lane == Lane::Ucpl);
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
    };
    let profiled = match &arguments.profile {
        Some(formats) if !is_stopped => profile::show(&report, formats, &profile_place(arguments))?,
        _ => String::new(),
    };
    if arguments.raw && !render.is_json() {
        print_raw(report.text().as_bytes())?;
    }
    let status = render.verdict(fault(&report), &document, || {
        let trace = trace.as_ref().filter(|_| arguments.trace);
        let trace = trace.map_or_else(String::new, |trace| format!("{trace}\n"));
        trace + &text(&report, arguments) + &profiled
    })?;
    if is_stopped { Err(gpsimd_engine::EngineError::Stopped.into()) } else { Ok(status) }
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
fn loaded(loadable: &Loadable, config: Config) -> Result<Machine, (miette::Report, Trace)> {
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
fn call_of(arguments: &Run, library: &Library, op: &Op, call: u32) -> Result<(Vec<Arg>, TensorSpec)> {
    let texts: Vec<String> =
        arguments.inputs.iter().cloned().chain(op.defaults(arguments.inputs.len())).collect();
    let args = args(op, &texts, call)?;
    let output = output(arguments, &texts, &args, library, op)?;
    // what is too large for the device is the device's to say
    if output.byte_len() <= arguments.hbm.map_or(Config::default().hbm, |gib| u64::from(gib) << 30) {
        memory::check("the tensors", OUTPUT_COPIES * output.byte_len())?;
    }
    Ok((args, output))
}

/// The op's name; a source's may come with its schema.
fn name(arguments: &Run) -> Option<&str> {
    let op = arguments.op.as_deref()?;
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
    if let Some(index) = arguments.like {
        return match args.get(index).map(|arg| &arg.value) {
            Some(Value::Tensor(tensor)) => Ok(tensor.spec.clone()),
            _ => Err(RunError::Like { index }.into()),
        };
    }
    let Some(shape) = &arguments.shape else {
        if let (Some(image), Some(name)) = (&library.shapes, &op.qualified) {
            let described = |(arg, text): (&Arg, &String)| match &arg.value {
                Value::Tensor(tensor) => tensor.spec.to_string(),
                _ => text.clone(),
            };
            let texts: Vec<String> = args.iter().zip(texts).map(described).collect();
            return shapes::output(image, name, &texts);
        }
        // what nearly every op without a shape function gives
        let first = args.iter().find_map(|arg| match &arg.value {
            Value::Tensor(tensor) => Some(tensor.spec.clone()),
            _ => None,
        });
        return Ok(first.ok_or(RunError::WhichOutput)?);
    };
    let dtype = arguments.dtype.as_deref().map_or(Ok(Dtype::Float32), dtype)?;
    Ok(TensorSpec::new(dtype, inputs::shape(shape)?))
}

fn text(report: &RunReport, arguments: &Run) -> String {
    let mut text = if arguments.raw { String::new() } else { report.text() };
    for core in report.cores.iter().filter(|core| core.text_dropped > 0) {
        text += &format!("P{}: … {} more bytes of text were not kept\n", core.core, core.text_dropped);
    }
    for finding in &report.findings {
        text += &finding_text(finding);
    }
    text += "core  outcome    instructions  cycles (est.)  window loads  stores  moves  DMA  bytes     stack  TCM\n";
    for core in &report.cores {
        let counters = &core.counters;
        text += &format!(
            "{:<5} {:10} {:>12}  {:>13}  {:>12}  {:>6}  {:>5}  {:>3}  {:<8}  {:>5}  {}\n",
            core.core,
            ending(core.outcome),
            counters.instructions,
            core.cycles,
            counters.window_loads,
            counters.window_stores,
            counters.window_misses,
            counters.dma_transfers,
            counters.dma_bytes,
            core.stack_high_water,
            core.tcm_high_water,
        );
    }
    text += &total(&report.cores);
    if !report.cores.iter().all(|core| core.outcome == Ending::Completed) {
        // zeros that nobody computed would pass for a result
        let file = arguments.output.as_ref();
        let file = file.map_or_else(String::new, |path| format!("; {} is not written", path.display()));
        return text + &format!("{}: no output, for it did not end well on every core{file}\n", report.op);
    }
    let spec = &report.output.spec;
    let shape: Vec<String> = spec.shape.iter().map(ToString::to_string).collect();
    let place = match &arguments.output {
        Some(path) if report.has_failed() => format!("not written to {}", path.display()),
        Some(path) => path.display().to_string(),
        None if report.has_failed() => format!("{}, not to be trusted", head(&report.output)),
        None => head(&report.output),
    };
    text += &format!("{} -> {} [{}] {place}\n", report.op, spec.dtype, shape.join(", "));
    text
}

/// What several cores come to: the slowest is what one waits for.
fn total(cores: &[CoreReport]) -> String {
    let Some(slowest) = cores.iter().rev().max_by_key(|core| core.cycles).filter(|_| cores.len() > 1) else {
        return String::new();
    };
    let instructions: u64 = cores.iter().map(|core| core.counters.instructions).sum();
    let cycles: u64 = cores.iter().map(|core| core.cycles).sum();
    format!(
        "slowest: core {} with {} cycles; all cores: {instructions} instructions, {cycles} cycles\n",
        slowest.core, slowest.cycles
    )
}

fn finding_text(finding: &Finding) -> String {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut text = format!("{severity}[{}]: {}", finding.code, finding.message);
    if finding.count > 1 {
        text += &format!(" ({} times)", finding.count);
    }
    text += "\n";
    if let Some(site) = &finding.site {
        let place = match (site.file.is_empty(), site.line) {
            (true, _) => format!("pc {:#010x}", site.pc),
            (false, line) => format!("{}:{line}", site.file),
        };
        let function =
            if site.function.is_empty() { String::new() } else { format!(", in {}", site.function) };
        text += &format!("   at {place}{function}\n");
    }
    if let Some(history) = finding.history.as_ref().filter(|site| !site.file.is_empty()) {
        text += &format!("   block from {}:{}\n", history.file, history.line);
    }
    if let Some(other) = finding.neighbour.as_ref().filter(|site| !site.file.is_empty()) {
        text += &format!("   and {}:{}\n", other.file, other.line);
    }
    if finding.cores.len() < 8 && !finding.cores.is_empty() {
        let cores: Vec<String> = finding.cores.iter().map(ToString::to_string).collect();
        text += &format!("   on core {}\n", cores.join(", "));
    }
    text + &format!("   help: {}\n", finding.help)
}

/// The first elements of the output, for a run without `-o`: integers as such, floats in their shortest form.
fn head(tensor: &Tensor) -> String {
    const SHOWN: usize = 6;
    let size = tensor.spec.dtype.size();
    let count = tensor.data.len() / size;
    let shown: Vec<String> =
        tensor.data.chunks_exact(size).take(SHOWN).map(|bytes| element(tensor.spec.dtype, bytes)).collect();
    format!("= [{}{}]", shown.join(", "), if count > SHOWN { ", …" } else { "" })
}

/// One element as text; nothing if the bytes are not one.
fn element(dtype: Dtype, bytes: &[u8]) -> String {
    let two = || <[u8; 2]>::try_from(bytes).ok();
    let four = || <[u8; 4]>::try_from(bytes).ok();
    let text = match dtype {
        Dtype::Int8 => bytes.first().map(|byte| byte.cast_signed().to_string()),
        Dtype::Uint8 => bytes.first().map(u8::to_string),
        Dtype::Int16 => two().map(|bytes| i16::from_le_bytes(bytes).to_string()),
        Dtype::Int32 => four().map(|bytes| i32::from_le_bytes(bytes).to_string()),
        Dtype::Int64 => <[u8; 8]>::try_from(bytes).ok().map(|bytes| i64::from_le_bytes(bytes).to_string()),
        Dtype::Bfloat16 => two().map(|bytes| short(half::bf16::from_le_bytes(bytes).to_f32())),
        Dtype::Float16 => two().map(|bytes| short(half::f16::from_le_bytes(bytes).to_f32())),
        Dtype::Float32 => four().map(|bytes| short(f32::from_le_bytes(bytes))),
    };
    text.unwrap_or_default()
}

/// A float as Python writes it: with an exponent where the digits would be many.
fn short(value: f32) -> String {
    let size = value.abs();
    if value == 0.0 || !value.is_finite() || (1e-4..1e16).contains(&size) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_short_and_of_their_kind() {
        let rows = [
            (Dtype::Float32, 0.1_f32.to_le_bytes().to_vec(), "0.1"),
            (Dtype::Float32, 1e-38_f32.to_le_bytes().to_vec(), "1e-38"),
            (Dtype::Float32, (-3e20_f32).to_le_bytes().to_vec(), "-3e20"),
            (Dtype::Float32, f32::NAN.to_le_bytes().to_vec(), "NaN"),
            (Dtype::Float32, 7.0_f32.to_le_bytes().to_vec(), "7"),
            (Dtype::Int32, (-7_i32).to_le_bytes().to_vec(), "-7"),
            (Dtype::Int8, vec![0xff], "-1"),
            (Dtype::Uint8, vec![0xff], "255"),
            (Dtype::Int64, i64::MIN.to_le_bytes().to_vec(), "-9223372036854775808"),
            (Dtype::Float16, half::f16::from_f32(0.5).to_le_bytes().to_vec(), "0.5"),
            (Dtype::Bfloat16, half::bf16::from_f32(-2.0).to_le_bytes().to_vec(), "-2"),
        ];
        for (dtype, bytes, want) in rows {
            assert_eq!(element(dtype, &bytes), want);
        }
    }
}
