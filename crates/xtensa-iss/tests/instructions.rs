//! Instructions that no qemu core executes in user mode, checked against the manual's text.

mod common;

use common::encode::*;
use xtensa_iss::{Config, Cpu, Ram, Stop};

const BASE: u32 = 0x1000;
const DATA: u32 = 0x1800;

/// Runs `code` with a3 = DATA, a4 and a5 as given.
fn run(code: &[&[u8]], a4: u32, a5: u32) -> (Cpu, Ram) {
    let mut ram = Ram::new(BASE, 0x1000);
    ram.write(BASE, &code.concat()).expect("fits");
    ram.write(DATA, &0x1122_3344u32.to_le_bytes()).expect("fits");
    ram.write(DATA + 8, &0x5566_7788u32.to_le_bytes()).expect("fits");
    let mut cpu = Cpu::new(Config::default());
    cpu.set_pc(BASE);
    for (r, value) in [(1, DATA + 0x400), (3, DATA), (4, a4), (5, a5)] {
        cpu.set_ar(r, value);
    }
    assert_eq!(cpu.run(&mut ram, code.len() as u64), Stop::Budget);
    (cpu, ram)
}

#[test]
fn upper_product_words() {
    let words = [0, 1, 2, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1234_5678, 0xfedc_ba98];
    for a in words {
        for b in words {
            let (cpu, _) = run(&[&rrr(2, 10, 6, 4, 5), &rrr(2, 11, 7, 4, 5)], a, b);
            let unsigned = (u64::from(a) * u64::from(b)) >> 32;
            let signed = (i64::from(a as i32) * i64::from(b as i32)) >> 32;
            assert_eq!((cpu.ar(6), cpu.ar(7)), (unsigned as u32, signed as u32), "{a:#x} {b:#x}");
        }
    }
}

#[test]
fn const16_pairs_build_a_word() {
    let (cpu, _) = run(&[&[0x64, 0x00, 0x84], &[0x64, 0x34, 0x12]], 0, 0);
    assert_eq!(cpu.ar(6), 0x8400_1234);
}

#[test]
fn exception_loads_and_stores_have_negative_offsets() {
    // l32e a6, a4, -8; s32e a6, a4, -4
    let (cpu, ram) = run(&[&rrr(9, 0, 14, 4, 6), &rrr(9, 4, 15, 4, 6)], DATA + 8, 0);
    assert_eq!(cpu.ar(6), 0x1122_3344);
    assert_eq!(ram.bytes()[0x804..0x808], 0x1122_3344u32.to_le_bytes());
}

#[test]
fn updating_float_accesses_write_the_address_back() {
    let (cpu, ram) = run(
        &[
            &rri8(3, 8, 3, 1, 2),  // lsiu f1, a3, 8
            &rri8(3, 12, 3, 1, 1), // ssiu f1, a3, 4
            &rrr(8, 1, 2, 3, 4),   // lsxu f2, a3, a4
            &rrr(8, 5, 1, 3, 5),   // ssxu f1, a3, a5
        ],
        (-12i32) as u32,
        16,
    );
    let state = cpu.state();
    assert_eq!((state.fr[1], state.fr[2]), (0x5566_7788, 0x1122_3344));
    assert_eq!(cpu.ar(3), DATA + 16);
    for at in [0x80c, 0x810] {
        assert_eq!(ram.bytes()[at..at + 4], 0x5566_7788u32.to_le_bytes());
    }
}

#[test]
fn rotw_turns_the_window_both_ways() {
    for by in -8i32..8 {
        let turn = rrr(0, 4, 8, 0, by as u8 & 15);
        let (cpu, _) = run(&[&turn], 44, 55);
        assert_eq!(i32::from(cpu.state().window_base), by & 15);
        // a4 is physical register 4 wherever the window is.
        assert_eq!(cpu.state().ar[3..6], [DATA, 44, 55]);
        let back = rrr(0, 4, 8, 0, (-by) as u8 & 15);
        let (cpu, _) = run(&[&turn, &back], 44, 55);
        assert_eq!((cpu.ar(3), cpu.ar(4), cpu.ar(5)), (DATA, 44, 55), "{by}");
    }
}

#[test]
fn window_registers_can_be_set() {
    // wsr.windowbase a4; then a0 is physical register 20. xsr exchanges PS; rsil gives PS and sets the level.
    let (cpu, _) = run(&[&wsr(4, 72)], 5, 55);
    assert_eq!((cpu.state().window_base, cpu.state().ar[5]), (5, 55));
    let (cpu, _) = run(&[&xsr(5, 73), &rsr(6, 73), &rrr(0, 0, 6, 3, 7), &rsr(8, 230)], 0, 0x8001);
    assert_eq!((cpu.ar(5), cpu.ar(6)), (1, 0x8001));
    assert_eq!((cpu.ar(7), cpu.ar(8)), (0x4_0020, 0x4_0023));
}

#[test]
fn special_registers_that_only_hold_a_value() {
    for number in [5, 40, 97, 99, 104, 177, 183, 192, 194, 209, 215, 224, 228, 231, 232, 238, 240, 244, 247] {
        let (cpu, _) = run(&[&wsr(4, number), &xsr(5, number), &rsr(6, number)], 0x1234_5678, 99);
        assert_eq!((cpu.ar(5), cpu.ar(6)), (0x1234_5678, 99), "{number}");
    }
}

#[test]
fn cache_and_order_instructions_do_nothing() {
    let nothing: Vec<[u8; 3]> = [0, 1, 2, 3, 8, 12, 13, 15]
        .map(|t| rrr(0, 0, 2, 0, t))
        .into_iter()
        .chain([0, 1, 2, 3, 4, 5, 6, 7, 12, 14, 15].map(|t| rri8(2, 7, 3, t, 4)))
        .collect();
    let code: Vec<&[u8]> = nothing.iter().map(|c| c.as_slice()).collect();
    let (cpu, ram) = run(&code, 1, 2);
    let (idle, untouched) = run(&[], 1, 2);
    assert_eq!(cpu.pc(), BASE + 3 * code.len() as u32);
    assert_eq!(cpu.state().ar, idle.state().ar);
    assert_eq!(ram.bytes()[0x800..], untouched.bytes()[0x800..]);
}
