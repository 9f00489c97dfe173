//! Any other GNU cross compiler that makes windowed little-endian Xtensa code by default, named by its prefix.
//!
//! Unaware of who built it. It is asked what it predefines and which runtime files it has; nothing is assumed from its
//! name, so wrappers work as well.

use std::path::{Path, PathBuf};

use crate::driver::{Driver, NAMES_AS_GIVEN};
use crate::sysroot::{self, Source};
use crate::{Command, Machine, ToolchainError, open, process};

/// What about a compiler's code the cores may not like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caveat {
    /// It uses floating-point registers; the cores' known register files have none of that kind.
    HardFloat,
}

impl std::fmt::Display for Caveat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Caveat::HardFloat => f.write_str(
                "the compiler uses floating-point instructions; GPSIMD cores have no such register file, so kernels with floats may stop with an illegal instruction",
            ),
        }
    }
}

/// A GNU cross compiler found by prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GnuToolchain {
    prefix: String,
    compiler: String,
    linker: String,
    runtime: Vec<PathBuf>,
    caveats: Vec<Caveat>,
    has_hal: bool,
    pub(crate) driver: Driver,
}

impl GnuToolchain {
    /// The compiler whose programs begin with `prefix` (`xtensa-esp32-elf-`, or with a directory in front).
    pub fn discover(machine: &Machine, prefix: &str) -> Result<GnuToolchain, ToolchainError> {
        let program = |name: &str| {
            let program = format!("{prefix}{name}");
            machine.program(&program).ok_or_else(|| ToolchainError::ProgramMissing {
                program,
                help: "the prefix is everything before `g++`, dash included; a prefix with a directory is searched there only".into(),
            })
        };
        let (gcc, gxx, ar, ld) = (program("gcc")?, program("g++")?, program("ar")?, program("ld")?);
        let caveats = examine(&gxx)?;
        let find = |name: &str| runtime_file(&gxx, name);
        let need = |name: &'static str| {
            find(name)?.ok_or_else(|| ToolchainError::RuntimeMissing { program: gxx.clone(), file: name })
        };
        let start_objects = vec![need("crti.o")?, need("crtbegin.o")?];
        let end_objects = vec![need("crtend.o")?, need("crtn.o")?];
        let mut libraries = Vec::new();
        let mut runtime = [start_objects.clone(), end_objects.clone()].concat();
        let mut has_hal = false;
        for (file, word, is_optional) in LIBRARIES {
            match find(file)? {
                Some(path) => {
                    has_hal |= *word == "-lhal";
                    libraries.push(*word);
                    runtime.push(path);
                }
                None if *is_optional => {}
                None => return Err(ToolchainError::RuntimeMissing { program: gxx, file }),
            }
        }
        let linker = open::version_line(&ld)?;
        let driver = Driver {
            warns_of_rwx: is_at_least(&linker, (2, 39)),
            gcc,
            ar,
            env: Vec::new(),
            target: vec!["-mlongcalls".into()],
            c_headers: vec![NAMES_AS_GIVEN.into()],
            cxx_headers: Vec::new(),
            start_objects,
            end_objects,
            library_dirs: Vec::new(),
            libraries,
            gxx,
        };
        let compiler = open::version_line(&driver.gxx)?;
        Ok(GnuToolchain { prefix: prefix.to_owned(), compiler, linker, runtime, caveats, has_hal, driver })
    }

    /// What its code may stumble over on the device.
    pub fn caveats(&self) -> &[Caveat] {
        &self.caveats
    }

    /// First line of the compiler's `--version`.
    pub fn compiler_version(&self) -> &str {
        &self.compiler
    }

    /// Versions, and name, size and time of each runtime file; cheap, and changes when the installation does.
    pub fn identity(&self) -> String {
        let mut out = format!("gnu {} {} / {}", self.prefix, self.compiler, self.linker);
        for path in &self.runtime {
            let stamp = std::fs::metadata(path).and_then(|m| Ok((m.len(), m.modified()?)));
            let stamp = stamp.map(|(len, time)| {
                (len, time.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos())
            });
            out.push_str(&format!(" {}:{stamp:?}", path.display()));
        }
        out
    }

    /// Sources of ours for what this compiler's runtime lacks (register window spilling of the HAL); compile them into
    /// the image's own archive.
    pub fn runtime_sources(&self) -> Vec<Source> {
        if self.has_hal { Vec::new() } else { sysroot::below("hal") }
    }
}

/// Archive, the word for it, and whether a toolchain may lack it; stand-ins last.
const LIBRARIES: &[(&str, &str, bool)] = &[
    ("libstdc++-lite.a", "-lstdc++-lite", true),
    ("libstdc++.a", "-lstdc++", true),
    ("libm.a", "-lm", false),
    ("libc.a", "-lc", false),
    ("libhal.a", "-lhal", true),
    ("libgcc.a", "-lgcc", false),
    ("libnosys.a", "-lnosys", true),
];

/// Asks for the predefined macros: wrong ABI or byte order is an error, the rest a caveat.
fn examine(gxx: &Path) -> Result<Vec<Caveat>, ToolchainError> {
    let command = Command::new(gxx).args(["-dM", "-E", "-x", "c", "/dev/null"]);
    let macros = process::captured(&command, Path::new("/"))?;
    let defines = |name: &str| {
        macros.lines().any(|l| l.strip_prefix("#define ").is_some_and(|l| l.split(' ').next() == Some(name)))
    };
    for macro_name in ["__XTENSA__", "__XTENSA_EL__", "__XTENSA_WINDOWED_ABI__"] {
        if !defines(macro_name) {
            return Err(ToolchainError::WrongTarget { program: gxx.to_owned(), macro_name });
        }
    }
    Ok(if defines("__XTENSA_SOFT_FLOAT__") { Vec::new() } else { vec![Caveat::HardFloat] })
}

/// Where the driver finds a file of its runtime; it answers with the bare name for one that it does not have.
fn runtime_file(gxx: &Path, name: &str) -> Result<Option<PathBuf>, ToolchainError> {
    let command = Command::new(gxx).arg(format!("-print-file-name={name}"));
    let path = PathBuf::from(process::captured(&command, Path::new("/"))?.trim_end_matches('\n'));
    Ok(Some(path).filter(|p| p.is_absolute()))
}

/// Whether a version line ends in a version of at least this.
fn is_at_least(line: &str, least: (u32, u32)) -> bool {
    let mut numbers =
        line.rsplit(' ').next().unwrap_or_default().split(['.', '-']).map_while(|n| n.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(major), Some(minor)) if (major, minor) >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linker_versions() {
        let rows = [
            ("GNU ld (GNU Binutils for Debian) 2.40", true),
            ("GNU ld (crosstool-NG esp-2021r2) 2.35.1.20201223", false),
            ("GNU ld (GNU Binutils) 2.39", true),
            ("GNU ld (GNU Binutils) 3.0-rc1", true),
            ("LLD", false),
            ("", false),
        ];
        for (line, want) in rows {
            assert_eq!(is_at_least(line, (2, 39)), want, "{line}");
        }
    }

    /// A compiler `tools/x-g++` that predefines these macros and has these runtime files, with `ld` of that version.
    fn fake(
        macros: &[&str],
        files: &[&str],
        ld: &str,
    ) -> (tempfile::TempDir, Result<GnuToolchain, ToolchainError>) {
        let dir = tempfile::tempdir().unwrap();
        let defines: String = macros.iter().map(|m| format!("echo '#define {m} 1'; ")).collect();
        let known: String = files.iter().map(|f| format!("-print-file-name={f}) echo /rt/{f};; ")).collect();
        let compiler = format!(
            "case \"$1\" in -dM) {defines};; --version) echo x-g++ 1.2;; {known} -print-file-name=*) echo \"${{1#*=}}\";; esac"
        );
        for name in ["gcc", "g++", "ar"] {
            crate::testing::script(&dir.path().join(format!("tools/x-{name}")), &compiler);
        }
        crate::testing::script(&dir.path().join("tools/x-ld"), &format!("echo 'GNU ld {ld}'"));
        let found = GnuToolchain::discover(&Machine::at(dir.path(), "", false), "tools/x-");
        (dir, found)
    }

    const WINDOWED: &[&str] = &["__XTENSA__", "__XTENSA_EL__", "__XTENSA_WINDOWED_ABI__"];
    const RUNTIME: &[&str] = &[
        "crti.o",
        "crtbegin.o",
        "crtend.o",
        "crtn.o",
        "libstdc++.a",
        "libm.a",
        "libc.a",
        "libgcc.a",
        "libnosys.a",
    ];

    #[test]
    fn a_compiler_is_taken_as_it_answers() {
        let (_dir, found) = fake(WINDOWED, RUNTIME, "2.35.1");
        let gnu = found.unwrap();
        assert_eq!(gnu.caveats(), [Caveat::HardFloat]);
        assert_eq!(gnu.driver.libraries, ["-lstdc++", "-lm", "-lc", "-lgcc", "-lnosys"]);
        assert_eq!(gnu.driver.start_objects, [Path::new("/rt/crti.o"), Path::new("/rt/crtbegin.o")]);
        assert!(!gnu.driver.warns_of_rwx);
        let ours: Vec<&str> = gnu.runtime_sources().iter().map(|s| s.name).collect();
        assert_eq!(ours, ["hal/registers.S", "hal/window_spill.S"], "it has no libhal");
    }

    #[test]
    fn a_compiler_that_cannot_do_it_is_refused() {
        let without = |list: &'static [&'static str], name: &str| -> Vec<&'static str> {
            list.iter().copied().filter(|n| *n != name).collect()
        };
        for macro_name in WINDOWED {
            let (_dir, found) = fake(&without(WINDOWED, macro_name), RUNTIME, "2.40");
            assert!(
                matches!(found, Err(ToolchainError::WrongTarget { macro_name: m, .. }) if m == *macro_name)
            );
        }
        for file in ["crtbegin.o", "libc.a", "libgcc.a"] {
            let (_dir, found) = fake(WINDOWED, &without(RUNTIME, file), "2.40");
            assert!(matches!(found, Err(ToolchainError::RuntimeMissing { file: f, .. }) if f == file));
        }
    }
}
