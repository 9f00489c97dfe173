//! The program as one static file that needs nothing of a Linux machine but its kernel, and what goes beside it.
//!
//! Unaware of archives and packages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::File;
use crate::chores::{cargo, cargo_home, root, run, target_directory};

/// glibc's own objects are linked in; the C library of the machine is never asked.
pub const TARGET: &str = "x86_64-unknown-linux-gnu";
/// In Cargo.toml: optimised, without debug information and symbols.
pub const PROFILE: &str = "shipping";

const SHELLS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/gpsimd-build"),
    ("zsh", "share/zsh/vendor-completions/_gpsimd-build"),
    ("fish", "share/fish/vendor_completions.d/gpsimd-build.fish"),
];

/// Builds it, and checks that it is static.
pub fn build() -> Result<PathBuf> {
    let target = ["--locked", "--profile", PROFILE, "--target", TARGET];
    let mut command = cargo();
    command.arg("build").args(target).args(["--package", "gpsimd-build"]);
    command.env("RUSTFLAGS", format!("-Ctarget-feature=+crt-static {}", places()?));
    run(&mut command)?;
    let program = target_directory().join(TARGET).join(PROFILE).join("gpsimd-build");
    ensure!(is_static(&program)?, "{} asks for a loader", program.display());
    Ok(program)
}

/// Whether a program starts without a loader.
pub fn is_static(program: &Path) -> Result<bool> {
    let headers = Command::new("readelf").args(["-lW"]).arg(program).output().context("readelf")?;
    ensure!(headers.status.success(), "{} is no program", program.display());
    Ok(!String::from_utf8_lossy(&headers.stdout).contains("INTERP"))
}

/// Flags that keep this machine's directories out of what is built.
pub fn places() -> Result<String> {
    let registry = cargo_home()?.join("registry/src");
    Ok(format!(
        "--remap-path-prefix={}=/registry --remap-path-prefix={}=/gpsimd-build",
        registry.display(),
        root().display()
    ))
}

/// Everything that is installed below a prefix: the program, its manual, completions, terms.
pub fn tree(program: &Path, terms: &str) -> Result<Vec<File>> {
    let file = |path: &str, content: Vec<u8>| File { path: path.into(), is_program: false, content };
    let mut files = vec![File { is_program: true, ..file("bin/gpsimd-build", fs::read(program)?) }];
    for (shell, path) in SHELLS {
        files.push(file(path, said(program, &["completions", shell])?));
    }
    let scratch = target_directory().join("shipping-man");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    said(program, &["man", "--dir", &scratch.to_string_lossy()])?;
    let mut pages: Vec<PathBuf> = fs::read_dir(&scratch)?.flatten().map(|entry| entry.path()).collect();
    pages.sort();
    ensure!(!pages.is_empty(), "no manual pages");
    for page in pages {
        let name = page.file_name().unwrap_or_default().to_string_lossy().into_owned();
        files.push(file(&format!("share/man/man1/{name}"), fs::read(&page)?));
    }
    for name in ["README.md", "LICENSE"] {
        files.push(file(&format!("share/doc/gpsimd-build/{name}"), fs::read(root().join(name))?));
    }
    files.push(file("share/doc/gpsimd-build/THIRD-PARTY", terms.as_bytes().to_vec()));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn said(program: &Path, arguments: &[&str]) -> Result<Vec<u8>> {
    let output = Command::new(program).args(arguments).stderr(Stdio::inherit()).output();
    let output = output.with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "{arguments:?}: {}", output.status);
    Ok(output.stdout)
}
