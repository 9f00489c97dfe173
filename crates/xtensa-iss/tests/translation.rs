//! Translated code against the interpreter: the same states, faults and counts, whatever changes meanwhile.

mod common;

use common::generate::{Features, Kind, program};
use common::guest::run_model;
use common::image::BASE;
use common::rng::Rng;
use xtensa_iss::{Config, Cpu, Ram, State, Stop};

const AT_ONCE: Config = Config { translate_after: Some(0), ..INTERPRETED };
const INTERPRETED: Config =
    Config { prid: 0, unaligned: xtensa_iss::Unaligned::Fault, native: false, translate_after: None };

/// Runs code at [`BASE`] in slices, under one configuration; every stop with the state then.
fn trace(config: Config, code: &[u8], slice: u64, stops: usize) -> Vec<(Stop, State)> {
    let mut ram = Ram::new(BASE, 0x4000);
    ram.write(BASE, code).expect("it fits");
    let mut cpu = Cpu::new(config);
    cpu.set_pc(BASE);
    cpu.set_ar(1, BASE + 0x3000);
    let mut trace = Vec::new();
    for _ in 0..stops {
        let stop = cpu.run(&mut ram, slice);
        trace.push((stop, cpu.state()));
        if stop != Stop::Budget {
            break;
        }
    }
    trace
}

fn same(code: &[u8]) {
    for slice in [1, 2, 3, 7, 50, 1000] {
        let (translated, interpreted) =
            (trace(AT_ONCE, code, slice, 200), trace(INTERPRETED, code, slice, 200));
        for (n, pair) in translated.iter().zip(&interpreted).enumerate() {
            assert_eq!(pair.0, pair.1, "slices of {slice}, the {n}th");
        }
        assert_eq!(translated.len(), interpreted.len(), "slices of {slice}");
    }
}

/// a2 = a1 - 64 words up, counted by a3.
#[rustfmt::skip]
const BODY: [u8; 17] = [
    0x32, 0xa0, 0x05, // movi a3, 5
    0x0c, 0x04,       // movi.n a4, 0
    0x22, 0xc1, 0xc0, // addi a2, a1, -64
    0x49, 0x02,       // s32i.n a4, a2, 0
    0x4b, 0x22,       // addi.n a2, a2, 4
    0x1b, 0x44,       // addi.n a4, a4, 1
    0x56, 0x63, 0xff, // bnez a3, -6 (never 0: it runs into the budget)
];

#[test]
fn budgets_end_at_the_same_instruction() {
    same(&BODY);
}

#[test]
fn refused_accesses_are_the_same_fault() {
    // l32i a2, a1, 0 … with a1 moved on by a loop until memory ends: addi a5, a5, 64; add a6, a1, a5; l32i a7, a6, 0; j
    #[rustfmt::skip]
    let code = [
        0x52, 0xc5, 0x40, // addi a5, a5, 64
        0x5a, 0x61,       // add.n a6, a1, a5
        0x78, 0x06,       // l32i.n a7, a6, 0
        0x79, 0x16,       // s32i.n a7, a6, 4
        0xc6, 0xfc, 0xff, // j to the start
    ];
    same(&code);
    let last = trace(AT_ONCE, &code, 1 << 20, 1);
    assert!(matches!(last[0].0, Stop::Fault(_)), "{:?}", last[0].0);
}

#[test]
fn random_programs_run_alike() {
    let features = Features { booleans: true, multiply_high: true, float: true };
    let kinds = [Kind::Integer, Kind::Memory, Kind::Control, Kind::Loops, Kind::Windows, Kind::Float];
    for seed in 0..3 {
        let mut rng = Rng::new(seed << 20 | 0x18);
        let chosen: Vec<Kind> = (0..200).map(|_| rng.pick(&kinds)).collect();
        let program = program(&mut rng, &chosen, features);
        // It compares the three ways itself.
        run_model(&program.bytes, program.memory, program.entry);
    }
}

#[test]
#[ignore = "minutes; cargo xtask soak"]
fn random_programs_run_alike_at_length() {
    let features = Features { booleans: true, multiply_high: true, float: true };
    let kinds = [Kind::Integer, Kind::Memory, Kind::Control, Kind::Loops, Kind::Windows, Kind::Float];
    for seed in 0..200 {
        let mut rng = Rng::new(seed << 20 | 0x1800);
        let chosen: Vec<Kind> = (0..1000).map(|_| rng.pick(&kinds)).collect();
        let program = program(&mut rng, &chosen, features);
        run_model(&program.bytes, program.memory, program.entry);
    }
}
