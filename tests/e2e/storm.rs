//! Random edits, kills and races; after each, the build equals a clean one, byte for byte.
//!
//! `cargo xtask soak` runs the same with thousands of edits: `GPSIMD_STORM_EDITS`, `GPSIMD_STORM_SEED`.

use std::collections::{BTreeMap, HashMap};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::bench::{Bench, outputs};
use crate::incremental::{KERNEL, SCHEMA};

type Outputs = BTreeMap<String, Vec<u8>>;

/// xorshift64*: the same storm from the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % sides.max(1)
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.roll(texts.len() as u64) as usize]
    }
}

struct Storm {
    bench: Bench,
    dice: Dice,
    /// Flags of the next build.
    flags: Vec<&'static str>,
    multicore: bool,
    /// Clean builds by all that goes into them; states come back.
    clean: HashMap<String, Option<Outputs>>,
}

/// Everything that a build may read, in the order of their search.
const FILES: [&str; 5] = ["k.cpp", "helper.cpp", "first/x.h", "inc/x.h", "inc/y.h"];

impl Storm {
    fn new(seed: u64) -> Storm {
        let bench = Bench::new();
        for directory in ["first", "inc"] {
            std::fs::create_dir(bench.path(directory)).expect("a directory");
        }
        let mut storm =
            Storm { bench, dice: Dice(seed | 1), flags: Vec::new(), multicore: false, clean: HashMap::new() };
        for file in ["k.cpp", "helper.cpp", "inc/x.h", "inc/y.h"] {
            storm.write(file);
        }
        storm
    }

    /// One of a few contents, so that states come back.
    fn write(&mut self, file: &str) {
        let value = self.dice.of(&["1", "2", "3"]);
        let text = match file {
            "k.cpp" => {
                format!("int helper();\n{}", KERNEL.replace("X + ", &format!("X + {value} * helper() + ")))
            }
            "helper.cpp" => format!("#include \"y.h\"\nint helper() {{ return Y + {value}; }}\n"),
            "inc/y.h" => format!("#define Y {value}\n"),
            _ => format!("#include \"y.h\"\n#define X ({value} + Y)\n"),
        };
        self.bench.write(file, &text);
    }

    fn compile(&self) -> Command {
        let mut command = self.bench.tool();
        command.args(["compile", "k.cpp", "helper.cpp", "--schema", SCHEMA, "-I", "first", "-I", "inc"]);
        if self.multicore {
            command.arg("--multicore");
        }
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// The incremental one, with a cache of its own.
    fn build(&self) -> Command {
        let mut command = self.compile();
        command.arg("--cache-dir").arg(self.bench.path("cache")).arg("--").args(&self.flags);
        command
    }

    fn key(&self) -> String {
        let texts = FILES.map(|file| std::fs::read_to_string(self.bench.path(file)).ok());
        format!("{texts:?} {:?} {}", self.flags, self.multicore)
    }

    /// What a build from nothing makes of the present state; `None` if it fails.
    fn clean(&mut self) -> Option<Outputs> {
        let key = self.key();
        if let Some(known) = self.clean.get(&key) {
            return known.clone();
        }
        let _ = std::fs::remove_dir_all(self.bench.path("clean"));
        let mut command = self.compile();
        command.args(["--no-cache", "--out-dir", "clean", "--"]).args(&self.flags);
        let is_good = command.output().expect("the tool starts").status.success();
        let made = is_good.then(|| outputs(&self.bench.path("clean")));
        self.clean.insert(key, made.clone());
        made
    }

    /// One thing that happens to a project.
    fn edit(&mut self) -> String {
        let file = self.dice.of(&FILES);
        let path = self.bench.path(file);
        let kind = self.dice.roll(14);
        match kind {
            0 => {
                if let Ok(file) = std::fs::File::options().append(true).open(&path) {
                    file.set_modified(std::time::SystemTime::now()).expect("touched");
                }
                format!("touch {file}")
            }
            1..=3 => {
                self.write(file);
                format!("change {file}")
            }
            4 => {
                // sources stay: their absence is the request's fault, not the build's
                if file.ends_with(".h") {
                    let _ = std::fs::remove_file(&path);
                }
                format!("delete {file}")
            }
            5 => {
                let (from, to) =
                    if self.bench.path("first/x.h").exists() { ("first", "inc") } else { ("inc", "first") };
                let name = |directory: &str| self.bench.path(format!("{directory}/x.h"));
                let _ = std::fs::rename(name(from), name(to));
                format!("move x.h from {from} to {to}")
            }
            6 => {
                // size and time stay, content may not
                let time = path.metadata().and_then(|file| file.modified()).ok();
                self.write(file);
                if let (Some(time), Ok(file)) = (time, std::fs::File::options().append(true).open(&path)) {
                    file.set_modified(time).expect("set back");
                }
                format!("change {file} and set its time back")
            }
            7 => {
                self.flags = match self.dice.of(&["none", "O2", "define"]) {
                    "O2" => vec!["-O2"],
                    "define" => vec!["-DZ=1"],
                    _ => Vec::new(),
                };
                format!("flags {:?}", self.flags)
            }
            8 => {
                self.multicore = !self.multicore;
                format!("multicore {}", self.multicore)
            }
            9 => {
                let mut child = self.build().spawn().expect("the tool starts");
                std::thread::sleep(Duration::from_millis(self.dice.roll(400)));
                let _ = child.kill();
                let _ = child.wait();
                "kill -9".to_owned()
            }
            10 => {
                let mut other = self.build().spawn().expect("the tool starts");
                self.write(file);
                let second = self.build().output();
                let _ = other.wait();
                format!(
                    "two builds, and {file} changed between: {}",
                    second.is_ok_and(|output| output.status.success())
                )
            }
            11 => {
                let names: Vec<String> = outputs(&self.bench.path("build")).into_keys().collect();
                if let Some(name) = names.get(self.dice.roll(64) as usize % names.len().max(1)) {
                    self.bench.write(&format!("build/{name}"), "damaged");
                }
                "damage an output".to_owned()
            }
            12 => {
                let name = self.dice.of(&[
                    "state.json",
                    "receipt.json",
                    "work/obj/k.o",
                    "work/wrapper.cpp",
                    "current",
                ]);
                let _ = std::fs::remove_file(self.bench.path(format!("build/.gpsimd-build/k/{name}")));
                format!("remove {name}")
            }
            _ => {
                let _ = std::fs::remove_dir_all(self.bench.path(self.dice.of(&["build", "cache"])));
                "remove the build or the cache".to_owned()
            }
        }
    }

    /// Edits, builds and compares.
    fn step(&mut self, story: &mut Vec<String>) {
        for _ in 0..1 + self.dice.roll(3) {
            let told = self.edit();
            story.push(told);
        }
        let want = self.clean();
        let before = outputs(&self.bench.path("build"));
        let output = self.build().output().expect("the tool starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let tail = || story.iter().rev().take(12).rev().cloned().collect::<Vec<_>>().join("\n  ");
        assert_eq!(output.status.success(), want.is_some(), "after\n  {}\n{said}", tail());
        let found = outputs(&self.bench.path("build"));
        match want {
            Some(want) => assert!(found == want, "not a clean build's outputs after\n  {}\n{said}", tail()),
            None => assert!(found == before, "a failed build changed outputs after\n  {}", tail()),
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn random_edits_end_where_clean_builds_do() {
    let edits = number("GPSIMD_STORM_EDITS", 60);
    let seed = number("GPSIMD_STORM_SEED", 8);
    let mut storm = Storm::new(seed);
    let mut story = Vec::new();
    while (story.len() as u64) < edits {
        storm.step(&mut story);
        if edits > 100 && story.len() % 50 < 3 {
            eprintln!("storm {seed}: {} of {edits} edits, {} states", story.len(), storm.clean.len());
        }
    }
    eprintln!("storm {seed}: {} edits over {} states", story.len(), storm.clean.len());
}
