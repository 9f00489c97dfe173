//! The toolchain installed by an ordinary user in a system that has no package of it: fetched, built, used, and exported to
//! the archive that this machine imports for the same images.
//!
//! Before that, everything that may stop it: no consent, no network, no room, a kill. Unaware of how the program does it.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::chroot::{BUILDING, Chroot, WORK};
use super::chroots::{Example, examples, same_images, words};
use super::yard::{ARCHIVE, Yard, end};
use crate::chores::{root, run};
use crate::dist;

/// Releases, the packages of the keys that theirs are signed with, and where these keys are.
const RELEASES: [(&str, &str, &str); 3] = [
    ("bookworm", "debian-archive-keyring", "/usr/share/keyrings/debian-archive-keyring.gpg"),
    ("trixie", "debian-archive-keyring", "/usr/share/keyrings/debian-archive-keyring.gpg"),
    ("noble", "ubuntu-keyring", "/usr/share/keyrings/ubuntu-archive-keyring.gpg"),
];
const INSTALL: [&str; 3] = ["toolchain", "install", "--yes"];
/// A disk that has room for the lists.
const SMALL: &str = "size=128m,uid=1000";
/// Packages are being fetched by then, and not all of them are there.
const SECONDS_TO_LIVE: &str = "8";

pub fn storm(yard: &Yard) -> Result<String> {
    yard.bring_examples()?;
    yard.good(&["toolchain", "export", ARCHIVE])?;
    let ours = dist::sha256(&std::fs::read(yard.path(ARCHIVE))?);
    let examples = examples()?;
    let example = examples.iter().find(|example| example.is_multicore).context("an example of many cores")?;
    let mut said = Vec::new();
    for (release, keyring, keys) in RELEASES {
        if !Path::new(keys).exists() && !Chroot::is_made(release) {
            said.push(format!("{release}: not tried, {keys} is not here"));
            continue;
        }
        let chroot = Chroot::plain(release, keyring, &format!("private {release}"))?;
        let line = there(&chroot, example, yard, &ours);
        said.push(format!("{release}: {}", line.with_context(|| format!("in a plain {release}"))?));
    }
    Ok(said.join("; "))
}

fn there(chroot: &Chroot, example: &Example, yard: &Yard, ours: &str) -> Result<String> {
    // built for an older C library
    chroot.bring(yard.tool(), "gpsimd-build")?;
    chroot.bring(&root().join("examples"), "examples")?;
    let tool = format!("{WORK}/gpsimd-build");
    let good = |arguments: &[&str]| chroot.good(&BUILDING, &[&[tool.as_str()], arguments].concat());

    stopped(chroot, &BUILDING, &[&tool, "toolchain", "install"], "toolchain::packages_missing")?;
    let nowhere = [&BUILDING[..], &[("http_proxy", "http://127.0.0.1:9")]].concat();
    stopped(chroot, &nowhere, &[&[tool.as_str()], &INSTALL[..]].concat(), "toolchain::fetch")?;
    let small = chroot.work().join("small");
    std::fs::create_dir(&small)?;
    run(std::process::Command::new("mount").args(["-t", "tmpfs", "-o", SMALL, "none"]).arg(&small))?;
    let there = [("GPSIMD_BUILD_HOME", "/mnt/small")];
    let full = stopped(
        chroot,
        &[&BUILDING[1..], &there].concat(),
        &[&[tool.as_str()], &INSTALL[..]].concat(),
        "toolchain::fetch",
    );
    run(std::process::Command::new("umount").arg(&small))?;
    full?;
    let killed = [&["/usr/bin/timeout", "--signal=KILL", SECONDS_TO_LIVE, &tool], &INSTALL[..]].concat();
    let end = end(&mut chroot.call(&BUILDING, &killed))?;
    ensure!(end.code == Some(137), "it was not killed: {:?}\n{}", end.code, end.said);
    stopped(chroot, &BUILDING, &[&tool, "toolchain", "show"], "toolchain::program_missing")?;

    let said = good(&INSTALL)?;
    ensure!(said.contains("cleared what an unfinished install left"), "{said}");
    let left: Vec<_> = std::fs::read_dir(chroot.work().join("home/toolchains"))?.flatten().collect();
    ensure!(left.len() == 2, "besides the lock and the toolchain there is more: {left:?}");
    for again in [&INSTALL[..], &["toolchain", "install", "--private"]] {
        let said = good(again)?;
        ensure!(said.contains("is already in"), "{said}");
    }
    good(&["doctor"])?;
    good(&words(&example.build()))?;
    good(&["verify", &example.library()])?;
    for call in &example.calls {
        good(&[&["run", &example.library()], &words(&call.run)[..]].concat())?;
    }

    chroot.has_compiled_no_sdk()?;

    good(&["toolchain", "export", ARCHIVE])?;
    let archive = chroot.work().join(ARCHIVE);
    let home = yard.path("home of another");
    if home.exists() {
        std::fs::remove_dir_all(&home)?;
    }
    let install = ["toolchain", "install", "--from", &archive.to_string_lossy()];
    for arguments in [&install[..], &words(&example.build())] {
        yard.good_in(&home, arguments)?;
    }
    let images = same_images(yard, chroot)?;
    let same = dist::sha256(&std::fs::read(&archive)?) == ours;
    let archive =
        if same { "the archive that this machine exports" } else { "another archive than this machine's" };
    Ok(format!("{images} images byte for byte as here, {archive}"))
}

/// Runs what must end with this error, and leave no toolchain.
fn stopped(chroot: &Chroot, variables: &[(&str, &str)], words: &[&str], code: &str) -> Result<()> {
    let end = end(&mut chroot.call(variables, words))?;
    ensure!(
        end.code == Some(3) && end.said.contains(code),
        "{words:?}: {:?}, not {code}\n{}",
        end.code,
        end.said
    );
    Ok(())
}
