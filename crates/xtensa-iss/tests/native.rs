//! Native routines against the code that they stand for, as the toolchain's archives have it: the same results and the same
//! counts, whatever the operands.
//!
//! A sample runs here, one operand at a time; `cargo xtask soak routines` takes every operand of conversions that have one
//! word, and 100 million random operands of everything, by the thousand.

mod common;

use std::collections::BTreeMap;

use common::compiler::{build, load, run, tool};
use common::image::BASE;
use common::rng::Rng;
use xtensa_iss::{Config, Cpu, Ram, Stop};

/// What a routine takes: which operands are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operands {
    Float,
    Floats,
    Word,
    Words,
    Double,
    Doubles,
}

const ROUTINES: [(&str, Operands); 35] = [
    ("__addsf3", Operands::Floats),
    ("__subsf3", Operands::Floats),
    ("__mulsf3", Operands::Floats),
    ("__divsf3", Operands::Floats),
    ("__eqsf2", Operands::Floats),
    ("__gtsf2", Operands::Floats),
    ("__lesf2", Operands::Floats),
    ("__gesf2", Operands::Floats),
    ("__ltsf2", Operands::Floats),
    ("__unordsf2", Operands::Floats),
    ("__fixsfsi", Operands::Float),
    ("__fixunssfsi", Operands::Float),
    ("__floatsisf", Operands::Word),
    ("__floatunsisf", Operands::Word),
    ("__extendsfdf2", Operands::Float),
    ("__adddf3", Operands::Doubles),
    ("__subdf3", Operands::Doubles),
    ("__muldf3", Operands::Doubles),
    ("__divdf3", Operands::Doubles),
    ("__eqdf2", Operands::Doubles),
    ("__gtdf2", Operands::Doubles),
    ("__ledf2", Operands::Doubles),
    ("__gedf2", Operands::Doubles),
    ("__ltdf2", Operands::Doubles),
    ("__unorddf2", Operands::Doubles),
    ("__fixdfsi", Operands::Double),
    ("__fixunsdfsi", Operands::Double),
    ("__floatsidf", Operands::Word),
    ("__floatunsidf", Operands::Word),
    ("__truncdfsf2", Operands::Double),
    ("__umulsidi3", Operands::Words),
    ("__udivsi3", Operands::Words),
    ("__umodsi3", Operands::Words),
    ("__divsi3", Operands::Words),
    ("__modsi3", Operands::Words),
];

/// Those that return two words.
const WIDE: [&str; 8] = [
    "__umulsidi3",
    "__adddf3",
    "__subdf3",
    "__muldf3",
    "__divdf3",
    "__floatsidf",
    "__floatunsidf",
    "__extendsfdf2",
];

/// An image with all routines, and cores that call them.
struct Cores {
    ram: [Ram; WAYS],
    cpu: [Cpu; WAYS],
    functions: BTreeMap<String, u32>,
    /// Where every call returns to: `break 1, 0`.
    back: u32,
    /// Memory that nothing uses.
    free: u32,
}

/// The host computes routines that the interpreter meets, or translated code; or they are executed.
const WAYS: usize = 3;
const INTERPRETED: usize = 0;
const TRANSLATED: usize = 1;
const EXECUTED: usize = 2;

/// Operands by the thousand: so many have room behind what else is free.
const BATCH: usize = 1024;
const TABLE: u32 = 0x2000;

const BREAK: [u8; 3] = [0x00, 0x41, 0x00];

impl Cores {
    fn new() -> Cores {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = build(dir.path(), "routines.c", "-O2");
        let listing = run(&tool("nm").arg(&file));
        let functions = listing
            .lines()
            .filter_map(|line| {
                let mut words = line.split_whitespace();
                let address = u32::from_str_radix(words.next()?, 16).ok()?;
                Some((words.nth(1)?.to_owned(), address))
            })
            .collect();
        let (image, memory, _) = load(&std::fs::read(&file).expect("the program"));
        let free = (BASE + memory).next_multiple_of(64);
        let mut ram = Ram::new(BASE, (free + 0x2000 + TABLE - BASE) as usize + 16 * BATCH);
        ram.write(BASE, &image).expect("the image fits");
        ram.write(free, &BREAK).expect("one instruction fits");
        let cpu = [(true, None), (true, Some(0)), (false, Some(0))].map(|(native, translate_after)| {
            let mut cpu = Cpu::new(Config { native, translate_after, ..Config::default() });
            cpu.set_ar(1, free + 0x2000);
            cpu
        });
        let ram = std::array::from_fn(|_| ram.clone());
        Cores { ram, cpu, functions, back: free, free: free + 0x2000 }
    }

    fn function(&self, name: &str) -> u32 {
        *self.functions.get(name).unwrap_or_else(|| panic!("{name} is not in the image"))
    }

    /// Calls in one way: what is returned, and the instructions that it took.
    fn call_one(&mut self, way: usize, entry: u32, args: &[u32]) -> (u32, u64) {
        let (cpu, ram) = (&mut self.cpu[way], &mut self.ram[way]);
        let before = cpu.instructions();
        cpu.call4(entry, self.back, args);
        assert_eq!(cpu.run(ram, u64::MAX), Stop::Break { s: 1, t: 0 }, "{args:x?}");
        (cpu.call_result(), cpu.instructions() - before)
    }

    /// Calls in every way; what all returned, after a comparison.
    fn call(&mut self, name: &str, entry: u32, args: &[u32]) -> u32 {
        let [interpreted, translated, executed] = [INTERPRETED, TRANSLATED, EXECUTED].map(|way| {
            let (low, instructions) = self.call_one(way, entry, args);
            let high = if WIDE.contains(&name) { self.cpu[way].ar(7) } else { 0 };
            (low, high, instructions)
        });
        assert_eq!(interpreted, executed, "{name} {args:x?}: native, then executed");
        assert_eq!(translated, executed, "{name} {args:x?}: native in translated code, then executed");
        executed.0
    }

    /// Calls with many operands in one go, in translated code and executed.
    fn call_all(&mut self, name: &str, entry: u32, operands: &[[u32; 4]]) {
        let drive = self.function("drive");
        let table = self.free + TABLE;
        let bytes: Vec<u8> = operands.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        let args = [entry, table, operands.len() as u32, WIDE.contains(&name).into()];
        let [translated, executed] = [TRANSLATED, EXECUTED].map(|way| {
            self.ram[way].write(table, &bytes).expect("the table fits");
            self.call_one(way, drive, &args).1
        });
        let [theirs, ours] = [TRANSLATED, EXECUTED].map(|way| {
            let start = (table - self.ram[way].base()) as usize;
            &self.ram[way].bytes()[start..start + bytes.len()]
        });
        if translated != executed || theirs != ours {
            operands.iter().for_each(|operands| _ = self.call(name, entry, operands));
            panic!("{name}: {translated} instructions in translated code, {executed} executed");
        }
    }
}

/// Every kind of number, and both neighbours of those where behaviour changes.
fn special_words() -> Vec<u32> {
    let magnitudes = [
        0,
        1,
        2,
        0x0040_0000,
        0x007f_ffff,
        0x0080_0000,
        0x0080_0001,
        0x00ff_ffff,
        0x0100_0000,
        0x0c80_0000,
        0x1f80_0000,
        0x2080_0000,
        0x3300_0000,
        0x3380_0000,
        0x3380_0001,
        0x33ff_ffff,
        0x3400_0000,
        0x3eff_ffff,
        0x3f00_0000,
        0x3f7f_ffff,
        0x3f80_0000,
        0x3f80_0001,
        0x3fff_ffff,
        0x4000_0000,
        0x4b00_0000,
        0x4b7f_ffff,
        0x4b80_0000,
        0x4eff_ffff,
        0x4f00_0000,
        0x4f80_0000,
        0x5f7f_ffff,
        0x5f80_0000,
        0x7e80_0000,
        0x7f00_0000,
        0x7f7f_fffe,
        0x7f7f_ffff,
        0x7f80_0000,
        0x7f80_0001,
        0x7fbf_ffff,
        0x7fc0_0000,
        0x7fff_ffff,
    ];
    magnitudes.into_iter().flat_map(|x: u32| [x, x | 1 << 31]).collect()
}

/// The same for double precision, and where single precision begins and ends.
fn special_doubles() -> Vec<u64> {
    let exponents = [
        1, 2, 0x361, 0x362, 0x380, 0x381, 0x3fe, 0x3ff, 0x400, 0x41d, 0x41e, 0x41f, 0x434, 0x47e, 0x47f,
        0x7fe,
    ];
    let fractions = [0, 1, 0xffff_ffff, 0x1000_0000, 0x1_0000_0000, (1 << 52) - 1];
    let odd = [0, 1, 2, 0xffff_ffff, 1 << 32, 1 << 51, (1 << 52) - 1];
    let special = [0, 1, 1 << 51, (1 << 52) - 1].map(|fraction| 0x7ff << 52 | fraction);
    exponents
        .into_iter()
        .flat_map(|exponent: u64| fractions.map(|fraction| exponent << 52 | fraction))
        .chain(odd)
        .chain(special)
        .flat_map(|x| [x, x | 1 << 63])
        .collect()
}

/// Random doubles: every kind of number, and significands that are full, empty, or long rows of ones.
fn double(rng: &mut Rng) -> u64 {
    let sign = u64::from(rng.below(2)) << 63;
    let exponent = match rng.below(16) {
        0 => rng.below(3),
        1 => 0x7fd + rng.below(3),
        2 | 3 => 0x360 + rng.below(0x22),
        4 | 5 => 0x3fe + rng.below(36),
        6 => 0x47c + rng.below(5),
        7..=11 => 0x3e0 + rng.below(0x40),
        _ => rng.below(0x800),
    };
    let fraction = match rng.below(6) {
        0 => rng.next() << rng.below(64),
        1 => !0 << rng.below(64),
        2 => !0 >> (12 + rng.below(52)),
        3 => 1 << rng.below(52),
        _ => rng.next(),
    };
    sign | u64::from(exponent) << 52 | fraction & ((1 << 52) - 1)
}

/// Two doubles as a routine takes them.
fn pair(x: u64, y: u64) -> [u32; 4] {
    [x as u32, (x >> 32) as u32, y as u32, (y >> 32) as u32]
}

fn special(operands: Operands) -> Vec<[u32; 4]> {
    let (words, doubles) = (special_words(), special_doubles());
    match operands {
        Operands::Float | Operands::Word => words.into_iter().map(|a| [a, 0, 0, 0]).collect(),
        Operands::Double => doubles.into_iter().map(|x| pair(x, 0)).collect(),
        Operands::Doubles => doubles.iter().flat_map(|x| doubles.iter().map(|y| pair(*x, *y))).collect(),
        Operands::Floats | Operands::Words => words
            .iter()
            // A division by zero is a trap.
            .flat_map(|a| words.iter().map(|b| [*a, *b, 0, 0]))
            .filter(|[_, b, ..]| operands == Operands::Floats || *b != 0)
            .collect(),
    }
}

fn random(operands: Operands, rng: &mut Rng) -> [u32; 4] {
    if let Operands::Double | Operands::Doubles = operands {
        let (a, mut b) = (double(rng), double(rng));
        if rng.chance(50) {
            let near =
                (a >> 52 & 0x7ff).saturating_add(u64::from(rng.below(140))).saturating_sub(70).min(0x7fe);
            b = b & !(0x7ff << 52) | near << 52;
        }
        if rng.chance(5) {
            b = a ^ u64::from(rng.below(4));
        }
        return pair(a, b);
    }
    let mut one = || match operands {
        Operands::Float | Operands::Floats if rng.chance(70) => rng.float(),
        Operands::Word | Operands::Words if rng.chance(30) => rng.word(),
        Operands::Words if rng.chance(50) => rng.next() as u32 >> rng.below(32),
        _ => rng.next() as u32,
    };
    let (a, mut b) = (one(), one());
    // Operands of nearly the same size, where significands meet.
    if operands == Operands::Floats && rng.chance(50) {
        b = (a & 0x7f80_0000).wrapping_add(rng.below(60) << 23).wrapping_sub(30 << 23) ^ b & 0x807f_ffff;
    }
    [a, if operands == Operands::Words { b.max(1) } else { b }, 0, 0]
}

#[test]
fn routines_equal_the_code_they_stand_for() {
    let mut cores = Cores::new();
    let mut rng = Rng::new(18);
    for (name, operands) in ROUTINES {
        let entry = cores.function(name);
        let before = [INTERPRETED, TRANSLATED].map(|way| cores.cpu[way].native_calls());
        special(operands).iter().for_each(|operands| _ = cores.call(name, entry, operands));
        for _ in 0..10_000 {
            let operands = random(operands, &mut rng);
            cores.call(name, entry, &operands);
        }
        for (way, before) in before.into_iter().enumerate() {
            assert!(cores.cpu[way].native_calls() > before + 2_500, "{name} is not recognised");
        }
    }
    assert_eq!(cores.cpu[EXECUTED].native_calls(), 0);
}

#[test]
#[ignore = "minutes; cargo xtask soak routines"]
fn routines_equal_the_code_they_stand_for_at_length() {
    let count = std::env::var("GPSIMD_OPERANDS").ok().and_then(|count| count.parse().ok());
    let count: usize = count.unwrap_or(100_000_000);
    let mut cores = Cores::new();
    let mut rng = Rng::new(1818);
    for (name, operands) in ROUTINES {
        let entry = cores.function(name);
        let before = cores.cpu[TRANSLATED].native_calls();
        for _ in 0..count.div_ceil(BATCH) {
            let batch: Vec<_> = (0..BATCH).map(|_| random(operands, &mut rng)).collect();
            cores.call_all(name, entry, &batch);
        }
        let native = cores.cpu[TRANSLATED].native_calls() - before;
        println!("{name}: {} operands, {native} native calls", count.next_multiple_of(BATCH));
    }
}

#[test]
#[ignore = "an hour; cargo xtask soak routines"]
fn conversions_equal_the_code_they_stand_for_everywhere() {
    let mut cores = Cores::new();
    let of_a_word =
        ROUTINES.iter().filter(|(_, operands)| matches!(operands, Operands::Float | Operands::Word));
    for (name, _) in of_a_word {
        let entry = cores.function(name);
        for first in (0..=u32::MAX).step_by(BATCH) {
            let batch: Vec<_> = (first..=first | (BATCH as u32 - 1)).map(|a| [a, 0, 0, 0]).collect();
            cores.call_all(name, entry, &batch);
        }
        println!("{name}: every operand");
    }
}

#[test]
fn memory_functions_equal_the_code_they_stand_for() {
    let mut cores = Cores::new();
    let mut rng = Rng::new(180);
    for name in ["memcpy", "memmove", "memset", "strlen"] {
        let entry = cores.function(name);
        let before = [INTERPRETED, TRANSLATED].map(|way| cores.cpu[way].native_calls());
        for _ in 0..3000 {
            let (to, from) = (cores.free + rng.below(200), cores.free + rng.below(200));
            let len = rng.below(100);
            cores.call(name, entry, &[to, from, len]);
            let text: Vec<u8> = (0..64).map(|_| rng.below(20) as u8).collect();
            let at = cores.free + rng.below(400);
            cores.ram.iter_mut().for_each(|ram| ram.write(at, &text).expect("it fits"));
            for way in [INTERPRETED, TRANSLATED] {
                let same = cores.ram[way].bytes() == cores.ram[EXECUTED].bytes();
                assert!(same, "{name} {to:x} {from:x} {len}");
            }
        }
        for (way, before) in before.into_iter().enumerate() {
            assert!(cores.cpu[way].native_calls() > before + 1000, "{name} is not recognised");
        }
    }
}

#[test]
fn a_budget_ends_inside_a_routine() {
    let mut cores = Cores::new();
    let entry = cores.function("memset");
    for budget in 1..60 {
        let after = [INTERPRETED, TRANSLATED, EXECUTED].map(|way| {
            let (cpu, ram) = (&mut cores.cpu[way], &mut cores.ram[way]);
            cpu.call4(entry, cores.back, &[cores.free, 7, 16]);
            let first = (cpu.run(ram, budget), cpu.pc());
            while cpu.pc() != cores.back + 3 {
                cpu.run(ram, 1 << 20);
            }
            (first, cpu.instructions())
        });
        assert!(after.iter().all(|one| *one == after[EXECUTED]), "budget {budget}: {after:?}");
    }
}

#[test]
fn a_routine_that_was_changed_is_executed() {
    let mut cores = Cores::new();
    let entry = cores.function("__mulsf3");
    cores.call("__mulsf3", entry, &[0x4000_0000, 0x4040_0000]);
    // The last instruction but the return: or a2, a2, a7 becomes or a2, a7, a7.
    for ram in &mut cores.ram {
        let at = entry + 0x107 - 0x78;
        assert_eq!(ram.bytes()[(at - BASE) as usize..][..3], [0x70, 0x22, 0x20]);
        ram.write(at, &[0x70, 0x27, 0x20]).expect("it is there");
    }
    cores.cpu.iter_mut().for_each(|cpu| cpu.invalidate_code(entry + 0x107 - 0x78, 3));
    let calls = [INTERPRETED, TRANSLATED].map(|way| cores.cpu[way].native_calls());
    assert_eq!(cores.call("__mulsf3", entry, &[0x4000_0000, 0x4040_0000]), 0);
    assert_eq!([INTERPRETED, TRANSLATED].map(|way| cores.cpu[way].native_calls()), calls);
}
