//! A project or a disk that means harm: a build touches nothing but its own, and believes nothing that it did not make.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use gpsimd_toolchain::Home;

use crate::bench::{Bench, VECTOR_ADD, bad, good, outputs};

fn compile(bench: &Bench) -> Command {
    let mut command = bench.tool();
    command.args(["compile", "vector_add.cpp", "--schema", VECTOR_ADD]);
    command
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[test]
fn links_in_hidden_directories_are_refused_by_name() {
    for place in [
        "",
        "vector_add",
        "vector_add/generations",
        "vector_add/build.log",
        "vector_add/work",
        "vector_add/lock",
    ] {
        let bench = Bench::with_vector_add();
        let hidden = bench.path("build/.gpsimd-build").join(place);
        std::fs::create_dir_all(bench.path("victim/1")).expect("made");
        bench.write("victim/keep", "mine");
        let path = Path::new(hidden.to_str().expect("text").trim_end_matches('/')).to_owned();
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        let is_file = place.ends_with("log") || place.ends_with("lock");
        symlink(bench.path(if is_file { "victim/keep" } else { "victim" }), &path).expect("linked");
        let text = bad(&mut compile(&bench), 1);
        assert!(
            text.contains("engine::not_ours") && text.contains(&*path.to_string_lossy()),
            "{place}: {text}"
        );
        let names: Vec<String> = outputs(&bench.path("victim")).into_keys().collect();
        assert_eq!(names, ["keep"], "{place}");
        assert_eq!(std::fs::read_to_string(bench.path("victim/keep")).expect("read"), "mine", "{place}");
        assert!(bench.path("victim/1").is_dir(), "{place}");
    }
}

#[test]
fn links_put_there_after_a_build_are_refused() {
    let bench = Bench::with_vector_add();
    good(&mut compile(&bench));
    std::fs::create_dir_all(bench.path("victim/1")).expect("made");
    let generations = bench.path("build/.gpsimd-build/vector_add/generations");
    std::fs::remove_dir_all(&generations).expect("removed");
    symlink(bench.path("victim"), &generations).expect("linked");
    let text = bad(compile(&bench).args(["--", "-DX=1"]), 1);
    assert!(text.contains("engine::not_ours") && text.contains("generations"), "{text}");
    assert!(bench.path("victim/1").is_dir());
}

#[test]
fn manifests_name_files_beside_them_and_nothing_else() {
    let bench = Bench::with_vector_add();
    good(&mut compile(&bench));
    std::fs::create_dir(bench.path("files")).expect("made");
    for (name, bytes) in bench.outputs() {
        std::fs::write(bench.path("files").join(name), bytes).expect("written");
    }
    let manifest = bench.path("files/vector_add.manifest.json");
    let whole = std::fs::read_to_string(&manifest).expect("read");
    let secret = bench.path("secret");
    std::fs::copy(bench.path("files/vector_add.so"), &secret).expect("copied");
    symlink("../secret", bench.path("files/link.so")).expect("linked");
    let absolute = secret.to_str().expect("text").to_owned();
    for name in ["../secret", "..", &absolute, "link.so"] {
        let text = whole.replace("\"vector_add.stripped.so\"", &format!("\"{name}\""));
        assert_ne!(text, whole);
        std::fs::write(&manifest, text).expect("written");
        for command in [&["verify", "files/vector_add"][..], &["run", "files/vector_add", "rand:4", "rand:4"]]
        {
            let text = bad(bench.tool().args(command), 1);
            assert!(text.contains("library::manifest"), "{name}: {text}");
        }
    }
    for empty in [
        "{}",
        "{\"format\":1,\"name\":\"vector_add\",\"total_cpus\":1,\"ops\":[],\"images\":[],\"versions\":{\"gpsimd_build\":\"\",\"ulib_to_ucode_version\":\"\",\"ulib_to_isa_version\":\"\",\"toolchain\":\"\",\"sdk\":\"\"}}",
    ] {
        std::fs::write(&manifest, empty).expect("written");
        let text = bad(bench.tool().args(["verify", "files/vector_add"]), 1);
        assert!(text.contains("library::manifest"), "{text}");
    }
}

#[test]
fn every_changed_byte_of_a_library_is_found() {
    let bench = Bench::with_vector_add();
    good(compile(&bench).args(["--image", "both"]));
    let files = bench.path("files");
    std::fs::create_dir(&files).expect("made");
    let made = bench.outputs();
    for (name, bytes) in &made {
        std::fs::write(files.join(name), bytes).expect("written");
    }
    let verify = || bench.tool().args(["verify", "--json", "files/vector_add"]).output().expect("started");
    assert!(verify().status.success());
    for (name, bytes) in &made {
        for step in 1..6 {
            let mut changed = bytes.clone();
            let at = bytes.len() * step / 6;
            changed[at] ^= 1 << step;
            std::fs::write(files.join(name), changed).expect("written");
            assert_eq!(verify().status.code(), Some(1), "{name}, byte {at}");
        }
        std::fs::write(files.join(name), &bytes[..bytes.len() - 1]).expect("written");
        assert_eq!(verify().status.code(), Some(1), "{name}, one byte shorter");
        std::fs::remove_file(files.join(name)).expect("removed");
        let output = verify();
        assert_eq!(output.status.code(), Some(1), "{name} is gone");
        if name.ends_with(".so") {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("library::file_missing"), "{text}");
        }
        std::fs::write(files.join(name), bytes).expect("written");
    }
    assert!(verify().status.success());
}

/// With room for 3 processes and threads there was a panic, or a wait without end.
#[test]
fn a_machine_without_room_for_threads_ends_with_an_error() {
    if !is_root() {
        return;
    }
    let bench = Bench::with_vector_add();
    let open =
        |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).expect("opened");
    open(bench.dir());
    std::fs::copy(env!("CARGO_BIN_EXE_gpsimd-build"), bench.path("tool")).expect("copied");
    // once with all the room there is, so that the toolchain is known
    good(&mut compile(&bench));
    let home = Home::from_env().expect("a data directory").path().to_owned();
    std::fs::create_dir(bench.path("home")).expect("made");
    for part in std::fs::read_dir(home).expect("a data directory").flatten() {
        if part.file_name() != "cache" {
            good(Command::new("cp").arg("-r").arg(part.path()).arg(bench.path("home")));
        }
    }
    good(Command::new("chmod").args(["-R", "a+rwX"]).arg(bench.path("home")));
    for room in 1..10 {
        let script = format!(
            "ulimit -u {room}; exec ./tool compile vector_add.cpp --schema '{VECTOR_ADD}' --out-dir out{room} -j 4"
        );
        let output = Command::new("timeout")
            .args([
                "-k",
                "1",
                "60",
                "setpriv",
                "--reuid=65533",
                "--regid=65533",
                "--clear-groups",
                "bash",
                "-c",
            ])
            .arg(script)
            .current_dir(bench.dir())
            .env("GPSIMD_BUILD_HOME", bench.path("home"))
            .output()
            .expect("timeout starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{room}: {}\n{text}", output.status);
        assert!(!text.contains("panicked"), "{room}: {text}");
    }
}

#[test]
fn a_state_that_cannot_be_saved_is_a_warning() {
    let bench = Bench::with_vector_add();
    std::fs::create_dir_all(bench.path("build/.gpsimd-build/vector_add/state.json/in-the-way"))
        .expect("made");
    let output = compile(&bench).output().expect("the tool starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("warning: what was done cannot be remembered"), "{text}");
    assert!(bench.path("build/vector_add.so").is_file());
}

/// As a build leaves it that is killed after its outputs became visible.
#[test]
fn dead_links_of_a_killed_build_go_with_the_next() {
    let bench = Bench::with_vector_add();
    good(&mut compile(&bench));
    let dead = bench.path("build/vector_add_cpu3.so");
    symlink(".gpsimd-build/vector_add/current/vector_add_cpu3.so", &dead).expect("linked");
    good(compile(&bench).args(["--", "-DX=1"]));
    assert!(dead.symlink_metadata().is_err());
}

#[test]
fn an_empty_element_of_path_is_not_the_current_directory() {
    let bench = Bench::with_vector_add();
    for program in ["xtensa-lx106-elf-g++", "xtensa-lx106-elf-gcc", "as", "ld", "cc1plus", "collect2"] {
        bench.write(program, "#!/bin/sh\ntouch ran\nexit 1\n");
        let path = bench.path(program);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).expect("a program");
    }
    let path = std::env::var("PATH").expect("a PATH");
    for path in [format!(":{path}"), format!("{path}:"), format!("::{path}")] {
        good(compile(&bench).env("PATH", path).arg("--no-cache"));
        assert!(!bench.path("ran").exists());
        std::fs::remove_dir_all(bench.path("build")).expect("removed");
    }
}

#[test]
fn entries_of_other_users_are_taken_only_in_their_own_cache() {
    if !is_root() {
        return;
    }
    let bench = Bench::with_vector_add();
    let cached = || {
        let _ = std::fs::remove_dir_all(bench.path("build"));
        let output = compile(&bench).args(["-v", "--cache-dir", "shared"]).output().expect("the tool starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{text}");
        text.contains("(from the cache)")
    };
    let give = |path: &str, user: &str| good(Command::new("chown").args(["-R", user]).arg(bench.path(path)));
    // a source that is older than the build, so that it counts as unchanged during it
    std::thread::sleep(std::time::Duration::from_millis(30));
    assert!(!cached());
    assert!(cached());
    give("shared", "65533");
    assert!(cached(), "who owns the directory is trusted");
    good(Command::new("chown").arg("0").arg(bench.path("shared")));
    assert!(!cached(), "a stranger's entries in a directory of one's own");
}
