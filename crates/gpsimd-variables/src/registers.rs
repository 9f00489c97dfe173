//! Which registers a function's code writes, and where.
//!
//! Unaware of variables. GCC loses track of registers in two ways, and what it says then is wrong. A parameter that it says is
//! in one register throughout may be there at the start only. And of a value in two registers it watches the first: it does not
//! see that the second is used for something else.

use std::collections::HashSet;

use xtensa_iss::isa::{Access, Kind};
use xtensa_iss::{Insn, decode};

use crate::stop::Stop;

/// Instructions of one function that are looked at.
const MAX_INSTRUCTIONS: usize = 1 << 14;

/// An instruction: where it begins and ends, and a bit for each register that it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    start: u32,
    end: u32,
    registers: u16,
}

impl Stop<'_> {
    /// Whether a register holds from the first instruction to the last what it held when the function was called.
    pub(crate) fn is_kept(&self, number: u8) -> bool {
        self.is_kept_within(number, 0, u32::MAX)
    }

    /// Whether no instruction of a range writes a register, but perhaps the last one, which ends the range.
    pub(crate) fn is_kept_within(&self, number: u8, start: u32, end: u32) -> bool {
        let Some(writes) = self.writes.get_or_init(|| self.find_writes()) else { return false };
        let is_inside = |write: &&Written| write.start >= start && write.end < end;
        let changes = |write: &Written| u32::from(write.registers) & (1 << number) != 0;
        number < 16 && !writes.iter().filter(is_inside).any(changes)
    }

    /// The instructions of the frame's function that write registers; none where the code cannot be followed.
    fn find_writes(&self) -> Option<Vec<Written>> {
        let start = self.function().and_then(|function| self.entries.low_pc(function))?;
        let (mut writes, mut seen, mut waiting) = (Vec::new(), HashSet::new(), vec![start]);
        while let Some(pc) = waiting.pop() {
            if !seen.insert(pc) {
                continue;
            }
            if seen.len() > MAX_INSTRUCTIONS || !self.spend(1) {
                return None;
            }
            let insn = decode(self.entries.code_at(pc)?, pc);
            let registers = written(&insn);
            if registers != 0 {
                writes.push(Written { start: pc, end: insn.end(), registers });
            }
            match insn.row().mnemonic {
                "retw" | "retw.n" | "ret" | "ret.n" => {}
                "j" => waiting.push(insn.imm),
                "jx" | "call0" | "callx0" => return None,
                name if name.starts_with('b') && !name.starts_with("break") => {
                    waiting.extend([insn.imm, insn.end()]);
                }
                // a bundle may do anything
                _ if !matches!(insn.len, 2 | 3) => return None,
                _ => waiting.push(insn.end()),
            }
        }
        Some(writes)
    }
}

fn written(insn: &Insn) -> u16 {
    let own = insn.row().operands().iter().filter(|operand| operand.access != Access::In);
    let own = own.fold(0_u16, |all, operand| match operand.kind {
        Kind::Ar(field) => all | 1 << (insn.field(field) & 15),
        Kind::A1 => all | 1 << 1,
        Kind::A0 => all | 1,
        _ => all,
    });
    // a callee's window begins so many registers on
    let callee = match insn.row().mnemonic {
        "call4" | "callx4" => u16::MAX << 4,
        "call8" | "callx8" => u16::MAX << 8,
        "call12" | "callx12" => u16::MAX << 12,
        _ => 0,
    };
    own | callee
}
