//! Kernels that work element by element do so at every element count, and the same on each of eight cores.

use gpsimd_device::Code;
use serde_json::{Value, json};

use crate::examples::{COUNTS, shape};
use crate::kernels::{MEANT, cases, recipe, verdict};
use crate::workshop::{Cores, list, text};

/// Expectations under which the shape is free (`sdk/tests/README.md`).
const ELEMENTWISE: [&str; 28] = [
    "abs",
    "ceil",
    "floor",
    "sin",
    "cos",
    "tan",
    "log",
    "log2",
    "log10",
    "exp",
    "bitwise_not",
    "pow",
    "mul",
    "div",
    "bitwise_and",
    "bitwise_or",
    "add",
    "sub",
    "clamp",
    "copy",
    "reverse",
    "swap",
    "convert",
    "constant",
    "relu",
    "plus",
    "twice",
    "five",
];

/// The case with `count` elements in every tensor, if its expectation and its kernel allow that.
fn resized(case: &Value, count: u64) -> Option<Value> {
    let expect = text(&case["expect"]);
    let name = expect.split(' ').next()?;
    let extents = &case["output"]["shape"];
    let is_tensor = |input: &&Value| input.get("shape").is_some();
    let tensors: Vec<&Value> = list(&case["inputs"]).iter().filter(is_tensor).collect();
    let same = tensors.iter().all(|input| &input["shape"] == extents && input["values"].is_array());
    let is_free = ELEMENTWISE.contains(&name) && case.get("stdout").is_none() && case["multicore"] != true;
    if !is_free || tensors.is_empty() || !same {
        return None;
    }
    let mut case = case.clone();
    let extents = json!(shape(count, list(extents).len()));
    case["output"]["shape"] = extents.clone();
    for input in case["inputs"].as_array_mut()? {
        if input.get("shape").is_some() {
            input["shape"] = extents.clone();
        }
    }
    Some(case)
}

/// The largest count takes long on a simulator, so one kernel of each library shows it.
#[test]
fn every_element_count() {
    let (mut wrong, mut ops) = (Vec::new(), 0);
    for library in cases() {
        let mut machine = recipe(library, Cores::One).build().twins();
        let free = |op: &'static Value| {
            Some((op, list(&op["cases"]).iter().find(|case| resized(case, 1).is_some())?))
        };
        let sized: Vec<(&Value, &Value)> = list(&library["ops"]).iter().filter_map(free).collect();
        for (at, (op, case)) in sized.iter().enumerate() {
            let kernel = text(&op["kernel"]);
            let (largest, others) = COUNTS.split_last().expect("several counts");
            for &count in others.iter().chain((at + 1 == sized.len()).then_some(largest)) {
                let case = resized(case, count).expect("as for one element");
                if let Err(why) = verdict(&mut machine, kernel, &case, &[Code::LargeExtent]) {
                    wrong.push(format!("{kernel}, {count} elements: {why}"));
                }
            }
        }
        ops += sized.len();
    }
    assert!(ops >= 80, "only {ops} ops");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a case is for one core, and of a size that eight can do at once.
fn is_undivided(case: &Value) -> bool {
    let elements: u64 = list(&case["output"]["shape"]).iter().filter_map(Value::as_u64).product();
    case["multicore"] != true && elements <= 1 << 16
}

/// Eight cores that all do all the work give the same result, and are told that they should not.
#[test]
fn the_same_on_each_of_eight_cores() {
    let rules = [Code::FreshTensor, Code::ElementOnCores, Code::StreamOnCores, Code::Overlap];
    let rules = [&rules[..], &MEANT].concat();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for library in cases() {
        let mut machine = recipe(library, Cores::Eight).build().twins();
        for op in list(&library["ops"]) {
            for case in list(&op["cases"]).iter().filter(|case| is_undivided(case)).take(2) {
                let kernel = text(&op["kernel"]);
                if let Err(why) = verdict(&mut machine, kernel, case, &rules) {
                    wrong.push(format!("{kernel} {case}:\n    {why}"));
                }
                count += 1;
            }
        }
    }
    assert!(count >= 180, "only {count} cases");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}
