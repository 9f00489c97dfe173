//! What must not compile does not, for the reason that the SDK gives; everything else compiles without a warning.

use std::path::{Path, PathBuf};
use std::process::Command;

use gpsimd_toolchain::{CompileJob, Home, Machine, Toolchain};

use crate::bench::{Bench, good, repository};
use crate::kernels::sdk_tests;
use crate::workshop::{files, host_compiler, sdk};

/// The device compiler on one source, with the built-in flags and these.
fn compile(source: &Path, object: &Path, cflags: &[&str]) -> Command {
    let home = Home::from_env().expect("a data directory");
    let toolchain = Toolchain::discover(&Machine::here(), &home).unwrap_or_else(|error| {
        panic!("{error}\nthese tests need the open toolchain: gpsimd-build toolchain install --yes")
    });
    let mut job = CompileJob::new(source, object);
    job.cflags = cflags.iter().map(Into::into).collect();
    job.includes = vec![sdk().join("include")];
    toolchain.compile(&job).to_std()
}

/// The text after `// expect: ` in a source.
fn expectation(source: &Path) -> String {
    let text = std::fs::read_to_string(source).expect("readable");
    let line = text.lines().find_map(|line| line.strip_prefix("// expect: "));
    line.unwrap_or_else(|| panic!("{}: no `// expect: `", source.display())).to_owned()
}

/// Every source in `directory` is refused, and the compiler shows its text.
fn all_refused(directory: &str, command: impl Fn(&Path) -> Command) {
    let mut wrong = Vec::new();
    for source in files(&sdk_tests().join("compile_fail").join(directory), "cpp") {
        let output = command(&source).output().expect("the compiler starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let wanted = expectation(&source);
        if output.status.success() || !said.contains(&wanted) {
            wrong.push(format!("{}: expected an error with `{wanted}`, got\n{said}", source.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kernels_that_must_not_compile() {
    let bench = Bench::new();
    all_refused("device", |source| {
        compile(source, &bench.path("object.o"), &["-std=c++14", "-fsyntax-only", "-Wall", "-Werror"])
    });
}

#[test]
fn shape_sources_that_must_not_compile() {
    all_refused("host", |source| {
        let mut command = host_compiler();
        command.arg("-fsyntax-only").arg(source);
        command
    });
}

/// Kernels are compiled as C++14, with `-Wall -Werror`, at the optimisation the author likes.
fn without_a_warning(flags: &[&str]) {
    let bench = Bench::new();
    let folders = [
        "sdk/tests/kernels",
        "sdk/tests/asserts",
        "examples",
        "tests/conformance/faults",
        "tests/conformance/stacks",
    ];
    let sources: Vec<PathBuf> =
        folders.iter().flat_map(|folder| files(&repository().join(folder), "cpp")).collect();
    for source in &sources {
        let mut cflags = vec!["-std=c++14", "-Wall", "-Werror"];
        cflags.extend(flags);
        good(&mut compile(source, &bench.path("object.o"), &cflags));
    }
}

#[test]
fn no_warning_at_os() {
    without_a_warning(&["-Os"]);
}

#[test]
fn no_warning_at_o2() {
    without_a_warning(&["-O2"]);
}
