//! Other people's build systems: CMake with two of its generators, plain Make, Python.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::{Bench, good, repository};

const CMAKE_LISTS: &str = r#"
cmake_minimum_required(VERSION 3.20)
project(ops NONE)
find_package(GpsimdBuild 0.1 REQUIRED)
gpsimd_add_custom_op(add
  SOURCES add.cpp
  SCHEMAS "my::add(Tensor a, Tensor b) -> Tensor"
  INCLUDE_DIRECTORIES "head ers"
  MULTICORE)
gpsimd_add_custom_op(neg
  SOURCES neg.cpp
  SHAPE_SOURCES neg_shape.cpp
  INCLUDE_DIRECTORIES "head ers"
  COMPILE_OPTIONS -DFACTOR=-1)
get_target_property(images add GPSIMD_IMAGES)
file(GENERATE OUTPUT images.txt CONTENT "${images}")
"#;

const MAKEFILE: &str = "\
add_SOURCES := add.cpp
add_OPS     := --schema 'my::add(Tensor a, Tensor b) -> Tensor'
add_FLAGS   := --multicore -I 'head ers'
neg_SOURCES := neg.cpp
neg_OPS     := --shape-src neg_shape.cpp
neg_FLAGS   := -I 'head ers'
neg_CFLAGS  := -DFACTOR=-1
include fragments/make/gpsimd.mk
$(eval $(call gpsimd_custom_op,add))
$(eval $(call gpsimd_custom_op,neg))
.DEFAULT_GOAL := gpsimd
";

const ADD: &str = "\
#include <torch/torch.h>
#include \"shared.h\"
#include \"add.h\"
torch::Tensor add(const torch::Tensor &a, const torch::Tensor &b) {
  torch::Tensor out = torch::zeros(a.sizes(), torch::kFloat);
  auto x = a.accessor<float, 1>();
  auto y = b.accessor<float, 1>();
  auto z = out.accessor<float, 1>();
  for (int i = 0; i < a.numel(); ++i) z[i] = SHARED * x[i] + ADD * y[i];
  return out;
}
";

const NEG: &str = "\
#include <torch/torch.h>
#include \"shared.h\"
torch::Tensor negate(const torch::Tensor &a) {
  torch::Tensor out = torch::zeros(a.sizes(), torch::kFloat);
  auto x = a.accessor<float, 1>();
  auto z = out.accessor<float, 1>();
  for (int i = 0; i < a.numel(); ++i) z[i] = SHARED * FACTOR * x[i];
  return out;
}
";

const NEG_SHAPE: &str = "\
#include <torch/torch.h>
#include \"torchneuron/register.h\"
#include \"shape.h\"
torch::Tensor neg_shape(torch::Tensor a) { return torch::zeros(a.sizes(), DTYPE); }
NEURON_LIBRARY(my, m) { m.def(\"neg\", &neg_shape, \"negate\"); }
";

/// A project of two libraries that share a header, built by somebody else's build system.
struct Project {
    bench: Bench,
    /// Started in the project's directory, builds everything.
    build: Vec<String>,
    out: PathBuf,
}

impl Project {
    fn cmake(generator: &str) -> Self {
        let bench = files();
        good(
            command("cmake", "cmake", bench.dir())
                .args(["-B", "out", "-G", generator])
                .arg(format!("-DGpsimdBuild_DIR={}", bench.path("fragments/cmake").display())),
        );
        let out = bench.path("out");
        Self { bench, build: ["cmake", "--build", "out"].map(String::from).to_vec(), out }
    }

    fn make() -> Self {
        let bench = files();
        let out = bench.path("build");
        Self { bench, build: vec!["make".to_owned(), "-j2".to_owned()], out }
    }

    /// Builds and tells which libraries were made.
    fn build(&self) -> Vec<&'static str> {
        let program = self.build[0].as_str();
        let mut build = command(program, program, self.bench.dir());
        let text = good(build.args(&self.build[1..]));
        let made = |name: &str| {
            text.contains(&format!("Building GPSIMD library {name}"))
                || text.contains(&format!("compile --name {name} "))
        };
        ["add", "neg"].into_iter().filter(|name| made(name)).collect()
    }

    fn image(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.out.join(name)).expect("an image")
    }
}

/// Its files, and the fragments that the tool wrote beside them.
fn files() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("head ers")).expect("a directory");
    bench.write("add.cpp", ADD);
    bench.write("neg.cpp", NEG);
    bench.write("neg_shape.cpp", NEG_SHAPE);
    bench.write("head ers/shape.h", "#define DTYPE torch::kFloat\n");
    bench.write("head ers/shared.h", "#define SHARED 1\n");
    bench.write("head ers/add.h", "#define ADD 1\n");
    bench.write("CMakeLists.txt", CMAKE_LISTS);
    bench.write("Makefile", MAKEFILE);
    good(bench.tool().args(["integrations", "--dir", "fragments"]));
    bench
}

/// A program of the machine, which must be there, finding the tool under test.
fn command(program: &str, package: &str, directory: &Path) -> Command {
    if Command::new(program).arg("--version").output().is_err() {
        panic!("{program} is not installed; apt-get install {package}, or let `cargo xtask test` do it");
    }
    let mut command = Command::new(program);
    command.current_dir(directory).env("GPSIMD_BUILD", env!("CARGO_BIN_EXE_gpsimd-build"));
    command
}

/// The story of a working day; the same under every build system.
fn rebuilds_exactly_what_changed(project: &Project) {
    let bench = &project.bench;
    let step = |what: &str, want: &[&str]| {
        assert_eq!(project.build(), want, "{what}");
        assert_eq!(project.build(), [""; 0], "nothing changed after: {what}");
    };
    step("a first build", &["add", "neg"]);
    let images = ["add_cpu7.stripped.so", "neg.stripped.so"].map(|name| project.image(name));

    bench.write("head ers/add.h", "#define ADD 2\n");
    step("a header of one library", &["add"]);
    assert_ne!(project.image("add_cpu7.stripped.so"), images[0]);
    assert_eq!(project.image("neg.stripped.so"), images[1]);

    bench.write("head ers/shared.h", "#define SHARED 1\n");
    step("a header of both is touched", &["add", "neg"]);
    assert_eq!(project.image("neg.stripped.so"), images[1], "the same text gives the same image");

    bench.write("neg.cpp", &NEG.replace("FACTOR", "-1"));
    step("a source", &["neg"]);

    bench.write("head ers/shape.h", "#define DTYPE (torch::kFloat)\n");
    step("a header of a shape function", &["neg"]);

    bench.write("add.cpp", &ADD.replace("#include \"add.h\"\n", "").replace("ADD *", "3 *"));
    std::fs::remove_file(bench.path("head ers/add.h")).expect("removed");
    step("a header is no longer used, and gone", &["add"]);

    std::fs::remove_dir_all(project.out.join(".gpsimd-build")).expect("removed");
    let manifest = project.out.join("neg.manifest.json");
    bench.write("head ers/shared.h", "#define SHARED 1\n");
    step("the tool's own directory is gone", &["add", "neg"]);
    assert!(manifest.exists());
}

#[test]
fn cmake_with_ninja_rebuilds_exactly_what_changed() {
    command("ninja", "ninja-build", Path::new("/"));
    let project = Project::cmake("Ninja");
    rebuilds_exactly_what_changed(&project);
    let images = std::fs::read_to_string(project.out.join("images.txt")).expect("generated");
    assert_eq!(images.split(';').filter(|image| Path::new(image).is_file()).count(), 8, "{images}");
}

#[test]
fn cmake_with_make_rebuilds_exactly_what_changed() {
    command("make", "make", Path::new("/"));
    rebuilds_exactly_what_changed(&Project::cmake("Unix Makefiles"));
}

#[test]
fn make_rebuilds_exactly_what_changed() {
    rebuilds_exactly_what_changed(&Project::make());
}

/// A failing build fails the build system, with our words on its screen, and is tried again.
#[test]
fn a_failure_is_seen_by_cmake() {
    let project = Project::cmake("Unix Makefiles");
    project.bench.write("neg.cpp", &NEG.replace("FACTOR", "FACTOR * missing"));
    for _ in 0..2 {
        let text = crate::bench::bad(
            command("cmake", "cmake", project.bench.dir()).args(["--build", "out", "--target", "neg"]),
            2,
        );
        assert!(text.contains("engine::command_failed") && text.contains("missing"), "{text}");
    }
    project.bench.write("neg.cpp", NEG);
    assert_eq!(project.build(), ["add", "neg"]);
}

#[test]
fn cmake_says_where_the_tool_should_be() {
    let bench = files();
    let mut cmake = command("cmake", "cmake", bench.dir());
    cmake.env_remove("GPSIMD_BUILD").env("PATH", "/usr/bin:/bin");
    cmake.args(["-B", "out"]).arg(format!("-DGpsimdBuild_DIR={}", bench.path("fragments/cmake").display()));
    let text = crate::bench::bad(&mut cmake, 1);
    assert!(text.contains("GPSIMD_BUILD_EXECUTABLE"), "{text}");
}

/// A wheel of the tool, the extension and the package as this build has them, and a place for environments with it.
struct Wheel {
    scratch: tempfile::TempDir,
    file: PathBuf,
}

const PIP: [&str; 3] = ["install", "--quiet", "--disable-pip-version-check"];

impl Wheel {
    fn built() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let python = Environment::new(scratch.path(), "builder", "python3", &[]);
        python.pip(&["maturin>=1.7,<2"]);
        // the package's own directory stays as it is
        let package = scratch.path().join("package");
        good(command("cp", "cp", scratch.path()).arg("-r").arg(package_directory()).arg(&package));
        let project = package.join("pyproject.toml");
        let text = std::fs::read_to_string(&project).expect("read");
        let crates = repository().join("crates").display().to_string();
        std::fs::write(&project, text.replace("../../crates", &crates)).expect("written");
        // maturin moves what it is given
        let extension = scratch.path().join("lib_native.so");
        let built =
            Path::new(env!("CARGO_BIN_EXE_gpsimd-build")).with_file_name("deps").join("lib_native.so");
        std::fs::copy(built, &extension).expect("the extension is built with these tests");
        // as in an active environment: without isolation pip's helpers find maturin so
        let path = std::env::var("PATH").expect("PATH");
        good(
            python
                .command("pip", &package)
                .env("PATH", format!("{}:{path}", python.directory.join("bin").display()))
                .env("CARGO", package.join("tests/cargo-built.sh"))
                .env("GPSIMD_BUILT", &extension)
                .env("GPSIMD_TOOL", env!("CARGO_BIN_EXE_gpsimd-build"))
                .env("GPSIMD_MANIFEST", repository().join("crates/gpsimd-python/Cargo.toml"))
                .env("CARGO_TARGET_DIR", scratch.path().join("target"))
                .env("VIRTUAL_ENV", &python.directory)
                .args([
                    "wheel",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-build-isolation",
                    "--no-deps",
                ])
                .args(["--wheel-dir", "../wheels", "."]),
        );
        let wheels = scratch.path().join("wheels");
        let file = std::fs::read_dir(&wheels).expect("wheels").flatten().next().expect("one wheel").path();
        Self { scratch, file }
    }

    fn installed(&self, name: &str, python: &str, options: &[&str]) -> Environment {
        let environment = Environment::new(self.scratch.path(), name, python, options);
        environment.pip(&[&self.file.display().to_string()]);
        environment
    }
}

/// A virtual environment.
struct Environment {
    directory: PathBuf,
}

impl Environment {
    fn new(at: &Path, name: &str, python: &str, options: &[&str]) -> Self {
        let directory = at.join(name);
        good(command(python, "python3 python3-venv", at).args(["-m", "venv"]).args(options).arg(&directory));
        Self { directory }
    }

    fn pip(&self, what: &[&str]) {
        good(self.command("pip", &self.directory).args(PIP).args(what));
    }

    /// A program of it. What is tested is what the wheel brought, not the tool next to this test.
    fn command(&self, program: &str, at: &Path) -> Command {
        let path = self.directory.join("bin").join(program).display().to_string();
        let mut command = command(&path, program, at);
        command.env_remove("GPSIMD_BUILD").env_remove("PYTHONPATH");
        command.env("GPSIMD_EXAMPLES", repository().join("examples")).env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    fn pytest(&self, tests: &[&str]) {
        let mut command = self.command("python", &self.directory);
        good(command.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).args(tests));
    }
}

fn package_directory() -> PathBuf {
    repository().join("integrations/python")
}

/// A fresh virtual environment with the wheel and numpy, and the package's tests in it; then one with the distribution's
/// PyTorch, and the tests that need it.
#[test]
fn python_tests_pass_in_a_fresh_environment() {
    let tests = package_directory().join("tests").display().to_string();
    let torch = format!("{tests}/torch");
    let wheel = Wheel::built();
    let plain = wheel.installed("plain", "python3", &[]);
    plain.pip(&["pytest", "mypy", "hypothesis"]);
    plain.pytest(&[&tests, "--ignore", &torch]);
    let settings = package_directory().join("pyproject.toml").display().to_string();
    good(plain.command("mypy", &plain.directory).args(["--config-file", &settings, "-p", "gpsimd_build"]));

    let with_torch = wheel.installed("torch", "/usr/bin/python3", &["--system-site-packages"]);
    with_torch.pip(&["pytest"]);
    with_torch.pytest(&[&torch]);
}

/// A dependency file that cannot be written is one error, not a result and then an error.
#[test]
fn a_depfile_that_cannot_be_written_is_an_error() {
    let bench = Bench::with_vector_add();
    let line = [
        "--json",
        "compile",
        "vector_add.cpp",
        "--depfile",
        "nowhere/k.d",
        "--schema",
        crate::bench::VECTOR_ADD,
    ];
    let text = crate::bench::bad(bench.tool().args(line), 1);
    let document: serde_json::Value = serde_json::from_str(&text).expect("one JSON document");
    assert_eq!(document["error"]["code"], "cli::file");
}
