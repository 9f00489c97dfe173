//! Variables of random programs against the values that the programs store themselves: at -O0 all are right, with
//! optimisation none is wrong. `GPSIMD_LOCALS` programs, 20 by default; `cargo xtask soak locals` starts it.

mod common;
#[path = "common/generate.rs"]
mod generate;

use common::{Machine, image, program};
use generate::{Kind, Seen};
use gpsimd_image::ElfFile;
use gpsimd_variables::{EvaluateError, Inspect};

fn word(machine: &Machine, address: u32) -> u64 {
    let mut bytes = [0; 8];
    assert!(machine.memory(address, &mut bytes), "{address:#x}");
    u64::from_le_bytes(bytes)
}

/// What a value of these bits is called.
fn text(seen: &Seen, bits: u64) -> String {
    match seen.kind {
        Kind::Signed => (bits as i64).to_string(),
        Kind::Unsigned => bits.to_string(),
        Kind::Bool => (bits != 0).to_string(),
        Kind::Float => format!("{:?}", f32::from_bits(bits as u32)),
    }
}

fn is_same(seen: &Seen, bits: u64, shown: &str) -> bool {
    match seen.kind {
        Kind::Float => {
            let truth = f32::from_bits(bits as u32);
            let read: f32 = shown.parse().unwrap_or(f32::NAN);
            read.to_bits() == truth.to_bits() || read.is_nan() && truth.is_nan()
        }
        _ => shown == text(seen, bits),
    }
}

#[test]
#[ignore = "compiles some sixty programs: cargo xtask soak locals"]
fn what_is_shown_is_what_the_program_stored() {
    let programs: u64 =
        std::env::var("GPSIMD_LOCALS").ok().and_then(|count| count.parse().ok()).unwrap_or(20);
    let mut wrong = Vec::new();
    for level in ["-O0", "-Os", "-O2"] {
        let (mut stops, mut shown, mut absent) = (0, 0, 0);
        for seed in 0..programs {
            let made = generate::program(seed);
            let image = image("random.cpp", &made.source, &[level, "-fwrapv", "-w"]);
            let file = ElfFile::parse(&image).expect("an image");
            let address = |name: &str| file.symbol(name).expect(name).value;
            let (truth, stopped) = (address("truth"), address("stopped"));
            let (program, machine) = (program(&image), Machine::new(&image));
            // programs call each other in loops: some hundred stops are enough of one
            for _ in 0..200 {
                let Some(pc) = machine.next() else { break };
                stops += 1;
                let here = &made.stops[word(&machine, stopped) as u32 as usize];
                for (index, seen) in here.iter().enumerate() {
                    let bits = word(&machine, truth + 8 * index as u32);
                    match program.evaluate(&seen.path, pc, &machine) {
                        Ok(value) if is_same(seen, bits, &value.summary) => shown += 1,
                        Ok(value) => wrong.push(format!(
                            "{level}, program {seed}, {pc:#x}: {} is {}, shown as {}",
                            seen.path,
                            text(seen, bits),
                            value.summary
                        )),
                        Err(EvaluateError::Absent { .. }) if level != "-O0" => absent += 1,
                        // the compiler left the variable out of the block that it kept
                        Err(EvaluateError::Unknown { .. }) if level != "-O0" => absent += 1,
                        Err(error) => {
                            wrong.push(format!("{level}, program {seed}, {pc:#x}: {}: {error}", seen.path))
                        }
                    }
                }
            }
        }
        println!("{level}: {stops} stops, {shown} values right, {absent} absent");
        assert!(stops > 10 * programs && shown > stops, "{level}: too little was looked at");
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}
