//! Builds at the same time, and builds that are killed.

use std::process::Stdio;
use std::time::Duration;

use crate::bench::{Bench, VECTOR_ADD, good, library_files};

#[test]
fn two_builds_in_one_directory_both_succeed() {
    let bench = Bench::with_vector_add();
    let start = || {
        bench
            .tool()
            .args(["compile", "vector_add.cpp", "--multicore", "--schema", VECTOR_ADD])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool starts")
    };
    let builds = [start(), start(), start()];
    for build in builds {
        let output = build.wait_with_output().expect("the tool ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let names: Vec<String> = bench.outputs().into_keys().collect();
    assert_eq!(names, library_files("vector_add", true));
}

/// Every visible output must be of one build, whenever the tool dies.
#[test]
fn a_killed_build_never_mixes_outputs() {
    let bench = Bench::with_vector_add();
    let plain = std::fs::read_to_string(bench.path("vector_add.cpp")).expect("read");
    // two versions of the kernel whose every image differs
    let versions = [
        plain.clone(),
        format!("{plain}\nextern \"C\" int marker;\nint marker = 1;\nint *keep = &marker;\n"),
    ];
    let mut wholes = Vec::new();
    for version in &versions {
        bench.write("vector_add.cpp", version);
        bench.build_vector_add();
        wholes.push(bench.outputs());
    }
    assert_ne!(wholes[0], wholes[1]);
    let mut killed = 0;
    for round in 0..50_u64 {
        bench.write("vector_add.cpp", &versions[round as usize % 2]);
        let mut build = bench
            .tool()
            .args(["compile", "vector_add.cpp", "--multicore", "--schema", VECTOR_ADD, "--no-cache"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the tool starts");
        // spread over the whole build, in an order without pattern
        std::thread::sleep(Duration::from_millis((round * 7919) % 400));
        killed += u32::from(build.try_wait().expect("asked").is_none());
        build.kill().expect("killed");
        build.wait().expect("gone");
        let found = bench.outputs();
        assert!(
            wholes.contains(&found),
            "round {round}: a mixed set: {:?}",
            found.keys().collect::<Vec<_>>()
        );
    }
    assert!(killed >= 10, "only {killed} of 50 builds were still running when killed: nothing was tested");
    // and the next build is as good as any
    bench.write("vector_add.cpp", &versions[0]);
    bench.build_vector_add();
    assert_eq!(bench.outputs(), wholes[0]);
}

#[test]
fn a_terminated_build_says_so_and_keeps_the_outputs() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let before = bench.outputs();
    bench.write(
        "vector_add.cpp",
        "#include <map>\n#include <unordered_map>\n#include <functional>\n#error not reached in time\n",
    );
    let build = bench
        .tool()
        .args(["compile", "vector_add.cpp", "--multicore", "--schema", VECTOR_ADD])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the tool starts");
    good(std::process::Command::new("kill").args(["-INT", &build.id().to_string()]));
    let output = build.wait_with_output().expect("the tool ends");
    // before the handler is there, the signal itself ends the tool; after the compiler failed, that is the end
    assert!(!output.status.success());
    assert_eq!(bench.outputs(), before);
}
