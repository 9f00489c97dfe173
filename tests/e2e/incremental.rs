//! What runs again after which change, and what does not; results shared between directories; one link for eight cores.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use gpsimd_image::ElfFile;

use crate::bench::{Bench, VECTOR_ADD, bad, good, outputs};
use crate::examples;

/// A kernel that includes `x.h`.
pub const KERNEL: &str = "\
#include <torch/torch.h>
#include \"x.h\"
torch::Tensor k(const torch::Tensor& t) {
    torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);
    auto in = t.read_stream_accessor<float>();
    auto to = out.write_stream_accessor<float>();
    for (int64_t i = 0; i < t.numel(); ++i) to.write(X + in.read());
    return out;
}
";

/// Its schema.
pub const SCHEMA: &str = "my::k(Tensor t) -> Tensor";

/// `k.cpp` and `inc/x.h`, and an empty `first/` that is searched before.
fn project() -> Bench {
    let bench = Bench::new();
    for directory in ["inc", "first"] {
        std::fs::create_dir(bench.path(directory)).expect("a directory");
    }
    bench.write("k.cpp", KERNEL);
    bench.write("inc/x.h", "#define X 1\n");
    bench
}

fn compile(bench: &Bench) -> Command {
    let mut command = bench.tool();
    command.args(["compile", "k.cpp", "--no-cache", "--explain", "-I", "first", "-I", "inc"]);
    command.args(["--schema", SCHEMA]);
    command
}

/// Builds; gives what ran, and why, as `--explain` says it.
fn explained(command: &mut Command) -> Vec<(String, String)> {
    let output = command.output().expect("the tool starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    let pairs = text.lines().filter_map(|line| line.split_once(": "));
    pairs.map(|(label, why)| (label.to_owned(), why.to_owned())).collect()
}

fn labels(ran: &[(String, String)]) -> BTreeSet<&str> {
    ran.iter().map(|(label, _)| label.as_str()).collect()
}

const NOTHING: &[&str] = &["nothing runs"];
/// An object that is the same again ends the chain; the checks give their report.
const NO_NEWS: &[&str] = &["verify"];
const SAME_OBJECT: &[&str] = &["compile k.cpp", "verify"];
const ALL_AFTER: &[&str] =
    &["compile k.cpp", "check kernel signatures", "link k.so", "strip and pack k.so", "verify"];

#[test]
fn what_runs_after_which_change() {
    type Edit = fn(&Bench);
    let append = |bench: &Bench, name: &str, text: &str| {
        let old = std::fs::read_to_string(bench.path(name)).expect("read");
        bench.write(name, &(old + text));
    };
    let rows: &[(&str, Edit, &[&str], &str)] = &[
        ("nothing", |_| {}, NOTHING, "every file is as the last build left it"),
        (
            "a touched source",
            |bench| {
                let file = std::fs::File::options().append(true).open(bench.path("k.cpp")).expect("open");
                file.set_modified(SystemTime::now()).expect("touched");
            },
            NO_NEWS,
            "it runs each time",
        ),
        ("a comment", |bench| bench.write("inc/x.h", "#define X 1 // one\n"), SAME_OBJECT, "inc/x.h changed"),
        ("a header", |bench| bench.write("inc/x.h", "#define X 2\n"), ALL_AFTER, "inc/x.h changed"),
        (
            "a header that is found before",
            |bench| bench.write("first/x.h", "#define X 3\n"),
            ALL_AFTER,
            "first/x.h appeared",
        ),
        (
            "and its end",
            |bench| std::fs::remove_file(bench.path("first/x.h")).expect("removed"),
            ALL_AFTER,
            "first/x.h is gone",
        ),
        (
            "an output removed",
            |bench| std::fs::remove_file(bench.path("build/k.stripped.so")).expect("removed"),
            NO_NEWS,
            "",
        ),
        ("an output damaged", |bench| bench.write("build/k.packed.so", "damaged"), NO_NEWS, ""),
        (
            "an object damaged and a header changed to what makes the same object",
            |bench| {
                bench.write("build/.gpsimd-build/k/work/obj/k.o", "damaged");
                bench.write("inc/x.h", "#define X 2 // two\n");
            },
            SAME_OBJECT,
            "inc/x.h changed",
        ),
        (
            "the state removed",
            |bench| {
                std::fs::remove_file(bench.path("build/.gpsimd-build/k/state.json")).expect("removed");
                std::fs::remove_file(bench.path("build/.gpsimd-build/k/receipt.json")).expect("removed");
            },
            &[
                "compile k.cpp",
                "generate wrapper.cpp",
                "compile wrapper.cpp",
                "check kernel signatures",
                "render lsp_fll_load_cpu_single",
                "link k.so",
                "strip and pack k.so",
                "verify",
            ],
            "it has not succeeded here before",
        ),
    ];
    let bench = project();
    explained(&mut compile(&bench));
    for (what, edit, want, why) in rows {
        // a first look settles what the last build just wrote
        explained(&mut compile(&bench));
        edit(&bench);
        let ran = explained(&mut compile(&bench));
        assert_eq!(labels(&ran), want.iter().copied().collect(), "{what}: {ran:?}");
        assert!(ran.iter().any(|(_, said)| said.contains(why)), "{what}: {ran:?}");
        let built = outputs(&bench.path("build"));
        good(compile(&bench).args(["--out-dir", "clean"]));
        assert_eq!(built, outputs(&bench.path("clean")), "{what}: not what a clean build makes");
        std::fs::remove_dir_all(bench.path("clean")).expect("removed");
    }
    append(&bench, "k.cpp", "");
    let ran = explained(compile(&bench).args(["--", "-O2"]));
    assert!(ran.iter().any(|(_, why)| why.contains("its command changed: +{-O2}")), "{ran:?}");
}

#[test]
fn an_edit_that_keeps_size_and_time_is_seen() {
    let bench = project();
    explained(&mut compile(&bench));
    explained(&mut compile(&bench));
    let path = bench.path("inc/x.h");
    let time = path.metadata().and_then(|file| file.modified()).expect("a time");
    std::thread::sleep(Duration::from_millis(30));
    bench.write("inc/x.h", "#define X 7\n");
    std::fs::File::options()
        .append(true)
        .open(&path)
        .and_then(|file| file.set_modified(time))
        .expect("set back");
    assert_eq!(labels(&explained(&mut compile(&bench))), ALL_AFTER.iter().copied().collect());
}

#[test]
fn a_vanished_header_is_the_compilers_to_report() {
    let bench = project();
    explained(&mut compile(&bench));
    let before = outputs(&bench.path("build"));
    std::fs::remove_file(bench.path("inc/x.h")).expect("removed");
    assert!(bad(&mut compile(&bench), 1).contains("x.h"));
    assert_eq!(outputs(&bench.path("build")), before);
    bench.write("inc/x.h", "#define X 1\n");
    assert!(labels(&explained(&mut compile(&bench))).contains("compile k.cpp"));
    assert_eq!(outputs(&bench.path("build")), before);
}

fn script(bench: &Bench, name: &str, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    bench.write(name, text);
    std::fs::set_permissions(bench.path(name), std::fs::Permissions::from_mode(0o755))
        .expect("made a program");
}

/// The compiler reads `X 1`; the file says `X 2` when it is done. That object must not pass for one of `X 2`.
#[test]
fn a_change_during_the_compile_is_not_recorded() {
    let bench = project();
    script(
        &bench,
        "meddle",
        "#!/bin/sh\n\"$@\" || exit\ncase \"$*\" in *k.cpp) [ -e done ] || echo '#define X 2' > inc/x.h; touch done;; esac\n",
    );
    let build = || {
        let mut command = compile(&bench);
        command.args(["--launcher", "./meddle"]);
        command
    };
    explained(&mut build());
    let ran = explained(&mut build());
    assert!(labels(&ran).contains("compile k.cpp"), "{ran:?}");
    good(compile(&bench).args(["--out-dir", "clean"]));
    assert_eq!(outputs(&bench.path("build")), outputs(&bench.path("clean")));
}

/// Whether files exist can matter without any of them being read.
#[test]
fn sources_that_ask_for_files_notice_new_ones() {
    let bench = project();
    bench.write("inc/x.h", "#if __has_include(\"extra.h\")\n#define X 2\n#else\n#define X 1\n#endif\n");
    std::thread::sleep(Duration::from_millis(30));
    explained(&mut compile(&bench));
    explained(&mut compile(&bench));
    bench.write("first/extra.h", "");
    let ran = explained(&mut compile(&bench));
    assert!(labels(&ran).contains("link k.so"), "{ran:?}");
}

#[test]
fn directories_share_results_through_the_cache() {
    let cache = tempfile::tempdir().expect("a scratch directory");
    let build = |bench: &Bench| {
        let mut command = bench.tool();
        command.args([
            "compile",
            "vector_add.cpp",
            "--multicore",
            "--schema",
            VECTOR_ADD,
            "-v",
            "--cache-dir",
        ]);
        let output = command.arg(cache.path()).output().expect("the tool starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        text.matches("(from the cache)").count()
    };
    let [first, second, third] =
        [Bench::with_vector_add(), Bench::with_vector_add(), Bench::with_vector_add()];
    // a source that is older than the build, so that it counts as unchanged during it
    std::thread::sleep(Duration::from_millis(30));
    assert_eq!(build(&first), 0);
    assert!(build(&second) >= 3, "the source, the wrapper and the link");
    assert_eq!(first.outputs(), second.outputs());
    // results are checked when they are taken out
    for blob in walk(cache.path()) {
        std::fs::write(blob, "damaged").expect("written");
    }
    assert_eq!(build(&third), 0);
    assert_eq!(first.outputs(), third.outputs());
}

fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let shards = std::fs::read_dir(directory).expect("a cache").flatten();
    shards
        .flat_map(|shard| std::fs::read_dir(shard.path()).expect("a shard").flatten())
        .map(|e| e.path())
        .collect()
}

fn need(program: &str) {
    let found =
        Command::new("sh").args(["-c", &format!("command -v {program}")]).output().expect("sh starts");
    assert!(
        found.status.success(),
        "{program} is not installed; `cargo xtask test` installs what tests need"
    );
}

#[test]
fn compilers_start_through_launchers() {
    need("ccache");
    need("distcc");
    let bench = project();
    good(compile(&bench).args(["--out-dir", "plain"]));
    let plain = outputs(&bench.path("plain"));
    let launched = |launcher: &str| {
        let _ = std::fs::remove_dir_all(bench.path("build"));
        let mut command = compile(&bench);
        command.args(["--launcher", launcher]).env("CCACHE_DIR", bench.path("ccache"));
        command.env("DISTCC_DIR", bench.path("distcc")).env("DISTCC_HOSTS", "localhost");
        good(&mut command);
        assert_eq!(outputs(&bench.path("build")), plain, "{launcher}");
    };
    launched("ccache");
    launched("ccache");
    let stats = good(Command::new("ccache").arg("--print-stats").env("CCACHE_DIR", bench.path("ccache")));
    let hits: u32 = stats
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .filter(|(name, _)| ["direct_cache_hit", "preprocessed_cache_hit"].contains(name))
        .filter_map(|(_, count)| count.parse::<u32>().ok())
        .sum();
    assert!(hits >= 2, "the source and the wrapper:\n{stats}");
    launched("distcc");
    let text = bad(compile(&bench).args(["--launcher", "no-such-launcher"]), 1);
    assert!(text.contains("cli::launcher"), "{text}");
}

/// What ships is the same to the byte. The images with symbols differ in what `--emit-relocs` leaves: the relocations
/// themselves and the local symbols they need.
#[test]
fn one_link_serves_all_cores_of_every_example() {
    for example in examples::all() {
        let [once, each] = ["once", "each"].map(|how| {
            let bench = Bench::new();
            examples::build_with(&bench, &example, &["--multicore", "--link", how]);
            bench.outputs()
        });
        assert_eq!(once.keys().collect::<Vec<_>>(), each.keys().collect::<Vec<_>>());
        for (name, bytes) in &once {
            if name.ends_with(".stripped.so") || name.ends_with(".packed.so") {
                assert!(*bytes == each[name], "{}: {name} differs", example.name);
            } else if name.ends_with(".so") {
                assert_eq!(contents(bytes), contents(&each[name]), "{}: {name}", example.name);
            }
        }
    }
}

/// Names, addresses and contents of all sections but relocations, symbols and names.
fn contents(bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
    let image = ElfFile::parse(bytes).expect("an image");
    let is_table =
        |name: &str| name.starts_with(".rela") || [".symtab", ".strtab", ".shstrtab"].contains(&name);
    let sections = image.sections.iter().filter(|section| !is_table(section.name));
    sections.map(|section| (section.name.to_owned(), section.addr, section.data.to_vec())).collect()
}

#[test]
fn links_that_cannot_be_moved_are_made_each() {
    let bench = project();
    bench.write(
        "inc/x.h",
        "extern \"C\" char fixed[];\nchar* volatile keep = fixed;\n#define X (keep ? 1 : 2)\n",
    );
    let build = |how: &str| {
        let mut command = compile(&bench);
        command.args(["--multicore", "--link", how, "--out-dir", how]);
        let output =
            command.args(["--ldflag", "-Wl,--defsym=fixed=0x84000100"]).output().expect("the tool starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        text
    };
    let said = build("once");
    assert!(said.contains("linked each core by itself") && said.contains("`fixed` is a constant"), "{said}");
    assert!(!build("each").contains("by itself"));
    assert_eq!(outputs(&bench.path("once")), outputs(&bench.path("each")));
}

#[test]
fn make_hands_out_the_jobs() {
    need("make");
    let bench = project();
    let tool = env!("CARGO_BIN_EXE_gpsimd-build");
    bench.write(
        "Makefile",
        &format!("all:\n\t+{tool} compile k.cpp --no-cache -I inc --schema '{SCHEMA}' --timings\n"),
    );
    for jobs in ["-j1", "-j2"] {
        let _ = std::fs::remove_dir_all(bench.path("build"));
        good(Command::new("make").arg(jobs).current_dir(bench.dir()));
        assert_eq!(outputs(&bench.path("build")).len(), 4, "{jobs}");
    }
}

#[test]
fn timings_and_traces() {
    let bench = project();
    let output =
        compile(&bench).args(["--timings", "--trace", "trace.json"]).output().expect("the tool starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("on the critical path (*)") && text.contains("ms  compile k.cpp"), "{text}");
    let trace = std::fs::read(bench.path("trace.json")).expect("a trace");
    let trace: serde_json::Value = serde_json::from_slice(&trace).expect("JSON");
    let names: Vec<&str> = trace["traceEvents"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["name"].as_str())
        .collect();
    assert!(names.contains(&"link k.so"), "{names:?}");
}

/// A pipe gets results only; a person at a terminal gets a line, but not in the first moments.
#[test]
fn nothing_but_the_result_without_a_terminal() {
    let bench = project();
    let mut command = bench.tool();
    command.args(["compile", "k.cpp", "--no-cache", "-I", "inc", "--schema", SCHEMA]);
    let output = command.output().expect("the tool starts");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
