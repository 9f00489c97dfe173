//! Prints how many million instructions a second the model executes on an integer loop, on windowed recursion and on compiled
//! programs, and the ratio to `qemu-xtensa` on the same executables, started in the same run; then the same interpreted.
//! `cargo run --release -p xtensa-iss --example speed [--seconds [--interpreted]] [WORD]`: only programs with the word in their
//! name; in seconds, with tabs between: ours, or interpreted, and qemu.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use xtensa_iss::{Config, Cpu, Ram, Stop};

#[path = "../tests/common/mod.rs"]
mod common;
use common::compiler::{build, load};
use common::image::{self, BASE};

const MEMORY: u32 = 1 << 20;

/// A stack in a1 with a save area for the outermost frame, data in a5; the literals are the first two words.
#[rustfmt::skip]
const START: &[u8] = &[
    0x00, 0x00, 0x0f, 0x10, // stack: BASE + 0xf0000
    0x00, 0x00, 0x08, 0x10, // data:  BASE + 0x80000
    0x11, 0xfe, 0xff,       // l32r   a1, stack
    0x51, 0xfe, 0xff,       // l32r   a5, data
    0x62, 0xc1, 0x40,       // addi   a6, a1, 64
    0x72, 0xc1, 0xf0,       // addi   a7, a1, -16
    0x62, 0x67, 0x01,       // s32i   a6, a7, 4
    0xf0, 0x20, 0x00,       // nop
    0x3d, 0xf0,             // nop.n
];

/// a4 = 100 << 20; do { a2 = ((a2 + a5[0]) ^ (a2 + a5[0]) << 3) - a4; a5[1] = a2; } while (--a4 != 0);
#[rustfmt::skip]
const LOOP: &[u8] = &[
    0x42, 0xa0, 0x64, //    movi    a4, 100
    0xc0, 0x44, 0x01, //    slli    a4, a4, 20
    0x38, 0x05,       // 0: l32i.n  a3, a5, 0
    0x2a, 0x23,       //    add.n   a2, a3, a2
    0xd0, 0x62, 0x11, //    slli    a6, a2, 3
    0x60, 0x22, 0x30, //    xor     a2, a2, a6
    0x40, 0x22, 0xc0, //    sub     a2, a2, a4
    0x29, 0x15,       //    s32i.n  a2, a5, 4
    0x0b, 0x44,       //    addi.n  a4, a4, -1
    0x56, 0xb4, 0xfe, //    bnez    a4, 0b
    0x62, 0xa0, 0x00, //    movi    a6, 0
    0x22, 0xa0, 0x76, //    movi    a2, 118 (exit)
    0x00, 0x50, 0x00, //    syscall
];

/// fib(36) by double recursion: a call and a return every few instructions.
#[rustfmt::skip]
const FIB: &[u8] = &[
    0xa2, 0xa0, 0x24, //    movi    a10, 36
    0xe5, 0x00, 0x00, //    call8   fib
    0x62, 0xa0, 0x00, //    movi    a6, 0
    0x22, 0xa0, 0x76, //    movi    a2, 118 (exit)
    0x00, 0x50, 0x00, //    syscall
    0x00,
    0x36, 0x41, 0x00, // fib: entry a1, 32
    0xa6, 0x22, 0x0e, //    blti    a2, 2, 1f
    0x0b, 0xa2,       //    addi.n  a10, a2, -1
    0x65, 0xff, 0xff, //    call8   fib
    0x3d, 0x0a,       //    mov.n   a3, a10
    0xa2, 0xc2, 0xfe, //    addi    a10, a2, -2
    0xe5, 0xfe, 0xff, //    call8   fib
    0xaa, 0x23,       //    add.n   a2, a3, a10
    0x1d, 0xf0,       // 1: retw.n
];

fn measure(name: &str, code: &[u8]) {
    run(name, &[START, code].concat(), MEMORY, BASE + 8);
}

/// A program of `tests/programs`.
fn compiled(name: &str, source: &str) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = std::fs::read(build(dir.path(), source, "-O2")).expect("the linked program");
    let (image, memory, entry) = load(&file);
    run(name, &image, memory, entry);
}

fn run(name: &str, image: &[u8], memory: u32, entry: u32) {
    let (words, flags): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|word| !word.starts_with("--"));
    if !words.iter().all(|word| name.contains(word)) {
        return;
    }
    let interpreted = Config { native: false, translate_after: None, ..Config::default() };
    let theirs = qemu(image, memory, entry);
    if !flags.is_empty() {
        let is_interpreted = flags.iter().any(|flag| flag == "--interpreted");
        let config = if is_interpreted { interpreted } else { Config::default() };
        let (ours, _) = time(config, image, memory, entry);
        println!("{name}\t{ours}\t{}", theirs.map_or_else(String::new, |theirs| theirs.to_string()));
        return;
    }
    let [(ours, count), (slow, _)] =
        [Config::default(), interpreted].map(|config| time(config, image, memory, entry));
    let rate = |seconds: f64| count as f64 / 1e6 / seconds;
    print!("{name}: {:.0} M instructions/s ({:.0} M in {ours:.2} s)", rate(ours), rate(1.0));
    match theirs {
        Some(theirs) => {
            print!("; qemu-xtensa {:.0} M/s, ratio {:.2}", rate(theirs), theirs / ours);
            println!("; interpreted {:.2}", theirs / slow);
        }
        None => println!("; for the ratio install qemu-user"),
    }
}

/// Seconds and instructions until the program exits; what it prints is not looked at.
fn time(config: Config, image: &[u8], memory: u32, entry: u32) -> (f64, u64) {
    let mut ram = Ram::new(BASE, memory as usize);
    ram.write(BASE, image).expect("the image fits");
    let mut cpu = Cpu::new(config);
    cpu.set_pc(entry);
    let start = Instant::now();
    loop {
        assert_eq!(cpu.run(&mut ram, u64::MAX), Stop::Syscall);
        // 118 is exit, 13 is write: all of it is written.
        match cpu.ar(2) {
            118 => return (start.elapsed().as_secs_f64(), cpu.instructions()),
            13 => cpu.set_ar(2, cpu.ar(4)),
            _ => cpu.set_ar(2, -38i32 as u32),
        }
    }
}

/// Seconds that qemu takes, start included.
fn qemu(image: &[u8], memory: u32, entry: u32) -> Option<f64> {
    let file = std::env::temp_dir().join(format!("xtensa-iss-speed-{}", std::process::id()));
    std::fs::write(&file, image::elf(image, memory, entry)).ok()?;
    let seconds = start_qemu(&file);
    std::fs::remove_file(&file).ok()?;
    seconds
}

fn start_qemu(file: &Path) -> Option<f64> {
    let mut permissions = std::fs::metadata(file).ok()?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o700);
    std::fs::set_permissions(file, permissions).ok()?;
    let start = Instant::now();
    let status = Command::new("qemu-xtensa")
        .args(["-cpu", "dc233c"])
        .arg(file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .ok()?;
    status.success().then(|| start.elapsed().as_secs_f64())
}

fn main() {
    measure("integer loop", LOOP);
    measure("windowed recursion", FIB);
    compiled("float kernel (matrix product)", "speed_matrix.c");
    compiled("memcpy", "speed_copy.c");
    compiled("softmax", "speed_softmax.c");
    compiled("sort", "speed_sort.c");
}
