//! Where this program keeps what it builds once: `$GPSIMD_BUILD_HOME`, else `$XDG_DATA_HOME/gpsimd-build`, else
//! `~/.local/share/gpsimd-build`. And where toolchains are that were installed with it: below `share` beside its `bin`.
//!
//! Unaware of what is kept there.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::ToolchainError;
use crate::error::IoContext as _;

/// Toolchains that came with the program, below the prefix that its `bin` is in.
pub(crate) const SHARED: &str = "share/gpsimd-build/toolchains";

/// The data directory; it need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    dir: PathBuf,
    /// Where toolchains may be that came with the program.
    shared: Option<PathBuf>,
}

impl Home {
    /// The home that the environment names.
    pub fn from_env() -> Result<Home, ToolchainError> {
        let home = Home::from_vars(|name| std::env::var_os(name))?;
        Ok(Home { shared: shared(), ..home })
    }

    fn from_vars(var: impl Fn(&str) -> Option<OsString>) -> Result<Home, ToolchainError> {
        let set = |name: &str| var(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        if let Some(home) = set("GPSIMD_BUILD_HOME") {
            return Home::at(home);
        }
        // The XDG specification: a relative value is to be ignored.
        let data = set("XDG_DATA_HOME")
            .filter(|p| p.is_absolute())
            .or_else(|| set("HOME").map(|h| h.join(".local/share")));
        match data {
            Some(data) => Home::at(data.join("gpsimd-build")),
            None => Err(ToolchainError::NoHome),
        }
    }

    /// This directory; made absolute, because commands run in other directories name files in it.
    pub fn at(dir: impl Into<PathBuf>) -> Result<Home, ToolchainError> {
        let dir = dir.into();
        let absolute = std::path::absolute(&dir).context("cannot make absolute", dir)?;
        Ok(Home { dir: absolute, shared: None })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.dir
    }

    /// Where toolchains are.
    pub fn toolchains(&self) -> PathBuf {
        self.dir.join("toolchains")
    }

    /// Toolchains that came with the program, if there may be some: they go before others, because whoever installed them
    /// did it for this program.
    pub(crate) fn shared(&self) -> Option<&Path> {
        self.shared.as_deref().filter(|shared| is_of_the_programs_owner(shared))
    }
}

/// Where toolchains of this program would be; it need not exist.
pub(crate) fn shared() -> Option<PathBuf> {
    shared_of(&std::env::current_exe().ok()?)
}

fn shared_of(program: &Path) -> Option<PathBuf> {
    let bin = program.parent().filter(|bin| bin.file_name() == Some(OsStr::new("bin")))?;
    Some(bin.parent()?.join(SHARED))
}

/// A stranger may have made a directory where the program's own would be.
fn is_of_the_programs_owner(shared: &Path) -> bool {
    let owner = |path: &Path| Some(std::fs::metadata(path).ok()?.uid());
    let program = std::env::current_exe().ok().and_then(|program| owner(&program));
    owner(shared).is_some_and(|owner| owner == 0 || Some(owner) == program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_with_a_program_is_beside_its_directory() {
        let rows = [
            ("/venv/bin/gpsimd-build", Some("/venv/share/gpsimd-build/toolchains")),
            ("/bin/gpsimd-build", Some("/share/gpsimd-build/toolchains")),
            ("/work/target/debug/gpsimd-build", None),
            ("/gpsimd-build", None),
        ];
        for (program, want) in rows {
            assert_eq!(shared_of(Path::new(program)).as_deref(), want.map(Path::new), "{program}");
        }
    }

    #[test]
    fn the_first_variable_that_is_set_counts() {
        type Row = (&'static [(&'static str, &'static str)], Option<&'static str>);
        let rows: &[Row] = &[
            (&[("GPSIMD_BUILD_HOME", "/g"), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("/g")),
            (&[("GPSIMD_BUILD_HOME", ""), ("XDG_DATA_HOME", "/x"), ("HOME", "/h")], Some("/x/gpsimd-build")),
            (&[("XDG_DATA_HOME", "x"), ("HOME", "/h")], Some("/h/.local/share/gpsimd-build")),
            (&[("HOME", "/h")], Some("/h/.local/share/gpsimd-build")),
            (&[], None),
        ];
        for (vars, want) in rows {
            let home = Home::from_vars(|name| vars.iter().find(|(k, _)| *k == name).map(|(_, v)| v.into()));
            assert_eq!(home.ok().as_ref().map(Home::path), want.map(Path::new), "{vars:?}");
        }
    }
}
