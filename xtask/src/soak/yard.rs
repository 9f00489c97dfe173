//! Where a storm rages: an empty directory with a data directory of its own, the tool, and what it must give.
//!
//! Unaware of the storms.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Debug;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::chores::{root, run, target_directory};

/// The op of the example, for commands that do not compile to find it out.
pub const SCHEMA: &str = "my_ops::vector_add(Tensor a, Tensor b) -> (Tensor out)";

/// A toolchain that was exported, wherever it is brought.
pub const ARCHIVE: &str = "toolchain.tar.xz";

/// Visible files by name, each as a hash of its bytes.
pub type Outputs = BTreeMap<String, u64>;

/// What a child of a storm said, and how it ended.
pub struct End {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub said: String,
}

impl End {
    /// Refuses what no input may cause: a panic, an abort, a signal of its own, a hang.
    pub fn proper(&self) -> Result<()> {
        match self.code {
            Some(0..=3) => Ok(()),
            Some(124 | 137) => bail!("still running when its time was over\n{}", self.said),
            _ => bail!("exit status {:?}, signal {:?}\n{}", self.code, self.signal, self.said),
        }
    }

    /// What was said by what must succeed.
    pub fn good(self, what: impl Debug) -> Result<String> {
        ensure!(self.code == Some(0), "{what:?}: {:?}\n{}", self.code, self.said);
        Ok(self.said)
    }
}

pub struct Yard {
    tool: PathBuf,
    dir: PathBuf,
    home: PathBuf,
}

impl Yard {
    /// An empty yard called `name` below the target directory.
    pub fn new(tool: &Path, name: &str) -> Result<Yard> {
        let dir = target_directory().join("soak").join(name);
        if dir.exists() {
            fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        let (home, work) = (dir.join("home"), dir.join("work"));
        fs::create_dir_all(&work)?;
        fs::create_dir_all(&home)?;
        let from = data_directory()?;
        for part in ["toolchains", "sdk"] {
            if from.join(part).exists() {
                let copied = Command::new("cp").arg("-a").arg(from.join(part)).arg(&home).status()?;
                ensure!(copied.success(), "cannot copy {part} of {}", from.display());
            }
        }
        let example = root().join("tests/kernels/vector_add.cpp");
        fs::copy(&example, work.join("vector_add.cpp"))?;
        Ok(Yard { tool: tool.to_owned(), dir: work, home })
    }

    pub fn tool(&self) -> &Path {
        &self.tool
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.dir.join(name)
    }

    /// A program started in the yard, bounded in time.
    pub fn bounded(&self, seconds: u32, program: &str) -> Command {
        let mut command = Command::new("timeout");
        command.arg("-k").arg("5").arg(seconds.to_string()).arg(program);
        command.current_dir(&self.dir).stdin(Stdio::null());
        command.env("GPSIMD_BUILD_HOME", &self.home).env("NO_COLOR", "1").env("RUST_BACKTRACE", "0");
        command
    }

    /// The tool with these arguments.
    pub fn call(&self, arguments: &[&str]) -> Command {
        let mut command = self.bounded(900, &self.tool.to_string_lossy());
        command.args(arguments);
        command
    }

    /// Runs the tool, which must succeed; gives what it said.
    pub fn good(&self, arguments: &[&str]) -> Result<String> {
        end(&mut self.call(arguments))?.good(arguments)
    }

    /// The same with another data directory.
    pub fn good_in(&self, home: &Path, arguments: &[&str]) -> Result<String> {
        end(self.call(arguments).env("GPSIMD_BUILD_HOME", home))?.good(arguments)
    }

    /// Puts the examples there.
    pub fn bring_examples(&self) -> Result<()> {
        run(Command::new("cp").arg("-r").arg(root().join("examples")).arg(self.path("examples")))
    }

    /// A kernel of the same name whose images all differ from those of another `value`.
    pub fn write_version(&self, value: u32) -> Result<()> {
        let text = fs::read_to_string(root().join("tests/kernels/vector_add.cpp"))?;
        let changed = text.replace("bv[i];", &format!("bv[i] + {value}.0f;"));
        ensure!(changed != text, "the example has no sum to change");
        Ok(fs::write(self.path("vector_add.cpp"), changed)?)
    }

    /// What can be opened in `directory`.
    pub fn outputs(&self, directory: &str) -> Outputs {
        outputs(&self.path(directory))
    }
}

/// Files of a directory that can be opened.
pub fn outputs(directory: &Path) -> Outputs {
    let Ok(entries) = fs::read_dir(directory) else { return Outputs::new() };
    entries
        .flatten()
        .filter_map(|entry| {
            let mut hasher = DefaultHasher::new();
            fs::read(entry.path()).ok()?.hash(&mut hasher);
            Some((entry.file_name().into_string().ok()?, hasher.finish()))
        })
        .collect()
}

/// Every file below a directory.
pub fn tree(at: &Path) -> Vec<(PathBuf, Outputs)> {
    let mut found = vec![(at.to_owned(), outputs(at))];
    for entry in fs::read_dir(at).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir()) {
        found.extend(tree(&entry.path()));
    }
    found.sort();
    found
}

/// Runs to the end and gathers both streams.
pub fn end(command: &mut Command) -> Result<End> {
    let Output { status, stdout, stderr } = command.output().with_context(|| format!("{command:?}"))?;
    let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    Ok(End { code: status.code(), signal: status.signal(), said })
}

/// Runs what must succeed; gives what it said.
pub fn good(command: &mut Command) -> Result<String> {
    end(command)?.good(command)
}

/// Where the tool keeps its toolchains.
fn data_directory() -> Result<PathBuf> {
    if let Some(home) = std::env::var_os("GPSIMD_BUILD_HOME") {
        return Ok(home.into());
    }
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share"));
    Ok(data.or_else(home).context("neither HOME nor XDG_DATA_HOME is set")?.join("gpsimd-build"))
}
