//! Fuzz targets: bytes from outside in, no panic out.

use crate::{Config, Cpu, Ram, decode, disasm};

/// Decodes and disassembles at every offset.
pub fn fuzz_decode(data: &[u8]) {
    for at in 0..data.len() {
        let pc = u32::from_le_bytes([0, 0xf0, at as u8, 0xff]).wrapping_add(at as u32);
        let insn = decode(&data[at..], pc);
        assert!(insn.len >= 2 && !disasm(&data[at..], pc).is_empty());
    }
}

/// Runs the bytes as a program for a while: the first 64 are `a0..a15`, the rest is memory and code at 0x1000.
pub fn fuzz_run(data: &[u8]) {
    let mut cpu = Cpu::new(Config::default());
    for (r, word) in (0..16).zip(data.chunks_exact(4)) {
        cpu.set_ar(r, u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    }
    let mut ram = Ram::new(0x1000, 0x2000);
    if ram.write(0x1000, data.get(64..).unwrap_or_default()).is_err() {
        return;
    }
    cpu.set_pc(0x1000);
    for _ in 0..4 {
        let before = cpu.instructions();
        let _ = cpu.run(&mut ram, 500);
        assert!(cpu.instructions() - before <= 500);
        let _ = cpu.call_chain(&mut ram, 100);
    }
    let _ = cpu.spill_windows(&mut ram);
}
