//! Test programs: compiled with the open toolchain, linked where qemu can map them, loaded.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gpsimd_toolchain::install::install;
use gpsimd_toolchain::{Command, CompileJob, Home, Machine, OpenToolchain};
use miette::Diagnostic as _;

use super::image::BASE;

/// The open toolchain that is installed, else one installed for the tests into the target directory.
fn toolchain() -> &'static OpenToolchain {
    static TOOLCHAIN: OnceLock<OpenToolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| {
        let machine = Machine::here();
        let installed = Home::from_env().and_then(|home| OpenToolchain::discover(&machine, &home));
        installed.unwrap_or_else(|_| {
            let scratch = option_env!("CARGO_TARGET_TMPDIR").map_or_else(std::env::temp_dir, PathBuf::from);
            let home = Home::at(scratch.join("toolchain-home"));
            home.and_then(|home| install(&machine, &home, NonZeroUsize::MIN, &|_| {}))
                .unwrap_or_else(|e| panic!("{e}: {}", e.help().map(|h| h.to_string()).unwrap_or_default()))
                .toolchain()
        })
    })
}

pub fn run(command: &Command) -> String {
    let out = command.to_std().output().unwrap_or_else(|e| panic!("{command}: {e}"));
    assert!(out.status.success(), "{command}\n{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

pub fn tool(name: &str) -> Command {
    toolchain().tool(&Machine::here(), name).unwrap_or_else(|e| panic!("{e}"))
}

/// Compiles `name` with `level` and links it at [`BASE`].
pub fn build(dir: &Path, name: &str, level: &str) -> PathBuf {
    let object = dir.join(format!("{name}{level}.o"));
    let image = dir.join(format!("{name}{level}.elf"));
    let flags = [level, "-Wno-infinite-recursion"].map(str::to_owned);
    let built = compile(&programs().join(name), &object, &flags)
        .and_then(|()| link(&start_objects(dir), &object, &image));
    built.unwrap_or_else(|error| panic!("{error}"));
    image
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// What every program begins with.
pub fn start_objects(dir: &Path) -> [PathBuf; 2] {
    objects(dir, ["start.S", "begin.c"], &[])
}

/// Objects of sources of ours.
pub fn objects<const N: usize>(dir: &Path, sources: [&str; N], flags: &[String]) -> [PathBuf; N] {
    sources.map(|source| {
        let object = dir.join(format!("{source}.o"));
        compile(&programs().join(source), &object, flags).unwrap_or_else(|error| panic!("{error}"));
        object
    })
}

/// What the compiler says if it fails.
pub fn compile(source: &Path, object: &Path, flags: &[String]) -> Result<(), String> {
    let mut job = CompileJob::new(source, object);
    job.cflags = flags.iter().map(Into::into).collect();
    tried(&gpsimd_toolchain::Toolchain::Open(toolchain().clone()).compile(&job))
}

/// Links a program at [`BASE`]; what the linker says if it fails.
pub fn link(start: &[PathBuf], object: &Path, image: &Path) -> Result<(), String> {
    tried(
        &tool("ld")
            .arg("-T")
            .arg(programs().join("link.x"))
            .args(["--no-warn-rwx-segments", "-o"])
            .arg(image)
            .args(start)
            .arg(object)
            .arg("-L")
            .arg(toolchain().dir().join("target/lib"))
            .args([
                "--start-group",
                "-lstdc++-lite",
                "-lm",
                "-lc",
                "-lhal",
                "-lgcc",
                "-lnosys",
                "--end-group",
            ]),
    )
}

fn tried(command: &Command) -> Result<(), String> {
    let out = command.to_std().output().unwrap_or_else(|e| panic!("{command}: {e}"));
    let said = String::from_utf8_lossy(&out.stderr);
    if out.status.success() { Ok(()) } else { Err(format!("{command}\n{said}")) }
}

/// The loadable bytes of an executable from [`BASE`] on, the memory they need, and the entry.
pub fn load(elf: &[u8]) -> (Vec<u8>, u32, u32) {
    let half = |at: usize| u16::from_le_bytes([elf[at], elf[at + 1]]) as usize;
    let word = |at: usize| u32::from_le_bytes([elf[at], elf[at + 1], elf[at + 2], elf[at + 3]]);
    let mut image = Vec::new();
    let mut memory = 0;
    for header in (0..half(44)).map(|i| word(28) as usize + i * half(42)).filter(|&h| word(h) == 1) {
        let (offset, len) = (word(header + 4) as usize, word(header + 16) as usize);
        let at = (word(header + 8) - BASE) as usize;
        image.resize(image.len().max(at + len), 0);
        image[at..at + len].copy_from_slice(&elf[offset..offset + len]);
        memory = memory.max(at as u32 + word(header + 20));
    }
    (image, memory, word(24))
}
