//! Which files a profile goes to.
//!
//! Unaware of how counts came about and of what is in the files.

use std::fmt::Write as _;
use std::path::Path;

use gpsimd_device::{RunReport, Sources};
use miette::Result;

use crate::cli::Format;
use crate::files::{create_directory, write};

/// Writes the files that were asked for, named after the op; what belongs on the screen.
pub fn show(report: &RunReport, sources: &Sources, formats: &[Format], directory: &Path) -> Result<String> {
    let profiles = &report.profiles;
    let mut said = String::new();
    for format in formats {
        let (suffix, text) = match format {
            Format::Text => {
                said += &gpsimd_profile::text(report);
                continue;
            }
            Format::Annotated => ("annotated.txt", gpsimd_profile::annotated(profiles, sources)),
            Format::Speedscope => {
                ("speedscope.json", format!("{:#}\n", gpsimd_profile::speedscope(&report.op, profiles)))
            }
            Format::Timeline => ("trace.json", format!("{}\n", gpsimd_profile::timeline(report))),
            Format::Flame => ("flame.svg", gpsimd_profile::flame(profiles)),
            Format::Folded => ("folded", gpsimd_profile::folded(profiles)),
        };
        if !directory.as_os_str().is_empty() {
            create_directory(directory)?;
        }
        let path = directory.join(format!("{}.{suffix}", report.op));
        write(&path, text.as_bytes())?;
        let _ = writeln!(said, "profile: {}", path.display());
    }
    Ok(said)
}
