//! A toolchain that travels: exported, imported elsewhere, and the same in everything it makes.
#![allow(clippy::unwrap_used, reason = "a test stops where it fails")]

mod common;

use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use common::{run, toolchain};
use gpsimd_toolchain::install::Outcome;
use gpsimd_toolchain::{
    CompileJob, Home, Machine, OpenToolchain, PrefixMap, Toolchain, ToolchainError, travel,
};
use miette::Diagnostic as _;

/// One archive for all tests; made once, it takes some seconds to compress.
fn archive() -> &'static Path {
    static ARCHIVE: OnceLock<PathBuf> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("toolchain.tar.xz");
        travel::export(&Machine::here(), toolchain(), &sdk, &file).unwrap();
        file
    })
}

/// Stands for the device SDK, which this crate does not compile.
fn sdk(_: &OpenToolchain, scratch: &Path) -> Result<Vec<(PathBuf, PathBuf)>, ToolchainError> {
    let file = scratch.join("made.a");
    fs::write(&file, "!<arch>\n").unwrap();
    Ok(vec![(PathBuf::from("sdk/0/made.a"), file)])
}

/// A machine without a single program.
fn bare() -> (tempfile::TempDir, Machine) {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let machine = Machine::at(root.path(), "", false);
    (root, machine)
}

fn import(machine: &Machine, home: &Home, file: &Path) -> Result<Outcome, ToolchainError> {
    travel::import(machine, home, file.as_os_str(), None, &|_| {})
}

#[test]
#[ignore = "half a minute; run it with --ignored"]
fn it_arrives_as_it_left_whatever_follows() {
    let (root, machine) = bare();
    // spaces, and what the loader and the shell would take a name apart at
    let home = Home::at(root.path().join("a home; of $its own")).unwrap();
    let outcome = import(&machine, &home, archive()).unwrap();
    assert!(matches!(outcome, Outcome::Installed(_)));
    let there = outcome.toolchain();
    assert!(there.travels());
    assert_eq!(fs::read_to_string(there.dir().join("sdk/0/made.a")).unwrap(), "!<arch>\n");
    assert_eq!(OpenToolchain::discover(&machine, &home).unwrap(), there);
    assert!(matches!(import(&machine, &home, archive()).unwrap(), Outcome::AlreadyThere(_)));
    there.try_out(&machine).unwrap();
    let (ours, theirs) = (Toolchain::Open(toolchain().clone()), Toolchain::Open(there.clone()));
    assert_eq!(ours.identity(), theirs.identity());
    assert_eq!(made(&ours), made(&theirs), "equal identities make equal bytes");

    // Nothing says where it was made or where it is.
    let mut files = Vec::new();
    collect(there.dir(), &mut files);
    let places = [root.path(), toolchain().dir(), Path::new(env!("CARGO_TARGET_TMPDIR"))];
    for file in &files {
        let bytes = fs::read(file).unwrap();
        let finds = |place: &Path| {
            let place = place.as_os_str().as_encoded_bytes();
            bytes.windows(place.len()).any(|window| window == place)
        };
        // the programs and most headers are the distribution's own, and many
        if bytes.len() < 1 << 16 && !file.starts_with(there.dir().join("target/include")) {
            assert!(!places.iter().any(|place| finds(place)), "{}", file.display());
        }
    }

    bad_archives_change_nothing(&machine, &home, &there);

    // It can be moved, and be called by scripts from anywhere.
    let moved = root.path().join("moved");
    fs::rename(there.dir(), &moved).unwrap();
    fs::write(root.path().join("k.c"), "int f(int n) { return n / 3; }\n").unwrap();
    let compile = gpsimd_toolchain::Command::new(moved.join("bin/q7-gcc")).args(["-Os", "-c", "k.c"]);
    run(&compile, root.path()).unwrap();
    let sources = fs::read_to_string(moved.join("licenses/SOURCES")).unwrap();
    for line in ["gcc-xtensa-lx106 ", "libc6 ", "    apt-get source glibc=", "newlib-3"] {
        assert!(sources.lines().any(|l| l.starts_with(line)), "{line}\n{sources}");
    }
}

#[test]
#[ignore = "half a minute; run it with --ignored"]
fn twice_exported_is_the_same_archive() {
    let (root, machine) = bare();
    let home = Home::at(root.path().join("home")).unwrap();
    let there = import(&machine, &home, archive()).unwrap().toolchain();
    let again = root.path().join("again.tar.xz");
    let exported = travel::export(&machine, &there, &sdk, &again).unwrap();
    assert!(fs::read(&again).unwrap() == fs::read(archive()).unwrap());
    let sum = fs::read_to_string(root.path().join("again.tar.xz.sha256")).unwrap();
    assert_eq!(sum, format!("{}  again.tar.xz\n", exported.sha256));
}

/// Whatever is wrong with an archive, the toolchain that was there is there and as it was.
fn bad_archives_change_nothing(machine: &Machine, home: &Home, before: &OpenToolchain) {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("bad.tar.xz");
    let whole = fs::read(archive()).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 8] ^= 1;
    let manifest = fs::read_to_string(before.dir().join("toolchain.json")).unwrap();
    let small = packed(&[("toolchain.json", &manifest), ("lib/a", "x"), ("bin/q7-as", "#!/bin/sh\n")]);
    let other = manifest.replacen("\"sysroot\": \"", "\"sysroot\": \"0", 1);
    let abroad = manifest.replacen("\"programs/lib", "\"/usr/lib", 1);
    let upwards = [("toolchain.json", manifest.as_str()), ("lib/../../x", "x")];
    let longer = [small.as_slice(), b"0"].concat();
    let rows: &[(&str, &[u8], &str)] = &[
        ("empty", b"", "archive_unreadable"),
        ("a page", b"<html>not found</html>", "archive_unreadable"),
        ("truncated", &whole[..whole.len() / 8], "archive_unreadable"),
        ("a bit flipped", &flipped, "archive_unreadable"),
        ("longer", &longer, "archive_unreadable"),
        ("other files", &small, "archive_changed"),
        ("of another version", &packed(&[("toolchain.json", &other)]), "archive_unfit"),
        ("headers elsewhere", &packed(&[("toolchain.json", &abroad)]), "archive_refused"),
        ("upwards", &packed(&upwards), "archive_refused"),
    ];
    for (name, bytes, code) in rows {
        fs::write(&file, bytes).unwrap();
        let error = import(machine, home, &file).expect_err(name);
        assert_eq!(error.code().unwrap().to_string(), format!("toolchain::{code}"), "{name}: {error}");
    }
    fs::write(&file, &whole).unwrap();
    fs::write(scratch.path().join("bad.tar.xz.sha256"), format!("{:064}  bad.tar.xz\n", 0)).unwrap();
    let error = import(machine, home, &file).unwrap_err();
    assert!(matches!(error, ToolchainError::ArchiveChanged { .. }), "{error}");
    let url = OsStr::new("https://example.org/toolchain.tar.xz");
    let error = travel::import(machine, home, url, None, &|_| {}).unwrap_err();
    assert!(matches!(error, ToolchainError::ArchiveRemote { .. }), "{error}");

    assert_eq!(&OpenToolchain::discover(machine, home).unwrap(), before);
    before.verify().unwrap();
    let left = fs::read_dir(home.toolchains()).unwrap().count();
    assert_eq!(left, 2, "the lock and the toolchain");
}

/// An archive of these files, the names as they are.
fn packed(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        // by hand: the crate's own setter would refuse the names this is about
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        tar.append(&header, content.as_bytes()).unwrap();
    }
    let mut xz = Vec::new();
    liblzma::read::XzEncoder::new(tar.into_inner().unwrap().as_slice(), 0).read_to_end(&mut xz).unwrap();
    xz
}

/// An object with debug info that names headers of all kinds.
fn made(toolchain: &Toolchain) -> Vec<u8> {
    let scratch = tempfile::tempdir().unwrap();
    let source = "#include <vector>\n#include <cstddef>\n#include <cstdint>\n\
        extern \"C\" std::size_t f(std::vector<std::uint8_t> &v) { v.push_back(1); return v[0]; }\n";
    fs::write(scratch.path().join("v.cpp"), source).unwrap();
    let mut job = CompileJob::new("v.cpp", "v.o");
    // as a build does: a directory that all of it may lie in, and the toolchain's own again
    job.prefix_maps = [vec![PrefixMap::new(scratch.path(), ".")], toolchain.prefix_maps()].concat();
    run(&toolchain.compile(&job), scratch.path()).unwrap();
    fs::read(scratch.path().join("v.o")).unwrap()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        assert!(!entry.file_type().unwrap().is_symlink(), "{}", entry.path().display());
        if entry.file_type().unwrap().is_dir() {
            collect(&entry.path(), files);
        } else {
            files.push(entry.path());
        }
    }
}
