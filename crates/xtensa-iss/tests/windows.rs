//! Windowed calls from the host's side: the call helper, frames in registers and in memory, spilling.

mod common;

use common::encode::*;
use xtensa_iss::{Config, Cpu, Ram, Stop};

const BASE: u32 = 0x8400_0000;
const TOP: u32 = BASE + 0xff00;
const RETURN: u32 = BASE + 0x8000;

/// down(n): n == 0 ? break 1, 7 : down(n - 1) + n, by CALL4, CALL8, CALL12 in turn.
fn recursion() -> Vec<u8> {
    let mut code = Vec::new();
    let size = 28u32;
    for f in 0..3u32 {
        let n = f as u8 + 1;
        let start = BASE + f * size;
        code.extend(entry(1, 64));
        code.extend(branch_zero(1, 2, 5));
        code.extend([0x70, 0x41, 0x00]); // break 1, 7
        code.extend(RETW_N);
        code.extend(addi(4 * n + 2, 2, -1));
        code.extend(call(n, start + 14, BASE + (f + 1) % 3 * size));
        code.extend(add(2, 2, 4 * n + 2));
        code.extend(RETW_N);
        code.resize(((f + 1) * size) as usize, 0);
    }
    code
}

fn machine() -> (Cpu, Ram) {
    let mut ram = Ram::new(BASE, 0x1_0000);
    ram.write(BASE, &recursion()).expect("fits");
    ram.write(RETURN, &[0x00, 0x41, 0x00]).expect("fits"); // break 1, 0
    let mut cpu = Cpu::new(Config::default());
    cpu.set_ar(1, TOP);
    (cpu, ram)
}

#[test]
fn calls_of_any_depth_return_their_result() {
    for depth in (0..200).step_by(7) {
        let (mut cpu, mut ram) = machine();
        cpu.call4(BASE, RETURN, &[depth]);
        assert_eq!(cpu.run(&mut ram, 100_000), Stop::Break { s: 1, t: 7 }, "{depth}");
        assert_eq!(cpu.run(&mut ram, 100_000), Stop::Break { s: 1, t: 0 }, "{depth}");
        assert_eq!(cpu.call_result(), depth * (depth + 1) / 2);
        assert_eq!((cpu.ar(1), cpu.pc()), (TOP, RETURN + 3));
        assert_eq!(cpu.state().window_start.count_ones(), 1);
    }
}

#[test]
fn call_chain_is_the_same_before_and_after_a_spill() {
    for depth in [0, 1, 3, 5, 12, 50] {
        let (mut cpu, mut ram) = machine();
        cpu.call4(BASE, RETURN, &[depth]);
        assert_eq!(cpu.run(&mut ram, 100_000), Stop::Break { s: 1, t: 7 });
        let state = cpu.state();
        let chain = cpu.call_chain(&mut ram, 1000);
        assert_eq!(cpu.state(), state, "looking changes nothing");
        // The functions, the host's frame.
        assert_eq!(chain.len() as u32, depth + 2);
        for (n, &(pc, sp)) in chain.iter().enumerate().take(depth as usize + 1) {
            assert_eq!(sp, TOP - 64 * (depth + 1 - n as u32));
            let f = (depth - n as u32) % 3;
            assert_eq!(pc, BASE + f * 28 + if n == 0 { 9 } else { 17 }, "entry {n} of depth {depth}");
        }
        assert_eq!(chain.last(), Some(&(RETURN, TOP)));

        cpu.spill_windows(&mut ram).expect("the stack takes it");
        assert_eq!(cpu.state().window_start.count_ones(), 1);
        assert_eq!(cpu.call_chain(&mut ram, 1000), chain);
        // The program does not notice.
        assert_eq!(cpu.run(&mut ram, 100_000), Stop::Break { s: 1, t: 0 });
        assert_eq!(cpu.call_result(), depth * (depth + 1) / 2);
    }
}

#[test]
fn save_areas_are_where_the_abi_puts_them() {
    let (mut cpu, mut ram) = machine();
    cpu.call4(BASE, RETURN, &[2]);
    cpu.run(&mut ram, 100_000);
    cpu.spill_windows(&mut ram).expect("the stack takes it");
    let word = |addr: u32| {
        let at = (addr - BASE) as usize;
        u32::from_le_bytes(ram.bytes()[at..at + 4].try_into().expect("four bytes"))
    };
    // down(2) at TOP - 64 called by CALL4; its a0..a3 lie below its callee's stack pointer.
    let callee = TOP - 128;
    assert_eq!(word(callee - 16), 1 << 30 | RETURN & 0x3fff_ffff);
    assert_eq!([word(callee - 12), word(callee - 8)], [TOP - 64, 2]);
    // down(1) made a CALL8: its a4..a7 lie at the end of its own frame, found through its caller's save area.
    assert_eq!(word(callee - 64 - 12), callee);
    assert_eq!(word(TOP - 64 - 12), TOP);
}

#[test]
fn state_moves_between_cores() {
    let (mut cpu, mut ram) = machine();
    cpu.call4(BASE, RETURN, &[40]);
    assert_eq!(cpu.run(&mut ram, 100), Stop::Budget);
    let mut other = Cpu::new(Config::default());
    other.set_state(&cpu.state());
    let mut copy = ram.clone();
    for (cpu, ram) in [(&mut cpu, &mut ram), (&mut other, &mut copy)] {
        while cpu.run(ram, 17) == Stop::Budget {}
    }
    assert_eq!(cpu.state(), other.state());
    assert_eq!(ram.bytes(), copy.bytes());
}
