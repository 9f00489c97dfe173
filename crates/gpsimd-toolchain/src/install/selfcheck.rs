//! A small C++ program is compiled and linked: the last step of an install, before anyone sees the new toolchain.
//!
//! Unaware of GPSIMD images; it only asks whether the code is windowed and complete.

use std::path::Path;

use super::Step;
use super::workshop::{Workshop, write};
use crate::open::Manifest;
use crate::{Command, Machine, OpenToolchain, ToolchainError, process};

/// Uses a container (new, throw stand-ins), the heap, soft float and 64-bit division.
const PROGRAM: &str = "#include <cstdlib>\n#include <map>\n\
    extern \"C\" int start(int n) { std::map<int, double> m; m[n] = std::strtod(\"1.5\", nullptr) * n; return int(m[n]) / n; }\n";

pub(super) fn run(workshop: &Workshop, machine: &Machine, manifest: &Manifest) -> Result<(), ToolchainError> {
    workshop.progress(Step::SelfCheck, 0, 1);
    let toolchain = OpenToolchain::in_dir(machine, workshop.root.to_owned(), manifest.clone())?;
    let dir = workshop.object("");
    check(&toolchain, machine, &dir)?;
    std::fs::remove_dir_all(&dir).ok();
    workshop.progress(Step::SelfCheck, 1, 1);
    Ok(())
}

/// Tries the toolchain in a scratch directory.
pub(crate) fn check(toolchain: &OpenToolchain, machine: &Machine, dir: &Path) -> Result<(), ToolchainError> {
    let (source, object, image) = (dir.join("check.cpp"), dir.join("check.o"), dir.join("check.elf"));
    write(&source, PROGRAM)?;
    let compile = toolchain.driver.compile(&crate::CompileJob::new(&source, &object));
    process::captured(&compile, dir)?;
    process::captured(&link_all(toolchain, &object, &image), dir)?;

    let objdump = toolchain.tool(machine, "objdump")?.args(["-d", "--section=.text"]).arg(&image);
    let listing = process::captured(&objdump, dir)?;
    for instruction in ["entry", "retw", "call8"] {
        if !listing
            .lines()
            .any(|line| line.split_whitespace().any(|word| word.trim_end_matches(".n") == instruction))
        {
            return Err(ToolchainError::SelfCheck {
                problem: format!("no `{instruction}` in compiled code, so it is not of the windowed ABI"),
            });
        }
    }
    Ok(())
}

/// A link with the linker's default script; undefined symbols and ABI mismatches fail it.
fn link_all(toolchain: &OpenToolchain, object: &Path, image: &Path) -> Command {
    let driver = &toolchain.driver;
    let mut command = Command::new(&driver.gxx);
    command.env.clone_from(&driver.env);
    let mut command =
        command.args(["-nostdlib", "-Wl,-e,start", "-Wl,--fatal-warnings", "-Wl,--no-warn-rwx-segments"]);
    command = command
        .args(driver.target.iter().cloned())
        .arg("-o")
        .arg(image)
        .args(&driver.start_objects)
        .arg(object);
    for dir in &driver.library_dirs {
        command = command.arg("-L").arg(dir);
    }
    command.args(driver.library_words()).args(&driver.end_objects)
}
