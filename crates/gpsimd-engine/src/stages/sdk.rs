//! The device SDK's files, written out; archives made of them, kept for other builds.
//!
//! Unaware of compilers.

use std::path::{Path, PathBuf};

use gpsimd_toolchain::{runtime_source, text};
use serde::{Deserialize, Serialize};

use crate::stages::Hidden;
use crate::words::action::{Made, Tools};
use crate::words::disk;
use crate::words::error::EngineError;
use crate::words::sdk::Sdk;

/// Writes the device SDK's files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WriteSdk {
    /// Where the SDK must come to be: its name is its content.
    #[serde(with = "text")]
    pub(crate) root: PathBuf,
    /// Sources that stand in for what the toolchain's runtime lacks.
    pub(crate) runtime: Vec<String>,
}

impl WriteSdk {
    pub(crate) fn of(sdk: &Sdk) -> Self {
        Self { root: sdk.root().to_owned(), runtime: sdk.runtime.clone() }
    }
}

impl Hidden for WriteSdk {
    const NAME: &'static str = "write-sdk";

    fn run(&self, _: &Tools) -> Result<Made, EngineError> {
        // `home`/sdk/`hash`
        let home = self.root.ancestors().nth(2).unwrap_or(Path::new("."));
        let runtime = self.runtime.iter().filter_map(|name| runtime_source(name)).collect();
        let sdk = Sdk::locate(home)?.with_runtime(runtime);
        if sdk.root() != self.root {
            return Err(EngineError::SdkMoved { planned: self.root.clone(), own: sdk.root().to_owned() });
        }
        sdk.write()?;
        Ok(Made::default())
    }
}

/// Puts a finished runtime archive where other builds find it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeepArchive {
    /// Made by this build.
    #[serde(with = "text")]
    pub(crate) from: PathBuf,
    /// In the data directory.
    #[serde(with = "text")]
    pub(crate) to: PathBuf,
}

impl Hidden for KeepArchive {
    const NAME: &'static str = "keep-archive";

    fn run(&self, _: &Tools) -> Result<Made, EngineError> {
        disk::keep(&self.from, &self.to)?;
        Ok(Made::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::disk::Plain;

    #[test]
    fn a_completed_sdk_is_written_where_the_plan_says() {
        let home = tempfile::tempdir().expect("scratch directory");
        let source = runtime_source("hal/registers.S").expect("a source of the sysroot");
        let bare = Sdk::locate(home.path()).expect("embedded");
        let sdk = bare.clone().with_runtime(vec![source]);
        assert_ne!(sdk.root(), bare.root());
        let tools = Tools { files: &Plain, start: &|_, _| Err(EngineError::Stopped) };
        let arguments = serde_json::to_string(&WriteSdk::of(&sdk)).expect("text");
        let stage: WriteSdk = serde_json::from_str(&arguments).expect("arguments");
        Hidden::run(&stage, &tools).expect("written");
        assert!(sdk.is_written() && !bare.is_written());
        let moved = WriteSdk { root: home.path().join("sdk/0123456789abcdef"), runtime: Vec::new() };
        let error = Hidden::run(&moved, &tools).expect_err("another SDK");
        assert!(matches!(error, EngineError::SdkMoved { .. }), "{error}");
    }
}
