//! Where this program keeps what it builds once: `$GPSIMD_BUILD_HOME`, else `$XDG_DATA_HOME/gpsimd-build`, else
//! `~/.local/share/gpsimd-build`.
//!
//! Unaware of what is kept there.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::ToolchainError;
use crate::error::IoContext as _;

/// The data directory; it need not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// The home that the environment names.
    pub fn from_env() -> Result<Home, ToolchainError> {
        Home::from_vars(|name| std::env::var_os(name))
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
        Ok(Home(absolute))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where toolchains are.
    pub fn toolchains(&self) -> PathBuf {
        self.0.join("toolchains")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
