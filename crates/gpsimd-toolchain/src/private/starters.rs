//! Programs of unpacked packages, started with the loader and the libraries that were unpacked with them.
//!
//! Unaware of what they do. Each is moved, and a script of its name starts it; a program that finds its parts by where it
//! is itself finds them, as scripts again. Links to it need nothing.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use memchr::memmem;

use crate::error::IoContext as _;
use crate::install::workshop::{create_dir, write_program};
use crate::travel::LOADER;
use crate::{Command, Machine, ToolchainError};

/// Directories of programs.
const PROGRAMS: [&str; 3] = ["usr/bin", "usr/lib/gcc", "usr/libexec/gcc"];

/// How the name of the machine's own compiler begins, which takes headers and start files of the packages.
const HOST_COMPILER: &str = "x86_64-linux-gnu-gcc";

/// Moves every program below `root` to `moved` and leaves a script in its place.
pub(super) fn write_all(root: &Path, moved: &Path) -> Result<Machine, ToolchainError> {
    let machine = Machine::unpacked(root.to_owned(), moved.to_owned());
    for directory in PROGRAMS {
        let directory = root.join(directory);
        if directory.is_dir() {
            below(&directory, root, moved, &machine)?;
        }
    }
    Ok(machine)
}

fn below(directory: &Path, root: &Path, moved: &Path, machine: &Machine) -> Result<(), ToolchainError> {
    for entry in fs::read_dir(directory).context("cannot list", directory)? {
        let entry = entry.context("cannot list", directory)?;
        let (path, kind) = (entry.path(), entry.file_type().context("cannot look at", entry.path())?);
        if kind.is_dir() {
            below(&path, root, moved, machine)?;
        } else if kind.is_file() && needs_loader(&path)? {
            let real = moved.join(path.strip_prefix(root).unwrap_or(&path));
            create_dir(real.parent().unwrap_or(moved))?;
            fs::rename(&path, &real).context("cannot move", &path)?;
            write_program(&path, script(machine, root, &real))?;
        }
    }
    Ok(())
}

/// Whether it is a program that names a loader, which is near its start.
fn needs_loader(path: &Path) -> Result<bool, ToolchainError> {
    let mut start = Vec::new();
    let file = File::open(path).context("cannot open", path)?;
    file.take(4096).read_to_end(&mut start).context("cannot read", path)?;
    Ok(start.starts_with(b"\x7fELF") && memmem::find(&start, LOADER.as_bytes()).is_some())
}

fn script(machine: &Machine, root: &Path, real: &Path) -> String {
    let loader = Command::new(machine.file(LOADER)).args(["--inhibit-cache", "--library-path"]);
    let loader = loader.arg(machine.library_path());
    let mut program = Command::new(real);
    let is_host = real.file_name().is_some_and(|name| name.to_string_lossy().starts_with(HOST_COMPILER));
    if is_host {
        program = program.arg(crate::job::joined("--sysroot=", root)).arg("-B").arg(root.join("usr/bin"));
    }
    format!(
        "#!/bin/sh\nunset LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT\nexec {loader} --argv0 \"$0\" {program} \"$@\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_programs_that_name_a_loader_are_moved() {
        let dir = tempfile::tempdir().unwrap();
        let (root, moved) = (dir.path().join("r t"), dir.path().join("moved"));
        let program = format!("\u{7f}ELF\0{LOADER}\0");
        for (name, text) in [
            ("usr/bin/x86_64-linux-gnu-gcc-12", program.as_str()),
            ("usr/bin/ld", &program),
            ("usr/bin/ldd", "#!/bin/sh\n"),
            ("usr/lib/gcc/t/12/cc1", &program),
            ("usr/lib/gcc/t/12/plugin.so", "\u{7f}ELF\0"),
            ("usr/sbin/other", &program),
        ] {
            crate::install::workshop::write(&root.join(name), text).unwrap();
        }
        std::os::unix::fs::symlink("x86_64-linux-gnu-gcc-12", root.join("usr/bin/gcc")).unwrap();
        let machine = write_all(&root, &moved).unwrap();
        let starts = |name: &str| fs::read_to_string(root.join(name)).unwrap().contains("--argv0 \"$0\"");
        assert!(starts("usr/bin/gcc") && starts("usr/bin/ld") && starts("usr/lib/gcc/t/12/cc1"));
        assert!(!starts("usr/bin/ldd") && !starts("usr/lib/gcc/t/12/plugin.so") && !starts("usr/sbin/other"));
        assert_eq!(machine.program_file(&root.join("usr/bin/ld")), moved.join("usr/bin/ld"));
        assert_eq!(machine.program_file(&root.join("usr/bin/ldd")), root.join("usr/bin/ldd"));
        let text = fs::read_to_string(root.join("usr/bin/gcc")).unwrap();
        assert!(
            text.contains("'--sysroot=")
                && !fs::read_to_string(root.join("usr/bin/ld")).unwrap().contains("sysroot")
        );
    }
}
