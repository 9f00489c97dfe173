//! Shape images made with the real compiler, asked what a build and a run ask.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use gpsimd_lsp::{Lsp, Variant};
use gpsimd_shapes::{Failure, Shape, Shapes};
use gpsimd_toolchain::{Command, CompileJob, Home, LinkJob, Machine, OpenToolchain, Toolchain};

const HOW: &str =
    "these tests need the open toolchain: run `cargo run -p gpsimd-build -- toolchain install --yes`";

/// A shape image of this source.
fn image(source: &str) -> Vec<u8> {
    let home = Home::from_env().unwrap_or_else(|error| panic!("{error}\n{HOW}"));
    let open = OpenToolchain::discover(&Machine::here(), &home);
    let toolchain = Toolchain::Open(open.unwrap_or_else(|error| panic!("{error}\n{HOW}")));
    let scratch = tempfile::tempdir().unwrap();
    let sdk = Path::new(env!("CARGO_MANIFEST_DIR")).join("sdk");
    let own = scratch.path().join("shapes.cpp");
    std::fs::write(&own, source).unwrap();
    let objects = [own, sdk.join("host/list_registrations.cpp"), sdk.join("host/start.cpp")].map(|source| {
        let object = scratch.path().join(source.file_name().unwrap()).with_extension("o");
        run(&toolchain.compile(&CompileJob {
            cflags: ["-std=c++17", "-fexceptions", "-frtti", "-w"].map(Into::into).to_vec(),
            includes: vec![sdk.join("host"), sdk.join("include")],
            ..CompileJob::new(source, &object)
        }));
        object
    });
    for (name, text) in Lsp::custom_op(Variant::Single).render() {
        let path: PathBuf = scratch.path().join("lsp").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let output = scratch.path().join("shapes.so");
    run(&toolchain
        .link(&LinkJob { objects: objects.to_vec(), ..LinkJob::new(&output, scratch.path().join("lsp")) }));
    std::fs::read(output).unwrap()
}

fn run(command: &Command) {
    let output = command.to_std().output().unwrap();
    assert!(output.status.success(), "{command}\n{}", String::from_utf8_lossy(&output.stderr));
}

const SOURCE: &str = r#"
#include <torch/torch.h>
#include "torchneuron/register.h"
#include <assert.h>
#include <map>
#include <stdio.h>
using torch::Tensor;
Tensor halves(const Tensor& x, double by, int64_t n) {
    printf("by %g", by);
    return torch::empty({x.size(0) / 2, n}, torch::kHalf);
}
Tensor checks(const Tensor& x) {
    TORCH_CHECK(x.dim() == 2, "rank ", x.dim(), " of ", x.sizes(), " with ", x.scalar_type(), ", not ", 2.5f);
    return x;
}
Tensor throws(const Tensor& x) { throw std::invalid_argument("no such shape"); }
Tensor throws_seven(const Tensor& x) { throw 7; }
Tensor aborts(const Tensor& x) { abort(); }
Tensor asserts(const Tensor& x) { assert(x.dim() == 1); return x; }
Tensor vector_at(const Tensor& x) { return torch::empty({std::vector<int64_t>(2).at(9)}, torch::kInt); }
Tensor loops(const Tensor& x) { for (volatile int i = 0;;) i = i + 1; }
Tensor recurses(const Tensor& x) { volatile char room[4096]; room[0] = 0; return room[0] ? x : recurses(recurses(x)); }
Tensor hoards(const Tensor& x) { static void* volatile last; for (;;) last = malloc(1000); }
Tensor wild(const Tensor& x) { *reinterpret_cast<volatile int*>(16) = 1; return x; }
Tensor counts(const Tensor& x) {
    static std::map<std::string, int64_t> seen;
    return torch::empty({++seen["x"]}, torch::kInt);
}
NEURON_LIBRARY(my, m) {
    m.def("halves", &halves, "halves_kernel");
    m.def("checks", &checks, "checks");
    m.def("throws", &throws, "throws");
    m.def("throws_seven", &throws_seven, "throws_seven");
    m.def("aborts", &aborts, "aborts");
    m.def("asserts", &asserts, "asserts");
    m.def("vector_at", &vector_at, "vector_at");
    m.def("loops", &loops, "loops");
    m.def("recurses", &recurses, "recurses");
    m.def("counts", &counts, "counts");
}
NEURON_LIBRARY(more, m) {
    m.def("hoards", &hoards, "hoards");
    m.def("wild", &wild, "wild");
}
"#;

fn words(failure: Result<Shape, Failure>) -> String {
    match failure.unwrap_err() {
        Failure::Refused { said } => format!("refused: {said}"),
        Failure::Stopped { why, said, chain } => format!("stopped: {why} [{said}] {}", !chain.is_empty()),
        Failure::Answer { said } => format!("answer: {said}"),
    }
}

#[test]
fn questions_and_answers() {
    let image = image(SOURCE);
    let mut shapes = Shapes::parse(&image).unwrap();
    let arguments = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let output = shapes.output("my::halves", &arguments(&["float32:8x3", "0.5", "7"]));
    assert_eq!(output, Ok(Shape { dtype: "float16".into(), shape: vec![4, 7] }));
    // 12 are registered, 10 may be
    let Err(Failure::Refused { said }) = shapes.list() else { panic!("a refusal") };
    assert_eq!(said, "12 operators are registered, a library has at most 10");
    // every run starts from the same state
    for extents in ["2", "3"] {
        let output = shapes.output("my::counts", &arguments(&[&format!("int8:{extents}")]));
        assert_eq!(output, Ok(Shape { dtype: "int32".into(), shape: vec![1] }));
    }
    let rows = [
        ("my::checks", "refused: rank 3 of [2, 3, 4] with Half, not 2.5"),
        ("my::throws", "refused: no such shape"),
        ("my::throws_seven", "refused: the shape function threw something that is no std::exception"),
        ("my::aborts", "refused: the shape function called abort()"),
        ("my::asserts", "shapes.cpp:19: assertion failed: x.dim() == 1"),
        ("my::vector_at", "refused: the shape function called abort()"),
        ("my::loops", "stopped: it has not ended after "),
        ("my::recurses", " below the stack limit "),
        ("more::hoards", "refused: the shape functions need more than 4 MiB of memory"),
        ("more::wild", "stopped: store of 4 bytes at 0x00000010: nothing is mapped there [] true"),
        ("my::nothing", "refused: no operator my::nothing; registered:"),
    ];
    let mut wrong = Vec::new();
    for (op, want) in rows {
        let words = words(shapes.output(op, &arguments(&["float16:2x3x4"])));
        if !words.contains(want) {
            wrong.push(format!("{op}: {words}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn what_is_no_shape_image() {
    assert!(Shapes::parse(b"#!/bin/sh\ntouch /tmp/ran\n").is_err());
    assert!(Shapes::parse(&std::fs::read("/proc/self/exe").unwrap()).is_err());
}
