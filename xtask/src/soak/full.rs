//! No room: every command that writes, on disks of every size from nothing to enough.
//!
//! As root a disk is a small `tmpfs`; otherwise a limit on the size of files. Success means that every byte is there; failure
//! is told, and leaves what was there before. Unaware of what is written.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::yard::{End, Outputs, SCHEMA, Yard, end, tree};

/// Bytes of a page: a `tmpfs` counts in these.
const PAGE: u64 = 4096;
/// More pages than any of this needs.
const ENOUGH: u64 = 20_000;

/// A place with a bound on what goes in.
enum Disk<'a> {
    Tmpfs { at: &'a Path },
    FileSize,
}

impl Disk<'_> {
    /// Leaves room for `pages` more.
    fn bound(&self, pages: u64) -> Result<()> {
        let Disk::Tmpfs { at } = self else { return Ok(()) };
        let used = used(at)?;
        // a tmpfs of size 0 has no bound
        mount(&["-o", &format!("remount,size={}", ((used + pages) * PAGE).max(PAGE))], at)
    }

    fn run(&self, yard: &Yard, pages: u64, line: &[&str]) -> Result<End> {
        match self {
            Disk::Tmpfs { .. } => end(&mut yard.call(line)),
            Disk::FileSize => {
                let mut command = yard.bounded(300, "prlimit");
                command.arg(format!("--fsize={}", pages * PAGE)).arg(yard.tool()).args(line);
                end(&mut command)
            }
        }
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        if let Disk::Tmpfs { at } = self {
            let _ = Command::new("umount").arg(at).status();
        }
    }
}

pub fn storm(yard: &Yard, step: u64) -> Result<String> {
    let build = ["compile", "vector_add.cpp", "--image", "both", "--name", "whole", "--out-dir", "whole"];
    yard.good(&build)?;
    let at = yard.path("disk");
    fs::create_dir_all(&at)?;
    let is_mounted = mount(&["-t", "tmpfs", "-o", "size=64m", "tmpfs"], &at).is_ok();
    let disk = if is_mounted { Disk::Tmpfs { at: &at } } else { Disk::FileSize };
    let mut sizes = build_over_an_older(yard, &disk, step)?;
    let commands: [&[&str]; 9] = [
        &["codegen", "--schema", "my::f(Tensor a) -> (Tensor r)", "-o", "disk/wrapper.cpp"],
        &["lsp", "--dir", "disk/lsp"],
        &["pack", "whole/whole.so", "-o", "disk/p.packed.so", "-s", "disk/p.stripped.so"],
        &["unpack", "whole/whole.packed.so", "-o", "disk/u.stripped.so"],
        &["prelink", "whole/whole.split.so", "-o", "disk/l.ucpl"],
        &["records", "load", "--addr", "0x1000000000", "--image", "whole/whole.ucpl", "-o", "disk/load.bin"],
        &["inspect", "whole/whole.so", "--map", "disk/map.svg"],
        &["run", "whole/whole", "arange:2000", "arange:2000", "--like", "0", "-o", "disk/sum.npy"],
        &["plan", "vector_add.cpp", "--schema", SCHEMA, "--format", "ninja", "--output", "disk/build.ninja"],
    ];
    for line in commands {
        sizes += command(yard, &disk, line).with_context(|| format!("{line:?}"))?;
    }
    sizes += full_streams(yard)?;
    let how = if is_mounted { "disks" } else { "limits on the size of files" };
    Ok(format!(
        "{sizes} {how} from nothing to enough: failures told, older outputs whole, successes complete"
    ))
}

/// A second version over a published first one.
fn build_over_an_older(yard: &Yard, disk: &Disk, step: u64) -> Result<u64> {
    let line = ["compile", "vector_add.cpp", "--out-dir", "disk"];
    yard.write_version(1)?;
    yard.good(&["compile", "vector_add.cpp", "--out-dir", "elsewhere"])?;
    let new = yard.outputs("elsewhere");
    yard.write_version(0)?;
    yard.good(&line)?;
    let old = yard.outputs("disk");
    yard.write_version(1)?;
    let (mut sizes, mut pages) = (0, 0);
    loop {
        disk.bound(pages)?;
        let end = disk.run(yard, pages, &line)?;
        sizes += 1;
        let found = yard.outputs("disk");
        let what = || format!("{pages} pages of room: {:?}\n{}", end.code, end.said);
        judge(&end, &found, &old, &new).with_context(what)?;
        if end.code == Some(0) {
            return Ok(sizes);
        }
        ensure!(pages < ENOUGH, "never enough: {}", what());
        pages += step;
    }
}

fn judge(end: &End, found: &Outputs, old: &Outputs, new: &Outputs) -> Result<()> {
    if end.code != Some(153) {
        end.proper()?; // 153: the limit's own signal
    }
    if end.code == Some(0) {
        ensure!(found == new, "done, but not all of it is there: {:?}", found.keys());
    } else {
        ensure!(found == old || found == new, "mixed outputs: {:?}", found.keys());
    }
    Ok(())
}

/// One command that writes a few files, on disks that grow by a page until it succeeds.
fn command(yard: &Yard, disk: &Disk, line: &[&str]) -> Result<u64> {
    let at = yard.path("disk");
    let empty = || -> Result<()> {
        for entry in fs::read_dir(&at)?.flatten() {
            let path = entry.path();
            if entry.file_type()?.is_dir() { fs::remove_dir_all(path)? } else { fs::remove_file(path)? }
        }
        Ok(())
    };
    disk.bound(ENOUGH)?;
    empty()?;
    yard.good(line)?;
    let whole = tree(&at);
    for pages in 0..ENOUGH {
        empty()?;
        disk.bound(pages)?;
        let end = disk.run(yard, pages, line)?;
        let what = || format!("{pages} pages of room: {:?}\n{}", end.code, end.said);
        if end.code != Some(153) {
            end.proper().with_context(what)?;
        }
        if end.code == Some(0) {
            ensure!(tree(&at) == whole, "done, but not all of it is there: {}", what());
            return Ok(pages + 1);
        }
        ensure!(!end.said.trim().is_empty(), "failed without a word: {}", what());
    }
    bail!("never enough")
}

/// What goes to a standard output that is full was not done.
fn full_streams(yard: &Yard) -> Result<u64> {
    let commands: [&[&str]; 7] = [
        &["codegen", "--schema", "my::f(Tensor a) -> (Tensor r)"],
        &["schema", "my::f(Tensor a) -> (Tensor r)"],
        &["inspect", "whole/whole.so"],
        &["inspect", "--json", "whole/whole.so"],
        &["verify", "whole/whole"],
        &["compile", "vector_add.cpp", "--json", "--out-dir", "elsewhere"],
        &["explain", "schema::optional"],
    ];
    for line in commands {
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let output =
            yard.call(line).stdout(full).stderr(std::process::Stdio::piped()).spawn()?.wait_with_output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        ensure!(matches!(code, Some(1..=3)), "{line:?} into a full standard output: {code:?}\n{said}");
    }
    Ok(commands.len() as u64)
}

fn mount(options: &[&str], at: &Path) -> Result<()> {
    let output = Command::new("mount").args(options).arg(at).output().context("mount")?;
    ensure!(output.status.success(), "mount: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// Pages in use.
fn used(at: &Path) -> Result<u64> {
    let output = Command::new("stat").args(["-f", "-c", "%b %f"]).arg(at).output().context("stat")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(all)), Some(Ok(free))) => Ok(all - free),
        _ => bail!("stat said {text:?}"),
    }
}
