//! Damaged files to every command that reads one, each with limits on time and memory.
//!
//! A damaged file may be refused or not be noticed; it may not end the tool otherwise. Unaware of formats.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Dose;
use super::dice::Dice;
use super::yard::{SCHEMA, Yard, end};

/// Address space. The simulated device's memory is reserved, not touched.
const MEMORY: &str = "--as=3221225472";
/// Longest that one call may take, the machine being busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// A file of a library, and a command that reads it.
struct Target {
    file: &'static str,
    line: &'static [&'static str],
}

const fn of(file: &'static str, line: &'static [&'static str]) -> Target {
    Target { file, line }
}

const RUN: [&str; 7] = ["run", "lib/v", "a.npy", "a.npy", "--like", "0", "--budget=300000"];
const RUN_SPLIT: [&str; 9] =
    ["run", "lib/v", "a.npy", "a.npy", "--like", "0", "--budget=300000", "--lane", "ucpl"];

const TARGETS: &[Target] = &[
    of("lib/v.so", &["inspect", "lib/v.so"]),
    of("lib/v.so", &["inspect", "--json", "lib/v.so"]),
    of("lib/v.so", &["inspect", "lib/v.so", "--map", "map.svg"]),
    of("lib/v.stripped.so", &["inspect", "lib/v.stripped.so"]),
    of("lib/v.packed.so", &["inspect", "lib/v.packed.so"]),
    of("lib/v.split.so", &["inspect", "lib/v.split.so"]),
    of("lib/v.split.packed.so", &["inspect", "lib/v.split.packed.so"]),
    of("lib/v.ucpl", &["inspect", "lib/v.ucpl"]),
    of("load.bin", &["inspect", "load.bin"]),
    of("lib/v.so", &["verify", "lib/v.so"]),
    of("lib/v.stripped.so", &["verify", "lib/v.stripped.so"]),
    of("lib/v.packed.so", &["verify", "lib/v.packed.so"]),
    of("lib/v.split.so", &["verify", "lib/v.split.so"]),
    of("lib/v.ucpl", &["verify", "lib/v.ucpl"]),
    of("lib/v.manifest.json", &["verify", "lib/v"]),
    of("lib/v.so", &["verify", "--json", "lib/v"]),
    of("lib/v.so", &["pack", "lib/v.so", "-o", "p.so", "-s", "s.so"]),
    of("lib/v.packed.so", &["unpack", "lib/v.packed.so", "-o", "u.so"]),
    of("lib/v.split.so", &["prelink", "lib/v.split.so", "-o", "l.ucpl"]),
    of("lib/v.split.so", &["prelink", "--compat", "lib/v.split.so", "-o", "l.ucpl"]),
    of(
        "lib/v.split.packed.so",
        &["prelink", "lib/v.split.packed.so", "-o", "l.ucpl", "--generation", "sunda"],
    ),
    of("lib/v.ucpl", &["records", "load", "--addr", "0x1000000000", "--image", "lib/v.ucpl", "-o", "r.bin"]),
    of("a.npy", &RUN),
    of("lib/v.manifest.json", &RUN),
    of("lib/v.so", &RUN),
    of("lib/v.stripped.so", &RUN),
    of("lib/v.manifest.json", &RUN_SPLIT),
    of("lib/v.split.packed.so", &RUN_SPLIT),
    of("lib/v.split.so", &RUN_SPLIT),
    of("schemas.txt", &["schema", "-"]),
    of("schemas.txt", &["schema", "--json", "-"]),
    of("lib/.gpsimd-build/v/receipt.json", &["compile", "vector_add.cpp", "--name", "v", "--out-dir", "lib"]),
    of(
        "lib/.gpsimd-build/v/state.json",
        &["plan", "vector_add.cpp", "--schema", SCHEMA, "--name", "v", "--out-dir", "lib"],
    ),
    of("vector_add.cpp", &["plan", "vector_add.cpp", "--schema", SCHEMA]),
];

pub fn storm(yard: &Yard, dose: &Dose) -> Result<String> {
    let &Dose { mutants: count, seed, jobs, .. } = dose;
    yard.good(&["compile", "vector_add.cpp", "--name", "v", "--out-dir", "lib", "--image", "both"])?;
    yard.good(&["run", "lib/v", "arange:24", "ones:24", "--like", "0", "-o", "a.npy"])?;
    yard.good(&["records", "load", "--addr", "0x1000000000", "--image", "lib/v.ucpl", "-o", "load.bin"])?;
    fs::write(
        yard.path("schemas.txt"),
        "my::f(Tensor a, int k=3, Scalar s) -> (Tensor r)\naten::add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n",
    )?;
    let done = AtomicU64::new(0);
    let slowest = Mutex::new((Duration::ZERO, ""));
    let statuses = Mutex::new(BTreeMap::<i32, u64>::new());
    let broken = Mutex::new(Vec::new());
    let results: Vec<Result<()>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..jobs.max(1))
            .map(|worker| {
                let (done, slowest, statuses, broken) = (&done, &slowest, &statuses, &broken);
                scope.spawn(move || -> Result<()> {
                    let place = Place::new(yard, worker)?;
                    loop {
                        let index = done.fetch_add(1, Ordering::Relaxed);
                        if index >= count {
                            return Ok(());
                        }
                        if index > 0 && index % 1000 == 0 {
                            eprintln!("xtask: {index} of {count} damaged files");
                        }
                        let target = &TARGETS[index as usize % TARGETS.len()];
                        let begin = Instant::now();
                        let code = match place.shoot(yard, target, seed ^ index << 8) {
                            Ok(code) => code,
                            Err(error) => {
                                let mut broken = lock(broken);
                                broken.push(format!("{error:#}"));
                                ensure!(broken.len() < 20, "and more");
                                continue;
                            }
                        };
                        let took = begin.elapsed();
                        let mut slowest = lock(slowest);
                        if took > slowest.0 {
                            *slowest = (took, target.line[0]);
                        }
                        drop(slowest);
                        let mut statuses = lock(statuses);
                        *statuses.entry(code).or_default() += 1;
                    }
                })
            })
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|_| anyhow::bail!("a worker panicked")))
            .collect()
    });
    let stopped: Vec<String> =
        results.into_iter().filter_map(|end| Some(format!("{:#}", end.err()?))).collect();
    let broken = [broken.into_inner().unwrap_or_else(PoisonError::into_inner), stopped].concat();
    ensure!(broken.is_empty(), "{} promises:\n{}", broken.len(), broken.join("\n"));
    let (took, command) = *lock(&slowest);
    let statuses = statuses.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(format!(
        "{count} damaged files in {} commands, no panic, exit statuses {statuses:?}, slowest {} ms ({command})",
        TARGETS.len(),
        took.as_millis()
    ))
}

/// A worker's own copy of the library.
struct Place {
    dir: PathBuf,
    whole: BTreeMap<&'static str, Vec<u8>>,
}

impl Place {
    fn new(yard: &Yard, worker: usize) -> Result<Place> {
        let dir = yard.dir().with_file_name(format!("worker{worker}"));
        let copied = std::process::Command::new("cp").arg("-a").arg(yard.dir()).arg(&dir).status()?;
        ensure!(copied.success(), "cannot copy {}", yard.dir().display());
        let mut whole = BTreeMap::new();
        for target in TARGETS {
            let path = dir.join(target.file);
            whole.insert(target.file, fs::read(&path).with_context(|| path.display().to_string())?);
        }
        Ok(Place { dir, whole })
    }

    /// Damages, calls, mends; gives the exit status.
    fn shoot(&self, yard: &Yard, target: &Target, seed: u64) -> Result<i32> {
        let mut bytes = self.whole[target.file].clone();
        Dice::new(seed).damage(&mut bytes);
        let path = self.dir.join(target.file);
        // visible names are links into a generation: the damage goes to a file of this name
        let replace = |bytes: &[u8]| -> Result<()> {
            let _ = fs::remove_file(&path);
            Ok(fs::write(&path, bytes)?)
        };
        replace(&bytes)?;
        let mut command = yard.bounded(PATIENCE.as_secs() as u32, "prlimit");
        command.args([MEMORY, "--core=0"]).arg(yard.tool()).args(target.line).current_dir(&self.dir);
        if target.line.contains(&"-") {
            command.stdin(fs::File::open(&path)?);
        }
        let end = end(&mut command)?;
        replace(&self.whole[target.file])?;
        end.proper().with_context(|| self.keep(target, seed, &bytes))?;
        Ok(end.code.unwrap_or(-1))
    }

    /// Keeps what broke a promise, and says where.
    fn keep(&self, target: &Target, seed: u64, bytes: &[u8]) -> String {
        let kept = self.dir.join(format!("broken-{seed:x}"));
        let _ = fs::write(&kept, bytes);
        format!("{:?} with {} = {}", target.line, target.file, kept.display())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
