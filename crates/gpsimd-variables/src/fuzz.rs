//! Entry points for fuzzers: outside bytes in, no panic, and what is promised holds.

use crate::{Inspect, Program};

/// Memory and registers made of the input.
struct Noise<'a>(&'a [u8]);

impl Inspect for Noise<'_> {
    fn memory(&self, address: u32, into: &mut [u8]) -> bool {
        let len = self.0.len().max(1);
        for (at, byte) in into.iter_mut().enumerate() {
            *byte = self.0.get((address as usize).wrapping_add(at) % len).copied().unwrap_or(0);
        }
        !address.is_multiple_of(64)
    }

    fn register(&self, number: u8) -> Option<u32> {
        (number != 9).then(|| u32::from(number).wrapping_mul(0x0123_4567))
    }

    fn device_memory(&self, address: u64, into: &mut [u8]) -> bool {
        self.memory(address as u32, into)
    }
}

/// Reads an image and looks at everything in scope at a few addresses; every text stays short.
pub fn fuzz_program(data: &[u8]) {
    let Ok(program) = Program::parse(data) else { return };
    for pc in program.entries.places().into_iter().take(3) {
        for level in 0..program.inlined_at(pc).len().min(3) {
            let scopes = program.scopes((pc, level), &Noise(data));
            for variable in scopes.arguments.iter().chain(&scopes.locals).chain(&scopes.globals).take(12) {
                assert!(variable.value.summary.len() < 1 << 10, "{}", variable.value.summary);
                let children = program.children(&variable.value, Some("x"), pc, &Noise(data), 0, 4);
                assert!(children.len() <= 4);
            }
        }
    }
}

/// Reads an expression as one who types it; the image is what the crate's seed has.
pub fn fuzz_expression(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let known =
        |name: &str| (name == "float").then_some(crate::types::Type::Number(crate::types::Number::FLOAT));
    let _ = crate::expression::parse(&text, &known);
}
