//! Words for `xt-clang++` and `xt-pkg-loadlib`: equal to the reference driver's, flag for flag and in order (spec
//! `toolchain.md` §2, §3, §6), but as vectors that no shell reads.
//!
//! Unaware of where the tools come from ([`crate::vendor`]).

use std::ffi::OsString;
use std::path::PathBuf;

use crate::job::{joined, path_arg};
use crate::vendor::XtensaTools;
use crate::{ArchiveJob, Command, CompileJob, LinkJob, PackJob, Relocations};

/// Flags that compiling and linking share, in order (§2); between them stand those of compiling alone.
const COMMON: [&str; 9] = [
    "-g",
    "-std=c++14",
    "-stdlib=libc++-e",
    "-fno-jump-tables",
    "-Os",
    "-Wall",
    "-Werror",
    "-Wno-c99-designator",
    "-mcoproc",
];

/// `-MMD` puts the dependency file beside the object, which is where a plan looks for it.
const COMPILE_ONLY: [&str; 5] = ["-MMD", "-MP", "-fpic", "-mlongcalls", "-c"];

/// Libraries after the linker support package; the last archive of the link follows them (§3).
const LIBRARIES: [&str; 5] = ["-lxmem", "-lhal", "-lc++-e", "-lm", "-lgcc"];

impl XtensaTools {
    /// `xt-clang++`, built-in flags, caller's flags, built-in includes, caller's includes, `-o`, source.
    ///
    /// Prefix maps are not passed: the vendor's line has none.
    pub fn compile(&self, job: &CompileJob) -> Command {
        let mut command = self
            .command(&self.compiler)
            .args(COMMON)
            .args(COMPILE_ONLY)
            .args(self.core_flags())
            .args(job.cflags.iter().cloned())
            .args(self.includes());
        for dir in &job.includes {
            command = command.arg(joined("-I", dir));
        }
        command.arg("-o").arg(path_arg(&job.object)).arg(path_arg(&job.source))
    }

    /// `xt-clang++`, built-in flags, built-in includes, `-o`, objects, libraries. The caller's link flags, which the
    /// reference does not have, come before `-o`.
    pub fn link(&self, job: &LinkJob) -> Command {
        let [runtime, c10, weak] = self.layout.archives();
        let mut command =
            self.command(&self.compiler).args(COMMON).args(self.core_flags()).args(self.includes());
        command = command.args(job.ldflags.iter().cloned());
        if job.relocations == Relocations::Keep {
            command = command.arg("-Wl,--emit-relocs");
        }
        if let Some(map) = &job.map {
            command = command.args(["-Xlinker", "-Map", "-Xlinker"]).arg(path_arg(map));
        }
        command = command.arg("-o").arg(path_arg(&job.output));
        command = command.args(job.objects.iter().map(|path| path_arg(path)));
        command
            .args([runtime, c10])
            .arg("-lloader")
            .arg(joined("-mlsp=", &job.lsp_dir))
            .args(LIBRARIES)
            .arg(weak)
    }

    /// `xt-pkg-loadlib`, as the reference calls it; `None` if it is not installed.
    pub fn pack(&self, job: &PackJob) -> Option<Command> {
        let command = self
            .command(self.packager.as_ref()?)
            .args(["-e", "lib_func"])
            .args(self.core_flags())
            .arg("-o")
            .arg(path_arg(&job.packed))
            .arg("-s")
            .arg(path_arg(&job.stripped));
        Some(command.arg(path_arg(&job.linked)))
    }

    /// `xt-ar`; no build with this toolchain needs it, its archives come ready.
    pub fn archive(&self, job: &ArchiveJob) -> Command {
        self.command(&self.layout.bin.join("xt-ar"))
            .arg("qcsD")
            .arg(path_arg(&job.archive))
            .args(job.objects.iter().map(|path| path_arg(path)))
    }

    /// §1.1.
    fn includes(&self) -> [OsString; 3] {
        let root = &self.layout.root;
        [root.clone(), root.join("torch/include"), root.join("c10/include")].map(|dir| joined("-I", &dir))
    }

    fn command(&self, program: &PathBuf) -> Command {
        let mut command = Command::new(program);
        command.env.clone_from(&self.env);
        command
    }
}
