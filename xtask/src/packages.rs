//! Distribution packages that the tests need beyond the tool's own, and their installation.
//!
//! Unaware of the open toolchain's packages: `gpsimd-build toolchain install` brings those.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A package and the file that shows it is there.
struct Package {
    name: &'static str,
    proof: &'static str,
}

/// What the tests drive besides the cross compiler.
const TEST_PACKAGES: &[Package] = &[
    // the independent Xtensa implementation that xtensa-iss is compared with
    Package { name: "qemu-user", proof: "/usr/bin/qemu-xtensa" },
    // compilers start through these
    Package { name: "ccache", proof: "/usr/bin/ccache" },
    Package { name: "distcc", proof: "/usr/bin/distcc" },
    // the host half of the SDK is compiled with the machine's own compiler
    Package { name: "g++", proof: "/usr/bin/g++" },
    // the storms deliver signals at system calls, and watch what is opened
    Package { name: "strace", proof: "/usr/bin/strace" },
    // other people's build systems, for the integrations
    Package { name: "cmake", proof: "/usr/bin/cmake" },
    Package { name: "make", proof: "/usr/bin/make" },
    Package { name: "ninja-build", proof: "/usr/bin/ninja" },
    Package { name: "python3-venv", proof: "/usr/share/doc/python3-venv" },
    // a terminal that the debugger is typed into
    Package { name: "tmux", proof: "/usr/bin/tmux" },
    // shells that the completion scripts are for
    Package { name: "zsh", proof: "/usr/bin/zsh" },
    Package { name: "fish", proof: "/usr/bin/fish" },
    // the judge of the device's operators, and the place where ops are used
    Package { name: "python3-torch", proof: "/usr/lib/python3/dist-packages/torch/version.py" },
];

/// What storms need besides.
const STORM_PACKAGES: &[Package] = &[
    // bare systems of other releases
    Package { name: "mmdebstrap", proof: "/usr/bin/mmdebstrap" },
    // other people's build farms
    Package { name: "bazel-bootstrap", proof: "/usr/bin/bazel" },
    Package { name: "sccache", proof: "/usr/bin/sccache" },
    // a network of its own for the one that broadcasts
    Package { name: "iproute2", proof: "/usr/bin/ip" },
];

pub fn ensure_test_packages() -> Result<()> {
    ensure(TEST_PACKAGES.iter())
}

pub fn ensure_storm_packages() -> Result<()> {
    ensure(TEST_PACKAGES.iter().chain(STORM_PACKAGES))
}

/// Installs what is missing, or says the one command that does.
fn ensure(packages: impl Iterator<Item = &'static Package>) -> Result<()> {
    let missing: Vec<&str> =
        packages.filter(|package| !Path::new(package.proof).exists()).map(|package| package.name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let install = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    if !is_root() {
        bail!("the tests need packages that are not installed; run: sudo {install}");
    }
    println!("xtask: {install}");
    apt(&["update"])?;
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(missing);
    apt(&arguments)
}

fn apt(arguments: &[&str]) -> Result<()> {
    let status = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status()
        .context("apt-get cannot be started: the set-up knows Debian and its relatives")?;
    if !status.success() {
        bail!("apt-get {} failed: {status}", arguments.join(" "));
    }
    Ok(())
}

fn is_root() -> bool {
    // std has no geteuid; the owner of our own /proc entry is the effective user
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}
