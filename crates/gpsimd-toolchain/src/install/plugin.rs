//! The configuration plugin: binutils' instruction table with the options of the GPSIMD cores, as a host library that
//! assembler, linker and newer compilers load through `XTENSA_GNU_CONFIG`.
//!
//! Unaware of the runtime. Options are set only where the core's description names them or the compiler needs them.

use super::Step;
use super::workshop::{Workshop, read, write};
use crate::{Command, ToolchainError};

/// Little endian, 64 address registers, no MMU, boolean registers; cache lines of 64 bytes, no data cache.
const CORE_OPTIONS: &[(&str, u32)] = &[
    ("XCHAL_HAVE_BE", 0),
    ("XCHAL_NUM_AREGS", 64),
    ("XCHAL_ICACHE_LINESIZE", 64),
    ("XCHAL_ICACHE_LINEWIDTH", 6),
    ("XCHAL_DCACHE_SIZE", 0),
    ("XCHAL_HAVE_MMU", 0),
    ("XCHAL_HAVE_BOOLEANS", 1),
];

/// Not documented for the cores; library code is built without.
const LIBRARY_OFF: &[&str] = &[
    "XCHAL_HAVE_DIV32",
    "XCHAL_HAVE_MINMAX",
    "XCHAL_HAVE_SEXT",
    "XCHAL_HAVE_LOOPS",
    "XCHAL_HAVE_FP",
    "XCHAL_HAVE_MUL32_HIGH",
    "XCHAL_HAVE_BOOLEANS",
    "XCHAL_HAVE_MAC16",
];

pub(super) fn build(workshop: &Workshop) -> Result<(), ToolchainError> {
    workshop.progress(Step::Plugin, 0, 1);
    let upstream = workshop.source("binutils/include/xtensa-config.h");
    let mut config = read(&upstream)?;
    let missing = |name: &str| ToolchainError::UnexpectedSource {
        path: upstream.clone(),
        problem: format!("no `#define {name} <number>`"),
    };
    for (name, value) in CORE_OPTIONS {
        config = set_option(&config, name, *value).ok_or_else(|| missing(name))?;
    }
    write(&workshop.object("plugin/q7-config.h"), &config)?;

    // libgcc's assembly picks its instructions by the same header.
    for name in LIBRARY_OFF {
        config = set_option(&config, name, 0).ok_or_else(|| missing(name))?;
    }
    write(&workshop.object("libgcc/inc/xtensa-config.h"), &config)?;

    let include = |dir| crate::job::joined("-I", dir);
    let plugin = workshop.root.join(crate::open::PLUGIN);
    write(&plugin, "")?;
    let command = Command::new(&workshop.host_gcc)
        .args(["-shared", "-fPIC", "-O1"])
        .arg(include(&workshop.object("plugin")))
        .arg(include(&workshop.source("binutils/include")))
        .arg("-o")
        .arg(plugin)
        .arg(workshop.ours("plugin/plugin.c"))
        .arg(workshop.source("binutils/bfd/xtensa-modules.c"));
    workshop.run(&command)?;
    workshop.progress(Step::Plugin, 1, 1);
    Ok(())
}

/// The header with one option's number replaced; nothing if it does not define the option as a number.
fn set_option(header: &str, name: &str, value: u32) -> Option<String> {
    let mut out = String::with_capacity(header.len());
    let mut is_found = false;
    for line in header.split_inclusive('\n') {
        let number = line
            .strip_prefix("#define ")
            .and_then(|l| l.strip_prefix(name))
            .map(|rest| (rest, rest.trim_start_matches([' ', '\t'])));
        match number {
            Some((rest, trimmed))
                if rest.len() > trimmed.len() && trimmed.starts_with(|c: char| c.is_ascii_digit()) =>
            {
                let blank = rest.get(..rest.len() - trimmed.len())?;
                let after = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
                out.push_str(&format!("#define {name}{blank}{value}{after}"));
                is_found = true;
            }
            _ => out.push_str(line),
        }
    }
    is_found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::set_option;

    #[test]
    fn one_option_changes_and_nothing_else() {
        let header =
            "#undef A_B\n#define A_B\t\t1\n#define A_BC 1\n#define A_D 16 /* bytes */\n#define A_E A_B\n";
        assert_eq!(
            set_option(header, "A_B", 0).as_deref(),
            Some(
                "#undef A_B\n#define A_B\t\t0\n#define A_BC 1\n#define A_D 16 /* bytes */\n#define A_E A_B\n"
            )
        );
        assert!(set_option(header, "A_D", 64).is_some_and(|h| h.contains("#define A_D 64 /* bytes */\n")));
        assert_eq!(set_option(header, "A_E", 1), None);
        assert_eq!(set_option(header, "A_F", 1), None);
    }
}
