//! The fuzzers' seeds stay readable, and each does what its name says.

#![allow(clippy::unwrap_used)]

use gpsimd_device::call::wire::{Call, Location};
use gpsimd_device::{Config, CoreImage, Machine};

fn read(name: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name)).unwrap()
}

fn seed(name: &str) -> Call {
    let bytes = read(name);
    gpsimd_device::fuzz::fuzz_chain(&bytes);
    Call::decode(&bytes).unwrap()
}

#[test]
fn chains() {
    let call = seed("chain/two_by_three");
    assert_eq!((call.function_id, call.arguments.len()), (7, 2));
    assert_eq!(call.arguments[0].spec.shape, [2, 3]);
    let call = seed("chain/sbuf_4d");
    assert_eq!(call.arguments[0].location, Location::Sbuf);
    assert_eq!(call.arguments[0].spec.shape, [70000, 2]);
}

#[test]
fn images() {
    let bytes = read("image/one_store");
    gpsimd_device::fuzz::fuzz_image(&bytes);
    let machine = Machine::boot(vec![CoreImage::new(bytes)], Config::default()).unwrap();
    assert_eq!(machine.functions()[0].name, "op");
}
