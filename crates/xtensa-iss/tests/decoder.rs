//! The decoder and whole runs on arbitrary bytes: no panic, exact lengths, exact counts.

use proptest::prelude::*;
use xtensa_iss::{Config, Cpu, Op, Ram, decode, disasm, fuzz, length};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn decoding_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        fuzz::fuzz_decode(&bytes);
    }

    #[test]
    fn running_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        fuzz::fuzz_run(&bytes);
    }

    /// Running in slices is running at once, whatever the program does.
    #[test]
    fn slices_make_no_difference(bytes in prop::collection::vec(any::<u8>(), 16..256), slice in 1u64..40) {
        let run = |slice: u64| {
            let mut ram = Ram::new(0x1000, 0x400);
            ram.write(0x1000, &bytes).expect("fits");
            let mut cpu = Cpu::new(Config::default());
            cpu.set_pc(0x1000);
            cpu.set_ar(1, 0x1300);
            let mut stop = cpu.run(&mut ram, slice);
            while stop == xtensa_iss::Stop::Budget && cpu.instructions() < 200 {
                stop = cpu.run(&mut ram, slice.min(200 - cpu.instructions()));
            }
            (cpu.state(), ram.bytes().to_vec(), stop)
        };
        prop_assert_eq!(run(slice), run(200));
    }
}

/// All 2^24 words of the 24-bit formats and all 2^16 of the 16-bit ones decode to their length.
#[test]
fn every_word_decodes() {
    let mut legal = 0u32;
    for word in 0..1u32 << 24 {
        let bytes = word.to_le_bytes();
        let insn = decode(&bytes[..3], 0x4000_0000);
        if bytes[0] & 15 < 8 {
            assert_eq!(insn.len, 3);
            legal += u32::from(!matches!(insn.op, Op::Illegal | Op::Ill | Op::IllN));
        }
    }
    // Of the 8 Mi words with op0 < 8, all of L32R, CONST16, CALL, SI and B, most of LSAI.
    assert!(legal > 6 << 20, "{legal}");
    for word in 0..=u16::MAX {
        let bytes = word.to_le_bytes();
        if (8..14).contains(&(bytes[0] & 15)) {
            assert_eq!(decode(&bytes, 0).len, 2);
        }
    }
}

#[test]
fn lengths_follow_the_table() {
    // spec lsp-and-memory.md §15, prelink.md §9.1
    for byte0 in 0..=255u8 {
        for byte3 in 0..=255u8 {
            let wanted = match byte0 & 15 {
                0..=7 => 3,
                8..=13 => 2,
                14 => 16,
                _ => [8, 16][usize::from(byte3 & 1)],
            };
            assert_eq!(length(byte0, byte3), wanted);
        }
    }
}

#[test]
fn known_encodings() {
    // Manual, spec lsp-and-memory.md §12 and prelink.md §9.2
    let rows: &[(&[u8], &str)] = &[
        (&[0x30, 0xeb, 0x03], "rsr.prid a3"),
        (&[0x40, 0xdd, 0x13], "wsr.isl a4"),
        (&[0x24, 0x00, 0x02], "const16 a2, 512"),
        (&[0x24, 0x80, 0x03], "const16 a2, 896"),
        (&[0x36, 0x41, 0x00], "entry a1, 32"),
        (&[0x1d, 0xf0], "retw.n"),
        (&[0x22, 0x21, 0x01], "l32i a2, a1, 4"),
        (&[0x48, 0x02], "l32i.n a4, a2, 0"),
        (&[0xf0, 0x20, 0x00], "nop"),
        (&[0xc0, 0x20, 0x00], "memw"),
        (&[0xd2, 0xda, 0xff], "addmi a13, a10, -256"),
        (&[0x02, 0xd0, 0x00], "addmi a0, a0, 0"),
        (&[0x76, 0x82, 0x05], "loop a2, 0x1009"),
        (&[0x0f, 0, 0, 0, 0, 0, 0, 0], "flix (8 bytes)"),
        (&[0, 0, 0], "ill"),
    ];
    for (bytes, text) in rows {
        assert_eq!(disasm(bytes, 0x1000), *text);
    }
}

/// The seeds that fuzzing starts from run as targets too.
#[test]
fn seeds_run() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for (name, target) in [("decode", fuzz::fuzz_decode as fn(&[u8])), ("run", fuzz::fuzz_run)] {
        let seeds: Vec<_> = std::fs::read_dir(corpus.join(name)).expect("the corpus").collect();
        assert!(!seeds.is_empty(), "{name}");
        for seed in seeds {
            target(&std::fs::read(seed.expect("an entry").path()).expect("a seed"));
        }
    }
}
