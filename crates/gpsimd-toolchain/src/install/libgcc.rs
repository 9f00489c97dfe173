//! `libgcc.a`: integer and soft-float arithmetic of GCC's Xtensa assembly and the portable pieces of `libgcc2.c`, and the
//! start files `crti.o` and `crtn.o`.
//!
//! Unaware of the C library. GCC's build generates a dozen headers for these sources; five small ones suffice.

use std::collections::BTreeSet;

use super::Step;
use super::workshop::{Unit, Workshop, copy, read, write};
use crate::ToolchainError;
use crate::job::joined;

/// What of `libgcc2.c` is needed on a 32-bit core, one object each.
const LIBGCC2: &[&str] = &[
    "_negdi2",
    "_cmpdi2",
    "_ucmpdi2",
    "_muldi3",
    "_absvsi2",
    "_absvdi2",
    "_addvsi3",
    "_addvdi3",
    "_subvsi3",
    "_subvdi3",
    "_mulvsi3",
    "_mulvdi3",
    "_negvsi2",
    "_negvdi2",
    "_ffsdi2",
    "_clzdi2",
    "_ctzdi2",
    "_popcount_tab",
    "_popcountsi2",
    "_popcountdi2",
    "_paritysi2",
    "_paritydi2",
    "_powisf2",
    "_powidf2",
    "_mulsc3",
    "_muldc3",
    "_divsc3",
    "_divdc3",
    "_clrsbsi2",
    "_clrsbdi2",
    "_divdi3",
    "_moddi3",
    "_divmoddi4",
    "_udivdi3",
    "_umoddi3",
    "_udivmoddi4",
    "_bswapsi2",
];

/// What GCC 13's assembly asks the compiler, which says it of another core; GCC 12's asks the header that the plugin is
/// made of.
const CORE: &[&str] = &[
    "-U__XCHAL_HAVE_WINDOWED",
    "-D__XCHAL_HAVE_WINDOWED=1",
    "-U__XCHAL_NUM_AREGS",
    "-D__XCHAL_NUM_AREGS=64",
];

pub(super) fn build(workshop: &Workshop) -> Result<(), ToolchainError> {
    let inc = workshop.object("libgcc/inc");
    for name in ["tm.h", "tsystem.h"] {
        copy(&workshop.ours(&format!("libgcc/{name}")), &inc.join(name))?;
    }
    for name in ["tconfig.h", "coretypes.h", "libgcc_tm.h", "auto-target.h"] {
        write(&inc.join(name), "")?;
    }

    let config = workshop.source("gcc/libgcc/config/xtensa");
    let makefile = config.join("t-xtensa");
    let text = read(&makefile)?;
    let assembly = make_list(&text, "LIB1ASMFUNCS").ok_or_else(|| ToolchainError::UnexpectedSource {
        path: makefile,
        problem: "no list LIB1ASMFUNCS".into(),
    })?;

    let asm = || workshop.asm().args(CORE.iter().copied()).arg(joined("-I", &inc));
    let object = |name: &str| workshop.object(&format!("libgcc/{name}.o"));
    let mut units: Vec<Unit> = assembly
        .iter()
        .map(|name| Unit {
            compiler: asm().arg(format!("-DL{name}")).arg("-xassembler-with-cpp"),
            source: config.join("lib1funcs.S"),
            object: object(name),
        })
        .collect();
    let includes = [inc.clone(), workshop.source("gcc/libgcc"), workshop.source("gcc/include")];
    let portable = workshop.cc().args(includes.iter().map(|dir| joined("-I", dir))).args([
        "-DIN_LIBGCC2",
        "-fbuilding-libgcc",
        "-fno-stack-protector",
    ]);
    units.extend(LIBGCC2.iter().filter(|name| !assembly.contains(**name)).map(|name| Unit {
        compiler: portable.clone().arg(format!("-DL{name}")),
        source: workshop.source("gcc/libgcc/libgcc2.c"),
        object: object(name),
    }));
    units.push(Unit { compiler: asm(), source: config.join("lib2funcs.S"), object: object("lib2funcs") });
    let start = ["crti", "crtn"].map(|name| Unit {
        compiler: asm(),
        source: config.join(format!("{name}.S")),
        object: workshop.lib(&format!("{name}.o")),
    });
    workshop.compile_all(Step::Libgcc, units.iter().chain(&start))?;
    workshop.archive("libgcc.a", &units)
}

/// The words of a make variable, continuation lines included.
fn make_list<'a>(makefile: &'a str, variable: &str) -> Option<BTreeSet<&'a str>> {
    let start = makefile
        .lines()
        .position(|line| line.strip_prefix(variable).is_some_and(|l| l.trim_start().starts_with('=')))?;
    let mut words = BTreeSet::new();
    for (i, line) in makefile.lines().skip(start).enumerate() {
        let text = if i == 0 { line.split_once('=')?.1 } else { line };
        let (text, is_continued) = match text.trim_end().strip_suffix('\\') {
            Some(text) => (text, true),
            None => (text, false),
        };
        words.extend(text.split_whitespace());
        if !is_continued {
            break;
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::make_list;

    #[test]
    fn lists_go_on_after_a_backslash() {
        let makefile = "SRC = x.S\nFUNCS = _a _b \\\n\t_c \\\n\n_d\nOTHER = _e\n";
        let words: Vec<&str> = make_list(makefile, "FUNCS").unwrap().into_iter().collect();
        assert_eq!(words, ["_a", "_b", "_c"]);
        assert_eq!(make_list(makefile, "FUNC"), None);
    }
}
