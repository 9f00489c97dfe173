//! `new`: a project that builds and passes its tests as it is: kernel, shape function, reference, build files.
//!
//! The kernels are the templates of `examples/templates`, which the tests run. Unaware of what builds a project.

use std::path::{Path, PathBuf};

use miette::{Diagnostic, Result};

use super::Files;
use crate::cli::{BuildSystem, New, Template};
use crate::files::{create_directory, write};
use crate::render::Render;
use crate::status::Status;

/// A directory that is there.
#[derive(Debug, thiserror::Error, Diagnostic)]
#[error("{path} exists already", path = .path.display())]
#[diagnostic(code(cli::exists), help("choose another name, or remove it"))]
struct Exists {
    path: PathBuf,
}

/// A template's files, and what its tests need beside them.
struct Parts {
    name: &'static str,
    kernel: &'static str,
    shape: &'static str,
    expected: &'static str,
    /// One good call, where its parts are not to be found by trying.
    inputs: &'static str,
}

macro_rules! parts {
    ($name:literal, $inputs:literal) => {
        Parts {
            name: $name,
            kernel: include_str!(concat!("../../examples/templates/", $name, ".cpp")),
            shape: include_str!(concat!("../../examples/templates/shape/", $name, "_shape.cpp")),
            expected: include_str!(concat!("../../examples/templates/expected/", $name, ".py")),
            inputs: $inputs,
        }
    };
}

fn parts(template: Template) -> Parts {
    match template {
        Template::Elementwise => parts!("elementwise", ""),
        Template::Rows => parts!("rows", " --input rand:16x24 --input 1e-5"),
        Template::Reduce => parts!("reduce", ""),
        Template::Gather => parts!("gather", " --input rand:16x24 --input arange:8:int64 --input rand:8x24"),
        Template::Tiles => parts!("tiles", ""),
    }
}

/// A name that C++, Python, make and a directory can all have.
///
/// # Errors
/// What is wrong with it.
pub fn name(text: &str) -> Result<String, String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let is_name = text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(is_word);
    let is_taken =
        ["float", "int", "double", "long", "class", "template", "expected", "build"].contains(&text);
    if is_name && !is_taken {
        Ok(text.to_owned())
    } else {
        Err("a name as C++ functions have them, such as my_op".to_owned())
    }
}

/// Writes the project.
pub fn run(arguments: &New, render: &Render) -> Result<Status> {
    let directory = PathBuf::from(&arguments.name);
    if directory.symlink_metadata().is_ok() {
        return Err(Exists { path: directory }.into());
    }
    let files: Vec<(PathBuf, String)> =
        project(arguments).into_iter().map(|(name, text)| (directory.join(name), text)).collect();
    for (path, text) in &files {
        create_directory(path.parent().unwrap_or(Path::new(".")))?;
        write(path, text.as_bytes())?;
    }
    let document = Files { files: files.into_iter().map(|(path, _)| path).collect() };
    render.result(&document, || {
        let written: String = document.files.iter().map(|path| format!("{}\n", path.display())).collect();
        let name = &arguments.name;
        let next = match arguments.build {
            BuildSystem::Make => "make test".to_owned(),
            BuildSystem::Cmake => "cmake -B out && cmake --build out && ctest --test-dir out".to_owned(),
            BuildSystem::None => format!("gpsimd-build test {name}.cpp --shape-src {name}_shape.cpp"),
        };
        format!("{written}\nnext: cd {name} && {next}\n")
    })?;
    Ok(Status::Good)
}

/// Every file of a project with its text.
fn project(arguments: &New) -> Vec<(String, String)> {
    let (parts, name) = (parts(arguments.template), &arguments.name);
    let of_test = format!("test {name}.cpp --shape-src {name}_shape.cpp{}", parts.inputs);
    let test = format!("gpsimd-build {of_test}");
    let renamed = |text: &str| {
        let old = parts.name;
        [
            (format!("// {old}: "), format!("// {name}: ")),
            (format!("torch::Tensor {old}("), format!("torch::Tensor {name}(")),
            (format!("{old}_shape"), format!("{name}_shape")),
            (format!("my::{old}("), format!("my::{name}(")),
            (format!("compile {old}.cpp"), format!("compile {name}.cpp")),
            (format!("Host half of {old}:"), format!("Host half of {name}:")),
            (format!("\"{old}: "), format!("\"{name}: ")),
            (format!("\"{old}\""), format!("\"{name}\"")),
            (format!("What {old} should"), format!("What {name} should")),
            (format!("def {old}("), format!("def {name}(")),
        ]
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
    };
    let mut files = vec![
        (format!("{name}.cpp"), renamed(parts.kernel)),
        (format!("{name}_shape.cpp"), renamed(parts.shape)),
        ("expected.py".to_owned(), renamed(parts.expected)),
        (".clangd".to_owned(), CLANGD.to_owned()),
        (".gitignore".to_owned(), "build/\nout/\ncompile_commands.json\n".to_owned()),
        (".github/workflows/test.yml".to_owned(), WORKFLOW.replace("@TEST@", &test)),
    ];
    match arguments.build {
        BuildSystem::Make => files.push((
            "Makefile".to_owned(),
            MAKEFILE.replace("@TEST@", &test).replace("@OF_TEST@", &of_test).replace("@NAME@", name),
        )),
        BuildSystem::Cmake => {
            files.push(("CMakeLists.txt".to_owned(), CMAKE.replace("@TEST@", &test).replace("@NAME@", name)))
        }
        BuildSystem::None => {}
    }
    files
}

/// What the language server must not take from an Xtensa compiler's words; the device has 32 bits.
const CLANGD: &str = "\
# gpsimd-build plan --format compile-commands NAME.cpp --shape-src NAME_shape.cpp --output compile_commands.json
CompileFlags:
  Add: [--target=i386-unknown-linux-gnu]
  Remove: [-mlongcalls, -mtext-section-literals, -mabi=*, -specs=*, -f*]
";

const WORKFLOW: &str = "\
# gpsimd-build must be in PATH, and its toolchain installed: gpsimd-build toolchain install --yes
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: @TEST@ --junit report.xml
";

const MAKEFILE: &str = "\
# make: the library; make test: everything about it; make watch: that on every save; make expected: against numpy
# (expected.py)
.PHONY: all test watch expected clangd
all:
\tgpsimd-build compile @NAME@.cpp --shape-src @NAME@_shape.cpp --multicore
test:
\t@TEST@
watch:
\tgpsimd-build watch @OF_TEST@
expected:
\t@TEST@ --reference expected:@NAME@ --only calls,extents --ulps float32=64
clangd:
\tgpsimd-build plan --format compile-commands @NAME@.cpp --shape-src @NAME@_shape.cpp --output compile_commands.json
";

const CMAKE: &str = "\
cmake_minimum_required(VERSION 3.20)
project(@NAME@ NONE)
find_program(GPSIMD_BUILD gpsimd-build REQUIRED)
add_custom_target(@NAME@ ALL
  ${GPSIMD_BUILD} compile @NAME@.cpp --shape-src @NAME@_shape.cpp --multicore --out-dir ${CMAKE_BINARY_DIR}/build
  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
enable_testing()
add_test(NAME @NAME@ COMMAND @TEST@ WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_s_name_is_nowhere_left() {
        for template in
            [Template::Elementwise, Template::Rows, Template::Reduce, Template::Gather, Template::Tiles]
        {
            let arguments = New { name: "my_op".to_owned(), template, build: BuildSystem::Make };
            let files = project(&arguments);
            let kernel = &files[0].1;
            assert!(kernel.contains("torch::Tensor my_op("), "{kernel}");
            let shape = &files[1].1;
            assert!(!shape.contains(parts(template).name), "{shape}");
            assert!(files[2].1.contains("def my_op("));
        }
    }

    #[test]
    fn names_that_everything_can_have() {
        for (text, is_good) in
            [("my_op", true), ("relu2", true), ("2x", false), ("a-b", false), ("../x", false), ("int", false)]
        {
            assert_eq!(name(text).is_ok(), is_good, "{text}");
        }
    }
}
