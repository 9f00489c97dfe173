//! Real links with the open toolchain, in a scratch directory.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use gpsimd_loader::split;
use gpsimd_toolchain::{Command, CompileJob, Home, LinkJob, Machine, OpenToolchain, Relocations, Toolchain};

const HOW: &str =
    "these tests need the open toolchain: run `cargo run -p gpsimd-build -- toolchain install --yes`";

pub struct Links {
    open: OpenToolchain,
    toolchain: Toolchain,
    dir: tempfile::TempDir,
}

impl Links {
    pub fn new() -> Links {
        let home = Home::from_env().unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        let open =
            OpenToolchain::discover(&Machine::here(), &home).unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        let toolchain = Toolchain::Open(open.clone());
        Links { open, toolchain, dir: tempfile::tempdir().expect("a scratch directory") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles a source text to an object.
    pub fn compile(&self, name: &str, source: &str) -> PathBuf {
        let text = self.path(name);
        std::fs::write(&text, source).expect("a source");
        let object = text.with_extension("o");
        run(&self.toolchain.compile(&CompileJob::new(&text, &object)));
        object
    }

    /// Links objects at the script's own addresses, or at others.
    pub fn link(&self, objects: &[PathBuf], change: impl FnOnce(&mut LinkJob)) -> Vec<u8> {
        self.link_with(split::SCRIPT, objects, change)
    }

    pub fn link_with(&self, script: &str, objects: &[PathBuf], change: impl FnOnce(&mut LinkJob)) -> Vec<u8> {
        let output = self.path("linked.elf");
        let mut job = LinkJob::new(&output, self.path("split"));
        let file = job.script();
        std::fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
        std::fs::write(file, script).expect("a script");
        job.objects = objects.to_vec();
        job.relocations = Relocations::Keep;
        change(&mut job);
        run(&self.toolchain.link(&job));
        std::fs::read(&output).expect("a link")
    }

    /// What `readelf` says about a file, complaints included.
    pub fn readelf(&self, elf: &[u8], flags: &str) -> String {
        std::fs::write(self.path("read.elf"), elf).expect("a file");
        let command =
            self.open.tool(&Machine::here(), "readelf").unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        run_in(&command.arg(flags).arg("read.elf"), self.dir.path())
    }
}

fn run(command: &Command) -> String {
    run_in(command, Path::new("."))
}

fn run_in(command: &Command, dir: &Path) -> String {
    let output = command.to_std().current_dir(dir).output().expect("a program that starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
