//! For every check a kernel with exactly that fault, reported with its code, line and element, and a twin that is silent.
//!
//! Each file of `faults/` has two kernels, `faulty` and `corrected`. `// FAULT` marks the line that must be reported and
//! `// HISTORY` the one where the block concerned was allocated or freed. Both compute y = 2x where they get so far.

use std::collections::BTreeSet;

use gpsimd_device::{
    Arg, CHECKS, Code, Config, Control, CoreImage, Dtype, Ending, Finding, Machine, RunReport, Tensor,
    TensorSpec, Value,
};
use gpsimd_loader::Generation;
use gpsimd_loader::selector::Environment;

use crate::bench::{Bench, good, repository};
use crate::workshop::{Cores, Recipe, files, line};

/// Elements of the input and of the output.
const COUNT: i64 = 64;

/// What must be reported.
struct Fault {
    /// File in `faults/`.
    file: &'static str,
    code: Code,
    cores: Cores,
    /// Whether it takes a checked build to find it.
    is_checked: bool,
    /// Tensor and row-major position of its element; `None` when the fault is not about an element.
    element: Option<(&'static str, i64)>,
}

const fn one(file: &'static str, code: Code) -> Fault {
    Fault { file, code, cores: Cores::One, is_checked: false, element: None }
}

const fn eight(file: &'static str, code: Code) -> Fault {
    Fault { file, code, cores: Cores::Eight, is_checked: false, element: None }
}

const fn checked(file: &'static str, code: Code) -> Fault {
    Fault { is_checked: true, ..one(file, code) }
}

impl Fault {
    const fn at(self, tensor: &'static str, element: i64) -> Self {
        Fault { element: Some((tensor, element)), ..self }
    }
}

const FAULTS: &[Fault] = &[
    one("abort", Code::Abort),
    one("coherency", Code::Coherency),
    one("coherency_handles", Code::Coherency),
    one("coherency_stale", Code::Coherency),
    one("closed_stream", Code::ClosedStream),
    one("fault_jump", Code::Fault),
    one("fault_unaligned", Code::Fault),
    one("flix", Code::Flix),
    one("divide_by_zero", Code::DivideByZero),
    one("stack_overflow", Code::StackOverflow),
    one("stack_overflow_recursion", Code::StackOverflow),
    one("runaway", Code::Runaway),
    one("unwritten_output", Code::Unwritten).at("out", COUNT - 1),
    eight("overlapping_writes", Code::Overlap).at("out", COUNT / 8),
    eight("race", Code::Race).at("out", COUNT / 8 - 1),
    eight("fresh_tensor", Code::FreshTensor),
    eight("accessor_on_cores", Code::ElementOnCores).at("x", 0),
    eight("stream_on_cores", Code::StreamOnCores),
    eight("accessor_on_core_zero", Code::AccessorOnCoreZero).at("x", 0),
    one("scalar_type", Code::ScalarType),
    one("null_access", Code::Null),
    one("use_after_free", Code::UseAfterFree),
    one("double_free", Code::DoubleFree),
    one("wrong_free_heap", Code::WrongFree),
    one("wrong_free_array", Code::WrongFree),
    one("write_outside_element", Code::WriteOutside).at("out", COUNT),
    one("write_outside_raw", Code::WriteOutside).at("out", COUNT + 5),
    one("write_outside_dma", Code::WriteOutside).at("out", COUNT),
    one("write_outside_tcm", Code::WriteOutside),
    one("write_outside_neighbour", Code::WriteOutside),
    one("write_outside_tcm_dma", Code::WriteOutside),
    one("write_outside_heap", Code::WriteOutside),
    one("read_outside_element", Code::ReadOutside).at("x", COUNT),
    one("read_outside_dma", Code::ReadOutside).at("x", COUNT),
    one("read_outside_tcm", Code::ReadOutside),
    one("code_written", Code::CodeWritten),
    one("code_written_constant", Code::CodeWritten),
    one("input_written", Code::InputWritten).at("x", 5),
    one("uninitialised_read", Code::Uninitialised),
    one("uninitialised_read_tensor", Code::Uninitialised),
    one("uninitialised_stack", Code::Uninitialised),
    one("uninitialised_malloc", Code::Uninitialised),
    one("uninitialised_bits", Code::Uninitialised),
    one("used_after_return", Code::Uninitialised),
    one("uninitialised_stack_output", Code::UninitialisedOutput).at("out", COUNT - 1),
    one("uninitialised_output", Code::UninitialisedOutput).at("out", COUNT - 1),
    one("scalar_width", Code::ScalarWidth),
    one("window_unset", Code::WindowUnset),
    one("dma_stopped", Code::DmaStopped),
    one("tcm_leak", Code::TcmLeak),
    one("leak", Code::Leak),
    one("hbm_stack", Code::HbmStack),
    one("element_accessor", Code::ElementCost),
    one("text_lost", Code::TextLost),
    one("crowded", Code::Crowded),
    eight("print_on_cores", Code::PrintOnCores),
    checked("array_index", Code::ArrayIndex),
    checked("array_index_container", Code::ArrayIndex),
    checked("container_overrun", Code::WriteOutside),
    checked("stack_overrun", Code::StackOverrun),
    checked("global_overrun", Code::GlobalOverrun),
    checked("use_after_scope", Code::UseAfterScope),
    checked("written_after_return", Code::UseAfterScope),
    checked("scalar_type_template", Code::ScalarType),
    checked("memory_overlap", Code::MemoryOverlap),
    checked("overflow", Code::Overflow),
    checked("shift", Code::Shift),
    checked("float_cast", Code::FloatCast),
    checked("misaligned", Code::Misaligned),
    checked("object_size", Code::ObjectSize),
    checked("invalid_value", Code::InvalidValue),
    checked("pointer_overflow", Code::PointerOverflow),
    checked("pointer_pair", Code::PointerPair),
    checked("null_argument", Code::NullArgument),
    checked("invalid_builtin", Code::InvalidBuiltin),
    checked("vla_bound", Code::VlaBound),
    checked("missing_return", Code::MissingReturn),
    checked("unreachable", Code::Unreachable),
];

/// Of one of the two kernels.
fn machine(fault: &Fault, kernel: &str, config: Config) -> Machine {
    let parameters = if fault.code == Code::ScalarWidth { "Tensor x, int factor" } else { "Tensor x" };
    let op = |kernel: &str| format!("{kernel}=t::{kernel}({parameters}) -> (Tensor y)");
    let flag = match fault.code {
        Code::HbmStack if kernel == "faulty" => Some("-DSTACK_SIZE=20000"),
        _ => None,
    };
    let recipe = Recipe {
        source: repository().join("tests/conformance/faults").join(format!("{}.cpp", fault.file)),
        ops: vec![op("faulty"), op("corrected")],
        cores: fault.cores,
        cflags: flag.into_iter().map(str::to_owned).collect(),
        is_checked: fault.is_checked,
    };
    Machine::boot(recipe.build().images.clone(), config)
        .unwrap_or_else(|error| panic!("{}: {error}", fault.file))
}

fn run(fault: &Fault, kernel: &str) -> RunReport {
    let values: Vec<f32> = (0..COUNT).map(|k| k as f32 - 20.5).collect();
    let mut args = vec![Arg::tensor("x", Tensor::from_f32(&values).expect("a shape with a wire form"))];
    if fault.code == Code::ScalarWidth {
        let factor = if kernel == "faulty" { Value::LongLong(2) } else { Value::Int(2) };
        args.push(Arg::new("factor", factor));
    }
    let output = TensorSpec::new(Dtype::Float32, [COUNT as u64]);
    // Whatever the host does in place of instructions, nothing of it is seen in a report.
    let quick = Config { budget: 5_000_000, ..Config::default() };
    let [report, executed] = [quick, Config { native: false, translate: false, ..quick }].map(|config| {
        let called = machine(fault, kernel, config).call(
            kernel,
            args.clone(),
            output.clone(),
            &Control::default(),
            |_| {},
        );
        called.unwrap_or_else(|error| panic!("{}: {error}", fault.file))
    });
    assert_eq!(report, executed, "{}: {kernel}, quick and executed", fault.file);
    report
}

/// File name, and the lines of it that bear this mark.
fn marked(fault: &Fault, mark: &str) -> Option<(String, u32)> {
    let file = format!("{}.cpp", fault.file);
    let text =
        std::fs::read_to_string(repository().join("tests/conformance/faults").join(&file)).expect("readable");
    let at = text.lines().position(|line| line.ends_with(mark))?;
    Some((file, u32::try_from(at).expect("a short file") + 1))
}

/// File name and line where a finding says that it happened.
fn place(site: Option<&gpsimd_device::report::Site>) -> Option<(String, u32)> {
    let site = site.filter(|site| site.line > 0)?;
    Some((site.file.rsplit('/').next()?.to_owned(), site.line))
}

fn wrong_with(fault: &Fault, findings: &[Finding]) -> Vec<String> {
    let mut wrong = Vec::new();
    let [finding] = findings else {
        let lines: Vec<String> = findings.iter().map(line).collect();
        return vec![format!("{} findings: {}", findings.len(), lines.join("; "))];
    };
    let mut differ = |what: &str, found: String, wanted: String| {
        if found != wanted {
            wrong.push(format!("{what} is {found}, expected {wanted}"));
        }
    };
    differ("the code", finding.code.to_string(), fault.code.to_string());
    let wanted = marked(fault, "// FAULT");
    if wanted.is_some() {
        differ("the place", format!("{:?}", place(finding.site.as_ref())), format!("{wanted:?}"));
    }
    let history = marked(fault, "// HISTORY");
    if history.is_some() {
        differ("the history", format!("{:?}", place(finding.history.as_ref())), format!("{history:?}"));
    }
    let element = finding.element.as_ref().map(|element| (element.tensor.as_str(), element.element));
    differ("the element", format!("{element:?}"), format!("{:?}", fault.element));
    if !wrong.is_empty() {
        wrong.push(line(finding));
    }
    wrong
}

#[test]
fn every_fault_is_reported_where_it_is() {
    let mut wrong = Vec::new();
    for fault in FAULTS {
        let report = run(fault, "faulty");
        wrong.extend(wrong_with(fault, &report.findings).iter().map(|why| format!("{}: {why}", fault.file)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_corrected_twin_is_silent() {
    let mut wrong = Vec::new();
    for fault in FAULTS {
        let report = run(fault, "corrected");
        let done = report.cores.iter().all(|core| core.outcome == Ending::Completed);
        let right = report
            .output
            .to_f32()
            .expect("floats")
            .iter()
            .zip(0..)
            .all(|(y, k)| *y == 2.0 * (k as f32 - 20.5));
        wrong.extend(report.findings.iter().map(|finding| format!("{}: {}", fault.file, line(finding))));
        if !done || !right {
            wrong.push(format!("{}: {:?} {:?}", fault.file, report.cores[0].outcome, report.output.to_f32()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn constants_of_a_split_image_are_read_only() {
    let bench = Bench::new();
    let source = repository().join("tests/conformance/faults/code_written_constant.cpp");
    let mut command = bench.tool();
    command.arg("compile").arg(source).args(["--name", "library", "--image", "split"]);
    good(command.args(["--op", "faulty=t::faulty(Tensor x) -> (Tensor y)"]));
    let image = CoreImage::new(std::fs::read(bench.path("build/library.split.so")).expect("built"));
    let environment = Environment { has_cptc_decode: false };
    let mut machine =
        Machine::prepare(image, 1, Generation::Cayman, environment, Config::default()).expect("prepared");
    machine.load().expect("loaded");
    let values: Vec<f32> = (0..COUNT).map(|k| k as f32 - 20.5).collect();
    let args = vec![Arg::tensor("x", Tensor::from_f32(&values).expect("a shape with a wire form"))];
    let output = TensorSpec::new(Dtype::Float32, [COUNT as u64]);
    let report = machine.call("faulty", args, output, &Control::default(), |_| {}).expect("a call");
    let codes: Vec<Code> = report.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [Code::CodeWritten], "{:?}", report.findings);
}

/// A library of another runtime has no heaps to follow; the device's own tests show that on hand-made images. What a call
/// leaves for the next takes several, and a large extent no kernel at all; the end to end tests make them.
#[test]
fn every_check_has_a_fault_and_every_fault_a_row() {
    let shown: BTreeSet<Code> = FAULTS
        .iter()
        .map(|fault| fault.code)
        .chain([Code::HeapsUnknown, Code::StateKept, Code::LargeExtent])
        .collect();
    let missing: Vec<&str> =
        CHECKS.iter().filter(|entry| !shown.contains(&entry.code)).map(|entry| entry.name).collect();
    assert!(missing.is_empty(), "no kernel for {missing:?}");
    let mut rows: Vec<String> = FAULTS.iter().map(|fault| format!("{}.cpp", fault.file)).collect();
    rows.sort();
    let names: Vec<String> = files(&repository().join("tests/conformance/faults"), "cpp")
        .iter()
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    assert_eq!(rows, names);
}
