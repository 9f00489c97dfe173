//! What a build replaces: the processes of the vendor's driver, one after the other, with the same compiler.
//!
//! Unaware of what they are compared with.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::project::Project;
use super::rounds::{processor_time, timed};

/// The processes of the vendor's driver.
pub struct Reference {
    compiles: Vec<Start>,
    links: Vec<Start>,
    packs: Vec<Start>,
}

impl Reference {
    /// Those of a project.
    pub fn of(tool: &Path, project: &Project) -> Result<Reference> {
        // stages that the reference has no process for are done once, before
        timed(&mut project.command(
            tool,
            &["compile"],
            &["--no-cache", "--link", "each", "--out-dir", "reference"],
        ))?;
        let mut command = project.command(
            tool,
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

    pub fn all(&self) -> Result<Duration> {
        total(self.compiles.iter().chain(&self.links).chain(&self.packs))
    }

    pub fn packing(&self) -> Result<Duration> {
        total(&self.packs)
    }

    /// The slowest compile and one link, or the time of all compiles and one link on all processors, whichever is longer.
    pub fn bound(&self) -> Result<Duration> {
        let before = processor_time()?;
        let mut slowest = Duration::ZERO;
        for compile in &self.compiles {
            slowest = slowest.max(compile.run()?);
        }
        let way = slowest + total(self.links.first())?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(way.max((processor_time()? - before) / u32::try_from(processors)?))
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

fn total<'s>(starts: impl IntoIterator<Item = &'s Start>) -> Result<Duration> {
    starts.into_iter().try_fold(Duration::ZERO, |sum, start| Ok(sum + start.run()?))
}
