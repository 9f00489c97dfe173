//! One libFuzzer program for every target: the environment variable `GPSIMD_FUZZ` names one (`gpsimd-image/verify`);
//! without it the first byte of an input chooses.

#![no_main]

use std::sync::LazyLock;

use gpsimd_fuzz::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static CHOSEN: LazyLock<Option<&'static Target>> = LazyLock::new(|| {
    let name = std::env::var("GPSIMD_FUZZ").ok()?;
    Some(TARGETS.iter().find(|target| target.name == name).expect("GPSIMD_FUZZ names a target"))
});

fuzz_target!(|data: &[u8]| {
    match (*CHOSEN, data.split_first()) {
        (Some(target), _) => (target.run)(data),
        (None, Some((first, rest))) => (TARGETS[usize::from(*first) % TARGETS.len()].run)(rest),
        (None, None) => {}
    }
});
