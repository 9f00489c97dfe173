//! Running one image twice: under the model with two Linux system calls served, and under qemu-xtensa.

use std::io::Write;
use std::process::{Command, Stdio};

use xtensa_iss::{Bus, Config, Cpu, Ram, Stop};

use super::image::BASE;

/// What a guest did: bytes written to descriptor 1, and its exit code.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub output: Vec<u8>,
    pub exit: u32,
}

/// Serves write (13), of which only what goes to descriptor 1 is kept, and exit (118): number in a2, arguments in a6, a3, a4; anything else is -ENOSYS.
pub fn serve<B: Bus>(
    cpu: &mut Cpu,
    read: impl Fn(&B, u32, u32) -> Vec<u8>,
    bus: &B,
    output: &mut Vec<u8>,
) -> Option<u32> {
    match cpu.ar(2) {
        13 => {
            if cpu.ar(6) == 1 {
                output.extend(read(bus, cpu.ar(3), cpu.ar(4)));
            }
            cpu.set_ar(2, cpu.ar(4));
            None
        }
        118 => Some(cpu.ar(6)),
        _ => {
            cpu.set_ar(2, -38i32 as u32);
            None
        }
    }
}

/// Instructions after which a program is taken to have no end.
const BUDGET: u64 = 1 << 32;

/// Runs `bytes`, loaded at [`BASE`] into `memory` bytes of RAM, until it exits: interpreted, translated at once, and nearly as
/// hosts do it, with native routines. All three must come to the same.
pub fn run_model(bytes: &[u8], memory: u32, entry: u32) -> (Outcome, Cpu) {
    let (end, cpu) = run_all_ways(bytes, memory, entry).unwrap_or_else(|difference| panic!("{difference}"));
    (end.unwrap_or_else(|stop| panic!("the model stopped: {stop:?} at pc {:#x}", cpu.pc())), cpu)
}

/// The same for programs that may stop; what differs if not all ways come to the same.
pub fn run_all_ways(bytes: &[u8], memory: u32, entry: u32) -> Result<(Result<Outcome, Stop>, Cpu), String> {
    let plain = Config { native: false, translate_after: None, ..Config::default() };
    let (outcome, reference, ram) = run_as(plain, bytes, memory, entry);
    let translated = Config { translate_after: Some(0), ..plain };
    // What is met for the fourth time only is translated: routines are called by the interpreter first.
    let as_hosts = Config { translate_after: Some(3), ..Config::default() };
    for config in [translated, as_hosts] {
        let (theirs, cpu, other) = run_as(config, bytes, memory, entry);
        let same = theirs == outcome
            && cpu.instructions() == reference.instructions()
            && (config.native || cpu.state() == reference.state() && ram.bytes() == other.bytes());
        if !same {
            let [a, b] = [&reference, &cpu].map(|cpu| (cpu.pc(), cpu.instructions()));
            return Err(format!("{config:?}: {outcome:?}, pc and count {a:x?}, then {theirs:?}, {b:x?}"));
        }
    }
    Ok((outcome, reference))
}

fn run_as(config: Config, bytes: &[u8], memory: u32, entry: u32) -> (Result<Outcome, Stop>, Cpu, Ram) {
    let mut ram = Ram::new(BASE, memory as usize);
    ram.write(BASE, bytes).expect("image fits");
    let mut cpu = Cpu::new(config);
    cpu.set_pc(entry);
    let mut output = Vec::new();
    let read = |ram: &Ram, addr: u32, len: u32| {
        let at = addr.wrapping_sub(BASE) as usize;
        ram.bytes().get(at..at.saturating_add(len as usize)).unwrap_or_default().to_vec()
    };
    loop {
        match cpu.run(&mut ram, BUDGET) {
            Stop::Syscall => {
                if let Some(exit) = serve(&mut cpu, read, &ram, &mut output) {
                    return (Ok(Outcome { output, exit }), cpu, ram);
                }
            }
            stop => return (Err(stop), cpu, ram),
        }
    }
}

/// Runs an ELF file under `qemu-xtensa -cpu CPU`.
pub fn run_qemu(cpu: &str, elf: &[u8]) -> Outcome {
    let done = qemu_outcome(cpu, elf);
    // Ended by a signal: the shell's convention.
    assert!(done.exit < 128, "qemu-xtensa -cpu {cpu}: signal {}", done.exit - 128);
    assert!(done.exit != NO_END, "qemu-xtensa -cpu {cpu}: the guest did not end in five minutes");
    done
}

/// What `timeout` answers.
const NO_END: u32 = 124;

/// The same for programs that may be ended by a signal: then the exit code is 128 and the signal.
pub fn qemu_outcome(cpu: &str, elf: &[u8]) -> Outcome {
    let mut file = tempfile::Builder::new().prefix("guest").tempfile().expect("a temporary file");
    file.write_all(elf).expect("write");
    let path = file.into_temp_path();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("chmod");
    }
    // A guest gone astray must not hold up everything: coreutils' timeout ends it.
    let done = Command::new("timeout")
        .args(["300", "qemu-xtensa", "-cpu", cpu])
        .arg(&path)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|e| panic!("timeout (coreutils): {e}"));
    match done.status.code() {
        Some(127) => {
            panic!("qemu-xtensa is missing; it is in the package qemu-user (apt-get install qemu-user)")
        }
        Some(code) => Outcome { output: done.stdout, exit: code as u32 },
        // `timeout` ends as the guest did.
        None => {
            let signal = std::os::unix::process::ExitStatusExt::signal(&done.status);
            Outcome { output: done.stdout, exit: 128 + signal.map_or(0, |signal| signal as u32) }
        }
    }
}
