//! Deaths at chosen system calls: after each, what is visible is whole, and the next build puts everything right.
//!
//! `strace` delivers the signal when a process of the build, the tool or a compiler, makes its nth call of a kind.
//! Unaware of what the tool does at that call.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::yard::{End, Outputs, Yard, end};

/// Calls that change something, wait for something, or end something. `?` passes over what a machine lacks.
const CALLS: [&str; 38] = [
    "openat",
    "?openat2",
    "write",
    "close",
    "read",
    "?rename",
    "?renameat",
    "?renameat2",
    "?unlink",
    "unlinkat",
    "?mkdir",
    "mkdirat",
    "?symlink",
    "symlinkat",
    "?rmdir",
    "?link",
    "linkat",
    "flock",
    "fcntl",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fchmod",
    "utimensat",
    "getdents64",
    "statx",
    "newfstatat",
    "?readlink",
    "readlinkat",
    "?clone3",
    "?vfork",
    "execve",
    "wait4",
    "?waitid",
    "futex",
    "?pipe2",
    "copy_file_range",
    "lseek",
];

/// How a build begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scene {
    /// Another version of the kernel over a finished build.
    Edited,
    /// An empty output directory, the cache warm.
    First,
    /// Another version, and no cache.
    Uncached,
}

const SCENES: [Scene; 3] = [Scene::Edited, Scene::First, Scene::Uncached];
const LINE: [&str; 3] = ["compile", "vector_add.cpp", "--multicore"];

pub fn storm(yard: &Yard, wanted: u64) -> Result<String> {
    let mut wholes = Vec::new();
    for value in 0..2 {
        yard.write_version(value)?;
        yard.good(&LINE)?;
        wholes.push(yard.outputs("build"));
    }
    let lens = [wholes[0].len(), wholes[1].len()];
    ensure!(
        wholes[0] != wholes[1] && lens == [25, 25],
        "two builds that differ, of 25 files each, not {lens:?}"
    );
    let mut last = 1;
    let mut places = Vec::new();
    for scene in SCENES {
        set_scene(yard, scene, 1 - last)?;
        places.extend(counted(yard, scene)?);
        last = 1 - last;
    }
    let mut calls: Vec<&str> = places.iter().map(|place| place.call.as_str()).collect();
    calls.sort_unstable();
    calls.dedup();
    let kinds = calls.len();
    let (mut tool, mut compilers, mut missed) = (0, 0, 0);
    // evenly over all there are: a third more, because threads share calls out differently each time
    let step = (places.len() as u64 * 3 / (wanted * 4).max(1)).max(1) as usize;
    for place in (0..step).flat_map(|first| places.iter().skip(first).step_by(step)) {
        if tool + compilers >= wanted {
            break;
        }
        let next = 1 - last;
        set_scene(yard, place.scene, next)?;
        let before = yard.outputs("build");
        let died = kill(yard, place)?;
        let what = || format!("{place:?}: exit status {:?}\n{}", died.code, died.said);
        match died.code {
            Some(0) => missed += 1,
            Some(1..=3) => compilers += 1,
            Some(137) | None => tool += 1,
            _ => died.proper().with_context(what)?,
        }
        whole(&yard.outputs("build"), &[&before, &wholes[next as usize]]).with_context(what)?;
        yard.good(&LINE).with_context(what)?;
        ensure!(yard.outputs("build") == wholes[next as usize], "{}: the next build differs", what());
        let left = fs::read_dir(yard.path("build/.gpsimd-build/vector_add/generations"))?.count();
        ensure!(left <= 2, "{}: {left} generations are left", what());
        last = next;
    }
    Ok(format!(
        "{tool} deaths of the tool and {compilers} of its compilers at {kinds} kinds of system calls ({missed} came too \
         late): no mixed output, every next build whole"
    ))
}

/// A call at which to die.
#[derive(Debug)]
struct Place {
    scene: Scene,
    call: String,
    /// Of a process's or thread's calls of this kind.
    nth: u32,
}

fn set_scene(yard: &Yard, scene: Scene, version: u32) -> Result<()> {
    yard.write_version(version)?;
    if scene == Scene::First && yard.path("build").exists() {
        fs::remove_dir_all(yard.path("build"))?;
    }
    Ok(())
}

/// Every place of one undisturbed build: all calls of the one process or thread that makes most of a kind.
fn counted(yard: &Yard, scene: Scene) -> Result<Vec<Place>> {
    let log = yard.dir().with_file_name("strace.log");
    let mut command = yard.bounded(300, "strace");
    command
        .args(["-f", "-qqq", "--seccomp-bpf", "-o"])
        .arg(&log)
        .args(["-e", &format!("trace={}", CALLS.join(","))]);
    build(yard, scene, &mut command);
    let end = end(&mut command)?;
    ensure!(end.code == Some(0), "an undisturbed build: {:?}\n{}", end.code, end.said);
    let mut counts = BTreeMap::<(String, String), u32>::new();
    for line in fs::read_to_string(&log)?.lines() {
        let mut words = line.split_whitespace();
        let process = words.next().unwrap_or_default().to_owned();
        let call = words.next().and_then(|text| text.split_once('(')).map(|(name, _)| name.to_owned());
        if let Some(call) = call {
            *counts.entry((call, process)).or_default() += 1;
        }
    }
    let mut most = BTreeMap::<String, u32>::new();
    for ((call, _), count) in counts {
        let most = most.entry(call).or_default();
        *most = count.max(*most);
    }
    let places = most.into_iter().flat_map(|(call, most)| {
        // all of the first, then ever fewer: a compiler's thousandth read is as good as its nine hundredth
        let nth = std::iter::successors(Some(1), |nth: &u32| Some(nth + 1 + nth / 6))
            .take_while(move |nth| *nth <= most);
        nth.map(move |nth| Place { scene, call: call.clone(), nth })
    });
    Ok(places.collect())
}

/// What is visible must be one of these, or nothing.
fn whole(found: &Outputs, allowed: &[&Outputs]) -> Result<()> {
    ensure!(found.is_empty() || allowed.contains(&found), "mixed outputs: {:?}", found.keys());
    Ok(())
}

fn kill(yard: &Yard, place: &Place) -> Result<End> {
    let Place { scene, call, nth } = place;
    let mut command = yard.bounded(300, "strace");
    command.args(["-f", "-qqq", "--seccomp-bpf", "-o", "/dev/null", "-e"]).arg(format!("trace={call}"));
    command.arg("-e").arg(format!("inject={call}:signal=KILL:when={nth}"));
    build(yard, *scene, &mut command);
    end(&mut command)
}

fn build(yard: &Yard, scene: Scene, command: &mut Command) {
    command.arg(yard.tool()).args(LINE);
    if scene == Scene::Uncached {
        command.arg("--no-cache");
    }
}
