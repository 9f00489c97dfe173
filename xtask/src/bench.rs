//! Whole builds, measured against what they replace, in one run on one machine with one compiler.
//!
//! Every round runs each contender once, in turn, so that a busy machine is busy for all of them; a ratio is the median
//! of the rounds' ratios. Unaware of how the tool works: it is started as a user would.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

const PAGE: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- begin: cargo xtask bench -->";
const END: &str = "<!-- end: cargo xtask bench -->";

/// Measures and writes the section of builds in `docs/benchmarks.md`.
pub fn run(root: &Path, tool: &Path, package: &Path, rounds: usize) -> Result<()> {
    let bench = Bench { tool, package, rounds: rounds.max(1), scratch: Scratch::new()? };
    let mut text = format!(
        "{BEGIN}\n## Builds\n\nMedians of {} rounds in which all contenders take turns; a ratio is the median of the \
         rounds' ratios. All use the same cross compiler; none uses a cache. The *reference sequence* is what the \
         vendor's driver starts, one after the other: each source, the wrapper, eight links, and for each image the \
         packer's strip, objdump, objcopy, objcopy, as, objcopy, as, ld -r. *Bound* is the slowest single compile and \
         one link: no build that compiles can be faster.\n\n    cargo xtask bench --rounds {}\n\n",
        bench.rounds, bench.rounds
    );
    for part in [Bench::images, Bench::again, Bench::cold, Bench::growth] {
        let found = part(&bench)?;
        print!("{found}");
        text += &found;
    }
    text += END;
    let page = root.join(PAGE);
    let old = std::fs::read_to_string(&page).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
    let new = match (old.find(BEGIN), old.find(END)) {
        (Some(begin), Some(end)) => format!("{}{text}{}", &old[..begin], &old[end + END.len()..]),
        _ => format!("{}\n\n{text}\n", old.trim_end()),
    };
    std::fs::write(&page, new).with_context(|| format!("cannot write {PAGE}"))
}

struct Bench<'a> {
    tool: &'a Path,
    package: &'a Path,
    rounds: usize,
    scratch: Scratch,
}

/// A directory that goes when the benchmark ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Scratch> {
        let path = std::env::temp_dir().join(format!("gpsimd-bench-{}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path.canonicalize()?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A project on disk and the arguments that build it.
struct Project {
    directory: PathBuf,
    arguments: Vec<String>,
    sources: Vec<String>,
}

impl Project {
    fn command(&self, tool: &Path, verb: &[&str], more: &[&str]) -> Command {
        let mut command = Command::new(tool);
        command.args(verb).args(&self.sources).args(&self.arguments).arg("--multicore").args(more);
        command.current_dir(&self.directory).stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    fn forget(&self, directory: &str) {
        let _ = std::fs::remove_dir_all(self.directory.join(directory));
    }
}

fn kernel(name: &str, body: &str) -> String {
    format!(
        "torch::Tensor {name}(const torch::Tensor& t) {{\n    torch::Tensor out = torch::empty(t.sizes(), torch::kFloat);\n    \
         auto in = t.read_stream_accessor<float>();\n    auto to = out.write_stream_accessor<float>();\n    \
         for (int64_t i = 0; i < t.numel(); ++i) {{ float x = in.read(); {body} to.write(x); }}\n    return out;\n}}\n"
    )
}

impl Bench<'_> {
    fn project(&self, name: &str, files: &[(String, String)], ops: usize) -> Result<Project> {
        let directory = self.scratch.0.join(name);
        std::fs::create_dir_all(&directory)?;
        for (file, text) in files {
            std::fs::write(directory.join(file), text)?;
        }
        let sources =
            files.iter().map(|(file, _)| file.clone()).filter(|file| file.ends_with(".cpp")).collect();
        let mut arguments = vec!["--name".to_owned(), "lib".to_owned()];
        for op in 0..ops {
            arguments.extend(["--op".to_owned(), format!("k{op}=my::k{op}(Tensor t) -> Tensor")]);
        }
        Ok(Project { directory, arguments, sources })
    }

    fn vector_add(&self) -> Result<Project> {
        let text =
            std::fs::read_to_string("tests/kernels/vector_add.cpp").context("run it in the repository")?;
        let mut project = self.project("vector_add", &[("vector_add.cpp".to_owned(), text)], 0)?;
        let schema = "my::vector_add(Tensor a, Tensor b) -> (Tensor out)";
        project.arguments.extend(["--schema".to_owned(), schema.to_owned()]);
        Ok(project)
    }

    fn ops(&self, count: usize) -> Result<Project> {
        let kernels: String =
            (0..count).map(|op| kernel(&format!("k{op}"), &format!("x = x * {op} + 1;"))).collect();
        let text = format!("#include <torch/torch.h>\n{kernels}");
        self.project(&format!("ops{count}"), &[("k.cpp".to_owned(), text)], count)
    }

    /// One op, and helpers in files of their own, each with a header of its own.
    fn files(&self, count: usize) -> Result<Project> {
        let calls: String = (1..count).map(|file| format!("x += helper{file}(x); ")).collect();
        let declarations: String = (1..count).map(|file| format!("float helper{file}(float);\n")).collect();
        let text = format!("#include <torch/torch.h>\n{declarations}{}", kernel("k0", &calls));
        let mut files = vec![("k.cpp".to_owned(), text)];
        for file in 1..count {
            files.push((format!("h{file}.h"), format!("#define H {file}\n")));
            files.push((
                format!("h{file}.cpp"),
                format!("#include <torch/torch.h>\n#include \"h{file}.h\"\nfloat helper{file}(float x) {{ return x * H; }}\n"),
            ));
        }
        self.project(&format!("files{count}"), &files, 1)
    }

    fn ours(&self, project: &Project, more: &[&str]) -> Result<Duration> {
        timed(&mut project.command(self.tool, &["compile"], &[&["--no-cache"], more].concat()))
    }

    fn ours_cold(&self, project: &Project, more: &[&str]) -> Result<Duration> {
        project.forget("build");
        self.ours(project, more)
    }

    fn plan_ninja(&self, project: &Project) -> Result<()> {
        timed(&mut project.command(
            self.tool,
            &["plan", "--format", "ninja"],
            &["--output", "build.ninja", "--out-dir", "ninja"],
        ))?;
        Ok(())
    }

    fn ninja(&self, project: &Project) -> Result<Duration> {
        timed(
            Command::new("ninja")
                .current_dir(&project.directory)
                .stdout(Stdio::null())
                .stderr(Stdio::piped()),
        )
    }

    fn ninja_cold(&self, project: &Project) -> Result<Duration> {
        project.forget("ninja");
        for name in [".ninja_log", ".ninja_deps"] {
            let _ = std::fs::remove_file(project.directory.join(name));
        }
        self.ninja(project)
    }

    fn reference(&self, project: &Project) -> Result<Reference> {
        // stages that the reference has no process for are done once, before
        timed(&mut project.command(
            self.tool,
            &["compile"],
            &["--no-cache", "--link", "each", "--out-dir", "reference"],
        ))?;
        let mut command = project.command(
            self.tool,
            &["plan", "--format", "json"],
            &["--link", "each", "--out-dir", "reference"],
        );
        let output = command.stdout(Stdio::piped()).output()?;
        let plan: Value = serde_json::from_slice(&output.stdout).context("a plan")?;
        let mut reference = Reference { compiles: Vec::new(), links: Vec::new(), packs: Vec::new() };
        for action in plan["actions"].as_array().context("actions")? {
            let words: Vec<&str> =
                action["arguments"].as_array().context("words")?.iter().filter_map(Value::as_str).collect();
            if action["kind"] != "device" {
                continue;
            }
            let environment = action["environment"].as_object().context("variables")?;
            let start = Start {
                directory: project.directory.clone(),
                program: action["program"].as_str().context("a program")?.into(),
                words: words.iter().map(|word| (*word).to_owned()).collect(),
                environment: environment
                    .iter()
                    .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
                    .collect(),
            };
            if words.contains(&"-c") {
                reference.compiles.push(start);
            } else {
                let linked = action["outputs"][0].as_str().context("an image")?;
                reference.packs.extend(packer(&start, Path::new(linked)));
                reference.links.push(start);
            }
        }
        Ok(reference)
    }

    fn cold(&self) -> Result<String> {
        let mut text = "### From nothing\n\nEight cores. \n\n| case | ours | reference sequence | ours / reference | ninja on the plan | ours / ninja | bound | ours / bound |\n|---|---|---|---|---|---|---|---|\n".replace(". \n", ".\n");
        let cases = [
            ("1 op (`tests/kernels/vector_add.cpp`)", self.vector_add()?),
            ("10 ops in 1 file", self.ops(10)?),
            ("20 files", self.files(20)?),
        ];
        for (name, project) in &cases {
            self.plan_ninja(project)?;
            let reference = self.reference(project)?;
            let rows = self.rounds(|row| {
                row.add("ours", self.ours_cold(project, &[])?);
                row.add("reference", reference.all()?);
                row.add("ninja", self.ninja_cold(project)?);
                row.add("bound", reference.bound()?);
                Ok(())
            })?;
            let _ = writeln!(
                text,
                "| {name} | {} | {} | **{}** | {} | {} | {} | **{}** |",
                rows.time("ours"),
                rows.time("reference"),
                rows.ratio("ours", "reference"),
                rows.time("ninja"),
                rows.ratio("ours", "ninja"),
                rows.time("bound"),
                rows.ratio("ours", "bound"),
            );
        }
        let [_, _, (_, project)] = &cases;
        let rows = self.rounds(|row| {
            row.add("one", self.ours_cold(project, &["-j1"])?);
            row.add("two", self.ours_cold(project, &["-j2"])?);
            Ok(())
        })?;
        let _ = writeln!(
            text,
            "\n20 files with `-j1` {}, with `-j2` {}: **{}** times as fast.\n",
            rows.time("one"),
            rows.time("two"),
            rows.ratio("one", "two")
        );
        Ok(text)
    }

    fn again(&self) -> Result<String> {
        let mut text =
            "### Again\n\n| case | ours | ninja on the plan | ours / ninja |\n|---|---|---|---|\n".to_owned();
        let (small, large) = (self.vector_add()?, self.files(20)?);
        for (name, project) in [("nothing changed, 1 op", &small), ("nothing changed, 20 files", &large)] {
            self.plan_ninja(project)?;
            // once more, so that what was just written counts as settled
            for _ in 0..3 {
                self.ours(project, &[])?;
                self.ninja(project)?;
            }
            let rows = self.rounds(|row| {
                row.add("ours", self.ours(project, &[])?);
                row.add("ninja", self.ninja(project)?);
                Ok(())
            })?;
            let _ = writeln!(
                text,
                "| {name} | **{}** | {} | **{}** |",
                rows.time("ours"),
                rows.time("ninja"),
                rows.ratio("ours", "ninja")
            );
        }
        let mut value = 0;
        let rows = self.rounds(|row| {
            value += 1;
            std::fs::write(large.directory.join("h7.h"), format!("#define H (7 + {value})\n"))?;
            row.add("ours", self.ours(&large, &[])?);
            row.add("ninja", self.ninja(&large)?);
            Ok(())
        })?;
        let _ = writeln!(
            text,
            "| one header changed, 20 files | {} | {} | {} |\n",
            rows.time("ours"),
            rows.time("ninja"),
            rows.ratio("ours", "ninja")
        );
        Ok(text)
    }

    fn images(&self) -> Result<String> {
        let project = self.vector_add()?;
        self.ours_cold(&project, &[])?;
        let reference = self.reference(&project)?;
        let images = images(&project);
        let rows = self.rounds(|row| {
            let (pack, verify) = self.package(&images)?;
            row.add("pack", pack);
            row.add("verify", verify);
            row.add("both", pack + verify);
            row.add("processes", reference.packing()?);
            row.add("readelf", readelf(&images)?);
            Ok(())
        })?;
        Ok(format!(
            "### Images\n\nEight images of `vector_add` in memory, one thread, against processes one after the other.\n\n\
             | stage | ours | processes | ours / processes |\n|---|---|---|---|\n\
             | strip and pack | {} | the packer's eight each: {} | {} |\n\
             | verify (24 files) | {} | `readelf -hlSs` of each linked image: {} | {} |\n\
             | strip, pack and verify | {} | the packer's: {} | **{}** |\n\n",
            rows.time("pack"),
            rows.time("processes"),
            rows.ratio("pack", "processes"),
            rows.time("verify"),
            rows.time("readelf"),
            rows.ratio("verify", "readelf"),
            rows.time("both"),
            rows.time("processes"),
            rows.ratio("both", "processes"),
        ))
    }

    fn growth(&self) -> Result<String> {
        let mut text = "### Growth\n\nBuilds from nothing, eight cores; *x* is relative to the first of its group.\n\n| what | ours | x |\n|---|---|---|\n".to_owned();
        let ops = [1, 2, 5, 10].map(|count| (format!("{count} ops in 1 file"), self.ops(count)));
        let files = [1, 5, 10, 20].map(|count| (format!("{count} files"), self.files(count)));
        for group in [ops, files] {
            let group: Vec<(String, Project)> =
                group.into_iter().map(|(name, project)| Ok((name, project?))).collect::<Result<_>>()?;
            let rows = self.rounds(|row| {
                for (name, project) in &group {
                    row.add(name, self.ours_cold(project, &[])?);
                }
                Ok(())
            })?;
            for (name, _) in &group {
                let _ =
                    writeln!(text, "| {name} | {} | {} |", rows.time(name), rows.ratio(name, &group[0].0));
            }
        }
        text += "\n| image | strip, pack and verify of eight | x |\n|---|---|---|\n";
        let mut first = None;
        for kib in [0, 64, 256, 1024] {
            let name = format!("size{kib}");
            let words = kib * 256;
            let table = match words {
                0 => String::new(),
                _ => format!("extern const float table[{words}];\nconst float table[{words}] = {{1}};\n"),
            };
            let body = if words == 0 { "x += 1;".to_owned() } else { format!("x += table[i % {words}];") };
            let text_of = format!("#include <torch/torch.h>\n{table}{}", kernel("k0", &body));
            let project = self.project(&name, &[("k.cpp".to_owned(), text_of)], 1)?;
            self.ours_cold(&project, &[])?;
            let images = images(&project);
            let size = std::fs::metadata(&images[0])?.len();
            let mut times = Vec::new();
            for _ in 0..self.rounds {
                let (pack, verify) = self.package(&images)?;
                times.push(pack + verify);
            }
            let time = median(&mut times);
            let base = *first.get_or_insert(time);
            let _ = writeln!(
                text,
                "| {kib} KiB of constants, linked image {} KiB | {} | {:.2} |",
                size / 1024,
                show(time),
                time.as_secs_f64() / base.as_secs_f64()
            );
        }
        text.push('\n');
        Ok(text)
    }

    /// Strip and pack, and verify, of images in memory; each the median of a few.
    fn package(&self, images: &[PathBuf]) -> Result<(Duration, Duration)> {
        let output = Command::new(self.package).arg("9").args(images).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().map(|word| word.parse().map(Duration::from_nanos));
        match (numbers.next(), numbers.next()) {
            (Some(Ok(pack)), Some(Ok(verify))) => Ok((pack, verify)),
            _ => bail!("{}: {}", self.package.display(), String::from_utf8_lossy(&output.stderr)),
        }
    }

    fn rounds(&self, mut round: impl FnMut(&mut Row) -> Result<()>) -> Result<Rows> {
        let mut rows = Rows(Vec::new());
        // the first warms the machine's file cache and does not count
        for number in 0..=self.rounds {
            let mut row = Row::default();
            round(&mut row)?;
            if number > 0 {
                rows.0.push(row);
            }
        }
        Ok(rows)
    }
}

/// The processes of the vendor's driver.
struct Reference {
    compiles: Vec<Start>,
    links: Vec<Start>,
    packs: Vec<Start>,
}

impl Reference {
    fn all(&self) -> Result<Duration> {
        total(self.compiles.iter().chain(&self.links).chain(&self.packs))
    }

    fn packing(&self) -> Result<Duration> {
        total(&self.packs)
    }

    /// The slowest compile and one link.
    fn bound(&self) -> Result<Duration> {
        let mut slowest = Duration::ZERO;
        for compile in &self.compiles {
            slowest = slowest.max(compile.run()?);
        }
        Ok(slowest + total(self.links.first())?)
    }
}

/// A process to start.
struct Start {
    directory: PathBuf,
    program: PathBuf,
    words: Vec<String>,
    environment: Vec<(String, String)>,
}

impl Start {
    fn run(&self) -> Result<Duration> {
        let mut command = Command::new(&self.program);
        command.args(&self.words).current_dir(&self.directory).stdout(Stdio::null()).stderr(Stdio::piped());
        timed(command.envs(self.environment.iter().map(|(name, value)| (name, value))))
    }

    fn other(&self, program: &str, words: &[&str]) -> Start {
        Start {
            directory: self.directory.clone(),
            program: format!("xtensa-lx106-elf-{program}").into(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            environment: self.environment.clone(),
        }
    }
}

/// The vendor packer's steps for one image (spec toolchain.md §7.2), with the same names of files each time.
fn packer(link: &Start, linked: &Path) -> Vec<Start> {
    let at = |kind: &str| linked.with_extension(kind).display().to_string();
    let image = linked.display().to_string();
    let (a, b, stripped, c, d, e, packed) =
        (at("tmpA"), at("tmpB"), at("ref-stripped"), at("tmpC"), at("tmpD"), at("tmpE"), at("ref-packed"));
    let script = at("tmp.ld");
    let _ = std::fs::write(&script, "SECTIONS { .rodata : { lib_func = .; *(libdata) } }\n");
    let _ = std::fs::write(at("shim.s"), ".section libdata, \"a\"\n.align 4\n");
    let add = format!("libdata={b}");
    vec![
        link.other("strip", &["-o", &a, &image]),
        link.other("objdump", &["-h", &a]),
        link.other(
            "objcopy",
            &[
                "--remove-section=.xtensa.info",
                "--remove-section=.xt.lit",
                "--remove-section=.xt.prop",
                &a,
                &b,
            ],
        ),
        link.other("objcopy", &[&b, &stripped]),
        link.other("as", &["-o", &c, "/dev/null"]),
        link.other(
            "objcopy",
            &["--add-section", &add, "--set-section-flags", "libdata=readonly,alloc", &c, &d],
        ),
        link.other("as", &["-o", &e, &at("shim.s")]),
        link.other("ld", &["-r", "-T", &script, "-o", &packed, &e, &d]),
    ]
}

fn images(project: &Project) -> Vec<PathBuf> {
    (0..8).map(|cpu| project.directory.join(format!("build/lib_cpu{cpu}.so"))).collect()
}

fn readelf(images: &[PathBuf]) -> Result<Duration> {
    let mut time = Duration::ZERO;
    for image in images {
        let mut command = Command::new("xtensa-lx106-elf-readelf");
        time += timed(
            command
                .args(["-h", "-l", "-S", "-s", "-W"])
                .arg(image)
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )?;
    }
    Ok(time)
}

fn total<'s>(starts: impl IntoIterator<Item = &'s Start>) -> Result<Duration> {
    starts.into_iter().try_fold(Duration::ZERO, |sum, start| Ok(sum + start.run()?))
}

/// Runs a command that must succeed; gives what it took.
fn timed(command: &mut Command) -> Result<Duration> {
    let begin = Instant::now();
    let output = command.spawn().with_context(|| format!("cannot start {command:?}"))?.wait_with_output()?;
    let took = begin.elapsed();
    if !output.status.success() {
        bail!("{command:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(took)
}

/// What each contender took in one round.
#[derive(Default)]
struct Row(BTreeMap<String, Duration>);

impl Row {
    fn add(&mut self, name: &str, time: Duration) {
        self.0.insert(name.to_owned(), time);
    }

    fn get(&self, name: &str) -> Duration {
        self.0.get(name).copied().unwrap_or_default()
    }
}

struct Rows(Vec<Row>);

impl Rows {
    fn time(&self, name: &str) -> String {
        show(median(&mut self.0.iter().map(|row| row.get(name)).collect::<Vec<_>>()))
    }

    fn ratio(&self, over: &str, under: &str) -> String {
        let mut ratios: Vec<f64> =
            self.0.iter().map(|row| row.get(over).as_secs_f64() / row.get(under).as_secs_f64()).collect();
        ratios.sort_by(f64::total_cmp);
        let ratio = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        if ratio < 0.1 { format!("{ratio:.4} (1/{:.0})", 1.0 / ratio) } else { format!("{ratio:.2}") }
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn show(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    if ms < 10.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}
