//! The lane of split-load libraries, as a user travels it: built, packed, prelinked, loaded by record, dispatched,
//! unloaded. Every number must be the fixed lane's.

use std::path::Path;

use gpsimd_device::{Arg, CallError, Config, Control, CoreImage, LoadError, Machine, Tensor};
use gpsimd_loader::Generation;
use gpsimd_loader::selector::Environment;
use serde_json::Value;

use crate::bench::{Bench, VECTOR_ADD, bad, good, repository, result};
use crate::examples::{self, Example};

/// Inputs and output of an op of `examples/examples.json`, as arguments of `run`.
fn call(example: &str, kernel: &str) -> Vec<String> {
    let text = std::fs::read_to_string(repository().join("examples/examples.json")).expect("examples.json");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let find = |list: &Value, key: &str, value: &str| -> Value {
        let entries = list.as_array().expect("a list");
        entries.iter().find(|entry| entry[key] == value).expect("an entry").clone()
    };
    let op = find(&find(&document["examples"], "name", example)["ops"], "kernel", kernel);
    let shape = |tensor: &Value| -> String {
        let extents = tensor["shape"].as_array().expect("a shape");
        extents.iter().map(ToString::to_string).collect::<Vec<_>>().join("x")
    };
    let input = |input: &Value| match &input["shape"] {
        Value::Array(_) => format!("rand:{}:{}", shape(input), input["dtype"].as_str().expect("a type")),
        _ => ["float", "int", "scalar"].iter().find_map(|kind| input.get(kind)).expect("a value").to_string(),
    };
    let mut line: Vec<String> = op["inputs"].as_array().expect("inputs").iter().map(input).collect();
    line.extend(["--op".to_owned(), kernel.to_owned(), "--shape".to_owned(), shape(&op["output"])]);
    line
}

/// Kernels of an example.
fn kernels(example: &Example) -> Vec<&str> {
    example.ops.iter().filter_map(|op| op.split_once('=')).map(|(kernel, _)| kernel).collect()
}

/// What a run reports, with the output file's bytes.
fn run(bench: &Bench, library: &str, call: &[String], lane: &[&str]) -> (Value, Vec<u8>) {
    let mut command = bench.tool();
    command.args(["run", library, "--json", "-o", "out.npy"]).args(call).args(lane);
    let output = command.output().expect("the tool starts");
    let answer: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr)));
    let report = answer["result"].clone();
    let bytes = std::fs::read(bench.path("out.npy")).unwrap_or_else(|_| panic!("{command:?}: {report:#}"));
    std::fs::remove_file(bench.path("out.npy")).expect("removed");
    (report, bytes)
}

fn build(bench: &Bench, example: &Example, arguments: &[&str]) {
    let mut command = bench.tool();
    command.arg("compile").arg(repository().join("examples").join(&example.source));
    for op in &example.ops {
        command.args(["--op", op]);
    }
    good(command.args(arguments));
}

/// Codes of a report's findings.
fn codes(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().map(|finding| finding["code"].as_str().expect("a code")).collect()
}

#[test]
fn every_example_gives_the_same_numbers_in_both_lanes() {
    for example in examples::all() {
        let bench = Bench::new();
        let is_multicore = example.is_multicore;
        build(
            &bench,
            &example,
            if is_multicore { &["--image", "both", "--multicore"] } else { &["--image", "both"] },
        );
        let library = format!("build/{}", example.name);
        for kernel in kernels(&example) {
            let call = call(&example.name, kernel);
            let (fixed, want) = run(&bench, &library, &call, &[]);
            let (ucpl, found) = run(&bench, &library, &call, &["--lane", "ucpl"]);
            assert_eq!(found, want, "{kernel}");
            assert_eq!(codes(&ucpl), codes(&fixed), "{kernel}");
            let cores = if is_multicore { 8 } else { 1 };
            assert_eq!(ucpl["cores"].as_array().map(Vec::len), Some(cores), "{kernel}");
            let completed = |core: &Value| core["outcome"] == "completed";
            assert!(ucpl["cores"].as_array().is_some_and(|all| all.iter().all(completed)), "{ucpl:#}");
        }
    }
}

/// The trace, with sizes and addresses that depend on the compiler taken out.
fn plain(trace: &str) -> String {
    let mut text = String::new();
    let mut number = String::new();
    for c in trace.chars().chain(['\0']) {
        if c.is_ascii_alphanumeric() {
            number.push(c);
            continue;
        }
        let is_hex = number.strip_prefix("0x").is_some_and(|digits| digits.len() >= 3);
        let is_size = number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit());
        // the regions and the SoC address of the image are facts, not measurements
        let is_fact = [
            "0x18000",
            "0xbe000",
            "0x1000000000",
            "0x1000000020",
            "0x1000ffffff",
            "0x11000000",
            "0xffffff",
            "32768",
            "8192",
            "1000000000",
            "11000000",
        ];
        match (is_hex || is_size) && !is_fact.contains(&number.as_str()) {
            true => text.push_str(if is_hex { "0x…" } else { "…" }),
            false => text.push_str(&number),
        }
        number.clear();
        if c != '\0' {
            text.push(c);
        }
    }
    text
}

#[test]
fn the_trace_tells_every_stage() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args([
        "compile",
        "vector_add.cpp",
        "--schema",
        VECTOR_ADD,
        "--image",
        "split",
        "--multicore",
    ]));
    let line =
        ["run", "build/vector_add", "ones:100", "ones:100", "--like", "0", "--lane", "ucpl", "--trace"];
    // a kernel for one core on eight: the findings are the fixed lane's, the trace is whole
    let text = bad(bench.tool().args(line), 1);
    let trace = text.split("\n\n").next().expect("a trace");
    let cut = |line: &str| match line.split_once("load         95 10") {
        // the size in the record
        Some(_) => "     load         95 10 …".to_owned(),
        None => line.to_owned(),
    };
    let trace = trace.lines().map(cut).collect::<Vec<_>>().join("\n");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("ucpl_trace", plain(&trace)));
}

#[test]
fn a_library_that_is_too_large_is_refused_with_both_numbers() {
    let bench = Bench::with_vector_add();
    let table = |kind: &str| {
        format!(
            "#include <torch/torch.h>\n{kind}\ntorch::Tensor big(const torch::Tensor& t) {{\n  return torch::full({{1}}, table(t.numel()), torch::kFloat);\n}}\n"
        )
    };
    let data = table(
        "static float values[5000] = {1.0f};\nstatic float table(long i) { return values[i] += 1.0f; }",
    );
    let code = table(
        "#define A(n) asm volatile(\".rept 2000\\nadd %0, %0, %0\\n.endr\" : \"+r\"(x));\nstatic float table(long i) { int x = i; A(0) A(1) A(2) A(3) A(4) A(5) A(6) A(7) A(8) A(9) return x; }",
    );
    for (text, region, allowed) in [(data, "data", 8192), (code, "code", 32768)] {
        bench.write("big.cpp", &text);
        let refusal = bad(
            bench.tool().args([
                "compile",
                "big.cpp",
                "--schema",
                "my::big(Tensor t) -> Tensor",
                "--image",
                "both",
            ]),
            1,
        );
        let expected = format!("its region on the device has {allowed}");
        assert!(refusal.contains("loader::split_too_large"), "{refusal}");
        assert!(
            refusal.contains(&format!("the {region} segment has")) && refusal.contains(&expected),
            "{refusal}"
        );
        assert!(bench.outputs().is_empty(), "nothing is published");
        good(bench.tool().args([
            "compile",
            "big.cpp",
            "--schema",
            "my::big(Tensor t) -> Tensor",
            "--no-strip",
        ]));
        std::fs::remove_dir_all(bench.path("build")).expect("removed");
    }
}

/// The C library's stdio does not fit a split image; who prints through it is told so.
#[test]
fn printing_is_named_when_it_is_what_is_too_large() {
    let bench = Bench::new();
    bench.write(
        "big.cpp",
        "#include <stdio.h>\n#include <torch/torch.h>\nstatic volatile float kept[280];\ntorch::Tensor big(const torch::Tensor& t) {\n  kept[t.numel() % 280] = 1;\n  fprintf(stderr, \"%f\\n\", 1.5);\n  return t;\n}\n",
    );
    let schema = "my::big(Tensor t) -> Tensor";
    let refusal = bad(bench.tool().args(["compile", "big.cpp", "--schema", schema, "--image", "split"]), 1);
    assert!(refusal.contains("loader::split_too_large"), "{refusal}");
    let words: Vec<&str> = refusal.split_whitespace().collect();
    assert!(words.join(" ").contains("printf is the cause"), "{refusal}");
}

#[test]
fn the_commands_agree_with_the_build() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args([
        "compile",
        "vector_add.cpp",
        "--schema",
        VECTOR_ADD,
        "--image",
        "both",
        "--spec",
        "42",
    ]));
    let outputs = bench.outputs();
    let ucpl = &outputs["vector_add.ucpl"];
    good(bench.tool().args(["unpack", "build/vector_add.split.packed.so", "-o", "unpacked.so"]));
    for library in ["build/vector_add.split.so", "build/vector_add.split.packed.so", "unpacked.so"] {
        for mode in ["--strict", "--compat"] {
            good(bench.tool().args(["prelink", library, "-o", "again.ucpl", mode]));
            let again = std::fs::read(bench.path("again.ucpl")).expect("read");
            assert!(again == *ucpl, "{library} {mode}");
        }
    }
    let manifest: Value = serde_json::from_slice(&outputs["vector_add.manifest.json"]).expect("JSON");
    let split = &manifest["split"];
    assert_eq!(split["ops"][0]["opcode"], 0xf0);
    assert_eq!(split["ops"][0]["spec"], 42);
    assert_eq!(split["files"].as_array().map(Vec::len), Some(3));

    let inspect = |file: &str| result(bench.tool().args(["inspect", file]))["files"].clone();
    let image = inspect("build/vector_add.ucpl");
    assert_eq!(image[0]["header"]["start"], split["start"]);
    assert_eq!(image[0]["header"]["code_len"], split["code"]["size"]);
    good(
        bench
            .tool()
            .args(["records", "load", "--addr", "0x1000000000", "--image", "build/vector_add.ucpl"])
            .args(["-o", "load.bin"]),
    );
    good(bench.tool().args(["records", "unload", "-o", "unload.bin", "--single"]));
    let stream = [std::fs::read(bench.path("load.bin")), std::fs::read(bench.path("unload.bin"))];
    let stream: Vec<u8> = stream.into_iter().flat_map(|bytes| bytes.expect("read")).collect();
    assert_eq!(&stream[..2], [0x95, 0x10]);
    std::fs::write(bench.path("both.bin"), &stream).expect("written");
    let records = inspect("both.bin");
    assert_eq!(records[0]["records"][0]["library_size"], ucpl.len());
    assert_eq!(records[0]["records"][0]["soc_addr"], 0x10_0000_0000_u64);
    assert_eq!(records[0]["records"][1]["direction"], "unload");
    assert_eq!(records[0]["records"][1]["core_mask"], 1);

    let split = inspect("build/vector_add.split.packed.so");
    assert_eq!(split[0]["rows"][0]["spec"], 42);
    assert_eq!(split[0]["header"], image[0]["header"]);

    // verify knows both kinds, and judges an image as the device would not
    let said = good(bench.tool().args(["verify", "build/vector_add"]));
    assert!(said.contains("loader: 3 files, all would load") && said.contains("checks: 3 files"), "{said}");
    let mut damaged = ucpl.clone();
    damaged[0x1c..0x20].copy_from_slice(&0x17ff0_u32.to_le_bytes());
    std::fs::write(bench.path("damaged.ucpl"), damaged).expect("written");
    let said = bad(bench.tool().args(["verify", "damaged.ucpl"]), 1);
    assert!(said.contains("loader::ucpl_entry") && said.contains("0x17ff0"), "{said}");

    // a bare image, away from its manifest; the spec is in its table
    std::fs::copy(bench.path("build/vector_add.split.packed.so"), bench.path("alone.split.packed.so"))
        .expect("copied");
    let call = ["rand:9", "rand:9", "--like", "0"].map(str::to_owned);
    let (report, found) = run(&bench, "alone.split.packed.so", &call, &["--lane", "ucpl"]);
    let (_, want) = run(&bench, "build/vector_add", &call, &[]);
    assert_eq!(found, want);
    let bind =
        report["trace"].as_array().and_then(|stages| stages.iter().find(|stage| stage["name"] == "bind"));
    assert!(
        bind.is_some_and(|stage| stage["log"][0].as_str().is_some_and(|row| row.starts_with("(0xf0, 42)")))
    );
}

#[test]
fn what_cannot_travel_is_refused() {
    let bench = Bench::with_vector_add();
    let compile = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD];
    good(bench.tool().args(compile));
    let run = ["rand:9", "rand:9", "--like", "0", "--lane", "ucpl"];
    let refused = |arguments: &[&str]| bad(bench.tool().args(arguments), 1);
    let has = |text: String, code: &str| assert!(text.contains(code), "no {code} in\n{text}");
    has(refused(&[&["run", "build/vector_add"], &run[..]].concat()), "library::no_split");
    has(refused(&["prelink", "build/vector_add.so", "-o", "x.ucpl"]), "loader::not_split_load");
    has(refused(&["prelink", "vector_add.cpp", "-o", "x.ucpl"]), "loader::not_elf");
    has(refused(&[&compile[..], &["--image", "split", "--spec", "9"]].concat()), "loader::reserved_spec");
    let unknown = [&compile[..], &["--image", "split", "--generation", "trn9"]].concat();
    has(bad(bench.tool().args(unknown), 2), "[possible values: sunda, cayman, mariana, mariana-plus]");
    has(
        refused(&["records", "load", "--addr", "0", "--size", "65537", "-o", "x.bin"]),
        "loader::record_size",
    );
    assert!(!Path::new(&bench.path("x.ucpl")).exists() && !bench.path("x.bin").exists());

    good(bench.tool().args(compile).args(["--image", "split"]));
    has(refused(&["run", "build/vector_add", "rand:9", "rand:9", "--like", "0"]), "run::only_split");
    let sunda = [&["run", "build/vector_add"], &run[..], &["--generation", "sunda"]].concat();
    has(refused(&sunda), "device::lane_generation");
    let ucpl = std::fs::read(bench.path("build/vector_add.ucpl")).expect("read");
    std::fs::write(bench.path("cut.ucpl"), &ucpl[..100]).expect("written");
    has(refused(&["inspect", "cut.ucpl"]), "loader::ucpl_extent");
}

#[test]
fn it_can_come_and_go_as_often_as_one_likes() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "split"]));
    let image = CoreImage::new(std::fs::read(bench.path("build/vector_add.split.so")).expect("read"));
    // the variable's presence alone makes it library 3
    let environment = Environment { has_cptc_decode: true };
    let mut machine = Machine::prepare(image, 1, Generation::MarianaPlus, environment, Config::default())
        .expect("prepared");
    assert!(matches!(machine.unload(), Err(LoadError::Unload { core: 0, .. })), "it is not there yet");
    let a = Tensor::from_f32(&[1.5, 2.0, -3.0]).expect("a tensor");
    let spec = a.spec.clone();
    for round in 0..25 {
        machine.load().expect("loaded");
        machine.load().expect("the same image again changes nothing");
        for _ in 0..2 {
            let args = vec![Arg::tensor("a", a.clone()), Arg::tensor("b", a.clone())];
            let report =
                machine.call("vector_add", args, spec.clone(), &Control::default(), |_| {}).expect("called");
            assert!(report.is_clean(), "round {round}: {:?}", report.findings);
            assert_eq!(report.output.to_f32(), Some(vec![3.0, 4.0, -6.0]), "round {round}");
        }
        machine.unload().expect("unloaded");
        let args = vec![Arg::tensor("a", a.clone()), Arg::tensor("b", a.clone())];
        let gone = machine.call("vector_add", args, spec.clone(), &Control::default(), |_| {});
        assert!(matches!(gone, Err(CallError::NoSuchOp { .. })), "nothing is bound any more");
    }
    let trace = machine.destroy().expect("destroyed").expect("a library by record has a trace");
    let fact = |stage: &str, name: &str| {
        let stage = trace.stages.iter().rev().find(|found| found.name == stage).expect("a stage");
        stage.facts.iter().find(|fact| fact.name == name).expect("a fact").value.clone()
    };
    assert_eq!(fact("stage", "handle"), "nrtucode_ll_t@0x1, selector 3");
    assert!(fact("load", "window").starts_with("slot 1,"), "the last freed window is taken first");
    assert!(fact("unload", "windows").starts_with("15 of 16 free"));
}

/// Every step has a command line of its own: what a dry run prints makes the same image in a shell.
#[test]
fn the_printed_steps_make_the_same_image() {
    let bench = Bench::with_vector_add();
    let compile = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "split"];
    good(bench.tool().args(compile));
    let made = bench.outputs();
    let work = bench.path("build/.gpsimd-build/vector_add/work");
    for folder in ["out", "split"] {
        std::fs::remove_dir_all(work.join(folder)).expect("removed");
    }
    std::fs::create_dir(work.join("out")).expect("processes do not make directories");
    let script = good(bench.tool().args(compile).arg("--dry-run"));
    for stage in ["kernel-table", "split-script", "synthesize"] {
        assert!(script.contains(&format!("gpsimd-build stage {stage} ")), "{script}");
    }
    let tool = Path::new(env!("CARGO_BIN_EXE_gpsimd-build")).parent().expect("a directory").to_owned();
    let mut path = std::ffi::OsString::from(tool);
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut shell = std::process::Command::new("sh");
    good(shell.args(["-e", "-c", &script]).current_dir(bench.dir()).env("PATH", path));
    for name in ["vector_add.split.so", "vector_add.split.packed.so", "vector_add.ucpl"] {
        assert!(std::fs::read(work.join("out").join(name)).expect("made") == made[name], "{name} differs");
    }
}
