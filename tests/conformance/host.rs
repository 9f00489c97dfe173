//! The host half: shape functions compile with the machine's own compiler, are listed, and give the shapes of the device.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::bench::{Bench, bad, good, repository};
use crate::kernels::sdk_tests;
use crate::workshop::{document, host_compiler, list, sdk, text};

/// Compiles and links host sources and objects with these flags into `bench`.
fn program(bench: &Bench, inputs: &[&Path], flags: &[&str]) -> PathBuf {
    let program = bench.path("program");
    good(host_compiler().args(flags).arg("-o").arg(&program).args(inputs));
    program
}

/// `list_registrations.cpp` as an object, compiled once.
fn lister() -> &'static Path {
    static OBJECT: OnceLock<(Bench, PathBuf)> = OnceLock::new();
    let (_, object) = OBJECT.get_or_init(|| {
        let bench = Bench::new();
        let object = bench.path("list_registrations.o");
        good(host_compiler().arg("-c").arg("-o").arg(&object).arg(sdk().join("host/list_registrations.cpp")));
        (bench, object)
    });
    object
}

#[test]
fn half_and_bfloat16_are_right_for_all_encodings() {
    let bench = Bench::new();
    let source = sdk_tests().join("host/float16_exhaustive.cpp");
    good(&mut Command::new(program(&bench, &[&source], &["-O1"])));
}

/// The SDK's own printf says what the host's says, for every conversion and for doubles of every magnitude.
#[test]
fn printf_agrees_with_the_host() {
    let bench = Bench::new();
    let source = sdk_tests().join("host/small_printf.cpp");
    let flags = ["-O1", "-Wno-format", "-Wno-format-security"];
    good(&mut Command::new(program(&bench, &[&source], &flags)));
}

#[test]
fn every_spelling_of_a_shape_function() {
    let bench = Bench::new();
    let source = sdk_tests().join("host/shape_forms.cpp");
    good(&mut Command::new(program(&bench, &[&source], &[])));
}

#[test]
fn unusable_registrations_are_all_named() {
    let bench = Bench::new();
    let source = sdk_tests().join("host/odd_registrations.cpp");
    let program = program(&bench, &[&source, lister()], &[]);
    let faults = bad(Command::new(&program).arg("list"), 1);
    let wanted = [
        r#"operator name "odd::quote\"back\\slash\u000anew\u0001\ufffd" is no identifier"#,
        r#"kernel name "kernel\u0009with tab" is no unqualified C++ function name"#,
        r#""odd::long_kernel": kernel name "a_kernel_name_of_thirty_two_char" has 32 characters, 31 are allowed"#,
        r#""odd::twice" is registered twice"#,
        r#""odd::twice": kernel "same" belongs to another operator too"#,
    ];
    for fault in wanted {
        assert!(faults.contains(fault), "{fault} is not in\n{faults}");
    }
    assert_eq!(faults.lines().count(), wanted.len(), "{faults}");
    let undefined = bad(Command::new(&program).args(["eval", "undefined", "float32:2"]), 1);
    assert!(
        undefined.contains("the shape function of undefined returned an undefined tensor"),
        "{undefined}"
    );
    let throws = bad(Command::new(&program).args(["eval", "throws", "float32:2"]), 1);
    assert!(throws.contains("threw something that is no std::exception"), "{throws}");
    bad(Command::new(&program).arg("eval"), 2);
}

/// One parameter of `examples.json` on the lister's command line.
fn word(input: &Value) -> String {
    match input.get("dtype") {
        Some(dtype) if input.get("shape").is_some() => {
            let extents: Vec<String> = list(&input["shape"]).iter().map(Value::to_string).collect();
            format!("{}:{}", text(dtype), extents.join("x"))
        }
        _ => ["float", "int", "scalar"].iter().find_map(|kind| input.get(kind)).expect("a value").to_string(),
    }
}

/// Every example's registration lists its ops with the kernel's name and the parameter types of its schema, and its shape
/// function gives the output that `examples.json` names.
#[test]
fn shape_sources_of_the_examples_list_and_evaluate() {
    let examples = repository().join("examples");
    for example in list(&document(&examples.join("examples.json"))["examples"]) {
        let bench = Bench::new();
        let source = examples.join(text(&example["shape_source"]));
        let program = program(&bench, &[&source, lister()], &[]);
        let listed: Value = serde_json::from_str(&good(Command::new(&program).arg("list"))).expect("JSON");
        let registrations = list(&listed["registrations"]);
        let ops = list(&example["ops"]);
        assert_eq!(registrations.len(), ops.len(), "{listed}");
        for op in ops {
            let (kernel, schema) = (text(&op["kernel"]), text(&op["schema"]));
            let name = schema.split('(').next().expect("a name");
            let types = |schema: &str| -> Vec<String> {
                let inside = schema.split('(').nth(1).and_then(|rest| rest.split(')').next()).unwrap_or("");
                inside.split(", ").map(|param| param.split(' ').next().unwrap_or("").to_owned()).collect()
            };
            let found = registrations.iter().find(|r| r["kernel"] == kernel).expect("listed");
            assert_eq!(format!("{}::{}", text(&found["namespace"]), text(&found["op"])), name);
            assert_eq!(types(text(&found["schema"])), types(schema), "{kernel}");
            let words = list(&op["inputs"]).iter().map(word);
            let answer = good(Command::new(&program).arg("eval").arg(name).args(words));
            let answer: Value = serde_json::from_str(&answer).expect("JSON");
            let wanted = json!({"format": 1, "op": name, "kernel": kernel, "output": op["output"]});
            assert_eq!(answer, wanted);
        }
    }
}
