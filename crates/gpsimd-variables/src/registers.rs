//! Which registers a function's code writes.
//!
//! Unaware of variables. Where a compiler gives a parameter one register for the whole function, that is where the parameter
//! arrives: GCC says so, too, when it lost track of it. Such a place holds the parameter for sure only if nothing in the
//! function writes the register.

use std::collections::HashSet;

use xtensa_iss::isa::{Access, Kind};

use crate::stop::Stop;

/// Instructions of one function that are looked at.
const MAX_INSTRUCTIONS: usize = 1 << 14;

/// All registers.
const ALL: u16 = u16::MAX;

impl Stop<'_> {
    /// Whether a register holds from the first instruction to the last what it held when the function was called.
    pub(crate) fn is_kept(&self, number: u8) -> bool {
        let written = *self.written.get_or_init(|| self.find_written());
        number < 16 && written & (1 << number) == 0
    }

    /// Registers that the frame's function writes, a bit each; all where the code cannot be followed.
    fn find_written(&self) -> u16 {
        let Some(start) = self.function().and_then(|function| self.entries.low_pc(function)) else {
            return ALL;
        };
        let (mut written, mut seen, mut waiting) = (0, HashSet::new(), vec![start]);
        while let Some(pc) = waiting.pop() {
            if !seen.insert(pc) {
                continue;
            }
            if seen.len() > MAX_INSTRUCTIONS || !self.spend(1) {
                return ALL;
            }
            let Some(bytes) = self.entries.code_at(pc) else { return ALL };
            let insn = xtensa_iss::decode(bytes, pc);
            for operand in insn.row().operands() {
                match (operand.access, operand.kind) {
                    (Access::Out | Access::InOut, Kind::Ar(field)) => {
                        written |= 1 << (insn.field(field) & 15)
                    }
                    (Access::Out | Access::InOut, Kind::A1) => written |= 1 << 1,
                    (Access::Out | Access::InOut, Kind::A0) => written |= 1,
                    _ => {}
                }
            }
            match insn.row().mnemonic {
                "retw" | "retw.n" | "ret" | "ret.n" => {}
                "j" => waiting.push(insn.imm),
                // the callee's window begins there
                "call4" | "callx4" => (written, _) = (written | ALL << 4, waiting.push(insn.end())),
                "call8" | "callx8" => (written, _) = (written | ALL << 8, waiting.push(insn.end())),
                "call12" | "callx12" => (written, _) = (written | ALL << 12, waiting.push(insn.end())),
                name if name.starts_with('b') && !name.starts_with("break") => {
                    waiting.extend([insn.imm, insn.end()]);
                }
                "jx" | "call0" | "callx0" => return ALL,
                _ if insn.len == 0 || insn.len > 3 => return ALL,
                _ => waiting.push(insn.end()),
            }
        }
        written
    }
}
