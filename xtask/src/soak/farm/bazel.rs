//! The rules of `integrations/bazel` under the distribution's Bazel.
//!
//! Unaware of ninja.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use super::{OPS, compare};
use crate::chores::{root, run};
use crate::soak::yard::{ARCHIVE, Yard, end, good};

/// The same libraries by the rules of `integrations/bazel`, each in a sandbox.
pub fn storm(yard: &Yard, libraries: usize) -> Result<String> {
    let Ok(program) = which("bazel") else { bail!("no bazel: apt-get install -y bazel-bootstrap") };
    let workspace = yard.path("bazel");
    fs::create_dir_all(&workspace)?;
    fs::write(workspace.join("WORKSPACE"), "workspace(name = \"ops\")\n")?;
    run(Command::new("cp").arg("-r").arg(yard.path("ops")).arg(&workspace))?;
    fs::copy(root().join("integrations/bazel/gpsimd.bzl"), workspace.join("gpsimd.bzl"))?;
    fs::copy(yard.path(ARCHIVE), workspace.join(ARCHIVE))?;
    fs::copy(yard.tool(), workspace.join("gpsimd-build"))?;
    fs::write(workspace.join("BUILD"), build_file(libraries, "glob([\"ops/lib%d/*.hpp\" % n])"))?;
    let output = yard.path("bazel-output");
    let call = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command
            .current_dir(&workspace)
            .arg(format!("--output_user_root={}", output.display()))
            .args(arguments);
        command
    };
    let build = ["build", "--spawn_strategy=linux-sandbox", "--jobs=2", "--noshow_progress", "//:all"];
    let begin = Instant::now();
    let built = good(&mut call(&build)).and_then(|_| {
        let took = begin.elapsed();
        let made = yard.path("bazel-made");
        fs::create_dir_all(&made)?;
        for library in 0..libraries {
            let from = workspace.join(format!("bazel-bin/lib{library}"));
            run(Command::new("cp").arg("-rL").arg(from.join(".")).arg(&made))?;
        }
        let ships = compare(yard, libraries, "plain", "bazel-made")?;
        fs::write(workspace.join("BUILD"), build_file(libraries, "[]"))?;
        let end = end(&mut call(&build))?;
        let is_missed = end.code == Some(1) && end.said.contains("factor.hpp");
        ensure!(is_missed, "a header that is not declared was found: {:?}\n{}", end.code, end.said);
        Ok(format!(
            "Bazel's sandbox in {} s, {ships} equal, a header not declared is an error",
            took.as_secs()
        ))
    });
    // the server that it leaves behind
    good(&mut call(&["shutdown"]))?;
    built
}

/// A target for every library; `headers` is an expression of its number `n`.
fn build_file(libraries: usize, headers: &str) -> String {
    format!(
        "load(\":gpsimd.bzl\", \"gpsimd_custom_op\", \"gpsimd_toolchain\")\n\
         gpsimd_toolchain(name = \"toolchain\", archive = \"{ARCHIVE}\", tool = \"gpsimd-build\")\n\
         [gpsimd_custom_op(\n    name = \"lib%d\" % n,\n    \
         srcs = [\"ops/lib%d/op%d.cpp\" % (n, k) for k in range({OPS})],\n    hdrs = {headers},\n    \
         schemas = [\"my::op%d(Tensor t) -> Tensor\" % k for k in range({OPS})],\n    \
         multicore = False,\n    toolchain = \":toolchain\",\n) for n in range({libraries})]\n"
    )
}

fn which(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").context("PATH")?;
    let mut found = std::env::split_paths(&path).map(|directory| directory.join(name));
    found.find(|path| path.is_file()).context("not in PATH")
}
