//! Deaths at chosen system calls: after each, what is visible is whole, and the next build puts everything right.
//!
//! `strace` delivers the signal when a process of the build, the tool or a compiler, makes its nth call of a kind.
//! Unaware of what the tool does at that call.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};

use super::dice::Dice;
use super::yard::{End, Outputs, Yard, end, good};

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

pub fn storm(yard: &Yard, wanted: u64, seed: u64) -> Result<String> {
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
    let mut deaths = BTreeMap::<Victim, u64>::new();
    let mut missed = 0;
    // those a build does not make again are few: threads share calls out differently each time
    Dice::new(seed).shuffle(&mut places);
    for place in &places {
        if deaths.values().sum::<u64>() >= wanted {
            break;
        }
        let next = 1 - last;
        set_scene(yard, place.scene, next)?;
        let before = yard.outputs("build");
        let (died, victim) = kill(yard, place)?;
        let what = || format!("{place:?}, {victim:?}: exit status {:?}\n{}", died.code, died.said);
        match victim {
            Some(victim) => *deaths.entry(victim).or_default() += 1,
            None => {
                ensure!(died.code == Some(0), "nobody was killed: {}", what());
                missed += 1;
            }
        }
        if victim != Some(Victim::Tool) {
            died.proper().with_context(what)?;
        }
        whole(&yard.outputs("build"), &[&before, &wholes[next as usize]]).with_context(what)?;
        a_day_later(&yard.path("build"))?;
        yard.good(&LINE).with_context(what)?;
        ensure!(yard.outputs("build") == wholes[next as usize], "{}: the next build differs", what());
        let left = leftovers(yard)?;
        ensure!(left.is_empty(), "{}: {left:?} are left", what());
        last = next;
    }
    let [tool, compilers] = [Victim::Tool, Victim::Compiler].map(|victim| deaths.get(&victim).unwrap_or(&0));
    ensure!(
        tool + compilers >= wanted,
        "only {tool} + {compilers} deaths, {missed} calls were not made again"
    );
    Ok(format!(
        "{tool} deaths of the tool and {compilers} of its compilers at {kinds} kinds of system calls ({missed} calls were \
         not made again): no mixed output, every next build whole, nothing left behind"
    ))
}

/// Who died.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Victim {
    Tool,
    Compiler,
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
    good(&mut command).context("an undisturbed build")?;
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

/// Makes what killed builds left look old, as it is when somebody comes back to it.
fn a_day_later(at: &Path) -> Result<()> {
    let then = SystemTime::now() - Duration::from_secs(24 * 3600);
    for entry in fs::read_dir(at).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(".new-") {
            fs::File::open(entry.path())?.set_modified(then)?;
        }
        if entry.file_type()?.is_dir() {
            a_day_later(&entry.path())?;
        }
    }
    Ok(())
}

/// What a whole build does not have: links to nothing, second generations, unfinished files.
fn leftovers(yard: &Yard) -> Result<Vec<PathBuf>> {
    let generations: Vec<_> =
        fs::read_dir(yard.path("build/.gpsimd-build/vector_add/generations"))?.collect();
    ensure!(generations.len() == 1, "{} generations", generations.len());
    let mut left = Vec::new();
    let mut waiting = vec![yard.path("build")];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder)?.flatten() {
            let path = entry.path();
            let is_dead_link = entry.file_type()?.is_symlink() && !path.exists();
            if is_dead_link || entry.file_name().to_string_lossy().starts_with(".new-") {
                left.push(path);
            } else if entry.file_type()?.is_dir() {
                waiting.push(path);
            }
        }
    }
    Ok(left)
}

/// Builds, and says who died of it. `strace` ends as the tool does.
fn kill(yard: &Yard, place: &Place) -> Result<(End, Option<Victim>)> {
    let Place { scene, call, nth } = place;
    let log = yard.dir().with_file_name("strace.log");
    let mut command = yard.bounded(300, "strace");
    // without `--seccomp-bpf`: strace 6.1 delivers no signal with it
    command.args(["-f", "-qq", "-o"]).arg(&log).arg("-e").arg(format!("trace={call}"));
    command.arg("-e").arg(format!("inject={call}:signal=KILL:when={nth}"));
    build(yard, *scene, &mut command);
    let end = end(&mut command)?;
    let is_killed = fs::read_to_string(&log)?.contains("+++ killed by SIGKILL +++");
    let victim = match end.code {
        None | Some(137) => Victim::Tool,
        _ => Victim::Compiler,
    };
    Ok((end, is_killed.then_some(victim)))
}

fn build(yard: &Yard, scene: Scene, command: &mut Command) {
    command.arg(yard.tool()).args(LINE);
    if scene == Scene::Uncached {
        command.arg("--no-cache");
    }
}
