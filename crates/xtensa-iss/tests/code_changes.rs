//! Decoded code follows memory: stores into code, changes from outside, loop ends that move.

mod common;

use common::encode::*;
use xtensa_iss::{Config, Cpu, Ram, Stop};

const BASE: u32 = 0x1000;
const BREAK: [u8; 3] = [0, 0x40, 0];

fn machine(code: &[&[u8]]) -> (Cpu, Ram) {
    let mut ram = Ram::new(BASE, 0x1000);
    ram.write(BASE, &code.concat()).expect("fits");
    let mut cpu = Cpu::new(Config::default());
    cpu.set_pc(BASE);
    (cpu, ram)
}

#[test]
fn a_store_into_the_running_block_takes_effect_at_once() {
    // s32i a2, a3, 8 replaces the second addi (at BASE + 8) while the block that holds both runs.
    let (mut cpu, mut ram) =
        machine(&[&s32i(2, 3, 8), &addi(4, 4, 1), &NOP[..2], &addi(4, 4, 16), &[0x3d, 0xf0], &BREAK]);
    ram.write(BASE + 6, &[0x3d, 0xf0]).expect("fits");
    let new = addi(4, 4, 32);
    cpu.set_ar(2, u32::from_le_bytes([new[0], new[1], new[2], 0x3d]));
    cpu.set_ar(3, BASE);
    assert_eq!(cpu.run(&mut ram, 100), Stop::Break { s: 0, t: 0 });
    assert_eq!(cpu.ar(4), 33);
    assert_eq!(cpu.instructions(), 6);
}

#[test]
fn a_loop_that_rewrites_itself_counts_the_rewrites() {
    // a5 rounds: the byte at BASE + 5 (addi's immediate) grows by one each round.
    let (mut cpu, mut ram) = machine(&[
        &addi(5, 5, -1),
        &addi(4, 4, 1),
        &rri8(2, 0, 3, 6, 5),
        &addi(6, 6, 1),
        &rri8(2, 4, 3, 6, 5),
        &[0; 3],
        &BREAK,
    ]);
    // bnez a5, BASE
    let word: u32 = ((BASE.wrapping_sub(BASE + 15 + 4)) & 0xfff) << 12 | 5 << 8 | 0x56;
    ram.write(BASE + 15, &word.to_le_bytes()[..3]).expect("fits");
    cpu.set_ar(3, BASE);
    cpu.set_ar(5, 100);
    assert_eq!(cpu.run(&mut ram, 10_000), Stop::Break { s: 0, t: 0 });
    assert_eq!(cpu.ar(4), (1..=100u8).map(|i| i32::from(i as i8) as u32).sum::<u32>());
}

#[test]
fn data_beside_code_does_not_disturb_it() {
    // The counter lies in the very words behind the loop.
    let (mut cpu, mut ram) =
        machine(&[&l32i(2, 3, 32), &addi(2, 2, 1), &s32i(2, 3, 32), &addi(4, 4, -1), &[0; 3], &BREAK]);
    let word: u32 = ((BASE.wrapping_sub(BASE + 12 + 4)) & 0xfff) << 12 | 4 << 8 | 0x56;
    ram.write(BASE + 12, &word.to_le_bytes()[..3]).expect("fits");
    cpu.set_ar(3, BASE);
    cpu.set_ar(4, 50);
    assert_eq!(cpu.run(&mut ram, 10_000), Stop::Break { s: 0, t: 0 });
    assert_eq!(ram.bytes()[32], 50);
}

#[test]
fn changes_from_outside_need_to_be_told() {
    let (mut cpu, mut ram) = machine(&[&movi(2, 1), &BREAK]);
    cpu.run(&mut ram, 10);
    ram.write(BASE, &movi(2, 9)).expect("fits");
    cpu.invalidate_code(BASE + 2, 1);
    cpu.set_pc(BASE);
    cpu.run(&mut ram, 10);
    assert_eq!(cpu.ar(2), 9);
    // All of memory at once, and none of it.
    ram.write(BASE, &movi(2, 8)).expect("fits");
    cpu.invalidate_code(0, 0);
    cpu.invalidate_code(0, u32::MAX);
    cpu.set_pc(BASE);
    cpu.run(&mut ram, 10);
    assert_eq!(cpu.ar(2), 8);
}

#[test]
fn a_loop_end_set_by_hand_splits_known_blocks() {
    // Three addis run as one block first; then LBEG, LEND and LCOUNT make the middle one a loop.
    let (mut cpu, mut ram) = machine(&[&addi(2, 2, 1), &addi(2, 2, 10), &addi(2, 2, 100), &BREAK]);
    cpu.run(&mut ram, 100);
    assert_eq!(cpu.ar(2), 111);
    let setup = [wsr(3, 0), wsr(4, 1), wsr(5, 2), jump(BASE + 0x109, BASE)].concat();
    ram.write(BASE + 0x100, &setup).expect("fits");
    cpu.set_ar(2, 0);
    cpu.set_ar(3, BASE + 3);
    cpu.set_ar(4, BASE + 6);
    cpu.set_ar(5, 4);
    cpu.set_pc(BASE + 0x100);
    assert_eq!(cpu.run(&mut ram, 100), Stop::Break { s: 0, t: 0 });
    assert_eq!(cpu.ar(2), 1 + 50 + 100);
    assert_eq!(cpu.state().lcount, 0);
}
