//! GCC's own test programs, taken from the `gcc-12-source` package when tests run, or from another version's archive; nothing
//! of them is in the repository.
//!
//! Unaware of what is done with them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the package puts its archive.
const ARCHIVE: &str = "/usr/src/gcc-12/gcc-12.2.0-dfsg.tar.xz";
/// An archive of the compiler in force, where that is not Debian 12's.
const OTHER_ARCHIVE: &str = "GPSIMD_GCC_SOURCES";
/// What is taken, from `gcc/testsuite`: unpacking the whole takes long, and so does doing it twice.
const FOLDERS: [&str; 7] = [
    "c-c++-common/asan",
    "c-c++-common/ubsan",
    "gcc.dg/asan",
    "gcc.dg/ubsan",
    "g++.dg/asan",
    "g++.dg/ubsan",
    "gcc.c-torture/execute",
];

fn archive() -> PathBuf {
    std::env::var_os(OTHER_ARCHIVE).map_or_else(|| ARCHIVE.into(), PathBuf::from)
}

/// Its version, as in `gcc-12.2.0`: what its folders begin with.
fn release() -> String {
    let archive = archive();
    let name = archive.file_name().expect("an archive").to_string_lossy();
    let stem = name.trim_end_matches(".tar.xz");
    stem.trim_end_matches("-dfsg").to_owned()
}

/// The page of `docs` that says how a suite ends, by its name there; each compiler after Debian 12's has one of its own.
pub fn page(docs: &Path, name: &str) -> PathBuf {
    let release = release();
    match release.split('.').next() {
        Some("gcc-12") | None => docs.join(format!("{name}.md")),
        Some(major) => docs.join(format!("{name}-{major}.md")),
    }
}

/// The package that the programs are of.
pub fn package() -> String {
    let release = release();
    format!("{}-source", release.split('.').next().unwrap_or(&release))
}

/// The folder with the programs; unpacked below `scratch`, once.
pub fn test_suite(scratch: &Path) -> PathBuf {
    unpacked(scratch, "testsuite-2", "gcc/testsuite", &FOLDERS)
}

/// The folder with the C++ library's own tests and their helpers; the same.
pub fn library_suite(scratch: &Path) -> PathBuf {
    let folders = ["20_util", "21_strings", "23_containers", "25_algorithms", "26_numerics", "util"];
    unpacked(scratch, "libstdcxx", "libstdc++-v3/testsuite", &folders)
}

fn unpacked(scratch: &Path, name: &str, from: &str, folders: &[&str]) -> PathBuf {
    let (archive, release) = (archive(), release());
    let kept = scratch.join(format!("{release}-{name}"));
    if !kept.is_dir() {
        assert!(archive.is_file(), "these tests need {}: apt install {}", archive.display(), package());
        std::fs::create_dir_all(scratch).expect("a directory");
        let fresh = tempfile::tempdir_in(scratch).expect("a directory");
        let mut tar = Command::new("tar");
        tar.arg("-xJf").arg(&archive).arg("-C").arg(fresh.path()).arg("--strip-components=3");
        tar.args(folders.iter().map(|folder| format!("{release}/{from}/{folder}")));
        let output = tar.output().expect("tar starts");
        assert!(output.status.success(), "{tar:?}: {}", String::from_utf8_lossy(&output.stderr));
        // Whole or not at all; another test may have been first.
        let _ = std::fs::rename(fresh.keep(), &kept);
    }
    kept
}

/// Words in quotes or braces behind a directive, for instance behind `dg-options`.
pub fn directive<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.lines().filter_map(|line| line.split_once(name)).map(|(_, rest)| rest.trim()).collect()
}

/// What stands in quotes.
pub fn quoted(text: &str) -> Vec<&str> {
    text.split('"').skip(1).step_by(2).collect()
}

/// The options that a test asks for on every machine, or on simulators; those of another target are for others.
pub fn options(text: &str) -> impl Iterator<Item = String> {
    let lines = [directive(text, "dg-options"), directive(text, "dg-additional-options")].concat();
    let is_ours = |line: &&str| !line.contains("target") || line.contains("{ target simulator }");
    let words = lines.into_iter().filter(is_ours).flat_map(|line| {
        let words = quoted(line).first().copied().unwrap_or_default().replace("--param ", "--param=");
        words.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    });
    words.collect::<Vec<_>>().into_iter()
}

/// Why a build failed, in one line.
pub fn reason(said: &str) -> String {
    let signs = ["fatal error:", "undefined reference to", "error:", "kernel::", "link::"];
    let line = signs.iter().find_map(|sign| {
        let line = said.lines().find(|line| line.contains(sign))?;
        line.split_once(sign).map(|(_, rest)| format!("{sign}{rest}"))
    });
    line.unwrap_or_else(|| said.lines().next().unwrap_or_default().to_owned()).replace('|', "/")
}
