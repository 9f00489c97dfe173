//! Kernels on the simulated device: what the SDK documents is what they compute, and what goes wrong is named.
//!
//! Everything needs the open toolchain; without it the tests fail and say how to install it.

#[path = "../e2e/bench.rs"]
#[allow(dead_code)]
mod bench;
#[path = "../../sdk/tests/expectations.rs"]
mod expectations;
#[allow(dead_code, reason = "the C++ library's own tests are run by xtensa-iss")]
#[path = "../../crates/xtensa-iss/tests/common/gcc.rs"]
mod gcc;

mod archives;
mod asserts;
mod cost;
mod examples;
mod faults;
mod gallery;
mod host;
mod kernels;
mod rejected;
mod sizes;
mod stacks;
mod suites;
mod tuning;
mod workshop;
