//! Every example computes its formula at every element count, on one core and, where it divides its work, on eight.

use gpsimd_device::call::wire::Location;
use gpsimd_device::{
    Arg, Code, Control, Dtype, Ending, Output, RunReport, ShapeError, Tensor, TensorSpec, Value,
};
use serde_json::Value as Json;

use crate::bench::repository;
use crate::workshop::{Cores, Recipe, document, faults, line, list, text};

/// Element counts: one element, around the number of cores, around blocks, many.
pub const COUNTS: [u64; 7] = [1, 7, 8, 9, 1000, 1001, 1 << 20];

/// Floats of every kind, the same ones for the same seed.
fn floats(count: u64, seed: u32) -> Vec<f32> {
    let special = [0.0, -0.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-40, -1e-40, f32::MAX, 1.0, -1.0];
    let mut state = seed;
    let next = |k: u64| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let usual = (state as i32 as f32) / 1e8;
        if state % 11 == 3 { special[k as usize % special.len()] } else { usual }
    };
    (0..count).map(next).collect()
}

/// `count` as a product of `rank` extents, as square as its divisors allow.
pub fn shape(count: u64, rank: usize) -> Vec<u64> {
    let mut extents = vec![1; rank];
    let (mut rest, mut divisor) = (count, 2);
    while rest > 1 {
        while !rest.is_multiple_of(divisor) {
            divisor += 1;
        }
        rest /= divisor;
        let smallest = extents.iter_mut().min().expect("a rank above 0");
        *smallest *= divisor;
    }
    extents
}

fn float_tensor(shape: &[u64], values: &[f32]) -> Tensor {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Tensor::new(Dtype::Float32, shape, bytes).expect("a shape with a wire form")
}

/// One call of an op: its inputs, and what must come out.
struct Case {
    args: Vec<Arg>,
    want: Vec<f32>,
    output: TensorSpec,
}

/// The case of an example's op at an element count, its values computed from the formula in `examples.json`.
fn case(kernel: &str, count: u64) -> Case {
    let x = floats(count, 0x9e37_79b9);
    let other = floats(count, 0x7f4a_7c15);
    let relu = |v: f32| if v < 0.0 { 0.0 } else { v };
    let rank = match kernel {
        "vector_add" | "relu_multicore" => 1,
        "relu_forward" | "relu_backward" | "relu_rows" | "relu_rows_backward" => 2,
        "relu_tcm" | "negate_stream" => 3,
        "scale_clip" => 8,
        "time_mix" => 4,
        _ => panic!("no formula for {kernel}: write it here"),
    };
    let extents = shape(count, rank);
    let input = |name: &str, values: &[f32]| Arg::tensor(name, float_tensor(&extents, values));
    let pairs = || x.iter().zip(&other);
    let (args, want) = match kernel {
        "vector_add" => {
            (vec![input("a", &x), input("b", &other)], pairs().map(|(a, b)| a + b).collect::<Vec<f32>>())
        }
        "relu_forward" | "relu_rows" | "relu_tcm" | "relu_multicore" => {
            (vec![input("x", &x)], x.iter().map(|&v| relu(v)).collect())
        }
        "relu_backward" | "relu_rows_backward" => (
            vec![input("grad", &x), input("x", &other)],
            pairs().map(|(grad, x)| if *x > 0.0 { 1.0 * grad } else { 0.0 * grad }).collect(),
        ),
        "negate_stream" => {
            (vec![input("x", &x)], x.iter().map(|v| f32::from_bits(v.to_bits() ^ 1 << 31)).collect())
        }
        "scale_clip" => {
            let offset = Arg::scalar("offset", Dtype::Float32, &0.25f32.to_le_bytes()).expect("one element");
            let args = vec![
                input("x", &x),
                Arg::new("scale", Value::Float(1.5)),
                Arg::new("limit", Value::Int(2)),
                offset,
            ];
            (args, x.iter().map(|v| (1.5 * v + 0.25f32).clamp(-2.0, 2.0)).collect())
        }
        _ => {
            let (steps, channels) = (extents[1] as usize, (extents[2] * extents[3]) as usize);
            let mix = &other[..channels];
            let weights = Arg::tensor("mix", float_tensor(&[1, 1, extents[2], extents[3]], mix));
            let blend = |k: usize| {
                let (step, m) = (k / channels % steps, mix[k % channels]);
                let before = if step == 0 { 0.0 } else { x[k - channels] };
                m * x[k] + (1.0 - m) * before
            };
            (vec![input("x", &x), weights], (0..x.len()).map(blend).collect())
        }
    };
    Case { args, want, output: TensorSpec::new(Dtype::Float32, extents) }
}

/// How an example is built.
pub fn recipe(example: &Json, cores: Cores) -> Recipe {
    let op = |op: &Json| format!("{}={}", text(&op["kernel"]), text(&op["schema"]));
    Recipe {
        source: repository().join("examples").join(text(&example["source"])),
        ops: list(&example["ops"]).iter().map(op).collect(),
        cores,
        cflags: Vec::new(),
        is_checked: false,
    }
}

/// All examples.
pub fn all() -> Vec<Json> {
    list(&document(&repository().join("examples/examples.json"))["examples"]).to_vec()
}

/// Kernels of an example.
fn kernels(example: &Json) -> impl Iterator<Item = &str> {
    list(&example["ops"]).iter().map(|op| text(&op["kernel"]))
}

/// The first element that is wrong: any NaN equals any NaN, all else is bit for bit.
fn difference(want: &[f32], report: &RunReport) -> Option<String> {
    let got = report.output.to_f32().expect("floats");
    let wrong = |(w, g): (&f32, &f32)| w.to_bits() != g.to_bits() && !(w.is_nan() && g.is_nan());
    let at = want.iter().zip(&got).position(wrong)?;
    Some(format!("element {at} is {:?}, expected {:?}", got[at], want[at]))
}

/// Runs an example's ops at these counts; the findings that are worse than a note must be of `allowed` only.
pub fn check(example: &Json, recipe: Recipe, counts: &[u64], allowed: &[Code]) -> Vec<RunReport> {
    let cores = recipe.cores;
    let mut machine = recipe.build().twins();
    let mut reports = Vec::new();
    for kernel in kernels(example) {
        for &count in counts {
            let what = format!("{kernel}, {count} elements, {cores:?}");
            let case = case(kernel, count);
            let report = machine.call(kernel, case.args, case.output);
            assert!(report.cores.iter().all(|core| core.outcome == Ending::Completed), "{what}: {report:?}");
            assert_eq!(difference(&case.want, &report), None, "{what}");
            let worse: Vec<String> = faults(&report)
                .into_iter()
                .filter(|finding| !allowed.contains(&finding.code))
                .map(line)
                .collect();
            assert!(worse.is_empty(), "{what}:\n{}", worse.join("\n"));
            reports.push(report);
        }
    }
    reports
}

macro_rules! a_test_an_example {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            let all = all();
            let example = all.iter().find(|example| example["name"] == stringify!($name)).expect("in examples.json");
            check(example, recipe(example, Cores::One), &COUNTS, &[Code::LargeExtent]);
            if example["multicore"] == true {
                check(example, recipe(example, Cores::Eight), &COUNTS, &[Code::LargeExtent]);
            }
        })+

        #[test]
        fn every_example_has_a_test() {
            let all = all();
            let names: Vec<&str> = all.iter().map(|example| text(&example["name"])).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }
    };
}

a_test_an_example! {
    vector_add relu scale_clip time_mix relu_multicore relu_elements relu_tcm negate_stream
}

/// Where a tensor lies makes no difference to a kernel.
#[test]
fn tensors_in_the_state_buffer() {
    for example in &all() {
        let mut machine = recipe(example, Cores::One).build().machine();
        for kernel in kernels(example) {
            let Case { args, want, output } = case(kernel, 1001);
            let args = args.into_iter().map(Arg::in_sbuf).collect();
            let output = Output { location: Location::Sbuf, ..output.into() };
            let report = machine.call(kernel, args, output, &Control::default(), |_| {}).expect("a call");
            assert_eq!(difference(&want, &report), None, "{kernel}");
            assert!(report.is_clean(), "{kernel}: {:?}", report.findings);
        }
    }
}

/// An example that does not divide its work computes the same on every core; the rules of several cores are named, nothing else.
#[test]
fn undivided_work_on_eight_cores_is_told() {
    let rules = [Code::FreshTensor, Code::ElementOnCores, Code::StreamOnCores];
    for example in all().iter().filter(|example| example["multicore"] != true) {
        for report in check(example, recipe(example, Cores::Eight), &[1001], &rules) {
            let codes: Vec<Code> = faults(&report).iter().map(|finding| finding.code).collect();
            assert!(codes.contains(&Code::FreshTensor), "{}: {codes:?}", report.op);
            let text = std::fs::read_to_string(repository().join("examples").join(text(&example["source"])));
            let text = text.expect("readable");
            for (accessor, code) in
                [(".accessor<", Code::ElementOnCores), ("stream_accessor<", Code::StreamOnCores)]
            {
                assert_eq!(text.contains(accessor), codes.contains(&code), "{}: {codes:?}", report.op);
            }
        }
    }
}

/// No elements is no call: the wire form of a shape ends at an extent of zero.
#[test]
fn an_empty_tensor_is_refused_on_the_host() {
    assert_eq!(Tensor::new(Dtype::Float32, [0], Vec::new()), Err(ShapeError::Empty { dim: 0 }));
    let all = all();
    let mut machine = recipe(&all[0], Cores::One).build().machine();
    let Case { args, output, .. } = case("vector_add", 1);
    let empty = TensorSpec::new(Dtype::Float32, [3, 0]);
    let error = machine
        .call("vector_add", args.clone(), empty, &Control::default(), |_| {})
        .expect_err("no wire form");
    assert_eq!(error.to_string(), "tensor `out`: dimension 1 has size 0; every dimension must be at least 1");
    assert!(machine.call("vector_add", args, output, &Control::default(), |_| {}).is_ok());
}
