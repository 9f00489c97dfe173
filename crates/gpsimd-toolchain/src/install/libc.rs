//! `libc.a` and `libm.a` from newlib's sources, compiled directly: newlib 3's `configure` does not know Xtensa.
//!
//! Unaware of headers' origin. Which files, and with which extra include directories, is what `configure` and a dozen
//! makefiles would work out.

use super::Step;
use super::workshop::{Unit, Workshop, files};
use crate::job::joined;
use crate::{Command, ToolchainError};

/// One directory of newlib's libc: which sources are left out, and where it looks for headers besides.
struct Directory {
    name: &'static str,
    is_left_out: fn(&str) -> bool,
    includes: &'static [&'static str],
}

const DIRECTORIES: &[Directory] = &[
    Directory { name: "string", is_left_out: |_| false, includes: &[] },
    Directory { name: "ctype", is_left_out: |f| f == "categories.c", includes: &[] },
    Directory { name: "stdlib", is_left_out: is_left_out_of_stdlib, includes: &["stdlib", "locale"] },
    // nano-vfprintf has no %lld.
    Directory { name: "stdio", is_left_out: |f| f.starts_with("nano-"), includes: &["stdlib", "locale"] },
    Directory {
        name: "search",
        is_left_out: |f| f.starts_with("hash") || f.starts_with("hcreate") || f == "ndbm.c",
        includes: &[],
    },
    Directory { name: "locale", is_left_out: |_| false, includes: &["stdlib", "ctype"] },
    Directory { name: "reent", is_left_out: |f| f.ends_with("64r.c") || f == "execr.c", includes: &[] },
    Directory { name: "time", is_left_out: |_| false, includes: &["time", "stdlib", "locale"] },
    Directory { name: "errno", is_left_out: |_| false, includes: &[] },
    Directory { name: "signal", is_left_out: |f| f == "psignal.c", includes: &[] },
    Directory { name: "misc", is_left_out: |f| f != "ffs.c" && f != "lock.c", includes: &[] },
];

/// The small malloc is built instead, and one `aligned_alloc` on top of it; random numbers would need a system.
fn is_left_out_of_stdlib(file: &str) -> bool {
    matches!(
        file,
        "nano-mallocr.c"
            | "mallocr.c"
            | "mtrim.c"
            | "valloc.c"
            | "mstats.c"
            | "rpmatch.c"
            | "aligned_alloc.c"
            // of newlib 4, which has a source for each part of the large one
            | "_mallocr.c"
            | "callocr.c"
            | "cfreer.c"
            | "freer.c"
            | "malignr.c"
            | "mallinfor.c"
            | "mallstatsr.c"
            | "malloptr.c"
            | "msizer.c"
            | "pvallocr.c"
            | "reallocr.c"
            | "vallocr.c"
    ) || file.starts_with("arc4random")
}

/// Sources compiled again with other macros: source, macros, object. newlib 4 has some of the objects' names as sources.
const VARIANTS: &[(&str, &[&str], &str)] = &[
    ("stdio/vfprintf.c", &["-DINTEGER_ONLY"], "vfiprintf"),
    ("stdio/vfprintf.c", &["-DSTRING_ONLY"], "svfprintf"),
    ("stdio/vfprintf.c", &["-DINTEGER_ONLY", "-DSTRING_ONLY"], "svfiprintf"),
    ("stdio/vfscanf.c", &["-DINTEGER_ONLY"], "vfiscanf"),
    ("stdio/vfscanf.c", &["-DSTRING_ONLY"], "svfscanf"),
    ("stdio/vfscanf.c", &["-DINTEGER_ONLY", "-DSTRING_ONLY"], "svfiscanf"),
    ("stdio/vfwprintf.c", &["-DSTRING_ONLY"], "svfwprintf"),
    ("stdio/vfwscanf.c", &["-DSTRING_ONLY"], "svfwscanf"),
    ("stdlib/nano-mallocr.c", &["-DINTERNAL_NEWLIB", "-DDEFINE_MALLOC"], "nano-mallocr"),
    ("stdlib/nano-mallocr.c", &["-DINTERNAL_NEWLIB", "-DDEFINE_FREE"], "nano-freer"),
    ("stdlib/nano-mallocr.c", &["-DINTERNAL_NEWLIB", "-DDEFINE_CALLOC"], "nano-callocr"),
    ("stdlib/nano-mallocr.c", &["-DINTERNAL_NEWLIB", "-DDEFINE_REALLOC"], "nano-reallocr"),
    ("stdlib/nano-mallocr.c", &["-DINTERNAL_NEWLIB", "-DDEFINE_CFREE"], "nano-cfreer"),
    ("stdlib/nano-mallocr.c", &["-DINTERNAL_NEWLIB", "-DDEFINE_MEMALIGN"], "nano-memalignr"),
    (
        "stdlib/nano-mallocr.c",
        &["-DINTERNAL_NEWLIB", "-DDEFINE_MALLOC_USABLE_SIZE"],
        "nano-malloc_usable_sizer",
    ),
];

pub(super) fn libc(workshop: &Workshop) -> Result<(), ToolchainError> {
    let root = workshop.source("newlib/newlib/libc");
    let include =
        |command: Command, dirs: &[&str]| command.args(dirs.iter().map(|dir| joined("-I", &root.join(dir))));
    // Without the tree flag memset's loop would become a call to memset. `errno` has no headers: the directory only
    // makes `<../ctype/local.h>` findable.
    let base = include(newlib_cc(workshop).arg("-fno-tree-loop-distribute-patterns"), &["errno"]);
    let mut units = Vec::new();
    for directory in DIRECTORIES {
        let compiler = include(base.clone(), directory.includes);
        for source in files(&root.join(directory.name))? {
            let Some((name, stem)) = c_source(&source) else { continue };
            if !(directory.is_left_out)(name) {
                let object = workshop.object(&format!("c.{}/{stem}.o", directory.name));
                units.push(Unit { compiler: compiler.clone(), source, object });
            }
        }
    }
    let variant = include(base.clone(), &["stdlib", "locale"]);
    let object = |name: &str| workshop.object(&format!("c.x/{name}.o"));
    for (source, macros, name) in VARIANTS {
        let (source, own) = (root.join(source), root.join(source).with_file_name(format!("{name}.c")));
        if own == source || !own.exists() {
            let compiler = variant.clone().args(macros.iter().copied());
            units.push(Unit { compiler, source, object: object(name) });
        }
    }
    units.push(Unit { compiler: base, source: workshop.ours("libc/aligned.c"), object: object("aligned") });
    units.push(Unit {
        compiler: workshop.asm(),
        source: workshop.ours("libc/setjmp.S"),
        object: object("setjmp"),
    });
    workshop.library(Step::Libc, "libc.a", &units)
}

pub(super) fn libm(workshop: &Workshop) -> Result<(), ToolchainError> {
    let root = workshop.source("newlib/newlib/libm");
    let compiler = newlib_cc(workshop).arg(joined("-I", &root.join("common")));
    let mut units = Vec::new();
    for dir in ["math", "common", "complex", "fenv"] {
        for source in files(&root.join(dir))? {
            let Some((_, stem)) = c_source(&source) else { continue };
            let object = workshop.object(&format!("m.{dir}/{stem}.o"));
            units.push(Unit { compiler: compiler.clone(), source, object });
        }
    }
    workshop.library(Step::Libm, "libm.a", &units)
}

fn newlib_cc(workshop: &Workshop) -> Command {
    workshop.cc().args(["-std=gnu99", "-D_COMPILING_NEWLIB", "-D_LIBC", "-fno-builtin"])
}

/// Name and stem of a C source.
fn c_source(path: &std::path::Path) -> Option<(&str, &str)> {
    let name = path.file_name()?.to_str()?;
    Some((name, name.strip_suffix(".c")?))
}
