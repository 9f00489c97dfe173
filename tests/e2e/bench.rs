//! The workbench of these tests: a scratch directory, the binary, the other tools.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gpsimd_toolchain::{Home, Machine, OpenToolchain};

/// The schema of `tests/kernels/vector_add.cpp`.
pub const VECTOR_ADD: &str = "my::vector_add(Tensor a, Tensor b) -> (Tensor out)";

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository exists")
}

/// The source that these tests build, break and measure.
pub fn vector_add() -> PathBuf {
    repository().join("tests/kernels/vector_add.cpp")
}

/// The tool, started in `directory`.
pub fn tool(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpsimd-build"));
    command.current_dir(directory).env("NO_COLOR", "1");
    command
}

/// A program of the open toolchain (`readelf`, `objdump`, …).
pub fn cross(name: &str) -> Command {
    let machine = Machine::here();
    let home = Home::from_env().expect("a data directory");
    let found = OpenToolchain::discover(&machine, &home).and_then(|toolchain| toolchain.tool(&machine, name));
    match found {
        Ok(command) => command.to_std(),
        Err(error) => {
            panic!("{error}\nthese tests need the open toolchain: gpsimd-build toolchain install --yes")
        }
    }
}

/// Runs a command that must succeed; gives its standard output.
pub fn good(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Runs a command that must fail with exit status `status`; gives its standard error.
pub fn bad(command: &mut Command, status: i32) -> String {
    let Output { status: found, stdout, stderr } = command.output().expect("the program starts");
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert_eq!(found.code(), Some(status), "{command:?}\n{text}");
    text
}

/// The result in the answer of a command with `--json`, whatever the command found.
pub fn result(command: &mut Command) -> serde_json::Value {
    let output = command.arg("--json").output().expect("the program starts");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(answer["version"], 1, "{command:?}: {answer:#}");
    assert_eq!(answer["ok"], output.status.success(), "{command:?}: {answer:#}");
    assert!(!answer["result"].is_null(), "{command:?}: {answer:#}");
    answer["result"].clone()
}

/// A scratch directory with kernel sources in it.
pub struct Bench {
    scratch: tempfile::TempDir,
}

impl Bench {
    /// Empty.
    pub fn new() -> Self {
        Self { scratch: tempfile::tempdir().expect("a scratch directory") }
    }

    /// Holding a copy of `tests/kernels/vector_add.cpp`.
    pub fn with_vector_add() -> Self {
        let bench = Self::new();
        std::fs::copy(vector_add(), bench.path("vector_add.cpp")).expect("copied");
        bench
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        self.scratch.path()
    }

    /// A path in the directory.
    pub fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.dir().join(name.as_ref())
    }

    /// Writes a file.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    /// The tool, started here.
    pub fn tool(&self) -> Command {
        tool(self.dir())
    }

    /// Builds `vector_add.cpp` for eight cores into `build/`.
    pub fn build_vector_add(&self) {
        good(self.tool().args(["compile", "vector_add.cpp", "--multicore", "--schema", VECTOR_ADD]));
    }

    /// Visible outputs in `build/` (those that can be opened) and their bytes, by name.
    pub fn outputs(&self) -> std::collections::BTreeMap<String, Vec<u8>> {
        outputs(&self.path("build"))
    }
}

/// Files of a directory that can be opened, and their bytes, by name.
pub fn outputs(directory: &Path) -> std::collections::BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Default::default() };
    entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, std::fs::read(entry.path()).ok()?)))
        .collect()
}

/// The names a library of `stem` consists of.
pub fn library_files(stem: &str, eight: bool) -> Vec<String> {
    let suffixes: Vec<String> =
        if eight { (0..8).map(|i| format!("_cpu{i}")).collect() } else { vec![String::new()] };
    let mut names: Vec<String> = suffixes
        .iter()
        .flat_map(|suffix| ["so", "stripped.so", "packed.so"].map(|kind| format!("{stem}{suffix}.{kind}")))
        .collect();
    names.push(format!("{stem}.manifest.json"));
    names.sort();
    names
}
