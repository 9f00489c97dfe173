//! The gallery: every operation of `examples/gallery` gives the numbers of its definition, at odd sizes, on one core and on
//! eight, in both lanes, plain and checked, without a finding. The definitions are in `reference`, in double precision.

mod cases;
mod kit;
mod native;
mod reference;
mod table;

use std::path::PathBuf;
use std::process::Command;

use gpsimd_device::{Config, CoreImage, Ending, Machine, RunReport};
use gpsimd_loader::Generation;
use gpsimd_loader::selector::Environment;

use crate::bench::{Bench, good, repository};
use crate::workshop::{call, faults, files, host_compiler, line, sdk};
use cases::Case;

/// The folder of the gallery.
fn gallery() -> PathBuf {
    repository().join("examples/gallery")
}

/// The kernels that a new one starts from.
fn templates() -> PathBuf {
    repository().join("examples/templates")
}

/// The source of an operation of the gallery, or of a template.
fn source(name: &str) -> String {
    let file = format!("{name}.cpp");
    let folder = if templates().join(&file).exists() { templates() } else { gallery() };
    std::fs::read_to_string(folder.join(file)).expect("readable")
}

/// The schema that a kernel's opening comment names.
fn schema(name: &str) -> String {
    let source = source(name);
    let schema = source.lines().find_map(|line| line.strip_prefix("// Schema: ")).expect("a schema");
    schema.to_owned()
}

/// A kernel's library in a bench of its own, from the source as `change` makes it.
fn build(name: &str, change: impl Fn(&str) -> String, arguments: &[&str]) -> Bench {
    let bench = Bench::new();
    let op = format!("{name}={}", schema(name));
    bench.write(&format!("{name}.cpp"), &change(&source(name)));
    let mut command = bench.tool();
    command.arg("compile").arg(format!("{name}.cpp")).args(["--op", &op]);
    good(command.args(arguments));
    bench
}

fn read(bench: &Bench, file: String) -> Vec<u8> {
    std::fs::read(bench.path("build").join(file)).expect("the tool wrote it")
}

/// What ships, with the linked image as debug information.
fn image(bench: &Bench, stem: &str) -> CoreImage {
    let bytes = read(bench, format!("{stem}.stripped.so"));
    CoreImage { bytes, debug: Some(read(bench, format!("{stem}.so"))) }
}

/// The report must be of cores that ended, without findings, with the case's numbers.
fn judge(what: &str, case: &Case, report: &RunReport) {
    let ended = report.cores.iter().all(|core| core.outcome == Ending::Completed);
    assert!(ended, "{what}: {}", report.text());
    let findings: Vec<String> = faults(report).into_iter().map(line).collect();
    assert!(findings.is_empty(), "{what}:\n{}", findings.join("\n"));
    if let Err(why) = case.want.compare(&report.output.data) {
        panic!("{what}: {why}");
    }
}

/// With one more line before the kernel returns, as authors have one while they look for a fault.
fn printing(source: &str) -> String {
    let (before, after) = source.rsplit_once("    return y;").expect("a kernel that returns y");
    format!("{before}    printf(\"%d elements\\n\", static_cast<int>(y.numel()));\n    return y;{after}")
}

/// All cases on these images; what came out.
fn run_all(name: &str, what: &str, images: Vec<CoreImage>) -> Vec<RunReport> {
    let boot = |config| Machine::boot(images.clone(), config).expect("boots");
    let mut machine = boot(Config::default());
    // Whatever the host does in place of instructions, nothing of it is seen in a report. Several cores take turns as they
    // like; of one the first case is tried, all of them at length.
    let tried = if std::env::var_os("GPSIMD_GALLERY").is_some() { usize::MAX } else { 1 };
    let is_alone = images.len() == 1;
    let mut reference =
        is_alone.then(|| boot(Config { native: false, translate: false, ..Config::default() }));
    let all = cases::of(name);
    let run = |(k, case): (usize, &Case)| {
        let report = call(&mut machine, name, case.args(), case.output.clone());
        if let Some(reference) = reference.as_mut().filter(|_| k < tried) {
            let executed = call(reference, name, case.args(), case.output.clone());
            assert_eq!(report, executed, "{name}, case {k}, {what}: quick and executed");
        }
        judge(&format!("{name}, case {k}, {what}"), case, &report);
        report
    };
    all.iter().enumerate().map(run).collect()
}

/// With the compiler's checks in, on one core and on eight, with these flags of the compiler.
fn prove_checked(name: &str, flags: &[&str]) {
    let sanitize = ["--sanitize", "address,undefined"];
    let one = build(name, str::to_owned, &[&sanitize[..], flags].concat());
    run_all(name, "one core, checked", vec![CoreImage::new(read(&one, format!("{name}.checked.so")))]);
    let eight = build(name, str::to_owned, &[&["--multicore"][..], &sanitize, flags].concat());
    let cpu = |k: u32| CoreImage::new(read(&eight, format!("{name}.checked_cpu{k}.so")));
    run_all(name, "eight cores, checked", (0..8).map(cpu).collect());
}

/// At the levels of optimisation that no build has by itself, plain and checked.
fn prove_levels(name: &str) {
    for level in ["-O0", "-O2", "-O3"] {
        let one = build(name, str::to_owned, &["--", level]);
        run_all(name, &format!("one core, {level}"), vec![image(&one, name)]);
        let eight = build(name, str::to_owned, &["--multicore", "--", level]);
        let cpu = |k: u32| image(&eight, &format!("{name}_cpu{k}"));
        run_all(name, &format!("eight cores, {level}"), (0..8).map(cpu).collect());
    }
    prove_checked(name, &["--", "-O0"]);
}

fn prove(name: &str) {
    let single = build(name, str::to_owned, &[]);
    run_all(name, "one core", vec![image(&single, name)]);
    prove_checked(name, &[]);
    if std::env::var_os("GPSIMD_GALLERY").is_some() {
        prove_levels(name);
    }

    // A kernel that prints must fit the split image, too.
    let eight = build(name, printing, &["--multicore", "--image", "both"]);
    let cpu = |k: u32| image(&eight, &format!("{name}_cpu{k}"));
    let fixed = run_all(name, "eight cores", (0..8).map(cpu).collect());
    for report in &fixed {
        let elements = report.output.spec.shape.iter().product::<u64>();
        assert_eq!(report.cores[0].text, format!("{elements} elements\n"), "{name}");
    }

    let environment = Environment { has_cptc_decode: false };
    let image = CoreImage::new(read(&eight, format!("{name}.split.so")));
    let mut machine =
        Machine::prepare(image, 8, Generation::Cayman, environment, Config::default()).expect("prepared");
    machine.load().expect("loaded");
    for (case, fixed) in cases::of(name).iter().zip(&fixed) {
        let report = call(&mut machine, name, case.args(), case.output.clone());
        judge(&format!("{name}, split image"), case, &report);
        assert_eq!(report.output.data, fixed.output.data, "{name}: the lanes differ");
    }
}

macro_rules! a_test_an_operation {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            prove(stringify!($name));
        })+

        #[test]
        fn every_kernel_has_a_test() {
            let names: Vec<String> = files(&gallery(), "cpp")
                .iter()
                .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
                .collect();
            assert_eq!(names, [$(stringify!($name)),+]);
            assert!(names.len() >= 24);
        }
    };
}

a_test_an_operation! {
    argsort bincount blur chamfer cumsum cumsum_rows dequantize embedding embedding_bag fft fps gelu grid_sample hash32 knn
    layer_norm masked_softmax nms quantize rms_norm roi_align rotary scatter_add selective_scan softmax swiglu topk wkv
}

macro_rules! a_test_a_template {
    ($($test:ident: $name:literal),+) => {
        $(#[test]
        fn $test() {
            prove($name);
        })+
    };
}

a_test_a_template! {
    template_elementwise: "elementwise", template_rows: "rows", template_reduce: "reduce", template_gather: "gather",
    template_tiles: "tiles"
}

/// One source that is all of these: the headers take a second to read.
fn as_one(sources: &[PathBuf]) -> String {
    let headers = "#include <torch/torch.h>\n#include \"torchneuron/register.h\"\n".to_owned();
    (0..).zip(sources).fold(headers, |text, (k, source)| {
        text + &format!("namespace source{k} {{\n#include \"{}\"\n}}\n", source.display())
    })
}

/// The shape functions give the outputs that the cases have.
#[test]
fn shape_functions_give_the_shapes_of_the_results() {
    let sources = files(&gallery().join("shape"), "cpp");
    let bench = Bench::new();
    let lister = bench.path("list_registrations.o");
    good(host_compiler().arg("-c").arg("-o").arg(&lister).arg(sdk().join("host/list_registrations.cpp")));
    // A library holds ten operators.
    for (group, sources) in sources.chunks(10).enumerate() {
        let (program, one) = (bench.path(format!("program{group}")), format!("all{group}.cpp"));
        bench.write(&one, &as_one(sources));
        good(host_compiler().arg("-o").arg(&program).arg(bench.path(&one)).arg(&lister));
        for source in sources {
            let stem = source.file_stem().and_then(|stem| stem.to_str()).expect("a name");
            let name = stem.trim_end_matches("_shape");
            for case in cases::of(name) {
                let answer =
                    good(Command::new(&program).arg("eval").arg(format!("my::{name}")).args(case.words()));
                let answer: serde_json::Value = serde_json::from_str(&answer).expect("JSON");
                let wanted = serde_json::json!({
                    "dtype": case.output.dtype.name(), "shape": case.output.shape
                });
                assert_eq!(answer["output"], wanted, "{name}");
            }
        }
    }
}
