//! A stack in device memory, as `-DSTACK_SIZE=n` asks for, changes nothing but how deep a kernel may go.

use gpsimd_device::{Arg, Code, Dtype, Ending, RunReport, Tensor, TensorSpec, Value};

use crate::bench::repository;
use crate::examples::{self, check};
use crate::workshop::{Cores, Recipe, call};

/// Bytes: beyond the local 8 KiB, and the largest that is documented.
const SIZES: [u32; 2] = [20_000, 400_000];

#[test]
fn examples_give_the_same_on_a_stack_in_device_memory() {
    for example in &examples::all() {
        for size in SIZES {
            let cores = if example["multicore"] == true { Cores::Eight } else { Cores::One };
            let recipe = examples::recipe(example, cores).with([format!("-DSTACK_SIZE={size}").as_str()]);
            for report in check(example, recipe, &[1, 1001], &[]) {
                for core in &report.cores {
                    let stack =
                        core.hbm_stack.unwrap_or_else(|| panic!("{}: the local stack is used", report.op));
                    assert!(stack.size >= size, "{}: {stack:?} of {size}", report.op);
                    assert!((1..8192).contains(&stack.high_water), "{}: {stack:?}", report.op);
                }
                assert!(
                    report.findings.iter().any(|finding| finding.code == Code::HbmStack),
                    "{}",
                    report.op
                );
            }
        }
    }
}

/// The kernel's arithmetic, without its recursion.
fn mix(start: u32, depth: u32) -> u32 {
    let mut value = start;
    let mut all = Vec::new();
    for level in (0..=depth).rev() {
        let kept = value.wrapping_mul(2_654_435_761).wrapping_add(level);
        all.push(kept);
        value ^= kept;
    }
    all.into_iter().rev().fold(1, |below: u32, kept| below.wrapping_mul(31).wrapping_add(kept))
}

/// The recursion on a stack of this size; `None`: whatever a kernel gets.
fn recurse(depth: i32, stack: Option<u32>) -> RunReport {
    let recipe = Recipe {
        source: repository().join("tests/conformance/stacks/recursion.cpp"),
        ops: vec!["recursion=t::recursion(Tensor x, int depth) -> (Tensor y)".to_owned()],
        cores: Cores::One,
        cflags: stack.map(|size| format!("-DSTACK_SIZE={size}")).into_iter().collect(),
        is_checked: false,
    };
    let start = Tensor::new(Dtype::Int32, [1], 12345u32.to_le_bytes().to_vec()).expect("one element");
    let args = vec![Arg::tensor("x", start), Arg::new("depth", Value::Int(depth))];
    call(&mut recipe.build().machine(), "recursion", args, TensorSpec::new(Dtype::Int32, [1]))
}

#[test]
fn a_deep_recursion_needs_a_large_stack_and_gets_it() {
    // A level takes at least 32 bytes: 20 fit on the local stack, 200 do not need more than 20,000 bytes, 60,000 need megabytes.
    for (depth, stack) in [(20, None), (20, Some(20_000)), (200, Some(20_000)), (60_000, Some(4 << 20))] {
        let report = recurse(depth, stack);
        assert_eq!(report.cores[0].outcome, Ending::Completed, "{depth} levels on {stack:?}: {report:?}");
        assert_eq!(report.output.data, mix(12345, depth as u32).to_le_bytes(), "{depth} levels on {stack:?}");
        if let (Some(bytes), Some(used)) = (stack, report.cores[0].hbm_stack) {
            assert!(
                used.high_water >= 32 * depth as u32 && used.high_water <= bytes,
                "{depth} levels: {used:?}"
            );
        }
        assert_eq!(stack.is_some(), report.cores[0].hbm_stack.is_some());
    }
}

/// Either stack's end is found at the function that runs over it.
#[test]
fn a_stack_that_is_too_small_is_told() {
    for (depth, stack) in [(1_000, None), (60_000, Some(20_000)), (200_000, Some(4 << 20))] {
        let report = recurse(depth, stack);
        let what = format!("{depth} levels on {stack:?}");
        assert_eq!(report.cores[0].outcome, Ending::Faulted, "{what}");
        let worst = report.findings.first().expect("a finding");
        assert_eq!(worst.code, Code::StackOverflow, "{what}: {worst:?}");
        let site = worst.site.as_ref().expect("a place");
        assert!(site.file.ends_with("recursion.cpp") && site.function == "mix", "{site:?}");
    }
}
