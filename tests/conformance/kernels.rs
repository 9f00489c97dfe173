//! A kernel for every row of the documented API computes what `sdk/tests/kernels.json` says, and nothing is found.

use std::path::PathBuf;
use std::sync::OnceLock;

use gpsimd_device::{Code, Ending};
use serde_json::Value;

use crate::bench::repository;
use crate::expectations::{self, difference};
use crate::workshop::{
    Cores, Recipe, Twins, device_arguments, device_output, document, faults, line, list, text,
};

/// Where the SDK's own tests are.
pub fn sdk_tests() -> PathBuf {
    repository().join("sdk/tests")
}

/// The libraries of one of the SDK's case files.
pub fn libraries(file: &str) -> Vec<Value> {
    list(&document(&sdk_tests().join(file))["libraries"]).to_vec()
}

/// The libraries of `kernels.json`.
pub fn cases() -> &'static [Value] {
    static CASES: OnceLock<Vec<Value>> = OnceLock::new();
    CASES.get_or_init(|| libraries("kernels.json"))
}

/// How a library of a case file is built.
pub fn recipe(library: &Value, cores: Cores) -> Recipe {
    let op = |op: &Value| format!("{}={}", text(&op["kernel"]), text(&op["schema"]));
    Recipe {
        source: sdk_tests().join(text(&library["source"])),
        ops: list(&library["ops"]).iter().map(op).collect(),
        cores,
        cflags: Vec::new(),
        is_checked: false,
    }
}

/// What is wrong with one case, in words; findings of `allowed` are not.
pub fn verdict(machine: &mut Twins, kernel: &str, case: &Value, allowed: &[Code]) -> Result<(), String> {
    let arguments = expectations::arguments(case)?;
    let want = expectations::expected(case, &arguments)?;
    let report = machine.call(kernel, device_arguments(&arguments), device_output(case));
    let mut wrong = Vec::new();
    let unfinished = report.cores.iter().find(|core| core.outcome != Ending::Completed);
    wrong.extend(unfinished.map(|core| format!("core {} {:?}", core.core, core.outcome)));
    wrong.extend(faults(&report).into_iter().filter(|finding| !allowed.contains(&finding.code)).map(line));
    wrong.extend(difference(&want, &report.output.data, case["ulp"].as_i64().unwrap_or(0)));
    for core in &report.cores {
        if core.text != case["stdout"].as_str().unwrap_or("") {
            wrong.push(format!("core {} printed {:?}", core.core, core.text));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// What cases do on purpose: large tensors, and blocks given back twice to see that the heaps ignore it.
pub const MEANT: [Code; 2] = [Code::LargeExtent, Code::DoubleFree];

/// Every case of a library that is made for this many cores. The machine is reused from call to call: a launch must not see
/// what the one before left behind.
fn check(name: &str, cores: Cores) {
    let library = cases().iter().find(|library| library["name"] == name).expect("in kernels.json");
    let mut machine = None;
    let (mut wrong, mut count) = (Vec::new(), 0);
    for op in list(&library["ops"]) {
        for case in list(&op["cases"]) {
            if (case["multicore"] == true) != (cores == Cores::Eight) {
                continue;
            }
            let machine = machine.get_or_insert_with(|| recipe(library, cores).build().twins());
            let kernel = text(&op["kernel"]);
            if let Err(why) = verdict(machine, kernel, case, &MEANT) {
                wrong.push(format!("{kernel} {case}:\n    {why}"));
            }
            count += 1;
        }
    }
    assert!(count > 0, "{name} has no cases for {cores:?}");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn divided_between_eight_cores() {
    check("identity", Cores::Eight);
}

macro_rules! a_test_a_library {
    ($($name:ident)+) => {
        $(#[test]
        fn $name() {
            check(stringify!($name), Cores::One);
        })+

        #[test]
        fn every_library_has_a_test() {
            let names: Vec<&str> = cases().iter().map(|library| text(&library["name"])).collect();
            assert_eq!(names, [$(stringify!($name)),+]);
        }
    };
}

a_test_a_library! {
    factories unary unary_out pow_clamp add_sub mul_div bitwise bitwise_out accessors streams tcm identity float16
    arguments containers published_style below_tensors
}
