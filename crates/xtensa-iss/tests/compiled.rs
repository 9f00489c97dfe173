//! Compiled programs: the same executable prints the same text and exits alike under the model and under qemu-xtensa; and
//! the disassembler reads them as objdump does.

mod common;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use common::guest::{run_model, run_qemu};
use common::image::BASE;
use gpsimd_toolchain::install::install;
use gpsimd_toolchain::{Command, CompileJob, Home, Machine, OpenToolchain};
use miette::Diagnostic as _;
use xtensa_iss::{decode, disasm};

/// The open toolchain that is installed, else one installed for the tests into the target directory.
fn toolchain() -> &'static OpenToolchain {
    static TOOLCHAIN: OnceLock<OpenToolchain> = OnceLock::new();
    TOOLCHAIN.get_or_init(|| {
        let machine = Machine::here();
        let installed = Home::from_env().and_then(|home| OpenToolchain::discover(&machine, &home));
        installed.unwrap_or_else(|_| {
            let home = Home::at(Path::new(env!("CARGO_TARGET_TMPDIR")).join("toolchain-home"));
            home.and_then(|home| install(&machine, &home, NonZeroUsize::MIN, &|_| {}))
                .unwrap_or_else(|e| panic!("{e}: {}", e.help().map(|h| h.to_string()).unwrap_or_default()))
                .toolchain()
        })
    })
}

fn run(command: &Command) -> String {
    let out = command.to_std().output().unwrap_or_else(|e| panic!("{command}: {e}"));
    assert!(out.status.success(), "{command}\n{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

fn tool(name: &str) -> Command {
    toolchain().tool(&Machine::here(), name).unwrap_or_else(|e| panic!("{e}"))
}

/// Compiles `name` with `level` and links it at [`BASE`].
fn build(dir: &Path, name: &str, level: &str) -> PathBuf {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let objects: Vec<PathBuf> = ["start.S", "begin.c", name]
        .iter()
        .map(|source| {
            let object = dir.join(format!("{source}{level}.o"));
            let mut job = CompileJob::new(programs.join(source), &object);
            job.cflags = vec![level.into(), "-Wno-infinite-recursion".into()];
            run(&gpsimd_toolchain::Toolchain::Open(toolchain().clone()).compile(&job));
            object
        })
        .collect();
    let image = dir.join(format!("{name}{level}.elf"));
    let libraries = toolchain().dir().join("target/lib");
    run(&tool("ld")
        .arg("-T")
        .arg(programs.join("link.x"))
        .args(["--no-warn-rwx-segments", "-o"])
        .arg(&image)
        .args(&objects)
        .arg("-L")
        .arg(&libraries)
        .args(["--start-group", "-lm", "-lc", "-lhal", "-lgcc", "-lnosys", "--end-group"]));
    image
}

/// The loadable bytes of an executable from [`BASE`] on, the memory they need, and the entry.
fn load(elf: &[u8]) -> (Vec<u8>, u32, u32) {
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

fn matches_qemu(name: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for level in ["-O0", "-Os", "-O2"] {
        let elf = std::fs::read(build(dir.path(), name, level)).expect("the linked program");
        let theirs = run_qemu("dc233c", &elf);
        let (image, memory, entry) = load(&elf);
        let (ours, cpu) = run_model(&image, memory, entry);
        assert!(!theirs.output.is_empty(), "{name} {level} printed nothing");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&ours.output), text(&theirs.output), "{name} {level}");
        assert_eq!(ours.exit, theirs.exit, "{name} {level}");
        assert!(cpu.instructions() > 1000, "{name} {level}");
    }
}

#[test]
fn recursion_matches_qemu() {
    matches_qemu("recursion.c");
}

#[test]
fn library_text_functions_match_qemu() {
    matches_qemu("text.c");
}

#[test]
fn software_floating_point_matches_qemu() {
    matches_qemu("numbers.c");
}

#[test]
fn long_jumps_and_spilled_frames_match_qemu() {
    matches_qemu("jumps.c");
}

/// Operands as numbers and names: `0x10` and `16` are the same, symbols and comments are not compared.
fn normal(text: &str) -> Vec<String> {
    let text = text.split(['<', '(']).next().unwrap_or_default();
    text.split([' ', '\t', ','])
        .filter(|w| !w.is_empty())
        .map(|w| {
            let (sign, digits) = w.strip_prefix('-').map_or((1, w), |d| (-1, d));
            match digits.strip_prefix("0x") {
                Some(hex) => i64::from_str_radix(hex, 16).map_or(w.into(), |v| (sign * v).to_string()),
                None => w.into(),
            }
        })
        .collect()
}

#[test]
fn disassembly_agrees_with_objdump() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = build(dir.path(), "numbers.c", "-O2");
    let listing = run(&tool("objdump").args(["-d", "-z", "-j", ".text"]).arg(&image));
    let (mut compared, mut wrong) = (0, Vec::new());
    // Lines are "address:\tbytes as one little-endian number\tmnemonic\toperands".
    for line in listing.lines() {
        let mut columns = line.split('\t');
        let (Some(address), Some(number), Some(mnemonic)) = (columns.next(), columns.next(), columns.next())
        else {
            continue;
        };
        let address = u32::from_str_radix(address.trim().trim_end_matches(':'), 16).expect("an address");
        let number = number.trim();
        let value = u32::from_str_radix(number, 16).expect("instruction bytes");
        let bytes = &value.to_le_bytes()[..number.len() / 2];
        // Literals have no mnemonic; `excw` stands for what objdump does not know, such as const16.
        if mnemonic.is_empty() || mnemonic.starts_with('.') || mnemonic.starts_with("excw") {
            continue;
        }
        let theirs = format!("{mnemonic} {}", columns.collect::<Vec<_>>().join(" "));
        let ours = disasm(bytes, address);
        // objdump prints targets as bare hexadecimal.
        let target = |words: &[String]| words.last().and_then(|w| u32::from_str_radix(w, 16).ok());
        let (mut a, b) = (normal(&ours), normal(&theirs));
        if a != b && target(&b) == a.last().and_then(|w| w.parse().ok()) {
            a.pop();
            a.extend(b.last().cloned());
        }
        compared += 1;
        if a != b || usize::from(decode(bytes, address).len) != bytes.len() {
            wrong.push(format!("{address:08x}: {ours} / {theirs}"));
        }
    }
    assert!(compared > 5000, "only {compared} lines read");
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong[..wrong.len().min(30)].join("\n"));
}
