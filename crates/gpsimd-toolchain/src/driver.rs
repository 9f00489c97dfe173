//! Words for a GCC driver and `ar`: the one place where argument vectors are put together.
//!
//! Unaware of where the programs come from; [`crate::OpenToolchain`] and [`crate::GnuToolchain`] fill in what differs.
//! The flags mean what the vendor's do (spec `toolchain.md` §2, §3), in the same order: built-in, caller's, includes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::job::{joined, path_arg, prefix_map};
use crate::{ArchiveJob, Command, CompileJob, Language, LinkJob, Relocations};

/// A GCC, what it must be told so that it makes windowed code, and what images are linked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Driver {
    pub(crate) gcc: PathBuf,
    pub(crate) gxx: PathBuf,
    pub(crate) ar: PathBuf,
    /// For what links and archives. Compilers are told by words alone, which is what launchers and farms pass on.
    pub(crate) env: Vec<(OsString, OsString)>,
    /// Code model, for compiling and linking.
    pub(crate) target: Vec<OsString>,
    /// System headers in place of the compiler's own, and what keeps their place out of objects; empty if the
    /// compiler's own are right.
    pub(crate) c_headers: Vec<OsString>,
    pub(crate) cxx_headers: Vec<OsString>,
    /// Objects around everything else: `crti crtbegin`, `crtend crtn`.
    pub(crate) start_objects: Vec<PathBuf>,
    pub(crate) end_objects: Vec<PathBuf>,
    pub(crate) library_dirs: Vec<PathBuf>,
    /// `-l` words; the linker goes over them until nothing more resolves.
    pub(crate) libraries: Vec<&'static str>,
    /// Whether `ld` knows `--no-warn-rwx-segments` (binutils 2.39 brought the warning and the flag).
    pub(crate) warns_of_rwx: bool,
}

/// For C++ only: no unwinding exists on the device, nor does type information pay there.
const CXX_FLAGS: &[&str] = &["-std=c++14", "-fno-exceptions", "-fno-rtti"];

/// `-gdwarf-4`: GCC 12 and later write DWARF 5 by default, whose sections the link scripts do not place.
const COMMON_FLAGS: &[&str] = &["-g", "-gdwarf-4"];

/// Headers are called what the compiler was told: a sandbox's links would be followed, past the maps of their directories.
pub(crate) const NAMES_AS_GIVEN: &str = "-fno-canonical-system-headers";

const CODE_FLAGS: &[&str] = &[
    "-fno-jump-tables",
    "-Os",
    "-ffunction-sections",
    "-fdata-sections",
    "-fno-common",
    "-Wall",
    "-Werror",
    "-fpic",
];

/// Literals stand beside the code that loads them, and within a function too where that is longer than an L32R reaches
/// (256 KiB). Assembly sources place their own.
const LITERALS_FLAG: &str = "-mauto-litpools";

/// An image is static code for fixed addresses: everything unplaced or unresolved is an error, and nothing is padded to
/// pages that the device does not have.
const LINKER_FLAGS: &[&str] =
    &["--gc-sections", "--orphan-handling=warn", "--fatal-warnings", "--build-id=none", "-z,max-page-size=4"];

impl Driver {
    pub(crate) fn compile(&self, job: &CompileJob) -> Command {
        let (program, language) = match job.language {
            Language::Cxx => (&self.gxx, "c++"),
            Language::C => (&self.gcc, "c"),
            Language::Asm => (&self.gcc, "assembler-with-cpp"),
        };
        let mut command = Command::new(program).args(COMMON_FLAGS.iter().copied());
        if job.language == Language::Cxx {
            command = command.args(CXX_FLAGS.iter().copied());
        }
        command = command.args(CODE_FLAGS.iter().copied()).args(self.target.iter().cloned());
        if job.language != Language::Asm {
            command = command.arg(LITERALS_FLAG);
        }
        if job.language == Language::Cxx {
            command = command.args(self.cxx_headers.iter().cloned());
        }
        command = command.args(self.c_headers.iter().cloned());
        if let Some(depfile) = &job.depfile {
            // -MT, not -MQ: the name is ours, and quoting it for make would only have to be undone.
            command =
                command.args(["-MD", "-MP", "-MF"]).arg(path_arg(depfile)).args(["-MT", DEPFILE_TARGET]);
        }
        for map in &job.prefix_maps {
            command = command.arg(prefix_map(&map.from, &map.to));
        }
        command = command.args(job.cflags.iter().cloned());
        for dir in &job.includes {
            command = command.arg("-I").arg(path_arg(dir));
        }
        command
            .args(["-c", "-o"])
            .arg(path_arg(&job.object))
            .args(["-x", language])
            .arg(path_arg(&job.source))
    }

    pub(crate) fn link(&self, job: &LinkJob) -> Command {
        let mut command = self.command(&self.gxx).arg("-nostdlib").args(self.target.iter().cloned());
        command = command.args(LINKER_FLAGS.iter().map(|flag| format!("-Wl,{flag}")));
        if self.warns_of_rwx {
            command = command.arg("-Wl,--no-warn-rwx-segments");
        }
        if job.relocations == Relocations::Keep {
            command = command.arg("-Wl,--emit-relocs");
        }
        if let Some(map) = &job.map {
            // -Wl, would split the path at a comma.
            command = command.args(["-Xlinker", "-Map", "-Xlinker"]).arg(path_arg(map));
        }
        command = command.args(job.ldflags.iter().cloned());
        if let Some(depfile) = &job.depfile {
            command = command.arg("-Xlinker").arg(joined("--dependency-file=", depfile));
        }
        command = command.arg("-T").arg(path_arg(&job.script())).arg("-o").arg(path_arg(&job.output));
        for dir in &self.library_dirs {
            command = command.arg("-L").arg(path_arg(dir));
        }
        let objects = self.start_objects.iter().chain(&job.objects).chain(&job.archives);
        command
            .args(objects.map(|path| path_arg(path)))
            .args(self.library_words())
            .args(self.end_objects.iter().map(|path| path_arg(path)))
    }

    /// A group, because the libraries need each other: libc's strtod takes `nan` from libm, libm `errno` from libc, and
    /// libgcc's trapping arithmetic `abort` from libc.
    pub(crate) fn library_words(&self) -> impl Iterator<Item = &'static str> {
        ["-Wl,--start-group"].into_iter().chain(self.libraries.iter().copied()).chain(["-Wl,--end-group"])
    }

    pub(crate) fn archive(&self, job: &ArchiveJob) -> Command {
        // D: no times, owners or modes, whatever the distribution's default is.
        self.command(&self.ar)
            .arg("qcsD")
            .arg(path_arg(&job.archive))
            .args(job.objects.iter().map(|path| path_arg(path)))
    }

    fn command(&self, program: &Path) -> Command {
        Command { program: program.to_owned(), args: Vec::new(), env: self.env.clone() }
    }
}

/// The target that [`CompileJob::depfile`] names. A constant, so that no object's own name has to be quoted.
const DEPFILE_TARGET: &str = "object";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PrefixMap;

    fn open() -> Driver {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect();
        let paths = |paths: &[&str]| paths.iter().map(PathBuf::from).collect();
        Driver {
            gcc: "/usr/bin/xtensa-lx106-elf-gcc".into(),
            gxx: "/usr/bin/xtensa-lx106-elf-g++".into(),
            ar: "/usr/bin/xtensa-lx106-elf-ar".into(),
            env: vec![("XTENSA_GNU_CONFIG".into(), "/t/lib/xtensa-q7.so".into())],
            target: words(&["-mabi=windowed", "-mlongcalls"]),
            c_headers: words(&["-nostdinc", "-isystem", "/t/include", "-ffile-prefix-map=/t=/toolchain"]),
            cxx_headers: words(&["-nostdinc++", "-isystem", "/t/include/c++/12"]),
            start_objects: paths(&["/t/crti.o", "/t/crtbegin.o"]),
            end_objects: paths(&["/t/crtend.o", "/t/crtn.o"]),
            library_dirs: paths(&["/t/lib"]),
            libraries: vec!["-lstdc++-lite", "-lm", "-lc", "-lhal", "-lgcc", "-lnosys"],
            warns_of_rwx: true,
        }
    }

    /// One argument a line.
    fn lines(command: &Command) -> String {
        command.to_string().replace(" -", "\n  -")
    }

    #[test]
    fn compile_a_kernel() {
        let mut job = CompileJob::new("my kernel.cpp", "-out.o");
        job.depfile = Some("k.d".into());
        job.cflags = vec!["-O2".into(), "-std=c++17".into()];
        job.includes = vec!["/sdk/include".into(), "=here".into()];
        job.prefix_maps = vec![PrefixMap::new("/home/a=b", ".")];
        insta::assert_snapshot!(lines(&open().compile(&job)));
    }

    #[test]
    fn compile_assembly_and_c() {
        insta::assert_snapshot!(lines(&open().compile(&CompileJob::new("switch_stack.S", "switch_stack.o"))));
        insta::assert_snapshot!(lines(&open().compile(&CompileJob::new("weak.c", "weak.o"))));
    }

    #[test]
    fn link_an_image() {
        let mut job = LinkJob::new("out/k_cpu0.so", "lsp/lsp_fll_load_cpu0");
        job.objects = vec!["k.o".into(), "wrapper.o".into()];
        job.archives = vec!["libneuroncustomop.a".into(), "@c10.a".into()];
        job.ldflags = vec!["-Wl,--defsym=x=1".into()];
        job.map = Some("a,b.map".into());
        job.relocations = Relocations::Keep;
        insta::assert_snapshot!(lines(&open().link(&job)));
    }

    #[test]
    fn link_with_an_older_linker() {
        let driver = Driver { warns_of_rwx: false, ..open() };
        assert!(!lines(&driver.link(&LinkJob::new("o", "l"))).contains("rwx"));
    }

    #[test]
    fn archive_objects() {
        let job = ArchiveJob { archive: "lib a.a".into(), objects: vec!["a.o".into(), "-b.o".into()] };
        insta::assert_snapshot!(open().archive(&job).to_string());
    }
}
