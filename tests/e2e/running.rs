//! `run`: the images that would ship, executed, from the command line.

use std::path::Path;

use crate::bench::{Bench, VECTOR_ADD, bad, good, result};

/// A `.npy` file of format 1.0, written by hand: an opinion independent of the tool's own.
fn npy(path: &Path, descr: &str, shape: &str, data: &[u8]) {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
    bytes.extend_from_slice(header.as_bytes());
    bytes.extend_from_slice(data);
    std::fs::write(path, bytes).expect("written");
}

fn floats(values: impl Iterator<Item = f32>) -> Vec<u8> {
    values.flat_map(f32::to_le_bytes).collect()
}

/// The data of a `.npy` file: what follows its header.
fn data(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).expect("read");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + length..].to_vec()
}

#[test]
fn a_sum_is_a_sum_from_every_kind_of_file() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    let [a, b] = [3.0_f32, 0.1].map(|step| (0..1001).map(move |i| i as f32 * step - 7.0));
    npy(&bench.path("a.npy"), "<f4", "(1001,)", &floats(a.clone()));
    npy(&bench.path("b.npy"), "<f4", "(1001,)", &floats(b.clone()));
    let want = floats(a.zip(b).map(|(a, b)| a + b));
    // alone in a directory of their own: no manifest, no companions
    for library in [
        "build/vector_add",
        "build/vector_add.so",
        "alone/vector_add.stripped.so",
        "alone/vector_add.packed.so",
    ] {
        let path = bench.path(library);
        if library.starts_with("alone") {
            let _ = std::fs::remove_dir_all(bench.path("alone"));
            std::fs::create_dir(bench.path("alone")).expect("a directory");
            std::fs::copy(bench.path("build").join(path.file_name().expect("a name")), &path)
                .expect("copied");
        }
        good(bench.tool().args(["run", library, "a.npy", "b.npy", "--like", "0", "-o", "sum.npy"]));
        assert_eq!(data(&bench.path("sum.npy")), want, "{library}");
        std::fs::remove_file(bench.path("sum.npy")).expect("removed");
    }
}

/// Eight images of a kernel that returns a fresh tensor: wrong on the device, and said so.
#[test]
fn findings_set_the_exit_status_and_can_be_allowed() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let line = ["run", "build/vector_add", "rand:100", "rand:100", "--like", "0"];
    let text = bad(bench.tool().args(line), 1);
    assert!(text.contains("run::fresh_tensor"), "{text}");
    assert!(text.contains("vector_add.cpp:"), "the finding names the source line\n{text}");
    let report = result(bench.tool().args(line));
    assert_eq!(report["cores"].as_array().map(Vec::len), Some(8));
    let mut command = bench.tool();
    command.args(line);
    for finding in report["findings"].as_array().expect("findings") {
        command.args(["--allow", finding["code"].as_str().expect("a code")]);
    }
    good(&mut command);
}

/// A file of wrong numbers would be taken for a result.
#[test]
fn a_failed_run_writes_no_file() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let line = ["run", "build/vector_add", "rand:100", "rand:100", "--like", "0", "-o", "sum.npy"];
    let text = bad(bench.tool().args(line), 1);
    assert!(text.contains("not written to sum.npy"), "{text}");
    assert!(!bench.path("sum.npy").exists());
}

/// The guides allow 65,535; whoever knows better may allow it.
#[test]
fn a_source_is_built_with_checks_and_run() {
    let bench = Bench::with_vector_add();
    let sum = good(bench.tool().args(["run", "vector_add.cpp", "ones:5", "arange:5", "--like", "0"]));
    assert!(sum.contains("[1, 2, 3, 4, 5]"), "{sum}");
    assert!(
        bench.path("build/vector_add.checked.so").is_file() && !bench.path("build/vector_add.so").exists()
    );
    bench.write(
        "window.cpp",
        "#include <torch/torch.h>\n\
         torch::Tensor window(const torch::Tensor& x) {\n\
         \tfloat kept[WIDTH] = {};\n\
         \tfor (int i = 0; i < x.numel(); ++i) kept[i] += i;\n\
         \treturn torch::full(x.sizes(), kept[3], torch::kFloat);\n}\n",
    );
    let run = |width: &'static str, more: &[&str]| {
        let mut command = bench.tool();
        command.args(["run", "window.cpp", "rand:8", "--like", "0"]).args(more).args(["--", width]);
        command
    };
    let said = bad(&mut run("-DWIDTH=7", &[]), 1);
    assert!(said.contains("error[run::array_index]") && said.contains("--> window.cpp:4"), "{said}");
    assert!(
        said.contains("3 |     float kept[WIDTH] = {};") && said.contains("^"),
        "the lines around it\n{said}"
    );
    std::fs::create_dir(bench.path("else")).expect("a directory");
    let mut elsewhere = bench.tool();
    elsewhere
        .args(["run", "../build/window.checked", "rand:8", "--like", "0"])
        .current_dir(bench.path("else"));
    let said = bad(&mut elsewhere, 1);
    assert!(said.contains("5 |     return torch::full"), "the source is found from elsewhere\n{said}");
    let said = good(&mut run("-DWIDTH=8", &[]));
    assert!(!said.contains("since the last run"), "of those that failed nothing is kept\n{said}");
    let plain = ["--plain", "--lane", "ucpl", "--op", "window=my::w(Tensor x) -> Tensor"];
    let said = good(&mut run("-DWIDTH=8", &plain));
    assert!(said.contains("since the last run: -"), "checks take time\n{said}");
    let said = good(&mut run("-DWIDTH=8", &plain));
    assert!(!said.contains("since the last run"), "nothing has changed\n{said}");
    let said = bad(&mut run("-DWIDTH=8", &["--lane", "ucpl"]), 1);
    assert!(said.contains("run::checked_split"), "{said}");
    let said = bad(bench.tool().args(["run", "build/vector_add.checked", "--plain"]), 1);
    assert!(said.contains("run::not_a_source"), "{said}");
}

#[test]
fn a_result_with_more_elements_than_promised_is_refused() {
    let bench = Bench::new();
    bench.write(
        "larger.cpp",
        "#include <torch/torch.h>\ntorch::Tensor larger(const torch::Tensor& x) { return torch::mul(x, 1.0); }\n",
    );
    bench.write(
        "shape.cpp",
        "#include <torch/torch.h>\n#include \"torchneuron/register.h\"\n\
         torch::Tensor shape(torch::Tensor x) { return torch::zeros({COUNT}, torch::kFloat); }\n\
         NEURON_LIBRARY(my_ops, m) { m.def(\"larger\", &shape, \"larger\"); }\n",
    );
    let run = |count: &'static str| {
        let mut command = bench.tool();
        command.args([
            "run",
            "larger.cpp",
            "arange:12",
            "--shape-src",
            "shape.cpp",
            "-o",
            "out.npy",
            "--",
            count,
        ]);
        command
    };
    for count in ["-DCOUNT=4", "-DCOUNT=13"] {
        let said = bad(&mut run(count), 1);
        assert!(
            said.contains("48 bytes, the output needs") && !bench.path("out.npy").exists(),
            "{count}: {said}"
        );
    }
    good(&mut run("-DCOUNT=12"));
}

#[test]
fn a_large_extent_is_an_error_that_can_be_allowed() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    let run = |shape: &str, allow: &[&str]| {
        let input = format!("ones:{shape}");
        let mut command = bench.tool();
        command.args(["run", "build/vector_add", &input, &input, "--like", "0"]).args(allow);
        command
    };
    good(&mut run("65535", &[]));
    let text = bad(&mut run("65536", &[]), 1);
    assert!(text.contains("`out` has an extent of 65536; the guides allow 65535"), "{text}");
    good(&mut run("65536", &["--allow", "large_extent"]));
}

#[test]
fn what_a_call_leaves_for_the_next_is_found() {
    let bench = Bench::new();
    bench.write(
        "total.cpp",
        "#include <torch/torch.h>\n\
         static float total;\n\
         static torch::Tensor sum(const torch::Tensor& x, float from) {\n\
         \ttorch::Tensor y = torch::empty(x.sizes(), torch::kFloat);\n\
         \tauto in = x.accessor<float, 1>();\n\
         \tauto out = y.accessor<float, 1>();\n\
         \ttotal = from;\n\
         \tfor (int64_t i = 0; i < x.numel(); ++i) out[i] = total += in[i];\n\
         \treturn y;\n\
         }\n\
         torch::Tensor kept(const torch::Tensor& x) { return sum(x, total); }\n\
         torch::Tensor fresh(const torch::Tensor& x) { return sum(x, 0); }\n",
    );
    let ops =
        ["--op", "kept=t::kept(Tensor x) -> (Tensor y)", "--op", "fresh=t::fresh(Tensor x) -> (Tensor y)"];
    good(bench.tool().args(["compile", "total.cpp"]).args(ops));
    let run = |op: &str, calls: &str| {
        let mut command = bench.tool();
        command.args(["run", "build/total", "rand:50", "--like", "0", "--op", op, "--calls", calls]);
        command
    };
    good(&mut run("kept", "1"));
    let text = bad(&mut run("kept", "3"), 1);
    assert!(text.contains("run::state_kept"), "{text}");
    assert!(text.contains("call 2 differs from a first call with its inputs in 50 of 50 elements"), "{text}");
    good(&mut run("fresh", "3"));
}

#[test]
fn inputs_that_cannot_be_used_are_explained() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    npy(&bench.path("cut.npy"), "<f4", "(10,)", &[0; 39]);
    npy(&bench.path("huge.npy"), "<f4", "(4294967295,)", &[0; 4]);
    npy(&bench.path("double.npy"), "<f8", "(2,)", &[0; 16]);
    bench.write("text.npy", "not an array");
    let image = std::fs::read(bench.path("build/vector_add.stripped.so")).expect("read");
    std::fs::write(bench.path("cut.stripped.so"), &image[..image.len() / 2]).expect("written");
    let rows: &[(&[&str], &str)] = &[
        (&["build/vector_add", "rand:9", "--like", "0"], "run::input_count"),
        (&["build/vector_add", "rand:9", "7", "--like", "0"], "run::input_type"),
        (&["build/vector_add", "rand:9", "rand:9", "--like", "2"], "run::like"),
        (&["build/vector_add", "rand:9", "rand:9", "--shape", "9,9"], "run::shape"),
        (&["build/vector_add", "rand:9", "rand:9", "--shape", "9", "--dtype", "float64"], "run::dtype"),
        (&["build/vector_add", "rand:9", "rand:9", "--shape", "0"], "device::tensor_shape"),
        (&["build/vector_add", "rand:9", "rand:9", "--like", "0", "--op", "nope"], "run::no_such_op"),
        (&["build/vector_add", "rand:9", "rand:9", "--like", "0", "--allow", "nope"], "run::allow"),
        (&["build/vector_add", "cut.npy", "rand:10", "--like", "0"], "npy::length"),
        (&["build/vector_add", "huge.npy", "rand:10", "--like", "1"], "npy::length"),
        (&["build/vector_add", "double.npy", "rand:10", "--like", "1"], "npy::dtype"),
        (&["build/vector_add", "text.npy", "rand:10", "--like", "1"], "npy::format"),
        (&["build/vector_add", "rand:9", "rand:9", "--shape", "4000000000"], "device::"),
        (&["build/none", "rand:9", "rand:9", "--like", "0"], "library::missing"),
        (&["cut.stripped.so", "rand:9", "rand:9", "--like", "0"], "device::image"),
        (&["text.npy", "rand:9", "rand:9", "--like", "0"], "device::image"),
        (&["none.cpp", "rand:9", "rand:9", "--like", "0"], "engine::"),
    ];
    for (arguments, code) in rows {
        let text = bad(bench.tool().arg("run").args(*arguments), 1);
        assert!(text.contains(code), "{arguments:?}: no {code} in\n{text}");
    }
}

#[test]
fn an_endless_kernel_ends_at_its_budget() {
    let bench = Bench::new();
    bench.write(
        "spin.cpp",
        "#include <torch/torch.h>\ntorch::Tensor spin(const torch::Tensor& t) {\n  volatile int on = 1;\n  while (on) {}\n  return t;\n}\n",
    );
    good(bench.tool().args(["compile", "spin.cpp", "--schema", "my::spin(Tensor t) -> Tensor"]));
    let text =
        bad(bench.tool().args(["run", "build/spin", "rand:4", "--like", "0", "--budget", "1000000"]), 1);
    assert!(text.contains("run::runaway") && text.contains("spin.cpp:4"), "{text}");
}

#[test]
fn an_interrupted_run_ends() {
    let bench = Bench::new();
    bench.write(
        "spin.cpp",
        "#include <torch/torch.h>\ntorch::Tensor spin(const torch::Tensor& t) {\n  volatile int on = 1;\n  while (on) {}\n  return t;\n}\n",
    );
    good(bench.tool().args(["compile", "spin.cpp", "--schema", "my::spin(Tensor t) -> Tensor"]));
    let run = bench
        .tool()
        .args(["run", "build/spin", "rand:4", "--like", "0", "--budget", "1000000000000000"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the tool starts");
    // long enough to be at it; should the signal come before the handler, it ends the tool all the same
    std::thread::sleep(std::time::Duration::from_millis(700));
    good(std::process::Command::new("kill").args(["-INT", &run.id().to_string()]));
    let output = run.wait_with_output().expect("the tool ends");
    assert!(!output.status.success());
}

/// Whoever answers for a count, the sums are the run's own: by instruction and by call, on every core.
/// Viewers want the stretches of a row to be inside or beside each other.
fn nested(events: &[serde_json::Value]) {
    let mut rows: std::collections::BTreeMap<(u64, u64), Vec<(u64, u64)>> = std::collections::BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let number = |name: &str| event[name].as_u64().expect("a number");
        rows.entry((number("pid"), number("tid")))
            .or_default()
            .push((number("ts"), number("ts") + number("dur")));
    }
    assert_eq!(rows.keys().map(|(core, _)| core).max(), Some(&7), "eight cores");
    assert!((1..=3).all(|track| rows.contains_key(&(0, track))), "calls, transfers and windows");
    for (row, spans) in rows {
        let mut open: Vec<u64> = Vec::new();
        for (begin, end) in spans {
            while open.last().is_some_and(|last| *last <= begin) {
                open.pop();
            }
            assert!(open.last().is_none_or(|last| end <= *last), "{row:?}: {begin} to {end} is in {open:?}");
            open.push(end);
        }
    }
}

#[test]
fn a_profile_adds_up_to_what_the_run_counted() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let line =
        ["run", "build/vector_add", "rand:1000", "rand:1000", "--like", "0", "--allow", "run::fresh_tensor"];
    let plain = result(bench.tool().args(line));
    for more in [&["--profile"][..], &["--profile", "--no-native"]] {
        let report = result(bench.tool().args(line).args(more));
        assert_eq!(report["cores"], plain["cores"], "a profile changes no count");
        let (cores, profiles) = (report["cores"].as_array(), report["profiles"].as_array());
        let (cores, profiles) = (cores.expect("cores"), profiles.expect("profiles"));
        assert_eq!((cores.len(), profiles.len()), (8, 8));
        for (core, profile) in cores.iter().zip(profiles) {
            for kind in ["spots", "calls", "lines"] {
                let parts = profile[kind].as_array().expect("parts");
                let sum = |number: &dyn Fn(&serde_json::Value) -> Option<u64>| -> u64 {
                    parts.iter().map(|part| number(part).expect("a number")).sum()
                };
                assert_eq!(Some(sum(&|part| part["cycles"].as_u64())), core["cycles"].as_u64(), "{kind}");
                for (name, want) in core["counters"].as_object().expect("counters") {
                    let have = sum(&|part| part["counters"][name].as_u64());
                    assert_eq!(Some(have), want.as_u64(), "{name} by {kind} on core {}", core["core"]);
                }
            }
        }
    }

    let text =
        bench.tool().args(line).arg("--profile=text,annotated,folded,flame,speedscope,timeline").output();
    let text = String::from_utf8(text.expect("the tool starts").stdout).expect("text");
    assert!(text.contains("of the instructions emulate float"), "{text}");
    assert!(text.contains("vector_add.cpp:"), "{text}");
    assert!(text.contains("slowest: core "), "{text}");
    let read = |name: &str| std::fs::read_to_string(bench.path(name)).expect("written");
    assert!(read("vector_add.annotated.txt").contains("at::Tensor vector_add("), "the source is there");
    let cycles = plain["cores"].as_array().expect("cores").iter().map(|core| core["cycles"].as_u64());
    let cycles: u64 = cycles.map(Option::unwrap_or_default).sum();
    let weight = |line: &str| line.rsplit_once(' ')?.1.parse::<u64>().ok();
    let folded = read("vector_add.folded");
    assert_eq!(folded.lines().map(|line| weight(line).expect("a weight")).sum::<u64>(), cycles);
    assert!(folded.contains(";vector_add_wrapper;"), "{folded}");
    let flame = read("vector_add.flame.svg");
    assert!(flame.contains(&format!("<title>device: {cycles} cycles, 100.0 %</title>")), "{flame}");
    assert!(flame.contains("<title>vector_add_wrapper: "), "{flame}");
    let trace: serde_json::Value = serde_json::from_str(&read("vector_add.trace.json")).expect("JSON");
    nested(trace["traceEvents"].as_array().expect("events"));
    let scope: serde_json::Value = serde_json::from_str(&read("vector_add.speedscope.json")).expect("JSON");
    let frames = scope["shared"]["frames"].as_array().expect("frames").len() as u64;
    for profile in scope["profiles"].as_array().expect("profiles") {
        let samples = profile["samples"].as_array().expect("samples");
        assert_eq!(samples.len(), profile["weights"].as_array().expect("weights").len());
        let mut named = samples.iter().flat_map(|sample| sample.as_array().expect("frames"));
        assert!(named.all(|frame| frame.as_u64().is_some_and(|frame| frame < frames)));
    }
}

/// One page, whose parts are there, that needs nothing else and can do nothing; `cargo xtask soak pages` looks at it in a browser.
#[test]
fn a_page_explains_a_run() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    npy(&bench.path("want.npy"), "<f4", "(100,)", &floats((0..100).map(|i| if i == 55 { 7.0 } else { 2.0 })));
    let line = ["run", "build/vector_add", "ones:100", "ones:100", "--like", "0", "--report", "page.html"];
    let said = bad(bench.tool().args(line).args(["--expect", "want.npy"]), 1);
    assert!(said.contains("page: page.html"), "{said}");
    let page = std::fs::read_to_string(bench.path("page.html")).expect("a page");
    for part in ["tensors", "findings", "advice", "source", "flame", "timeline", "memory", "cores"] {
        assert!(page.contains(&format!("<section id=\"{part}\">")), "{part}");
    }
    assert!(page.contains("1 of 100 elements differ, at most by 5 at [55]"), "the difference");
    assert!(page.contains("run::fresh_tensor") && page.contains("<mark>"), "a finding with its line");
    assert!(page.matches("class=\"chart\"").count() == 8, "a timeline for every core");
    assert!(page.matches("class=\"picture").count() >= 4, "pictures");
    assert!(page.contains("at::Tensor vector_add("), "the source");
    for foreign in ["<script", "http://", "https://", "src=", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
    let said = bad(bench.tool().args(line).args(["--expect", "page.html"]), 1);
    assert!(said.contains("npy::"), "{said}");
}

/// In a browser: nothing to complain of on its console, every part laid out, by day and by night, wide and narrow.
#[test]
#[ignore = "needs chromium: cargo xtask soak pages"]
fn a_page_in_a_browser() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let line = ["run", "build/vector_add", "rand:1600", "rand:1600", "--like", "0", "--report", "page.html"];
    bad(bench.tool().args(line), 1);
    let address = format!("file://{}", bench.path("page.html").display());
    for (name, size, more) in [
        ("wide-light", "1280,3200", None),
        ("narrow-light", "500,4200", None),
        ("wide-dark", "1280,3200", Some("--force-dark-mode")),
        ("narrow-dark", "500,4200", Some("--force-dark-mode")),
    ] {
        let picture = bench.path(format!("{name}.png"));
        let output = std::process::Command::new("chromium")
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--enable-logging=stderr",
            ])
            .arg(format!("--user-data-dir={}", bench.path("profile").display()))
            .arg(format!("--window-size={size}"))
            .arg(format!("--screenshot={}", picture.display()))
            .args(more)
            .arg(&address)
            .output()
            .expect("chromium starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        assert!(!said.contains("CONSOLE"), "{name}: {said}");
        let bytes = std::fs::metadata(&picture).expect("a picture").len();
        assert!(bytes > 50_000, "{name}: a page of {bytes} bytes is empty");
        if let Some(directory) = std::env::var_os("GPSIMD_PAGES") {
            std::fs::copy(&picture, std::path::Path::new(&directory).join(format!("{name}.png")))
                .expect("kept");
        }
    }
}

#[test]
fn two_builds_are_compared() {
    let bench = Bench::new();
    let kernel = |body: &str| {
        format!(
            "#include <gpsimd/kit.hpp>\ntorch::Tensor twice(const torch::Tensor& x) {{\n  torch::Tensor y = get_dst_tensor();\n\
             \x20 gpsimd::Tcm<float> block(x);\n  for (float& v : block) {body}\n  block.store(y, 0, block.size());\n  return y;\n}}\n"
        )
    };
    for (name, body) in [("old", "v = (v + v) + 0.0f;"), ("new", "v = v + v;")] {
        bench.write(&format!("{name}.cpp"), &kernel(body));
        good(bench.tool().args(["compile", &format!("{name}.cpp")]));
    }
    let line = ["run", "build/new", "rand:100", "--like", "0", "--compare", "build/old"];
    let said = good(bench.tool().args(line));
    assert!(said.contains("the outputs are equal") && said.contains("cycles (est.), slowest core"), "{said}");
    let row = |text: &str| said.lines().find(|line| line.ends_with(text)).unwrap_or_default();
    assert!(row("twice: for (float& v : block) v = (v + v) + 0.0f;").contains("gone"), "{said}");
    assert!(row("twice: for (float& v : block) v = v + v;").contains("new"), "{said}");
    let comparison = &result(bench.tool().args(line))["comparison"];
    assert_eq!(comparison["different"], 0);
    assert!(comparison["numbers"][0]["before"].as_u64() > comparison["numbers"][0]["after"].as_u64());
}
