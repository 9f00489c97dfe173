//! The tool at its system calls: what it starts, and what is left where it dies.
//!
//! `cargo xtask soak traced kills` does both at length, and watches what is written.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use crate::bench::{Bench, VECTOR_ADD, good};

/// A library whose neighbours are programs with the names of everything that one might think of starting.
fn library() -> Bench {
    let bench = Bench::with_vector_add();
    good(bench.tool().args(["compile", "vector_add.cpp", "--image", "both"]));
    for name in ["vector_add.shapes", "eval", "addr2line", "c++filt", "xtensa-lx106-elf-g++", "c++"] {
        for directory in ["build", "."] {
            let path = bench.path(directory).join(name);
            std::fs::write(&path, "#!/bin/sh\necho started > started\n").expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("executable");
        }
    }
    let manifest = std::fs::read_to_string(bench.path("build/vector_add.manifest.json")).expect("read");
    let with = manifest.replacen('{', "{\"shapes\": \"vector_add.shapes\",", 1);
    std::fs::remove_file(bench.path("build/vector_add.manifest.json")).expect("removed");
    bench.write("build/vector_add.manifest.json", &with);
    bench
}

/// The tool under `strace`.
fn strace(bench: &Bench, options: &[&str], line: &[&str]) -> Command {
    let tool = bench.tool();
    let mut watched = Command::new("strace");
    watched.args(["-f", "-qqq"]).args(options).arg(tool.get_program()).args(line);
    watched.current_dir(bench.dir()).stdout(Stdio::null()).stderr(Stdio::piped());
    watched
}

#[test]
fn nothing_starts_beside_a_library() {
    let bench = library();
    let lines: [&[&str]; 7] = [
        &["inspect", "build/vector_add.so"],
        &["verify", "build/vector_add"],
        &["run", "build/vector_add", "ones:8", "ones:8"],
        &["run", "build/vector_add", "ones:8", "ones:8", "--like", "0"],
        &["run", "build/vector_add", "ones:8", "ones:8", "--lane", "ucpl"],
        &["pack", "build/vector_add.so", "-o", "p.so", "-s", "s.so"],
        &["prelink", "build/vector_add.split.so", "-o", "l.ucpl"],
    ];
    let path = format!(":{}", std::env::var("PATH").expect("PATH"));
    for line in lines {
        let mut watched = strace(&bench, &["-o", "calls", "-e", "trace=execve,execveat"], line);
        let output = watched.env("PATH", &path).output();
        let output = output.expect("these tests need strace: cargo xtask test installs it");
        assert!(matches!(output.status.code(), Some(0..=3)), "{line:?}: {output:?}");
        let calls = std::fs::read_to_string(bench.path("calls")).expect("strace writes");
        assert_eq!(calls.lines().count(), 1, "{line:?} starts programs:\n{calls}");
        assert!(!bench.path("started").exists() && !bench.path("build/started").exists(), "{line:?}");
    }
}

/// Deaths where names change: at the calls that publish.
#[test]
fn a_death_at_a_system_call_mixes_nothing() {
    let bench = Bench::with_vector_add();
    let plain = std::fs::read_to_string(bench.path("vector_add.cpp")).expect("read");
    let versions = [plain.clone(), plain.replace("bv[i];", "bv[i] + 1.0f;")];
    let line = ["compile", "vector_add.cpp", "--schema", VECTOR_ADD];
    let wholes = versions.each_ref().map(|version| {
        bench.write("vector_add.cpp", version);
        good(bench.tool().args(line));
        bench.outputs()
    });
    assert_ne!(wholes[0], wholes[1]);
    let (mut last, mut deaths) = (1, 0);
    for call in ["?rename,?renameat,?renameat2", "?symlink,symlinkat", "?unlink,unlinkat", "?mkdir,mkdirat"] {
        for nth in [1, 2, 4] {
            let next = 1 - last;
            bench.write("vector_add.cpp", &versions[next]);
            let (trace, inject) = (format!("trace={call}"), format!("inject={call}:signal=KILL:when={nth}"));
            let options = ["-o", "/dev/null", "-e", &trace, "-e", &inject];
            let status = strace(&bench, &options, &line).status().expect("strace starts");
            deaths += u32::from(!status.success());
            let found = bench.outputs();
            assert!(wholes.contains(&found), "{call} {nth}: mixed outputs: {:?}", found.keys());
            good(bench.tool().args(line));
            assert_eq!(bench.outputs(), wholes[next], "{call} {nth}: the next build");
            last = next;
        }
    }
    assert!(deaths >= 6, "{deaths} deaths");
}
