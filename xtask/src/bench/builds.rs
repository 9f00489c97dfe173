//! Whole builds against what they replace, and images against the packer's processes.
//!
//! Unaware of how the tool works: it is started as a user would.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::project::Project;
use super::reference::Reference;
use super::rounds::{processor_time, rounds, show, timed};

/// What the section begins with.
pub fn heading(rounds: usize) -> String {
    format!(
        "## Builds\n\nMedians of {rounds} rounds in which all contenders take turns; a ratio is the median of the rounds' \
         ratios. All use the same cross compiler; none uses a cache. The *reference sequence* is what the vendor's driver \
         starts, one after the other: each source, the wrapper, eight links, and for each image the packer's strip, \
         objdump, objcopy, objcopy, as, objcopy, as, ld -r. *Bound* is what no build can be faster than that parses the \
         headers for every source: the slowest single compile and one link, or all processes' time on all processors, \
         whichever takes longer.\n\n"
    )
}

impl Bench<'_> {
    pub fn again(&self) -> Result<String> {
        let mut text =
            "### Again\n\n| case | ours | ninja on the plan | ours / ninja |\n|---|---|---|---|\n".to_owned();
        let (small, large) = (self.scratch.vector_add()?, self.scratch.files(20)?);
        for (name, project) in [("nothing changed, 1 op", &small), ("nothing changed, 20 files", &large)] {
            self.plan_ninja(project)?;
            // once more, so that what was just written counts as settled
            for _ in 0..3 {
                self.ours(project, &[])?;
                self.ninja(project)?;
            }
            let rows = rounds(self.rounds, |row| {
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
        let rows = rounds(self.rounds, |row| {
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

    pub fn cold(&self) -> Result<String> {
        let mut text = "### From nothing\n\nEight cores. \n\n| case | ours | reference sequence | ours / reference | ninja on the plan | ours / ninja | bound | ours / bound |\n|---|---|---|---|---|---|---|---|\n".replace(". \n", ".\n");
        let cases = [
            ("1 op (`tests/kernels/vector_add.cpp`)", self.scratch.vector_add()?),
            ("10 ops in 1 file", self.scratch.ops(10)?),
            ("20 files", self.scratch.files(20)?),
        ];
        for (name, project) in &cases {
            self.plan_ninja(project)?;
            let reference = Reference::of(self.binaries.tool, project)?;
            let rows = rounds(self.rounds, |row| {
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
        let rows = rounds(self.rounds, |row| {
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

    /// What headers that are parsed once save.
    pub fn headers(&self) -> Result<String> {
        let mut text = "### Headers parsed once\n\nBuilds from nothing, eight cores; without is `--no-precompile`. Processor time is that of all processes, a mean.\n\n| case | time | without | ratio | processor time | without | ratio |\n|---|---|---|---|---|---|---|\n".to_owned();
        let cases = [("1 op", self.scratch.vector_add()?), ("20 files", self.scratch.files(20)?)];
        for (name, project) in &cases {
            let rows = rounds(self.rounds, |row| {
                for (contender, more) in [("with", &[][..]), ("without", &["--no-precompile"])] {
                    let before = processor_time()?;
                    row.add(contender, self.ours_cold(project, more)?);
                    row.add(&format!("{contender}, processors"), processor_time()? - before);
                }
                Ok(())
            })?;
            let [with, without] = ["with", "without"].map(|name| rows.mean(&format!("{name}, processors")));
            let _ = writeln!(
                text,
                "| {name} | {} | {} | **{}** | {} | {} | **{:.2}** |",
                rows.time("with"),
                rows.time("without"),
                rows.ratio("with", "without"),
                show(with),
                show(without),
                with.as_secs_f64() / without.as_secs_f64()
            );
        }
        text.push('\n');
        Ok(text)
    }

    pub fn growth(&self) -> Result<String> {
        let mut text = "### Growth\n\nBuilds from nothing, eight cores; *x* is relative to the first of its group.\n\n| what | ours | x |\n|---|---|---|\n".to_owned();
        let ops = [1, 2, 5, 10].map(|count| (format!("{count} ops in 1 file"), self.scratch.ops(count)));
        let files = [1, 5, 10, 20].map(|count| (format!("{count} files"), self.scratch.files(count)));
        for group in [ops, files] {
            let group: Vec<(String, Project)> =
                group.into_iter().map(|(name, project)| Ok((name, project?))).collect::<Result<_>>()?;
            let rows = rounds(self.rounds, |row| {
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
        text.push('\n');
        Ok(text)
    }

    fn ours(&self, project: &Project, more: &[&str]) -> Result<Duration> {
        timed(&mut project.command(self.binaries.tool, &["compile"], &[&["--no-cache"], more].concat()))
    }

    pub fn ours_cold(&self, project: &Project, more: &[&str]) -> Result<Duration> {
        project.forget("build");
        self.ours(project, more)
    }

    fn plan_ninja(&self, project: &Project) -> Result<()> {
        timed(&mut project.command(
            self.binaries.tool,
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
}
