//! Version lines of programs, asked for once: a program that is still the same file says the same.
//!
//! Unaware of what the lines mean. What is remembered can only save a process: a file that cannot be read, or is about
//! other files, is asked again.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;

use serde::{Deserialize, Serialize};

use crate::{Home, ToolchainError, open};

const FILE: &str = "versions.json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    file: Stamp,
    line: String,
}

/// Size, device, inode, and the time of the inode's last change, which no program can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp(u64, u64, u64, i64, i64);

/// First lines of what the programs print for `--version`; those not known are asked at the same time.
pub(crate) fn lines<const N: usize>(
    home: &Home,
    programs: [&Path; N],
) -> Result<[String; N], ToolchainError> {
    let path = home.path().join(FILE);
    let mut known: BTreeMap<PathBuf, Known> =
        std::fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let stamps = programs.map(stamp);
    let remembered = |index: usize| {
        let known = known.get(*programs.get(index)?)?;
        (stamps.get(index).copied().flatten() == Some(known.file)).then(|| known.line.clone())
    };
    let found: Vec<Option<String>> = (0..N).map(remembered).collect();
    let is_news = found.iter().any(Option::is_none);
    let asked = std::thread::scope(|scope| {
        let start = |(program, line): (&&'_ Path, Option<String>)| match line {
            Some(line) => Answer::Here(Ok(line)),
            None => {
                let program = program.to_path_buf();
                let ask = {
                    let program = program.clone();
                    move || open::version_line(&program)
                };
                // where there is no room for a thread, one after the other
                let thread = std::thread::Builder::new().spawn_scoped(scope, ask);
                thread.map_or_else(|_| Answer::Here(open::version_line(&program)), Answer::Coming)
            }
        };
        let answers: Vec<Answer> = programs.iter().zip(found).map(start).collect();
        answers.into_iter().map(Answer::get).collect::<Result<Vec<String>, _>>()
    })?;
    if is_news {
        for ((program, stamp), line) in programs.iter().zip(stamps).zip(&asked) {
            if let Some(file) = stamp {
                known.insert(program.to_path_buf(), Known { file, line: line.clone() });
            }
        }
        keep(&path, &known);
    }
    let mut asked = asked.into_iter();
    Ok([(); N].map(|()| asked.next().unwrap_or_default()))
}

/// A version line, or a thread that asks for it.
enum Answer<'s> {
    Here(Result<String, ToolchainError>),
    Coming(ScopedJoinHandle<'s, Result<String, ToolchainError>>),
}

impl Answer<'_> {
    fn get(self) -> Result<String, ToolchainError> {
        match self {
            Answer::Here(line) => line,
            Answer::Coming(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        }
    }
}

/// Replaces the file in one step; if that does not work, programs are asked again.
fn keep(path: &Path, known: &BTreeMap<PathBuf, Known>) {
    let Ok(text) = serde_json::to_vec(known) else { return };
    let scratch = path.with_extension(format!("{}.new", std::process::id()));
    if std::fs::write(&scratch, text).and_then(|()| std::fs::rename(&scratch, path)).is_err() {
        let _ = std::fs::remove_file(scratch);
    }
}

fn stamp(program: &Path) -> Option<Stamp> {
    let file = std::fs::metadata(program).ok()?;
    Some(Stamp(file.len(), file.dev(), file.ino(), file.ctime(), file.ctime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_program_is_asked_again_when_it_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path()).unwrap();
        let program = dir.path().join("cc");
        let install = |version: &str| {
            let fresh = dir.path().join("fresh");
            let text = format!("#!/bin/sh\necho cc {version}\necho . >> '{}/asked'\n", dir.path().display());
            std::fs::write(&fresh, text).unwrap();
            std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o755)).unwrap();
            std::fs::rename(&fresh, &program).unwrap();
        };
        let asked =
            || std::fs::read_to_string(dir.path().join("asked")).map_or(0, |text| text.lines().count());
        install("1");
        assert_eq!(lines(&home, [&program]).unwrap(), ["cc 1"]);
        assert_eq!(lines(&home, [&program]).unwrap(), ["cc 1"]);
        assert_eq!(asked(), 1);
        install("2");
        assert_eq!(lines(&home, [&program]).unwrap(), ["cc 2"]);
        assert_eq!(asked(), 2);
        std::fs::write(dir.path().join(FILE), "torn").unwrap();
        assert_eq!(lines(&home, [&program]).unwrap(), ["cc 2"]);
        assert_eq!(asked(), 3);
    }
}
