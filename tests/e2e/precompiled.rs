//! The SDK's headers, parsed once: what is built is the same with them, whatever becomes of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use gpsimd_toolchain::depfile;

use crate::bench::{Bench, VECTOR_ADD, bad, good, outputs};

/// A data directory whose SDK has no headers parsed yet, and the folder for them.
fn data(bench: &Bench) -> (PathBuf, PathBuf) {
    let real = gpsimd_toolchain::Home::from_env().expect("a data directory");
    let home = bench.path("home");
    std::fs::create_dir_all(home.join("sdk")).expect("a directory");
    std::os::unix::fs::symlink(real.toolchains(), home.join("toolchains")).expect("linked");
    good(compile(bench, "vector_add.cpp").args(["--out-dir", "real"]));
    let manifest = std::fs::read(bench.path("real/vector_add.manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    let hash =
        manifest["versions"]["sdk"].as_str().and_then(|hash| hash.get(..16)).expect("a digest").to_owned();
    let sdk = home.join("sdk").join(hash);
    let from = real.path().join("sdk").join(sdk.file_name().expect("a name"));
    good(Command::new("cp").arg("-r").arg(from).arg(&sdk));
    let folder = sdk.join("precompiled");
    let _ = std::fs::remove_dir_all(&folder);
    (home, folder)
}

fn compile(bench: &Bench, source: &str) -> Command {
    let mut command = bench.tool();
    command.args(["compile", source, "--no-cache", "--schema", VECTOR_ADD]);
    command
}

/// The inputs that a kernel's dependency file lists.
fn inputs(directory: &Path) -> BTreeSet<PathBuf> {
    let path = directory.join(".gpsimd-build/vector_add/work/obj/vector_add.d");
    let bytes = std::fs::read(path).expect("a dependency file");
    depfile::parse(&bytes).expect("as GCC writes them").inputs.into_iter().collect()
}

/// The headers that compiles took as they were parsed before.
fn taken(command: &mut Command) -> usize {
    let output = command.env("GPSIMD_BUILD_LOG", "debug").output().expect("the tool starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text.matches("as it was parsed for").count()
}

#[test]
fn a_build_is_the_same_with_headers_that_were_parsed_before() {
    let bench = Bench::with_vector_add();
    let (home, folder) = data(&bench);
    let build = |to: &str, more: &[&str]| {
        taken(
            compile(&bench, "vector_add.cpp")
                .env("GPSIMD_BUILD_HOME", &home)
                .args(["--out-dir", to])
                .args(more),
        )
    };
    let folders = || {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    assert_eq!(build("plain", &["--no-precompile"]), 0);
    assert!(!folder.exists());
    assert_eq!(build("made", &[]), 0);
    // the kernel's and the wrapper's
    assert_eq!(folders().len(), 2);
    assert_eq!(build("used", &[]), 2);
    let plain = outputs(&bench.path("plain"));
    let is_same = |to: &str| {
        let made = outputs(&bench.path(to));
        assert_eq!(plain.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>(), "{to}");
        for (name, bytes) in &plain {
            assert!(made[name] == *bytes, "{to}: {name} differs");
        }
        assert_eq!(inputs(&bench.path(to)), inputs(&bench.path("plain")), "{to}");
    };
    is_same("made");
    is_same("used");

    // a header of the caller's that is found first is found
    std::fs::create_dir(bench.path("inc")).expect("a directory");
    bench.write("inc/assert.h", "#include_next <assert.h>\n#define MINE 1\n");
    let text = std::fs::read_to_string(bench.path("vector_add.cpp")).expect("read");
    bench.write("mine.cpp", &(text + "#if !MINE\n#error not mine\n#endif\n"));
    let mine = || {
        let mut command = compile(&bench, "mine.cpp");
        command.env("GPSIMD_BUILD_HOME", &home);
        command
    };
    assert_eq!(taken(mine().args(["-I", "inc"])), 1, "the wrapper's");
    // and what is wrong is said as it is said without
    let said = |more: &[&str]| {
        let text = bad(mine().args(more), 1);
        text.lines().filter(|line| !line.contains("/cc")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(said(&[]), said(&["--no-precompile"]));

    // files that are no headers, or no longer
    for folder in folders() {
        let header = std::fs::File::options().write(true).open(folder.join("first.h.gch")).expect("a header");
        header.set_len(100_000).expect("cut");
    }
    build("cut", &[]);
    is_same("cut");
    for folder in folders() {
        std::fs::write(folder.join("list.json"), "no list").expect("written");
    }
    assert_eq!(build("listless", &[]), 0);
    is_same("listless");
}
