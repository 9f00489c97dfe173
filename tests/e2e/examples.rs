//! Every example builds, for one core and for eight, and passes the checks.

use serde_json::Value;

use crate::bench::{Bench, good, library_files, repository, result};

/// An example of `examples/examples.json`.
pub struct Example {
    pub name: String,
    pub source: String,
    /// Source of the shape functions, relative to the examples.
    pub shapes: String,
    /// Whether it divides its work between cores.
    pub is_multicore: bool,
    /// Arguments naming its ops.
    pub ops: Vec<String>,
}

/// All examples.
pub fn all() -> Vec<Example> {
    let text = std::fs::read_to_string(repository().join("examples/examples.json")).expect("examples.json");
    let document: Value = serde_json::from_str(&text).expect("examples.json is JSON");
    let text_of = |value: &Value| value.as_str().expect("a string").to_owned();
    document["examples"]
        .as_array()
        .expect("a list of examples")
        .iter()
        .map(|example| Example {
            name: text_of(&example["name"]),
            source: text_of(&example["source"]),
            shapes: text_of(&example["shape_source"]),
            is_multicore: example["multicore"] == true,
            ops: example["ops"]
                .as_array()
                .expect("a list of ops")
                .iter()
                .map(|op| format!("{}={}", text_of(&op["kernel"]), text_of(&op["schema"])))
                .collect(),
        })
        .collect()
}

/// Builds an example into `build/` of the bench.
pub fn build(bench: &Bench, example: &Example, eight: bool) {
    build_with(bench, example, if eight { &["--multicore"] } else { &[] });
}

/// Builds an example into `build/` of the bench, with more options.
pub fn build_with(bench: &Bench, example: &Example, options: &[&str]) {
    let mut command = bench.tool();
    command.arg("compile").arg(repository().join("examples").join(&example.source));
    for op in &example.ops {
        command.args(["--op", op]);
    }
    good(command.args(options));
}

#[test]
fn every_example_builds_and_verifies() {
    let examples = all();
    let teaching: Vec<&str> =
        examples.iter().filter(|example| example.is_multicore).map(|example| example.name.as_str()).collect();
    assert_eq!(teaching, ["vector_add", "relu", "scale_clip", "time_mix", "relu_multicore"]);
    for example in &examples {
        for eight in [false, true] {
            let bench = Bench::new();
            build(&bench, example, eight);
            let found: Vec<String> = bench.outputs().into_keys().collect();
            assert_eq!(found, library_files(&example.name, eight), "{}", example.name);
            let library = format!("build/{}", example.name);
            let report = result(bench.tool().args(["verify", &library]));
            let errors: Vec<&Value> = report["findings"]
                .as_array()
                .expect("findings")
                .iter()
                .filter(|f| f["severity"] == "error")
                .collect();
            assert!(errors.is_empty(), "{}: {errors:?}", example.name);
        }
    }
}

/// The manifest names every file with its true size and hash, and the ops as the device counts them.
#[test]
fn the_manifest_tells_the_truth() {
    use sha2::Digest as _;
    let bench = Bench::new();
    let relu = all().into_iter().find(|example| example.name == "relu").expect("relu");
    build(&bench, &relu, true);
    let outputs = bench.outputs();
    let manifest: Value = serde_json::from_slice(&outputs["relu.manifest.json"]).expect("JSON");
    assert_eq!(manifest["total_cpus"], 8);
    assert_eq!(manifest["versions"]["ulib_to_ucode_version"], "1.21.1.0");
    let ops = manifest["ops"].as_array().expect("ops");
    for (index, op) in ops.iter().enumerate() {
        assert_eq!(op["opcode"], 133);
        assert_eq!(op["sub_opcode"], index);
    }
    assert_eq!(ops[0]["kernel"], "relu_forward");
    let images = manifest["images"].as_array().expect("images");
    assert_eq!(images.len(), 8);
    for (cpu, image) in images.iter().enumerate() {
        assert_eq!(image["cpu_id"], cpu);
        assert_eq!(image["window_base"], 0x8400_0000_u64 + cpu as u64 * 0x20_0000);
        for file in image["files"].as_array().expect("files") {
            let bytes = &outputs[file["file"].as_str().expect("a name")];
            let hash: String = sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(file["size"], bytes.len());
            assert_eq!(file["sha256"], hash);
        }
    }
}
