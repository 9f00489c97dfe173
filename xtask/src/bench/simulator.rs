//! Simulated programs beside qemu, whole `run` commands, and what a call and a load cost, from Rust and from Python.
//!
//! Unaware of how programs are simulated.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::Bench;
use super::rounds::{Rows, rounds, timed};

/// Rounds of what takes long and only stands beside what is measured.
const MOST: usize = 3;

/// What the section begins with.
pub fn heading(rounds: usize) -> String {
    format!(
        "## Simulator\n\nMedians of {rounds} rounds in which all contenders take turns; a ratio is the median of the rounds' \
         ratios. *Interpreted* is the same tool with `--no-translate --no-native`, of {MOST} rounds at most.\n\n"
    )
}

/// A kernel of the repository.
struct Kernel {
    name: &'static str,
    source: &'static str,
    /// Further words of `compile`.
    words: &'static [&'static str],
    /// Of `run`, with what else says the output's shape.
    inputs: &'static [&'static str],
    /// Whether it is not too long to be interpreted, too.
    interpreted: bool,
}

const KERNELS: [Kernel; 4] = [
    Kernel {
        name: "`relu` over 1 Mi elements (64 × 16,384), one core",
        source: "examples/relu.cpp",
        words: &["--op", "relu_forward"],
        inputs: &["rand:64x16384", "--like", "0"],
        interpreted: true,
    },
    Kernel {
        name: "`relu` over 1 Mi elements, every one accessed by itself, one core",
        source: "examples/gallery/one_core/relu_elements.cpp",
        words: &["--op", "relu_rows=my::relu(Tensor x) -> Tensor"],
        inputs: &["rand:1024x1024", "--like", "0"],
        interpreted: true,
    },
    Kernel {
        name: "`softmax` over 1 Mi elements, one core",
        source: "examples/gallery/softmax.cpp",
        words: &["--schema", "my::softmax(Tensor x) -> Tensor"],
        inputs: &["rand:1024x1024", "--like", "0"],
        interpreted: true,
    },
    Kernel {
        name: "`chamfer` of 4096 and 4096 points, eight cores",
        source: "examples/gallery/chamfer.cpp",
        words: &[
            "--schema",
            "my::chamfer(Tensor a, Tensor b) -> (Tensor y)",
            "--shape-src",
            "examples/gallery/shape/chamfer_shape.cpp",
            // On one core the results would not fit TCM.
            "--multicore",
        ],
        inputs: &["rand:4096x3", "rand:4096x3"],
        interpreted: false,
    },
];

impl Bench<'_> {
    /// Programs beside `qemu-xtensa`.
    pub fn programs(&self) -> Result<String> {
        let mut names: Vec<String> = Vec::new();
        let mut measure = |count: usize, more: &[&str]| {
            rounds(count, |row| {
                names.clear();
                for line in output(Command::new(self.binaries.speed).arg("--seconds").args(more))?.lines() {
                    let mut words = line.split('\t');
                    let name = words.next().unwrap_or_default().to_owned();
                    for what in ["ours", "qemu"] {
                        let seconds = words.next().and_then(|word| word.parse().ok());
                        let seconds =
                            seconds.with_context(|| format!("{what} of {line:?}; is qemu-user there?"))?;
                        row.add(&format!("{name}, {what}"), Duration::from_secs_f64(seconds));
                    }
                    names.push(name);
                }
                Ok(())
            })
        };
        let rows = measure(self.rounds, &[])?;
        let interpreted = measure(self.rounds.min(MOST), &["--interpreted"])?;
        let mut text =
            "| program | ours | `qemu-xtensa` | qemu / ours | qemu / interpreted |\n|---|---|---|---|---|\n"
                .to_owned();
        for name in &names {
            let [ours, qemu] = ["ours", "qemu"].map(|what| format!("{name}, {what}"));
            let _ = writeln!(
                text,
                "| {name} | {} | {} | **{}** | {} |",
                rows.time(&ours),
                rows.time(&qemu),
                rows.ratio(&qemu, &ours),
                interpreted.ratio(&qemu, &ours),
            );
        }
        text.push('\n');
        Ok(text)
    }

    /// Whole commands.
    pub fn kernels(&self) -> Result<String> {
        let mut text =
            "| whole command | time | interpreted | time / interpreted | `--profile` / plain |\n|---|---|---|---|---|\n"
                .to_owned();
        for Kernel { name, source, words, inputs, interpreted } in KERNELS {
            let library = self.library(source, words)?;
            let rows = rounds(self.rounds, |row| {
                row.add("ours", timed(&mut self.run(&library, inputs, &[]))?);
                row.add("profiled", timed(&mut self.run(&library, inputs, &["--profile"]))?);
                Ok(())
            })?;
            let count = if interpreted { self.rounds.min(MOST) } else { 0 };
            let both = rounds(count, |row| {
                row.add("ours", timed(&mut self.run(&library, inputs, &[]))?);
                if interpreted {
                    let without = ["--no-translate", "--no-native"];
                    row.add("interpreted", timed(&mut self.run(&library, inputs, &without))?);
                }
                Ok(())
            })?;
            let beside = |text: String| if interpreted { text } else { "–".to_owned() };
            let _ = writeln!(
                text,
                "| {name} | **{}** | {} | {} | **{}** |",
                rows.time("ours"),
                beside(both.time("interpreted")),
                beside(both.ratio("ours", "interpreted")),
                rows.ratio("profiled", "ours"),
            );
        }
        text.push('\n');
        Ok(text)
    }

    /// Eight cores on one processor and on two, and what two processors do at most.
    pub fn processors(&self) -> Result<String> {
        let words = ["--multicore", "--schema", "my::busy(Tensor t) -> Tensor"];
        let library = self.library("benches/busy.cpp", &words)?;
        let pinned = |processors: &str| {
            let plain = self.run(&library, &["rand:16", "--like", "0"], &[]);
            let mut command = Command::new("taskset");
            command.args(["-c", processors]).arg(plain.get_program()).args(plain.get_args());
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command
        };
        let rows = rounds(self.rounds, |row| {
            row.add("one", timed(&mut pinned("0"))?);
            row.add("two", timed(&mut pinned("0,1"))?);
            let other = pinned("1").spawn().context("cannot start taskset")?;
            let own = timed(&mut pinned("0"))?;
            let begin = Instant::now();
            ensure!(other.wait_with_output()?.status.success(), "a command on the second processor failed");
            row.add("half of both", (own + begin.elapsed()) / 2);
            Ok(())
        })?;
        Ok(format!(
            "Eight cores of pure arithmetic take {} on one processor and {} on two: **{}** times as fast. Two such commands, one \
             on each processor at the same time, are {} times as fast as one after the other: that much the machine gives.\n\n",
            rows.time("one"),
            rows.time("two"),
            rows.ratio("one", "two"),
            rows.ratio("one", "half of both"),
        ))
    }

    /// Loading a library, and calling an op of one that is loaded.
    pub fn calls(&self) -> Result<String> {
        let one = self.library("examples/relu.cpp", &["--op", "relu_forward"])?;
        let eight = self.library("examples/relu_multicore.cpp", &["--multicore"])?;
        let mut text =
            "| in one process | load | call, 6 elements | call, 1,000 elements | of these beyond their instructions |\n|---|---|---|---|---|\n"
                .to_owned();
        for (name, library) in [("`relu`, one core", &one), ("`relu`, eight cores", &eight)] {
            let rows: Rows = rounds(self.rounds, |row| {
                for elements in ["6", "1000"] {
                    let said = output(Command::new(self.binaries.calls).args([library, elements, "51"]))?;
                    let numbers: Vec<f64> =
                        said.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
                    ensure!(numbers.len() == 4, "calls said {said:?}");
                    let duration = |at: usize| Duration::from_secs_f64(numbers[at].max(0.0) / 1e3);
                    row.add("load", duration(0));
                    row.add(elements, duration(1));
                    row.add("beyond", duration(3));
                }
                Ok(())
            })?;
            let [load, few, many, beyond] = ["load", "6", "1000", "beyond"].map(|what| rows.time(what));
            let _ = writeln!(text, "| {name} | **{load}** | {few} | {many} | **{beyond}** |");
        }
        text.push('\n');
        Ok(text)
    }

    /// Calls from Python, in its process.
    pub fn python(&self) -> Result<String> {
        let package = self.scratch.0.join("python/gpsimd_build");
        copy(&self.root.join("integrations/python/python/gpsimd_build"), &package)?;
        std::fs::copy(self.binaries.extension, package.join("_native.abi3.so")).context("the extension")?;
        let one = self.library("examples/relu.cpp", &["--op", "relu_forward"])?;
        let eight = self.library("examples/relu_multicore.cpp", &["--multicore"])?;
        let mut text =
            "| through Python | call, 2x3 | call, 1,000 elements | call, 1 Mi elements | of which copies |\n\
                        |---|---|---|---|---|\n"
                .to_owned();
        for (name, library) in [("`relu`, one core", &one), ("`relu`, eight cores", &eight)] {
            let rows: Rows = rounds(self.rounds, |row| {
                let mut python = Command::new("/usr/bin/python3");
                python.arg(self.root.join("benches/calls.py")).arg(library);
                let said = output(python.env("PYTHONPATH", self.scratch.0.join("python")))?;
                let numbers: Vec<f64> =
                    said.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                ensure!(numbers.len() == 4, "calls.py said {said:?}");
                for (what, number) in ["few", "many", "most", "copies"].into_iter().zip(numbers) {
                    row.add(what, Duration::from_secs_f64(number / 1e3));
                }
                Ok(())
            })?;
            let [few, many, most] = ["few", "many", "most"].map(|what| rows.time(what));
            let _ = writeln!(
                text,
                "| {name} | **{few}** | {many} | {most} | {} ({}) |",
                rows.time("copies"),
                rows.ratio("copies", "most")
            );
        }
        text.push('\n');
        Ok(text)
    }

    /// Builds a library of a source of the repository; its path.
    fn library(&self, source: &str, words: &[&str]) -> Result<String> {
        let name = Path::new(source).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut command = Command::new(self.binaries.tool);
        command.args(["compile", source, "--name", &name, "--out-dir"]).arg(&self.scratch.0).args(words);
        timed(command.current_dir(self.root).stdout(Stdio::null()).stderr(Stdio::piped()))?;
        Ok(self.scratch.0.join(name).display().to_string())
    }

    fn run(&self, library: &str, inputs: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new(self.binaries.tool);
        command.args(["run", library, "--json"]).args(inputs).args(words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }
}

/// Copies the files of a directory.
fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from).with_context(|| from.display().to_string())?.flatten() {
        if entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// What a command that must succeed prints.
fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("cannot start {command:?}"))?;
    ensure!(done.status.success(), "{command:?}: {}\n{}", done.status, String::from_utf8_lossy(&done.stderr));
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
