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
            // the very bytes that ship, with their records and without
            let image = format!("{library}.ucpl");
            assert_eq!(run(&bench, &image, &call, &["--lane", "ucpl"]).1, want, "{kernel}: {image}");
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
        let is_size = number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
        // regions, windows, staged and tensor addresses are facts, not measurements
        let is_fact = [
            "0x18000",
            "0xbe000",
            "0x1000000000",
            "0x1000000020",
            "0x1000ffffff",
            "0x11000000",
            "0xffffff",
            "0x84000000",
            "0x200000",
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

/// Every stage from the schema to the last byte given back, on one screen, in both lanes.
#[test]
fn the_trace_tells_every_stage() {
    let bench = Bench::with_vector_add();
    let compile = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "both", "--multicore"];
    good(bench.tool().args(compile));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../golden");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (lane, name) in [("ucpl", "ucpl_trace"), ("fixed", "fixed_trace")] {
        let line =
            ["run", "build/vector_add", "ones:100", "ones:100", "--like", "0", "--lane", lane, "--trace"];
        // a kernel for one core on eight: the findings are the same in both lanes, the trace is whole
        let text = bad(bench.tool().args(line), 1);
        let trace = text.split("\n\n").next().expect("a trace");
        let columns = trace.lines().map(|line| line.chars().count()).max();
        assert!(trace.lines().count() <= 60 && columns <= Some(100), "{columns:?} columns\n{trace}");
        let is_measured = |line: &&str| {
            !["compiler", "bytes       95 10", "load        95 10"].iter().any(|word| line.contains(word))
        };
        let trace: Vec<&str> = trace.lines().filter(is_measured).collect();
        settings.bind(|| insta::assert_snapshot!(name, plain(&trace.join("\n"))));
    }
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

/// A single accessor and a printf of integers leave room.
#[test]
fn an_op_that_prints_an_integer_fits() {
    let bench = Bench::new();
    bench.write(
        "say.cpp",
        "#include <stdio.h>\n#include <torch/torch.h>\ntorch::Tensor say(const torch::Tensor& t) {\n  torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);\n  auto in = t.accessor<float, 1>();\n  auto to = out.accessor<float, 1>();\n  for (int i = 0; i < t.size(0); ++i) to[i] = in[i] * 2;\n  printf(\"x=%d\\n\", (int)t.numel());\n  return out;\n}\n",
    );
    let schema = "my::say(Tensor t) -> Tensor";
    let text = good(bench.tool().args(["compile", "say.cpp", "--schema", schema, "--image", "both"]));
    assert!(text.contains("data") && text.contains("of 8192 bytes"), "{text}");
    for lane in ["fixed", "ucpl"] {
        let line = ["run", "build/say", "ones:5", "--like", "0", "--lane", lane];
        let text = good(bench.tool().args(line));
        assert!(text.contains("x=5"), "{lane}: {text}");
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
    let words = refusal.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    assert!(words.contains("printf is the cause"), "{refusal}");
    // as the source spells it, the largest first
    assert!(words.contains("The largest: `") && !words.contains("`_Z"), "{refusal}");
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
    let row = bind.and_then(|stage| stage["facts"][0]["value"].as_str());
    assert!(row.is_some_and(|row| row.starts_with("(0xf0, 42)")), "{row:?}");
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
    let records = |more: &[&str]| refused(&[&["records", "load", "-o", "x.bin"], more].concat());
    has(records(&["--addr", "0", "--size", "65537"]), "loader::record_size");
    has(records(&["--addr", "0x1000001000", "--size", "64"]), "loader::record_address");
    let maverick = [&compile[..], &["--image", "split", "--generation", "maverick"]].concat();
    has(bad(bench.tool().args(maverick), 2), "[possible values: sunda, cayman, mariana, mariana-plus]");
    assert!(!Path::new(&bench.path("x.ucpl")).exists() && !bench.path("x.bin").exists());

    good(bench.tool().args(compile).args(["--image", "split"]));
    has(refused(&["run", "build/vector_add", "rand:9", "rand:9", "--like", "0"]), "run::only_split");
    let sunda = [&["run", "build/vector_add"], &run[..], &["--generation", "sunda"]].concat();
    has(refused(&sunda), "loader::never_staged");
    let ucpl = std::fs::read(bench.path("build/vector_add.ucpl")).expect("read");
    std::fs::write(bench.path("cut.ucpl"), &ucpl[..100]).expect("written");
    has(refused(&["inspect", "cut.ucpl"]), "loader::ucpl_extent");
}

/// What every command says of a generation that never runs an image is one sentence, and it is said when one is made.
#[test]
fn a_generation_without_images_is_said_everywhere() {
    let bench = Bench::with_vector_add();
    let compile =
        ["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "split", "--generation", "sunda"];
    let prelink = ["prelink", "build/vector_add.split.so", "-o", "x.ucpl", "--generation", "sunda"];
    let records =
        ["records", "load", "--addr", "0x1000000000", "--image", "build/vector_add.ucpl", "-o", "load.bin"];
    let run = ["run", "build/vector_add", "rand:9", "rand:9", "--like", "0", "--lane", "ucpl"];
    for (line, status) in [(&compile[..], 0), (&compile, 0), (&prelink, 0), (&records, 0), (&run, 1)] {
        let output = bench.tool().args(line).output().expect("the tool starts");
        let said = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(status), "{line:?}: {said}");
        assert!(said.contains("on sunda no runtime stages a prelinked image"), "{line:?}: {said}");
        assert!(said.contains("loader::never_staged"), "{line:?}: {said}");
    }
}

/// Records for a core of another context are eight, with the runtime's warning; one of wrong cores is refused by all.
#[test]
fn records_are_judged_alike_wherever_they_are_read() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "split"]));
    let image = "build/vector_add.ucpl";
    let load = ["records", "load", "--addr", "0x1000000000", "--single", "--image", image];
    let output =
        bench.tool().args(load).args(["--foreign", "-o", "eight.bin"]).output().expect("the tool starts");
    assert!(output.status.success());
    let warning = "nrtucode_ll_get_load_sequence_num_instrs: check `ll->context == nrtucode_core_get_context(core)` failed";
    assert!(String::from_utf8_lossy(&output.stderr).contains(warning));
    good(bench.tool().args(load).args(["-o", "load.bin"]));
    let (one, eight) = (
        std::fs::read(bench.path("load.bin")).expect("read"),
        std::fs::read(bench.path("eight.bin")).expect("read"),
    );
    assert_eq!(eight, one.repeat(8));
    let said = good(bench.tool().args(["verify", "build/vector_add", "load.bin", "eight.bin"]));
    assert!(said.contains("loader: 5 files, all would load"), "{said}");
    let said = good(bench.tool().args(["verify", "load.bin"]));
    assert!(!said.contains("all would load") && said.contains("shows only when it is named"), "{said}");
    let run = ["run", image, "ones:5", "ones:5", "--like", "0", "--lane", "ucpl", "--records"];
    good(bench.tool().args(run).arg("load.bin"));
    good(bench.tool().args(run).arg("eight.bin"));
    let rows: [(usize, u8, &str); 4] = [
        (0xd, 3, "loader::record_cores"),
        (0x11, 1, "loader::record_address"),
        (0x30, 1, "loader::record_reserved"),
        (0x1d, 1, ""),
    ];
    for (at, value, code) in rows {
        let mut bytes = one.clone();
        bytes[at] ^= value ^ if at == 0xd { 1 } else { 0 };
        std::fs::write(bench.path("bad.bin"), &bytes).expect("written");
        let said = bad(bench.tool().args(["verify", "build/vector_add", "bad.bin"]), 1);
        assert!(said.contains(code) && !said.contains("would load"), "byte {at:#x}: {said}");
        if !code.is_empty() {
            let said = bad(bench.tool().args(run).arg("bad.bin"), 1);
            assert!(said.contains(code), "byte {at:#x}: {said}");
        }
    }
}

/// A changed byte of any file that ships is found, and what a device does with it is not what it did before.
#[test]
fn the_bytes_that_ship_are_the_bytes_that_are_checked_and_run() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "both"]));
    let outputs = bench.outputs();
    std::fs::create_dir(bench.path("files")).expect("a directory");
    let put =
        |name: &str, bytes: &[u8]| std::fs::write(bench.path("files").join(name), bytes).expect("written");
    outputs.iter().for_each(|(name, bytes)| put(name, bytes));
    good(bench.tool().args(["verify", "files/vector_add"]));
    let mut seed = 7_u64;
    let mut dice = move |sides: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % sides
    };
    for (name, bytes) in &outputs {
        for _ in 0..3 {
            let mut changed = bytes.clone();
            let at = dice(bytes.len());
            changed[at] ^= 1 << dice(8);
            put(name, &changed);
            let said = bad(bench.tool().args(["verify", "files/vector_add"]), 1);
            assert!(!name.ends_with(".so") || said.contains(name.as_str()), "{name}, byte {at:#x}: {said}");
            assert!(
                !said.contains("all passed") && !said.contains("all would load"),
                "{name}, byte {at:#x}: {said}"
            );
        }
        put(name, bytes);
    }
    // away from the manifest, its library beside it tells
    let mut changed = outputs["vector_add.ucpl"].clone();
    changed[0x40] ^= 1;
    put("v.ucpl", &changed);
    put("v.split.so", &outputs["vector_add.split.so"]);
    let said = bad(bench.tool().args(["verify", "files/v.ucpl", "files/v.split.so"]), 1);
    assert!(said.contains("library::ucpl_differs") && said.contains("from byte 0x40 on"), "{said}");
    // and it runs as it is
    let line =
        ["run", "files/v.ucpl", "ones:5", "ones:5", "--like", "0", "--lane", "ucpl", "--budget", "2000000"];
    put("v.ucpl", &outputs["vector_add.ucpl"]);
    good(bench.tool().args(line));
    let start = u32::from_le_bytes(outputs["vector_add.ucpl"][0x1c..0x20].try_into().expect("four bytes"));
    let mut changed = outputs["vector_add.ucpl"].clone();
    // the start function's first instruction: no longer an ENTRY
    changed[0x20 + (start - 0x18000) as usize] ^= 0xff;
    put("v.ucpl", &changed);
    let said = bad(bench.tool().args(line).arg("--trace"), 1);
    assert!(said.contains("device::lane_load"), "{said}");
    assert!(
        said.contains(" 5 adopt ")
            && said.contains("refused     on core 0: its start function did not return"),
        "{said}"
    );
    put("v.ucpl", &outputs["vector_add.ucpl"]);
    put("vector_add.ucpl", &changed);
    let refused = ["run", "files/vector_add", "ones:5", "ones:5", "--like", "0", "--lane", "ucpl"];
    let said = bad(bench.tool().args(refused), 1);
    assert!(said.contains("library::ucpl_differs"), "{said}");
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
    let trace = machine.destroy().expect("destroyed");
    let fact = |stage: &str, name: &str| {
        let stage = trace.stages.iter().rev().find(|found| found.name == stage).expect("a stage");
        stage.facts.iter().find(|fact| fact.name == name).expect("a fact").value.clone()
    };
    assert_eq!(fact("stage", "handle"), "nrtucode_ll_t@0x1, selector 3");
    assert!(fact("load", "window").starts_with("slot 1,"), "the last freed window is taken first");
    assert!(fact("unload", "cores").contains("15 of 16 windows free"));
}

/// Every step has a command line of its own: what a dry run prints makes the same image in a shell.
#[test]
fn the_printed_steps_make_the_same_image() {
    let bench = Bench::with_vector_add();
    let compile = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "split"];
    good(bench.tool().args(compile));
    let made = bench.outputs();
    let work = bench.path("build/.gpsimd-build/vector_add/work");
    std::fs::remove_dir_all(bench.path("build")).expect("removed");
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

/// Whoever knows the vendor's library looks for its number, its name and its log line: all three are told.
#[test]
fn a_refused_prelink_tells_its_status() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD, "--image", "both"]));
    let library = std::fs::read(bench.path("build/vector_add.split.so")).expect("read");
    let put = |name: &str, at: usize, value: u8| {
        let mut bytes = library.clone();
        bytes[at] = value;
        std::fs::write(bench.path(name), bytes).expect("written");
    };
    put("class.so", 4, 2);
    // p_flags of the first program header: code that is not executable
    put("flags.so", 52 + 24, 6);
    std::fs::copy(bench.path("build/vector_add.so"), bench.path("fixed.so")).expect("copied");
    let rows = [
        ("class.so", "status 1, NOT_ELF", "Failed to validate ELF shared object file"),
        ("flags.so", "status 7, NOT_SPLITLOAD", "Failed to validate ELF shared object file"),
        ("fixed.so", "status 7, NOT_SPLITLOAD", "Failed to validate ELF shared object file"),
    ];
    for (file, status, line) in rows {
        for json in [&[][..], &["--json"]] {
            let said = bad(bench.tool().args(["prelink", file, "-o", "x.ucpl"]).args(json), 1);
            assert!(said.contains(status) && said.contains(line), "{file} {json:?}: {said}");
        }
    }
    std::fs::rename(bench.path("flags.so"), bench.path("flags.split.so")).expect("renamed");
    let run = ["run", "flags.split.so", "ones:3", "ones:3", "--like", "0", "--lane", "ucpl", "--trace"];
    let said = bad(bench.tool().args(run), 1);
    assert!(said.contains("status 7, NOT_SPLITLOAD"), "{said}");
    // the stages up to the failure
    assert!(said.contains(" 5 unpack ") && said.contains(" 6 prelink   refused"), "{said}");
}
