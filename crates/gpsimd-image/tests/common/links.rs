//! Real links with the open toolchain, in a scratch directory.
#![allow(dead_code)] // each test binary uses its part

use std::path::{Path, PathBuf};

use gpsimd_lsp::{Lsp, Variant};
use gpsimd_toolchain::{Command, CompileJob, Home, LinkJob, Machine, OpenToolchain, Relocations, Toolchain};

const HOW: &str =
    "these tests need the open toolchain: run `cargo run -p gpsimd-build -- toolchain install --yes`";

pub struct Links {
    pub open: OpenToolchain,
    toolchain: Toolchain,
    pub dir: tempfile::TempDir,
}

impl Links {
    pub fn new() -> Links {
        let home = Home::from_env().unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        let open =
            OpenToolchain::discover(&Machine::here(), &home).unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        let toolchain = Toolchain::Open(open.clone());
        let dir = tempfile::tempdir().expect("a scratch directory");
        for variant in Variant::all() {
            let lsp = Lsp::custom_op(variant);
            for (path, text) in lsp.render() {
                let file = dir.path().join(&lsp.name).join(path);
                std::fs::create_dir_all(file.parent().expect("a parent")).expect("a directory");
                std::fs::write(file, text).expect("a script");
            }
        }
        Links { open, toolchain, dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Compiles a source text to an object.
    pub fn compile(&self, name: &str, source: &str, flags: &[&str]) -> PathBuf {
        let text = self.path(name);
        std::fs::write(&text, source).expect("a source");
        let object = text.with_extension(format!("{}.o", flags.concat().replace('/', "_")));
        let mut job = CompileJob::new(&text, &object);
        job.cflags = flags.iter().map(Into::into).collect();
        run(&self.toolchain.compile(&job));
        object
    }

    /// Links objects and returns the image's bytes.
    pub fn link(
        &self,
        variant: Variant,
        objects: &[PathBuf],
        relocations: Relocations,
        flags: &[&str],
    ) -> Vec<u8> {
        let output = self.path(&format!("image{}.so", variant.file_suffix()));
        let mut job = LinkJob::new(&output, self.path(&variant.lsp_name()));
        job.objects = objects.to_vec();
        job.relocations = relocations;
        job.ldflags = flags.iter().map(Into::into).collect();
        run(&self.toolchain.link(&job));
        std::fs::read(&output).expect("an image")
    }

    /// Runs a program of the toolchain (`readelf`, `objcopy`, …) in the scratch directory and returns what it says.
    pub fn tool(&self, name: &str, args: &[&str]) -> String {
        let mut command =
            self.open.tool(&Machine::here(), name).unwrap_or_else(|error| panic!("{error}\n{HOW}"));
        command = command.args(args.iter().copied());
        run_in(&command, self.dir.path())
    }
}

pub fn run(command: &Command) -> String {
    run_in(command, Path::new("."))
}

fn run_in(command: &Command, dir: &Path) -> String {
    let output = command.to_std().current_dir(dir).output().expect("a program that starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{command}\n{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
