//! Ctrl-C and SIGTERM are heard wherever the tool is, and what it would wait for or read for ever is refused.

use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::bench::{Bench, VECTOR_ADD, bad, good};

/// What a signal may take: 0.2 s, and what a busy machine adds.
const SOON: Duration = Duration::from_millis(1500);

fn fifo(path: &Path) {
    good(Command::new("mkfifo").arg(path));
}

fn started(bench: &Bench, arguments: &[&str]) -> Child {
    let mut tool = bench.tool();
    tool.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the tool starts")
}

/// Sends a signal once the tool has come to its wait; gives how it ended.
fn ended_by(signal: &str, mut child: Child, name: &str) {
    std::thread::sleep(Duration::from_millis(700));
    assert!(child.try_wait().expect("it is ours").is_none(), "{name}: it ended by itself");
    let begin = Instant::now();
    good(Command::new("kill").args([signal, &child.id().to_string()]));
    let output = child.wait_with_output().expect("it ends");
    let took = begin.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{name}: {said}");
    assert!(took < SOON, "{name}: {took:?}");
    assert!(!said.contains("panicked"), "{name}: {said}");
}

#[test]
fn signals_are_heard_at_once() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    // inputs that take minutes to make up
    let long = ["run", "build/vector_add", "rand:30000x30000", "ones:2", "--like", "0"];
    ended_by("-INT", started(&bench, &long), "making up inputs");
    ended_by("-TERM", started(&bench, &long), "making up inputs");

    // an output that nobody reads
    fifo(&bench.path("out.npy"));
    let written = ["run", "build/vector_add", "ones:2", "ones:2", "--like", "0", "-o", "out.npy"];
    ended_by("-TERM", started(&bench, &written), "writing");

    // a compiler that waits for a header
    fifo(&bench.path("never.h"));
    bench.write("waits.cpp", "#include \"never.h\"\n");
    let waits = ["compile", "waits.cpp", "--schema", "my::waits(Tensor a) -> Tensor"];
    ended_by("-INT", started(&bench, &waits), "compiling");
    // and what the compiler started has ended too: a pipe without a reader cannot be opened for writing (O_NONBLOCK)
    let open = || std::fs::OpenOptions::new().write(true).custom_flags(0o4000).open(bench.path("never.h"));
    let is_gone = |_| {
        std::thread::sleep(Duration::from_millis(100));
        open().is_err()
    };
    assert!((0..20).any(is_gone), "the compiler still waits for its header");
}

#[test]
fn only_files_are_read() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    fifo(&bench.path("pipe.npy"));
    fifo(&bench.path("pipe.so"));
    fifo(&bench.path("pipe.cpp"));
    std::fs::create_dir(bench.path("directory.npy")).expect("created");
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero.npy")).expect("linked");
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero.so")).expect("linked");
    let sparse = std::fs::File::create(bench.path("sparse.so")).expect("created");
    sparse.set_len(1 << 40).expect("a size without blocks");
    let rows: &[(&[&str], &str)] = &[
        (&["run", "build/vector_add", "pipe.npy", "ones:2", "--like", "0"], "pipe.npy is a pipe, not a file"),
        (
            &["run", "build/vector_add", "zero.npy", "ones:2", "--like", "0"],
            "zero.npy is a device, not a file",
        ),
        (
            &["run", "build/vector_add", "directory.npy", "ones:2", "--like", "0"],
            "is a directory, not a file",
        ),
        (&["inspect", "pipe.so"], "cli::not_a_file"),
        (&["inspect", "zero.so"], "cli::not_a_file"),
        (&["inspect", "sparse.so"], "cli::file_size"),
        (&["pack", "sparse.so"], "cli::file_size"),
        (&["unpack", "zero.so", "-o", "x.so"], "cli::not_a_file"),
        (&["prelink", "pipe.so", "-o", "x.ucpl"], "cli::not_a_file"),
        (&["compile", "pipe.cpp", "--schema", VECTOR_ADD], "engine::source_not_file"),
    ];
    for (arguments, want) in rows {
        let text = bad(bench.tool().args(*arguments), 1);
        assert!(text.contains(want), "{arguments:?}: no {want:?} in\n{text}");
    }
}

/// A run whose tensors the machine has no memory for says so before it begins.
#[test]
fn tensors_that_do_not_fit_say_so() {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]));
    let tool = env!("CARGO_BIN_EXE_gpsimd-build");
    for inputs in ["rand:300000000 ones:2 --like 0", "ones:2 ones:2 --shape 900000000"] {
        let line = format!("ulimit -v 700000; exec {tool} run build/vector_add {inputs}");
        let text = bad(Command::new("sh").args(["-c", &line]).current_dir(bench.dir()), 1);
        assert!(text.contains("run::memory"), "{inputs}: {text}");
    }
}
