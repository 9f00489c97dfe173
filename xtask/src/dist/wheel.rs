//! The Python wheel for machines with an older C library: the extension is linked by zig against an early glibc, and the
//! program in it is the static one.
//!
//! Unaware of what the package holds; `integrations/python/backend.py` makes it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::Release;
use super::program::{PROFILE, TARGET, places};
use crate::chores::{root, run, target_directory};

/// The least that Rust's own standard library needs, too.
const FLOOR: &str = "2.17";
/// What the build needs of the Python index.
const TOOLS: [&str; 2] = ["maturin>=1.7,<2", "ziglang>=0.11,<0.14"];

/// Builds it, and says which glibc it needs, as its name has it.
pub fn build(release: &Release, program: &Path) -> Result<String> {
    let environment = target_directory().join("shipping-venv");
    let python = environment.join("bin/python3");
    if !python.exists() {
        run(Command::new("python3").arg("-m").arg("venv").arg(&environment))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(TOOLS))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(environment.join("bin")).chain(std::env::split_paths(&path));
    let arguments = format!(
        "--zig --compatibility manylinux_{} --target {TARGET} --profile {PROFILE} --locked",
        FLOOR.replace('.', "_")
    );
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir"])
        .arg(&release.dir)
        .arg(root().join("integrations/python"))
        .env("PATH", std::env::join_paths(paths)?)
        .env("GPSIMD_BUILD_TOOL", program)
        .env("MATURIN_PEP517_ARGS", arguments)
        .env("RUSTFLAGS", places()?)
        .env("CARGO_TARGET_DIR", target_directory().join("shipping-wheel"))
        .env("SOURCE_DATE_EPOCH", release.epoch.to_string());
    run(&mut pip)?;
    for entry in fs::read_dir(&release.dir)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".whl") {
            return floor(&name).with_context(|| format!("{name} promises no glibc"));
        }
    }
    bail!("pip made no wheel")
}

/// `2.17` of a wheel's name.
fn floor(name: &str) -> Option<String> {
    let rest = name.split("manylinux_").nth(1)?;
    let mut numbers = rest.split('_');
    Some(format!("{}.{}", numbers.next()?, numbers.next()?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_name_says_which_glibc() {
        let rows = [
            ("x-0.1.0-cp39-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", Some("2.17")),
            ("x-0.1.0-cp39-abi3-linux_x86_64.whl", None),
        ];
        for (name, want) in rows {
            assert_eq!(super::floor(name).as_deref(), want);
        }
    }
}
