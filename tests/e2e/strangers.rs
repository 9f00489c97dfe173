//! What a stranger wrote, into a kernel, a schema, a file or its name, steers nobody's terminal.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use crate::bench::{Bench, bad, good};

/// Sets a terminal's title; some do worse with worse.
const HOSTILE: &str = "\x1b]0;owned\x07";
/// How it is shown.
const SHOWN: &str = "\\x1b]0;owned\\x07";

const SHOUT: &str = "#include <torch/torch.h>
#include <stdio.h>
at::Tensor shout(const at::Tensor& a) { printf(\"loud \\033]0;owned\\007\\n\"); return a; }
";

/// What a person sees on a terminal.
fn on_a_terminal(bench: &Bench, arguments: &[&str]) -> String {
    let words = [&[env!("CARGO_BIN_EXE_gpsimd-build")], arguments].concat();
    let line =
        words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect::<Vec<_>>().join(" ");
    let output = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .current_dir(bench.dir())
        .env("NO_COLOR", "1")
        .output()
        .expect("script starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_kernels_text_is_shown_and_not_obeyed() {
    let bench = Bench::new();
    bench.write("shout.cpp", SHOUT);
    good(bench.tool().args(["compile", "shout.cpp", "--schema", "my::shout(Tensor a) -> Tensor"]));
    let run = ["run", "build/shout", "ones:3", "--like", "0"];
    let seen = on_a_terminal(&bench, &run);
    assert!(seen.contains(SHOWN) && !seen.contains(HOSTILE), "{seen:?}");
    let raw = on_a_terminal(&bench, &[&run[..], &["--raw"]].concat());
    assert!(raw.contains(HOSTILE), "{raw:?}");
    // a pipe gets what the kernel printed
    let piped = good(bench.tool().args(run));
    assert!(piped.contains(HOSTILE), "{piped:?}");
    let document = good(bench.tool().arg("--json").args(run));
    assert!(serde_json::from_str::<serde_json::Value>(&document).is_ok() && !document.contains('\x1b'));
}

#[test]
fn words_of_schemas_compilers_and_files_are_shown_and_not_obeyed() {
    let bench = Bench::new();
    bench.write("error.cpp", &format!("#error \"{HOSTILE}\"\n"));
    bench.write("odd.manifest.json", &format!("{{ \"{HOSTILE}\": 1 }}"));
    bench.write("build.npy", &format!("\u{93}NUMPY{HOSTILE}"));
    let schema = format!("my::f{HOSTILE}(Tensor a) -> Tensor");
    let name = format!("a{HOSTILE}b.so");
    bench.write(&name, "no image");
    let rows: &[&[&str]] = &[
        &["schema", &schema],
        &["schema", "--json", &schema],
        &["compile", "error.cpp", "--schema", "my::f(Tensor a) -> Tensor"],
        &["compile", "error.cpp", "--schema", &schema],
        &["inspect", &name],
        &["verify", &name],
        &["run", "odd", "ones:1", "--like", "0"],
        &["run", "odd", HOSTILE],
        &["explain", HOSTILE],
        &["lsp", "--variant", HOSTILE],
        &[HOSTILE],
    ];
    for arguments in rows {
        let seen = on_a_terminal(&bench, arguments);
        assert!(!seen.contains("\x1b]") && !seen.contains('\x07'), "{arguments:?}: {seen:?}");
        assert!(!seen.is_empty(), "{arguments:?}");
    }
}

#[test]
fn names_that_nobody_can_show_are_refused() {
    let bench = Bench::with_vector_add();
    let schema = ["--schema", "my::vector_add(Tensor a, Tensor b) -> Tensor"];
    let text = bad(bench.tool().args(["compile", "vector_add.cpp", "-o", "a\x1bb"]).args(schema), 1);
    assert!(text.contains("engine::name"), "{text}");
    let name = OsStr::from_bytes(b"k\xff.cpp");
    std::fs::copy(bench.path("vector_add.cpp"), bench.path(name)).expect("copied");
    let text = bad(bench.tool().arg("compile").arg(name).args(schema), 1);
    assert!(text.contains("engine::source_name") && text.contains("\\xFF"), "{text}");
}

/// Twenty-two brackets in a tensor's header took over twenty seconds once, and each more doubled that.
#[test]
fn a_nested_header_costs_nothing() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args([
        "compile",
        "vector_add.cpp",
        "--schema",
        "my::vector_add(Tensor a, Tensor b) -> Tensor",
    ]));
    for bracket in ["[", "(", "{", "[(", "{'descr':"] {
        let text = bracket.repeat(9000 / bracket.len());
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        std::fs::write(bench.path("deep.npy"), bytes).expect("written");
        let begin = std::time::Instant::now();
        let run = ["run", "build/vector_add", "deep.npy", "ones:2", "--like", "1"];
        let said = bad(bench.tool().args(run), 1);
        assert!(said.contains("npy::"), "{bracket}: {said}");
        assert!(begin.elapsed().as_secs() < 5, "{bracket}: {:?}", begin.elapsed());
    }
}
