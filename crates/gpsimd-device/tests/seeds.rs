//! The fuzzers' seeds stay readable, and each does what its name says.

#![allow(clippy::unwrap_used)]

use gpsimd_device::chain::{Call, Location};

fn seed(name: &str) -> Call {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/chain").join(name);
    let bytes = std::fs::read(path).unwrap();
    gpsimd_device::fuzz::fuzz_chain(&bytes);
    Call::decode(&bytes).unwrap()
}

#[test]
fn chains() {
    let call = seed("two_by_three");
    assert_eq!((call.function_id, call.arguments.len()), (7, 2));
    assert_eq!(call.arguments[0].spec.shape, [2, 3]);
    let call = seed("sbuf_4d");
    assert_eq!(call.arguments[0].location, Location::Sbuf);
    assert_eq!(call.arguments[0].spec.shape, [70000, 2]);
}
