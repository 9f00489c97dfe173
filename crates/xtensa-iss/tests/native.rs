//! Native routines against the code that they stand for, as the toolchain's archives have it: the same results and the same
//! counts, whatever the operands.
//!
//! A sample runs here; `cargo xtask soak routines` takes every operand of conversions that have one word, and 100 million
//! random operands of everything.

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

/// An image with all routines, and two cores that call them: one natively.
struct Pair {
    ram: [Ram; 2],
    cpu: [Cpu; 2],
    functions: BTreeMap<String, u32>,
    /// Where every call returns to: `break 1, 0`.
    back: u32,
    /// Memory that nothing uses.
    free: u32,
}

const BREAK: [u8; 3] = [0x00, 0x41, 0x00];

impl Pair {
    fn new() -> Pair {
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
        let mut ram = Ram::new(BASE, (free - BASE) as usize + 0x4000);
        ram.write(BASE, &image).expect("the image fits");
        ram.write(free, &BREAK).expect("one instruction fits");
        let cpu = [true, false].map(|native| {
            let mut cpu = Cpu::new(Config { native, ..Config::default() });
            cpu.set_ar(1, free + 0x2000);
            cpu
        });
        Pair { ram: [ram.clone(), ram], cpu, functions, back: free, free: free + 0x2000 }
    }

    fn function(&self, name: &str) -> u32 {
        *self.functions.get(name).unwrap_or_else(|| panic!("{name} is not in the image"))
    }

    /// Calls on both; what both returned, after a comparison.
    fn call(&mut self, name: &str, entry: u32, args: &[u32]) -> (u32, u32) {
        let [native, plain] = [0, 1].map(|n| {
            let (cpu, ram) = (&mut self.cpu[n], &mut self.ram[n]);
            let before = cpu.instructions();
            cpu.call4(entry, self.back, args);
            assert_eq!(cpu.run(ram, 1 << 20), Stop::Break { s: 1, t: 0 }, "{name} {args:x?}");
            let high = if WIDE.contains(&name) { cpu.ar(7) } else { 0 };
            (cpu.call_result(), high, cpu.instructions() - before)
        });
        assert_eq!(native, plain, "{name} {args:x?}: native, then emulated");
        (native.0, native.1)
    }
}

/// Every kind of number, and both neighbours of those where behaviour changes.
fn special() -> Vec<u32> {
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

fn words(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

fn try_special(pair: &mut Pair, name: &str, operands: Operands, entry: u32) {
    match operands {
        Operands::Float | Operands::Word => {
            special().into_iter().for_each(|a| _ = pair.call(name, entry, &[a]))
        }
        Operands::Double => special_doubles().into_iter().for_each(|a| _ = pair.call(name, entry, &words(a))),
        Operands::Floats | Operands::Words => {
            for a in special() {
                special()
                    .into_iter()
                    // A division by zero is a trap.
                    .filter(|b| operands == Operands::Floats || *b != 0)
                    .for_each(|b| _ = pair.call(name, entry, &[a, b]));
            }
        }
        Operands::Doubles => {
            for a in special_doubles() {
                special_doubles()
                    .into_iter()
                    .for_each(|b| _ = pair.call(name, entry, &[words(a), words(b)].concat()));
            }
        }
    }
}

fn try_random(pair: &mut Pair, name: &str, operands: Operands, entry: u32, rng: &mut Rng) {
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
        pair.call(name, entry, &[words(a), words(b)].concat());
        return;
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
    let b = if operands == Operands::Words { b.max(1) } else { b };
    pair.call(name, entry, &[a, b]);
}

fn try_all(random: u64) {
    let mut pair = Pair::new();
    let mut rng = Rng::new(18);
    for (name, operands) in ROUTINES {
        let entry = pair.function(name);
        let before = pair.cpu[0].native_calls();
        try_special(&mut pair, name, operands, entry);
        for _ in 0..random {
            try_random(&mut pair, name, operands, entry, &mut rng);
        }
        assert!(pair.cpu[0].native_calls() > before + random / 4, "{name} is not recognised");
    }
    assert_eq!(pair.cpu[1].native_calls(), 0);
}

#[test]
fn routines_equal_the_code_they_stand_for() {
    let random = std::env::var("GPSIMD_OPERANDS").ok().and_then(|count| count.parse().ok());
    try_all(random.unwrap_or(10_000));
}

#[test]
#[ignore = "hours without optimisation; cargo xtask soak"]
fn conversions_equal_the_code_they_stand_for_everywhere() {
    let mut pair = Pair::new();
    let of_a_word =
        ROUTINES.iter().filter(|(_, operands)| matches!(operands, Operands::Float | Operands::Word));
    for (name, _) in of_a_word {
        let entry = pair.function(name);
        (0..=u32::MAX).for_each(|a| _ = pair.call(name, entry, &[a]));
    }
}

#[test]
fn memory_functions_equal_the_code_they_stand_for() {
    let mut pair = Pair::new();
    let mut rng = Rng::new(180);
    for name in ["memcpy", "memmove", "memset", "strlen"] {
        let entry = pair.function(name);
        let before = pair.cpu[0].native_calls();
        for _ in 0..3000 {
            let (to, from) = (pair.free + rng.below(200), pair.free + rng.below(200));
            let len = rng.below(100);
            pair.call(name, entry, &[to, from, len]);
            let text: Vec<u8> = (0..64).map(|_| rng.below(20) as u8).collect();
            let at = pair.free + rng.below(400);
            pair.ram.iter_mut().for_each(|ram| ram.write(at, &text).expect("it fits"));
            assert!(pair.ram[0].bytes() == pair.ram[1].bytes(), "{name} {to:x} {from:x} {len}");
        }
        assert!(pair.cpu[0].native_calls() > before + 1000, "{name} is not recognised");
    }
}

#[test]
fn a_budget_ends_inside_a_routine() {
    let mut pair = Pair::new();
    let entry = pair.function("memset");
    for budget in 1..60 {
        let after = [0, 1].map(|n| {
            let (cpu, ram) = (&mut pair.cpu[n], &mut pair.ram[n]);
            cpu.call4(entry, pair.back, &[pair.free, 7, 16]);
            let first = (cpu.run(ram, budget), cpu.pc());
            while cpu.pc() != pair.back + 3 {
                cpu.run(ram, 1 << 20);
            }
            (first, cpu.instructions())
        });
        assert_eq!(after[0], after[1], "budget {budget}");
    }
}

#[test]
fn a_routine_that_was_changed_is_executed() {
    let mut pair = Pair::new();
    let entry = pair.function("__mulsf3");
    pair.call("__mulsf3", entry, &[0x4000_0000, 0x4040_0000]);
    // The last instruction but the return: or a2, a2, a7 becomes or a2, a7, a7.
    for ram in &mut pair.ram {
        let at = entry + 0x107 - 0x78;
        assert_eq!(ram.bytes()[(at - BASE) as usize..][..3], [0x70, 0x22, 0x20]);
        ram.write(at, &[0x70, 0x27, 0x20]).expect("it is there");
    }
    pair.cpu.iter_mut().for_each(|cpu| cpu.invalidate_code(entry + 0x107 - 0x78, 3));
    let calls = pair.cpu[0].native_calls();
    assert_eq!(pair.call("__mulsf3", entry, &[0x4000_0000, 0x4040_0000]).0, 0);
    assert_eq!(pair.cpu[0].native_calls(), calls);
}
