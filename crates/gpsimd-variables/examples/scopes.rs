//! Prints what is in scope at an address of an image. No program is stopped there, so that the values of variables are told
//! only where they need neither memory nor registers.
//!
//! `cargo run --example scopes -- IMAGE 0x84000100`

use gpsimd_variables::{Inspect, Program};

/// Nothing to look at.
struct Nowhere;

impl Inspect for Nowhere {
    fn memory(&self, _address: u32, _into: &mut [u8]) -> bool {
        false
    }
    fn register(&self, _number: u8) -> Option<u32> {
        None
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [image, address] = words.as_slice() else { return Err("scopes IMAGE ADDRESS".into()) };
    let pc = u32::from_str_radix(address.trim_start_matches("0x"), 16)?;
    let program = Program::parse(&std::fs::read(image)?)?;
    for (level, function) in program.inlined_at(pc).iter().enumerate() {
        println!("{}", function.function);
        let scopes = program.scopes((pc, level), &Nowhere);
        for variable in scopes.arguments.iter().chain(&scopes.locals) {
            println!("  {}: {}", variable.name, variable.value.summary);
        }
    }
    Ok(())
}
