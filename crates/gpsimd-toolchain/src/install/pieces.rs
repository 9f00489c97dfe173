//! The small libraries and start files that are all our own: `libhal.a`, `libnosys.a`, `crtbegin.o`, `crtend.o`.
//!
//! Unaware of what they do; their sources say it (`sdk/sysroot/hal`, `nosys`, `crt`).

use super::Step;
use super::workshop::{Unit, Workshop};
use crate::{ToolchainError, sysroot};

/// System calls of newlib that get a weak stand-in, one archive member each.
const CALLS: &[&str] = &[
    "close",
    "read",
    "write",
    "lseek",
    "open",
    "fstat",
    "stat",
    "isatty",
    "link",
    "unlink",
    "fcntl",
    "kill",
    "getpid",
    "mkdir",
    "times",
    "gettimeofday",
    "sbrk",
    "exit",
];

pub(super) fn build(workshop: &Workshop) -> Result<(), ToolchainError> {
    let hal = sysroot::below("hal").into_iter().filter_map(|source| {
        let stem = source.name.strip_suffix(".S")?;
        let object = workshop.object(&format!("{stem}.o"));
        Some(Unit { compiler: workshop.asm(), source: workshop.ours(source.name), object })
    });
    let nosys = CALLS.iter().map(|name| Unit {
        compiler: workshop.cc().arg(format!("-DL_{name}")),
        source: workshop.ours("nosys/nosys.c"),
        object: workshop.object(&format!("nosys/_{name}.o")),
    });
    let start = ["crtbegin", "crtend"].into_iter().map(|name| Unit {
        compiler: workshop.asm(),
        source: workshop.ours(&format!("crt/{name}.S")),
        object: workshop.lib(&format!("{name}.o")),
    });
    let (hal, nosys): (Vec<Unit>, Vec<Unit>) = (hal.collect(), nosys.collect());
    let start: Vec<Unit> = start.collect();
    workshop.compile_all(Step::Pieces, hal.iter().chain(&nosys).chain(&start))?;
    workshop.archive("libhal.a", &hal)?;
    workshop.archive("libnosys.a", &nosys)
}
