//! Hidden commands: the steps of an exported plan that have no command of their own.

use gpsimd_engine::Sdk;
use gpsimd_toolchain::Home;
use miette::Result;

use super::{Outcome, write};
use crate::cli::{CheckKernels, Sdk as SdkArguments};

/// Writes the SDK, or keeps an archive made from it.
pub fn sdk(arguments: &SdkArguments) -> Result<Outcome> {
    if let Some(root) = &arguments.write {
        let sdk = Sdk::locate(Home::from_env()?.path())?;
        if sdk.root() != root.as_path() {
            miette::bail!(
                code = "cli::sdk_moved",
                help = "export the plan again",
                "the plan was exported by another version: its SDK is {}, this tool's is {}",
                root.display(),
                sdk.root().display()
            );
        }
        sdk.write()?;
    }
    if let (Some(from), Some(to)) = (&arguments.keep, &arguments.keep_as) {
        gpsimd_engine::keep(from, to)?;
    }
    Ok(Outcome::Good)
}

/// Checks kernel signatures between compile and link.
pub fn check_kernels(arguments: &CheckKernels) -> Result<Outcome> {
    let kernels: Vec<&str> = arguments.kernels.iter().map(String::as_str).collect();
    gpsimd_engine::check_kernels(&kernels, &arguments.wrapper, &arguments.objects)?;
    write(&arguments.stamp, b"")?;
    Ok(Outcome::Good)
}
