//! The crates as strangers get them: cargo's rehearsal of publishing all, and each from its package alone, in a directory that
//! knows nothing of this repository: its tests, its examples, its documentation.
//!
//! Nothing is sent. Unaware of registries and of what is in the crates.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::yard::Yard;
use crate::chores::{cargo, cargo_home, root, run};
use crate::dist::crates::{Package, packed, published};

/// What cargo says at every rehearsal.
const REHEARSED: &str = "warning: aborting upload due to dry run";
/// Its tests are the repository's: its package leaves them out, and cargo says so.
const TOOL: &str = "gpsimd-build";
/// How it says so.
const LEFT_OUT: [&str; 3] = [
    "warning: ignoring example `xt` as",
    "warning: ignoring test `conformance` as",
    "warning: ignoring test `e2e` as",
];

pub fn storm(yard: &Yard) -> Result<String> {
    let packages = published()?;
    borrow(yard)?;
    rehearse(yard)?;
    unpack(yard, &packages)?;
    fs::write(yard.path("Cargo.toml"), workspace(&packages)?)?;
    fs::copy(root().join("Cargo.lock"), yard.path("Cargo.lock"))?;
    // examples are built with the tests
    run(alone(yard).args(["test", "--workspace", "--exclude", TOOL, "--no-fail-fast"]))?;
    run(alone(yard).args(["build", "--package", TOOL]))?;
    run(alone(yard).args(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-Dwarnings"))?;
    Ok(format!(
        "cargo would publish {} crates; each builds, tests and documents itself alone",
        packages.len()
    ))
}

/// Gives the yard what cargo has downloaded, but not what it unpacked and built: it takes a crate of a rehearsal before this
/// one for the same crate, as long as its version is the same.
fn borrow(yard: &Yard) -> Result<()> {
    let (ours, theirs) = (yard.home().join("cargo/registry"), cargo_home()?.join("registry"));
    fs::create_dir_all(&ours)?;
    for part in ["cache", "index"] {
        symlink(theirs.join(part), ours.join(part))?;
    }
    Ok(())
}

/// Cargo with directories of the yard.
fn apart(yard: &Yard, mut command: Command) -> Command {
    command.env("CARGO_HOME", yard.home().join("cargo")).env("CARGO_TARGET_DIR", yard.home().join("target"));
    command
}

/// Everything but the upload, the crates compiled from their packages, without a warning.
fn rehearse(yard: &Yard) -> Result<()> {
    let mut command = apart(yard, cargo());
    command.args(["publish", "--dry-run", "--workspace", "--locked"]);
    let output = command.output().context("cargo publish")?;
    let said = String::from_utf8_lossy(&output.stderr);
    print!("{said}");
    ensure!(output.status.success(), "cargo publish: {}", output.status);
    let is_known = |line: &str| line == REHEARSED || LEFT_OUT.iter().any(|known| line.starts_with(known));
    let warnings: Vec<&str> =
        said.lines().filter(|line| line.starts_with("warning") && !is_known(line)).collect();
    ensure!(warnings.is_empty(), "cargo publish warns:\n{}", warnings.join("\n"));
    Ok(())
}

/// What was packed, side by side.
fn unpack(yard: &Yard, packages: &[Package]) -> Result<()> {
    let made = packed(packages, &[])?;
    for package in packages {
        let file = made.join(package.file());
        let mut tar = Command::new("tar");
        run(tar.arg("-xzf").arg(file).arg("-C").arg(yard.dir()))?;
        let unpacked = yard.path(package.file().trim_end_matches(".crate"));
        fs::rename(&unpacked, yard.path(&package.name)).with_context(|| unpacked.display().to_string())?;
    }
    Ok(())
}

/// A workspace of the packages, which find each other there and not in a registry; profiles are not part of a package.
fn workspace(packages: &[Package]) -> Result<String> {
    let mut text = String::from("[workspace]\nresolver = \"3\"\nmembers = [");
    for Package { name, .. } in packages {
        write!(text, "\"{name}\", ")?;
    }
    text += "]\n\n[patch.crates-io]\n";
    for Package { name, .. } in packages {
        writeln!(text, "{name} = {{ path = \"{name}\" }}")?;
    }
    let ours = fs::read_to_string(root().join("Cargo.toml"))?;
    let profiles = ours.find("[profile.dev]").context("Cargo.toml has no profiles")?;
    Ok(format!("{text}\n{}", &ours[profiles..]))
}

/// Cargo in the yard, with the versions that this repository has.
fn alone(yard: &Yard) -> Command {
    let mut command = apart(yard, Command::new(env!("CARGO")));
    command.current_dir(yard.dir()).env("INSTA_UPDATE", "no").env("GPSIMD_BUILD_HOME", yard.home());
    command
}
