//! Where the reference driver fails its users (`docs/compat.md`): the rows that no other test shows.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bench::{Bench, VECTOR_ADD, good, repository, vector_add};

/// Q3: what a compiler says although it succeeds is shown.
#[test]
fn warnings_of_a_successful_build_are_shown() {
    let bench = Bench::new();
    let text = std::fs::read_to_string(vector_add()).expect("read");
    bench.write("vector_add.cpp", &format!("{text}\n#warning nobody reads this\n"));
    let line = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD];
    let flags = ["--", "-Wno-error"];
    let output = bench.tool().args(line).args(flags).output().expect("the tool starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("nobody reads this"), "{said}");
    let other = Bench::new();
    std::fs::copy(bench.path("vector_add.cpp"), other.path("vector_add.cpp")).expect("copied");
    let document: Value =
        serde_json::from_str(&good(other.tool().args(line).arg("--json").args(flags))).expect("JSON");
    let warnings = document["warnings"].as_array().expect("a list");
    assert!(
        warnings.iter().any(|said| said["detail"].as_str().is_some_and(|text| text.contains("nobody"))),
        "{warnings:?}"
    );
}

/// Q4: how much runs at the same time does not show in what comes out.
#[test]
fn parallel_builds_give_what_serial_ones_give() {
    let [one, many] = ["1", "8"].map(|jobs| {
        let bench = Bench::with_vector_add();
        good(bench.tool().args([
            "compile",
            "vector_add.cpp",
            "--multicore",
            "--schema",
            VECTOR_ADD,
            "-j",
            jobs,
        ]));
        bench.outputs()
    });
    assert_eq!(one, many);
}

/// Q15: only the last extension of the name goes, and `.so` is the ending whatever it was.
#[test]
fn the_name_s_last_extension_is_replaced() {
    let bench = Bench::with_vector_add();
    let line = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--no-strip", "--name"];
    for (name, want) in [("add.so", "add.so"), ("lib.v1.bar", "lib.v1.so"), ("plain", "plain.so")] {
        good(bench.tool().args(line).args([name, "--out-dir", name]));
        assert!(bench.path(name).join(want).is_file(), "{name}");
    }
}

/// Q17: a library is for one core or for all eight, and eight that are seven are not taken for a library.
#[test]
fn eight_cores_are_eight() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let seven: Vec<String> =
        (0..8).filter(|core| *core != 3).map(|core| format!("build/vector_add_cpu{core}.so")).collect();
    let output = bench.tool().arg("verify").args(&seven).output().expect("the tool starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("cpu3"), "the missing core is named\n{text}");
}

/// Every test that the table names exists, and every defect has a row.
#[test]
fn the_table_names_tests_that_exist() {
    let table = std::fs::read_to_string(repository().join("docs/compat.md")).expect("docs/compat.md");
    let mut sources = String::new();
    for folder in ["tests", "integrations", "crates"] {
        read_sources(&repository().join(folder), &mut sources);
    }
    let mut rows = BTreeSet::new();
    for line in table.lines().filter(|line| line.starts_with("| Q")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [number, .., tests] = cells.as_slice() else { panic!("{line}") };
        rows.insert(number[1..].parse::<u32>().expect("a number"));
        let names: Vec<&str> =
            tests.split('`').skip(1).step_by(2).filter(|name| !name.contains('/')).collect();
        assert!(!names.is_empty(), "{number} names no test");
        for name in names {
            let is_there =
                sources.contains(&format!("fn {name}(")) || sources.contains(&format!("def {name}("));
            assert!(is_there, "{number}: there is no test {name}");
        }
    }
    assert_eq!(rows, (1..=17).collect());
}

fn read_sources(folder: &std::path::Path, sources: &mut String) {
    for entry in std::fs::read_dir(folder).expect("listed").flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_sources(&path, sources);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "py") {
            sources.push_str(&std::fs::read_to_string(&path).unwrap_or_default());
        }
    }
}
