//! What happens to images behind the link, in memory, against the packer's processes.
//!
//! Unaware of builds.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Result, bail};

use super::Bench;
use super::project::{Project, kernel};
use super::reference::Reference;
use super::rounds::{median, rounds, show, timed};

impl Bench<'_> {
    pub fn images(&self) -> Result<String> {
        let project = self.scratch.vector_add()?;
        self.ours_cold(&project, &[])?;
        let reference = Reference::of(self.binaries.tool, &project)?;
        let images = images(&project);
        let rows = rounds(self.rounds, |row| {
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

    /// What grows with the size of images.
    pub fn sizes(&self) -> Result<String> {
        let mut text = "| image | strip, pack and verify of eight | x |\n|---|---|---|\n".to_owned();
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
            let project = self.scratch.project(&name, &[("k.cpp".to_owned(), text_of)], 1)?;
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
        let output = Command::new(self.binaries.package).arg("9").args(images).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut numbers = text.split_whitespace().map(|word| word.parse().map(Duration::from_nanos));
        match (numbers.next(), numbers.next()) {
            (Some(Ok(pack)), Some(Ok(verify))) => Ok((pack, verify)),
            _ => bail!("{}: {}", self.binaries.package.display(), String::from_utf8_lossy(&output.stderr)),
        }
    }
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
