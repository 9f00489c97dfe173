//! The model against an independent implementation: random sequences end in the same state under qemu-xtensa, in the
//! interpreter and in translated code.
//!
//! `GPSIMD_SEQUENCES=10` runs ten times as many, as `cargo xtask soak sequences` does.

mod common;

use common::generate::{CASE_BYTES, Features, Kind, Program, program, word_name};
use common::guest::{run_model, run_qemu};
use common::image::elf;
use common::rng::Rng;
use xtensa_iss::decode;

/// Cases in one program; L32R and CALL reach across that many.
const BATCH: usize = 1000;

fn disassemble(code: &[u8], start: u32) -> String {
    let mut text = String::new();
    let mut at = 0;
    while at < code.len() {
        let insn = decode(&code[at..], start + at as u32);
        text += &format!("  {:08x}: {:?}\n", insn.pc, insn.op);
        at += usize::from(insn.len);
    }
    text
}

fn compare(program: &Program, cpu: &str, seed: u64) {
    let file = elf(&program.bytes, program.memory, program.entry);
    let theirs = run_qemu(cpu, &file);
    let (ours, _) = run_model(&program.bytes, program.memory, program.entry);
    assert_eq!(theirs.exit, 0, "seed {seed:#x}");
    assert_eq!(ours.exit, theirs.exit, "seed {seed:#x}");
    assert_eq!(ours.output.len(), theirs.output.len(), "seed {seed:#x}");
    let pairs = ours.output.chunks(CASE_BYTES).zip(theirs.output.chunks(CASE_BYTES));
    let mut report = String::new();
    let mut wrong = 0;
    for (n, ((ours, theirs), case)) in pairs.zip(&program.cases).enumerate() {
        if ours == theirs {
            continue;
        }
        wrong += 1;
        if wrong > 3 {
            continue;
        }
        report += &format!("case {n} ({:?}) of seed {seed:#x} on {cpu}:\n", case.kind);
        for (w, (a, b)) in ours.chunks(4).zip(theirs.chunks(4)).enumerate() {
            if a != b {
                let word = |x: &[u8]| u32::from_le_bytes([x[0], x[1], x[2], x[3]]);
                let was = word(&program.bytes[n * CASE_BYTES + 4 * w..][..4]);
                report += &format!(
                    "  {}: model {:08x}, qemu {:08x} (before: {was:08x})\n",
                    word_name(4 * w),
                    word(a),
                    word(b)
                );
            }
        }
        report += &disassemble(&case.code, case.start);
        for (w, word) in program.bytes[n * CASE_BYTES..][..CASE_BYTES].chunks(4).enumerate().skip(64) {
            report += &format!(
                "{}={:08x} ",
                word_name(4 * w),
                u32::from_le_bytes([word[0], word[1], word[2], word[3]])
            );
        }
        report += "\n";
    }
    assert!(wrong == 0, "{wrong} of {} cases differ\n{report}", program.cases.len());
}

fn differ(cpu: &str, kinds: &[Kind], batches: u64, features: Features) {
    let times = std::env::var("GPSIMD_SEQUENCES").ok().and_then(|times| times.parse().ok()).unwrap_or(1);
    for batch in 0..batches * times {
        let seed = batch << 8 | kinds.len() as u64 | (kinds[0] as u64) << 4;
        let mut rng = Rng::new(seed);
        let chosen: Vec<Kind> = (0..BATCH).map(|_| rng.pick(kinds)).collect();
        compare(&program(&mut rng, &chosen, features), cpu, seed);
    }
}

/// `dc233c` has none of the options that set it apart.
const BASE_CORE: Features = Features { booleans: false, multiply_high: false, float: false };
const FPU_CORE: Features = Features { booleans: true, multiply_high: false, float: true };

#[test]
fn integer_and_memory_sequences_match_qemu() {
    differ("dc233c", &[Kind::Integer, Kind::Memory], 6, BASE_CORE);
}

#[test]
fn branches_and_loops_match_qemu() {
    differ("dc233c", &[Kind::Control, Kind::Loops], 5, BASE_CORE);
}

#[test]
fn windowed_calls_match_qemu() {
    differ("dc233c", &[Kind::Windows], 2, BASE_CORE);
}

#[test]
fn float_sequences_match_qemu() {
    differ("de233_fpu", &[Kind::Float], 6, FPU_CORE);
}

#[test]
fn boolean_sequences_match_qemu() {
    differ("de233_fpu", &[Kind::Integer, Kind::Control, Kind::Loops], 3, FPU_CORE);
}
