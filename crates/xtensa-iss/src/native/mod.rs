//! Native routines: functions of the compiler's and the C library that the host computes instead of the simulated core.
//!
//! A routine is known by its bytes, never by its name. A native call leaves the registers that a caller may rely on, memory,
//! findings and every count as the routine's own instructions would; scratch registers of the callee's window are not
//! written. Where that cannot be had at little cost (special operands, memory that is not plain, a window that has to be
//! spilled, a budget that ends inside) the answer is to execute the instructions. Unaware of blocks.

mod bytes;
mod integer;
mod known;
mod single;

use crate::bus::Bus;
use crate::core::Core;
use crate::isa::Insn;
use crate::state::ps;

pub(crate) use known::recognise;

/// What can be computed by the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Routine {
    AddS,
    SubS,
    MulS,
    /// Equal and not equal are one function.
    EqS,
    GtS,
    LeS,
    GeS,
    LtS,
    UnordS,
    FixS,
    FloatS,
    FloatUnsignedS,
    /// The 64-bit product of two words.
    Product,
    CopyBytes,
    CopyWords,
    SetBytes,
    SetWords,
    Move,
    Length,
}

/// What a routine comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// `a2` and `a3`; the second stays as it is where there is none.
    pub result: (u32, Option<u32>),
    /// Instructions that its own code takes, ENTRY and RETW included.
    pub instructions: u64,
}

impl Outcome {
    fn new(result: u32, instructions: u64) -> Option<Outcome> {
        Some(Outcome { result: (result, None), instructions })
    }
}

/// Calls a routine whose ENTRY is next; the instructions it stands for, or `None` if they have to be executed.
pub(crate) fn call<B: Bus>(
    core: &mut Core,
    bus: &mut B,
    routine: Routine,
    entry: &Insn,
    most: u64,
) -> Option<u64> {
    let increment = (core.state.ps >> ps::CALLINC_SHIFT & 3) as u8;
    let first = increment << 2;
    let base = core.state.window_base;
    let caller_sp = core.ar(1);
    let sp = caller_sp.wrapping_sub(entry.imm);
    let back = core.ar(first);
    let ahead = core.state.window_start.rotate_right(u32::from(base));
    // Three arguments have to be in sight; what else ENTRY and RETW ask for is asked for here.
    let is_plain = matches!(increment, 1 | 2)
        && core.state.ps & (ps::WOE | ps::EXCM) == ps::WOE
        && (back >> 30) as u8 == increment
        && sp >= core.state.isl
        && ahead & 1 != 0
        && ahead & ((2u16 << (increment + 3)) - 2) == 0;
    if !is_plain {
        return None;
    }
    let [a, b, c] = [2, 3, 4].map(|r| core.ar(first + r));
    let outcome = match routine {
        Routine::AddS => single::add(a, b),
        Routine::SubS => single::sub(a, b),
        Routine::MulS => single::mul(a, b),
        Routine::EqS => single::equal(a, b),
        Routine::GtS => single::greater_or_not_above(a, b, 0),
        Routine::LeS => single::greater_or_not_above(a, b, 1),
        Routine::GeS => single::less_or_not_below(a, b, u32::MAX),
        Routine::LtS => single::less_or_not_below(a, b, 0),
        Routine::UnordS => single::unordered(a, b),
        Routine::FixS => single::to_int(a),
        Routine::FloatS => single::from_int(a),
        Routine::FloatUnsignedS => single::from_unsigned(a),
        Routine::Product => integer::product(a, b),
        Routine::CopyBytes
        | Routine::CopyWords
        | Routine::SetBytes
        | Routine::SetWords
        | Routine::Move
        | Routine::Length => bytes::judge(core, bus, routine, [a, b, c], most),
    }?;
    if outcome.instructions > most {
        return None;
    }
    core.set_ar(first + 2, outcome.result.0);
    if let Some(high) = outcome.result.1 {
        core.set_ar(first + 3, high);
    }
    bus.frame_left(sp.wrapping_sub(16), caller_sp.wrapping_sub(16));
    core.state.pc = entry.pc & 0xc000_0000 | back & 0x3fff_ffff;
    Some(outcome.instructions)
}
