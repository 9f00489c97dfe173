//! Plans in the forms of other programs do what `compile` does.

use std::process::Command;

use serde_json::Value;

use crate::bench::{Bench, VECTOR_ADD, bad, good, outputs, result};

fn plan(bench: &Bench, format: &str) -> Command {
    let mut command = bench.tool();
    command.args(["plan", "--format", format, "vector_add.cpp", "--multicore", "--schema", VECTOR_ADD]);
    command
}

#[test]
fn ninja_makes_the_same_files() {
    let bench = Bench::with_vector_add();
    std::fs::create_dir(bench.path("a b$c:d")).expect("a directory");
    good(plan(&bench, "ninja").args(["--output", "build.ninja", "--out-dir", "a b$c:d/out"]));
    let ninja = || {
        let output = Command::new("ninja").current_dir(bench.dir()).output();
        let output = output.expect("ninja is not installed; `cargo xtask test` installs what tests need");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        text
    };
    ninja();
    bench.build_vector_add();
    assert_eq!(outputs(&bench.path("a b$c:d/out")), bench.outputs());
    assert!(ninja().contains("no work to do"));
    // ninja goes by times of whole ticks
    std::thread::sleep(std::time::Duration::from_millis(30));
    let text = std::fs::read_to_string(bench.path("vector_add.cpp")).expect("read");
    bench.write(
        "vector_add.cpp",
        &format!("{text}\nextern \"C\" {{ int marker = 1; int* keep = &marker; }}\n"),
    );
    assert!(!ninja().contains("no work to do"));
    bench.build_vector_add();
    assert_eq!(outputs(&bench.path("a b$c:d/out")), bench.outputs());
    assert!(ninja().contains("no work to do"));
}

/// Ninja makes the directories of outputs before it starts anything, by which an SDK would look written.
#[test]
fn a_plan_in_a_new_data_directory_has_its_headers() {
    let bench = Bench::with_vector_add();
    let (home, real) = (bench.path("home"), gpsimd_toolchain::Home::from_env().expect("a data directory"));
    std::fs::create_dir(&home).expect("a directory");
    std::os::unix::fs::symlink(real.toolchains(), home.join("toolchains")).expect("linked");
    let text = good(plan(&bench, "json").env("GPSIMD_BUILD_HOME", &home));
    assert!(!text.contains("write-sdk"), "{text}");
    let mut written = std::fs::read_dir(home.join("sdk")).expect("an SDK").flatten();
    assert!(written.any(|sdk| sdk.path().join("include/neuron/neuron-utils.hpp").is_file()));
}

/// A toolchain from an archive has the device SDK compiled; here one is given the archives that other builds left.
#[test]
fn what_a_toolchain_brings_of_the_sdk_is_not_compiled() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let shown = result(bench.tool().args(["toolchain", "show"]));
    let toolchain = std::path::Path::new(shown["directory"].as_str().expect("a directory"));
    let home = toolchain.ancestors().nth(2).expect("a data directory");
    let sdk = gpsimd_engine::Sdk::locate(home).expect("an SDK");
    let other = bench.path("home");
    let brought = other.join("toolchains").join(toolchain.file_name().expect("a name"));
    let copy = |words: &[&std::ffi::OsStr]| {
        assert!(Command::new("cp").args(words).status().expect("cp").success(), "{words:?}");
    };
    std::fs::create_dir_all(other.join("toolchains")).expect("a directory");
    copy(&["-rs".as_ref(), toolchain.as_os_str(), brought.as_os_str()]);
    let archives = brought.join("sdk").join(sdk.root().file_name().expect("a name"));
    let planned = || good(plan(&bench, "json").env("GPSIMD_BUILD_HOME", &other));
    assert!(planned().contains("keep libc10.a"));
    std::fs::create_dir(brought.join("sdk")).expect("a directory");
    copy(&["-r".as_ref(), sdk.root().join("lib").as_os_str(), archives.as_os_str()]);
    let text = planned();
    assert!(!text.contains("keep lib") && text.contains(&*archives.to_string_lossy()), "{text}");
}

#[test]
fn names_that_ninja_cannot_hold_are_refused() {
    let bench = Bench::with_vector_add();
    let text = bad(plan(&bench, "ninja").args(["--out-dir", "two\nlines"]), 1);
    assert!(text.contains("engine::export_name"), "{text}");
}

#[test]
fn a_compilation_database_names_the_callers_sources() {
    let bench = Bench::with_vector_add();
    let text = good(plan(&bench, "compile-commands").args(["--", "-DX=1"]));
    let entries: Value = serde_json::from_str(&text).expect("JSON");
    let entry = &entries[0];
    assert_eq!(entry["file"], "vector_add.cpp");
    assert_eq!(entry["directory"].as_str().map(Into::into), bench.dir().canonicalize().ok());
    let arguments: Vec<&str> =
        entry["arguments"].as_array().expect("words").iter().filter_map(Value::as_str).collect();
    assert!(arguments[0].ends_with("g++") && arguments.contains(&"-DX=1") && arguments.contains(&"-c"));
    assert!(entry["output"].as_str().expect("a path").ends_with("vector_add.o"));
    // the words work as they are
    let mut command = Command::new(arguments[0]);
    good(command.args(&arguments[1..]).arg("-fsyntax-only").current_dir(bench.dir()).env("GCC_COLORS", ""));
}

#[test]
fn json_and_graph_have_every_action() {
    let bench = Bench::with_vector_add();
    let document: Value = serde_json::from_str(&good(&mut plan(&bench, "json"))).expect("JSON");
    let actions = document["actions"].as_array().expect("actions");
    let labels: Vec<&str> = actions.iter().filter_map(|action| action["label"].as_str()).collect();
    for want in ["compile vector_add.cpp", "link vector_add", "make the image for cpu7", "verify"] {
        assert!(labels.contains(&want), "{labels:?}");
    }
    assert_eq!(document["publish"]["outputs"].as_array().map(Vec::len), Some(25));
    let graph = good(&mut plan(&bench, "graph"));
    assert!(graph.starts_with("digraph plan {") && graph.trim_end().ends_with('}'));
    for label in labels {
        assert!(graph.contains(&format!("[label=\"{label}\"")), "{label}");
    }
}

#[test]
fn a_plan_needs_schemas() {
    let bench = Bench::with_vector_add();
    let text = bad(bench.tool().args(["plan", "vector_add.cpp"]), 1);
    assert!(text.contains("cli::plan_open"), "{text}");
}
