//! The call stack: one level for every function that has a frame, with the registers that it will find again.
//!
//! Callers' registers are in the register file as long as their windows are, then in the save areas of the windowed ABI.
//! Unaware of names and lines. Facts: spec `lsp-and-memory.md` §15.

use gpsimd_device::Session;
use gpsimd_device::cores::paused::Paused;
use xtensa_iss::{Insn, Op, PHYSICAL_REGISTERS, ps};

/// A function that has a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// The next instruction; in callers the one behind the call.
    pub pc: u32,
    /// The stack pointer.
    pub sp: u32,
    /// `a0` to `a15`, as far as a callee has not taken them.
    pub registers: [Option<u32>; 16],
}

/// The instruction at an address.
pub(crate) fn instruction(core: &Paused, pc: u32) -> Insn {
    const LONGEST: usize = 3;
    let bytes = (1..=LONGEST).rev().find_map(|len| core.memory().peek(pc, len)).unwrap_or_default();
    xtensa_iss::decode(bytes, pc)
}

/// Whether an instruction calls a function.
pub(crate) fn is_call(op: Op) -> bool {
    use Op::{Call0, Call4, Call8, Call12, Callx0, Callx4, Callx8, Callx12};
    matches!(op, Call0 | Call4 | Call8 | Call12 | Callx0 | Callx4 | Callx8 | Callx12)
}

/// Whether an instruction returns from a function.
pub(crate) fn is_return(op: Op) -> bool {
    matches!(op, Op::Retw | Op::RetwN)
}

/// The levels of a core's stack, innermost first.
pub(crate) fn levels(session: &mut Session, core: usize) -> Vec<Level> {
    let mut chain = session.frames(core);
    let Some(core) = session.core(core) else { return Vec::new() };
    let state = core.state();
    let physical =
        |position: u8, r: u8| state.ar[(usize::from(position) * 4 + usize::from(r)) % PHYSICAL_REGISTERS];
    let base = state.window_base;
    let visible = |r: u8| physical(base, r);
    let word = |addr: u32| {
        core.memory()
            .peek(addr & !3, 4)
            .and_then(|bytes| bytes.first_chunk())
            .map(|bytes| u32::from_le_bytes(*bytes))
    };
    let mut levels: Vec<Level> = Vec::new();
    let mut own = std::array::from_fn(|r| Some(visible(r as u8)));
    // ENTRY has not turned the window yet: its function sees what the caller has put behind its own registers
    if instruction(core, core.pc()).op == Op::Entry {
        let by = 4 * ((state.ps & ps::CALLINC) >> ps::CALLINC_SHIFT) as u8;
        let back = core.pc() & 0xC000_0000 | visible(by) & 0x3FFF_FFFF;
        if by != 0 {
            let (pc, sp) = chain.first().copied().unwrap_or((core.pc(), visible(1)));
            let registers = std::array::from_fn(|r| {
                let r = r as u8;
                (r != 1 && r + by < 16).then(|| visible(r + by)).or((r == 1).then_some(sp))
            });
            levels.push(Level { pc, sp, registers });
            own = std::array::from_fn(|r| (r < usize::from(by)).then(|| visible(r as u8)));
            if let Some(first) = chain.first_mut() {
                first.0 = back;
            }
        }
    }
    let mut position = Some(base);
    for (at, &(pc, sp)) in chain.iter().enumerate() {
        if at > 0 {
            let Some(callee) = levels.last() else { break };
            let saved = callee.sp.wrapping_sub(16);
            let n = (own[0].unwrap_or(0) >> 30) as u8;
            position = position
                .map(|p| p.wrapping_sub(n) & 15)
                .filter(|&p| n != 0 && p != base && state.window_start >> p & 1 != 0);
            own = match position {
                Some(p) => std::array::from_fn(|r| (r < usize::from(4 * n)).then(|| physical(p, r as u8))),
                None => {
                    let extra = word(sp.wrapping_sub(12)).map(|above| above.wrapping_sub(16 * u32::from(n)));
                    std::array::from_fn(|r| match r as u32 {
                        r @ 0..4 => word(saved.wrapping_add(4 * r)),
                        r if r < 4 * u32::from(n) => word(extra?.wrapping_add(4 * (r - 4))),
                        _ => None,
                    })
                }
            };
            own[1] = Some(sp);
        }
        levels.push(Level { pc, sp, registers: own });
    }
    levels
}
