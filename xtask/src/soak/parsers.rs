//! The storms that test binaries have in them, started with larger numbers.
//!
//! Unaware of what they do.

use std::process::Command;

use anyhow::Result;

use crate::chores::{cargo, run};

/// One test binary of a crate.
fn tests(package: &str, binary: &str) -> Command {
    let mut command = cargo();
    command.args(["test", "--package", package, "--test", binary]);
    command
}

/// Mutations into every parser.
pub fn storm() -> Result<String> {
    let fuzz = ["run", "--release", "--package", "gpsimd-fuzz", "--"];
    run(cargo().args(fuzz).arg("300000"))?;
    run(cargo().args(fuzz).args(["10000000", "gpsimd-schema/schema"]))?;
    run(tests("gpsimd-loader", "properties").arg("--release").env("GPSIMD_SOAK", "1000000"))?;
    Ok("no panic".to_owned())
}

/// Random edits under the incremental build.
pub fn edits(edits: u64, seed: u64) -> Result<String> {
    let mut storm = tests("gpsimd-build", "e2e");
    storm.args(["storm::", "--", "--nocapture"]);
    run(storm.env("GPSIMD_STORM_EDITS", edits.to_string()).env("GPSIMD_STORM_SEED", seed.to_string()))?;
    Ok(format!("{edits} edits, every build equal to a clean one"))
}

/// All 2^32 floats into every function of `gpsimd/fast.hpp`, against double precision.
pub fn floats() -> Result<String> {
    run(tests("gpsimd-build", "conformance")
        .args(["bounds_of_fast", "--", "--nocapture"])
        .env("GPSIMD_FAST_STEP", "1"))?;
    Ok("every function of every float within its bound".to_owned())
}

/// GCC's tests of its sanitizers, all of them, in checked builds.
pub fn suites() -> Result<String> {
    run(tests("gpsimd-build", "conformance")
        .args(["suites::", "--", "--nocapture"])
        .env("GPSIMD_SUITES", "all"))?;
    Ok("every test ends as docs/sanitizer-suites.md says".to_owned())
}

/// Right kernels at every level of optimisation, on one core and on eight, plain and checked.
pub fn alarms() -> Result<String> {
    run(tests("gpsimd-build", "conformance")
        .args(["gallery::", "--", "--nocapture"])
        .env("GPSIMD_GALLERY", "all"))?;
    Ok("nothing is found in right kernels".to_owned())
}

/// Every kernel of the gallery as a native twin.
pub fn twins() -> Result<String> {
    run(tests("gpsimd-build", "conformance").args(["gallery::native", "--", "--ignored", "--nocapture"]))?;
    Ok("native twins of the gallery give what the simulated device gives".to_owned())
}

/// Random programs and the examples at three levels of optimisation, stopped where they have stored their own variables.
pub fn locals() -> Result<String> {
    run(tests("gpsimd-variables", "locals")
        .args(["--", "--ignored", "--nocapture"])
        .env("GPSIMD_LOCALS", "200"))?;
    run(tests("gpsimd-build", "e2e").args(["debug_values", "--", "--ignored", "--nocapture"]))?;
    Ok("200 programs and the examples: at -O0 every variable is right, with optimisation none is wrong; at 200 stops of a \
        session all values are what the program prints"
        .to_owned())
}

/// The page that explains a run, in headless Chromium.
pub fn pages() -> Result<String> {
    run(tests("gpsimd-build", "e2e").args([
        "running::a_page_in_a_browser",
        "--",
        "--ignored",
        "--nocapture",
    ]))?;
    Ok("a page by day and by night, wide and narrow: nothing on the console".to_owned())
}

/// Random instruction sequences, two hundred thousand in three implementations and as many in two.
pub fn sequences() -> Result<String> {
    run(tests("xtensa-iss", "differential").arg("--release").env("GPSIMD_SEQUENCES", "10"))?;
    run(tests("xtensa-iss", "translation").args(["--release", "--", "--ignored"]))?;
    Ok("220,000 sequences: interpreter, translator and qemu agree; 200,000 of all instructions without qemu"
        .to_owned())
}

/// Sessions that go back and forth, and an editor's own test client, which needs node, npm and a network.
pub fn debugger() -> Result<String> {
    run(tests("gpsimd-build", "e2e").args(["debug", "--", "--include-ignored", "--nocapture"]))?;
    Ok("1,000 times are the same from both sides; every case of the test client passes; a fault is found backwards on a \
        terminal (target/debug-session.txt)"
        .to_owned())
}

/// Native routines against the code that they stand for.
pub fn routines() -> Result<String> {
    run(tests("xtensa-iss", "native").args(["--release", "--", "--ignored", "--nocapture"]))?;
    Ok("100,000,000 operands of each routine, and all of conversions of a word: the same bits and counts as its own \
        instructions"
        .to_owned())
}

/// Conformance kernels, examples, faulty and right kernels, as hosts run them and with every instruction executed.
pub fn alike() -> Result<String> {
    let mut cases = tests("gpsimd-build", "conformance");
    cases.args(["--", "kernels::", "examples::", "sizes::", "faults::every_", "gallery::"]);
    run(cases.env("GPSIMD_ALIKE", "1"))?;
    Ok("every report is the same with --no-translate --no-native".to_owned())
}

/// What other processors than x86-64 have: the simulator without its translator.
pub fn interpreter() -> Result<String> {
    run(cargo().args(["test", "--package", "xtensa-iss", "--no-default-features"]))?;
    Ok("the simulator's tests pass without translated code".to_owned())
}

/// The open toolchain leaves, arrives and leaves again.
pub fn travel() -> Result<String> {
    run(tests("gpsimd-toolchain", "travel").args(["--", "--include-ignored"]))?;
    run(tests("gpsimd-toolchain", "install").args(["--", "--ignored", "raced"]))?;
    Ok("two installs at once are one, it compiles where it arrives, and two exports are one archive"
        .to_owned())
}

/// libstdc++'s own tests that need neither exceptions nor streams.
pub fn libstdcxx() -> Result<String> {
    run(&mut library_suite())?;
    Ok("what does not pass is in docs/libstdcxx-suite.md, with its reason".to_owned())
}

/// What runs them: with the compiler and the sources that its environment names.
pub fn library_suite() -> Command {
    let mut suite = tests("xtensa-iss", "libstdcxx");
    suite.arg("--release").env("GPSIMD_LIBSTDCXX", "1").args(["--", "--ignored", "--nocapture"]);
    suite
}

/// qemu's tests of instructions, from its source package.
pub fn instructions() -> Result<String> {
    run(tests("xtensa-iss", "qemu_suite").args(["--", "--ignored"]))?;
    Ok("qemu's tests of instructions pass under the simulator and under qemu; docs/qemu-suite.md has the counts".to_owned())
}

/// GCC's execute torture suite at four levels of optimisation.
pub fn torture() -> Result<String> {
    run(&mut torture_suite("all"))?;
    Ok("no program ends otherwise than under qemu; what fails is in docs/torture-suite.md".to_owned())
}

/// What runs it, each program at one level in turn or at all of them: with the compiler and the sources that its environment
/// names.
pub fn torture_suite(levels: &str) -> Command {
    let mut suite = tests("xtensa-iss", "torture");
    suite.arg("--release").env("GPSIMD_TORTURE", levels);
    suite
}
