//! Output that was not written is a failure; a reader that leaves is none.

use std::fs::OpenOptions;
use std::process::{Command, Stdio};

use crate::bench::{Bench, VECTOR_ADD, good};

fn library() -> Bench {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    bench
}

/// Every command that prints.
const PRINTING: &[&[&str]] = &[
    &["codegen", "--schema", VECTOR_ADD],
    &["schema", VECTOR_ADD],
    &["--json", "schema", VECTOR_ADD],
    &["inspect", "build/vector_add.so"],
    &["verify", "build/vector_add"],
    &["--json", "verify", "build/vector_add"],
    &["compile", "vector_add.cpp", "--schema", VECTOR_ADD],
    &["--json", "compile", "vector_add.cpp", "--schema", VECTOR_ADD],
    &["plan", "vector_add.cpp", "--schema", VECTOR_ADD],
    &["run", "build/vector_add", "ones:3", "ones:3", "--like", "0"],
    &["lsp", "--variant", "single", "--dir", "lsps"],
    &["explain"],
    &["completions", "bash"],
    &["--help"],
    &["--version"],
];

#[test]
fn a_full_disk_is_a_failure() {
    let bench = library();
    for arguments in PRINTING {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = bench.tool().args(*arguments).stdout(full).output().expect("the tool starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("cli::output") && said.contains("No space left"), "{arguments:?}: {said}");
    }
    // a failure whose document cannot be printed is told as text
    let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
    let absent = ["--json", "compile", "absent.cpp", "--schema", VECTOR_ADD];
    let output = bench.tool().args(absent).stdout(full).output().expect("the tool starts");
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("engine::source_missing"));
}

/// Standard error is where failures are told; if it is full, the exit status still tells.
#[test]
fn a_full_disk_for_messages_changes_nothing() {
    let bench = library();
    let status = |arguments: &[&str]| {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let output = bench.tool().args(arguments).stderr(full).output().expect("the tool starts");
        output.status.code()
    };
    assert_eq!(status(&["compile", "absent.cpp", "--schema", VECTOR_ADD]), Some(1));
    assert_eq!(status(&["-v", "compile", "vector_add.cpp", "--timings", "--schema", VECTOR_ADD]), Some(0));
    assert_eq!(status(&["schema", "no schema"]), Some(1));
}

#[test]
fn a_closed_pipe_ends_quietly_and_well() {
    let bench = library();
    for arguments in PRINTING {
        let mut tool: Command = bench.tool();
        let mut child = tool
            .args(*arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.as_ref()), (Some(0), ""), "{arguments:?}");
    }
}
