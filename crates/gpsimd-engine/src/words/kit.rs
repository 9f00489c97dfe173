//! A compiler and the device SDK that fits it: what a library is built with.
//!
//! Unaware of libraries.

use std::path::Path;

use gpsimd_toolchain::Toolchain;

use crate::words::error::EngineError;
use crate::words::sdk::Sdk;

/// What a library is built with.
#[derive(Debug)]
pub struct Kit {
    /// The compiler.
    pub(crate) toolchain: Toolchain,
    /// With the sources that stand in for what the compiler's own runtime lacks.
    pub(crate) sdk: Sdk,
}

impl Kit {
    /// The SDK in force for a toolchain; `home` is the tool's data directory.
    ///
    /// # Errors
    /// As for [`Sdk::locate`].
    pub fn locate(toolchain: Toolchain, home: &Path) -> Result<Kit, EngineError> {
        let sdk = Sdk::locate(home)?.with_runtime(toolchain.runtime_sources());
        Ok(Kit { toolchain, sdk })
    }

    /// Writes the SDK's files, so that a plan finds them: for programs that make the directories of outputs before an action
    /// begins, a directory says nothing, and an editor looks into headers before anything is built.
    ///
    /// # Errors
    /// As for [`Sdk::write`].
    pub fn write_sdk(&self) -> Result<(), EngineError> {
        self.sdk.write()
    }

    /// Whether the SDK is compiled; some toolchains bring device runtime and linker support packages of their own.
    pub(crate) fn compiles_sdk(&self) -> bool {
        self.toolchain.device_sdk().is_none()
    }
}
