//! Native routines: functions of the compiler's and the C library that the host computes instead of the simulated core.
//!
//! A routine is known by its bytes, never by its name. A native call leaves the registers that a caller may rely on, memory,
//! findings and every count as the routine's own instructions would; scratch registers of the callee's window are not
//! written. Where that cannot be had at little cost (special operands, memory that is not plain, a window that has to be
//! spilled, a budget that ends inside) the answer is to execute the instructions. Unaware of blocks.

mod bytes;
mod double;
mod integer;
mod known;
mod single;

use crate::bus::{At, Bus};
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
    DivS,
    /// Equal and not equal are one function.
    EqS,
    GtS,
    LeS,
    GeS,
    LtS,
    UnordS,
    FixS,
    FixUnsignedS,
    FloatS,
    FloatUnsignedS,
    AddD,
    SubD,
    MulD,
    DivD,
    EqD,
    GtD,
    LeD,
    GeD,
    LtD,
    UnordD,
    FixD,
    FixUnsignedD,
    FloatD,
    FloatUnsignedD,
    /// Double to single precision.
    Truncate,
    /// Single to double precision.
    Extend,
    Quotient,
    UnsignedQuotient,
    Remainder,
    UnsignedRemainder,
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

    fn double(bits: u64, instructions: u64) -> Option<Outcome> {
        Some(Outcome { result: (bits as u32, Some((bits >> 32) as u32)), instructions })
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
    // Four arguments have to be in sight; what else ENTRY and RETW ask for is asked for here.
    let is_plain = matches!(increment, 1 | 2)
        && core.state.ps & (ps::WOE | ps::EXCM) == ps::WOE
        && (back >> 30) as u8 == increment
        && sp >= core.state.isl
        && ahead & 1 != 0
        && ahead & ((2u16 << (increment + 3)) - 2) == 0;
    if !is_plain {
        return None;
    }
    let [a, b, c, d] = [2, 3, 4, 5].map(|r| core.ar(first + r));
    let (x, y) = (u64::from(b) << 32 | u64::from(a), u64::from(d) << 32 | u64::from(c));
    let outcome = match routine {
        Routine::AddS => single::add(a, b),
        Routine::SubS => single::sub(a, b),
        Routine::MulS => single::mul(a, b),
        Routine::DivS => single::div(a, b),
        Routine::EqS => single::equal(a, b),
        Routine::GtS => single::greater_or_not_above(a, b, 0),
        Routine::LeS => single::greater_or_not_above(a, b, 1),
        Routine::GeS => single::less_or_not_below(a, b, u32::MAX),
        Routine::LtS => single::less_or_not_below(a, b, 0),
        Routine::UnordS => single::unordered(a, b),
        Routine::FixS => single::to_int(a),
        Routine::FixUnsignedS => single::to_unsigned(a),
        Routine::FloatS => single::from_int(a),
        Routine::FloatUnsignedS => single::from_unsigned(a),
        Routine::AddD => double::add(x, y),
        Routine::SubD => double::sub(x, y),
        Routine::MulD => double::mul(x, y),
        Routine::DivD => double::div(x, y),
        Routine::EqD => double::equal(x, y),
        Routine::GtD => double::greater_or_not_above(x, y, 0),
        Routine::LeD => double::greater_or_not_above(x, y, 1),
        Routine::GeD => double::less_or_not_below(x, y, u32::MAX),
        Routine::LtD => double::less_or_not_below(x, y, 0),
        Routine::UnordD => double::unordered(x, y),
        Routine::FixD => double::to_int(x),
        Routine::FixUnsignedD => double::to_unsigned(x),
        Routine::FloatD => double::from_int(a),
        Routine::FloatUnsignedD => double::from_unsigned(a),
        Routine::Truncate => double::to_single(x),
        Routine::Extend => double::from_single(a),
        Routine::Product => integer::product(a, b),
        Routine::Quotient => integer::quotient(a, b),
        Routine::UnsignedQuotient => integer::unsigned_quotient(a, b),
        Routine::Remainder => integer::remainder(a, b),
        Routine::UnsignedRemainder => integer::unsigned_remainder(a, b),
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
    // It keeps a word in its frame, but returns early where an operand is zero.
    if routine == Routine::MulD && x << 1 != 0 && y << 1 != 0 {
        let (at, addr) = (At { pc: entry.pc, sp }, sp.wrapping_add(4));
        if core.code.overlaps(addr, 4) {
            return None;
        }
        bus.store32(at, addr, b ^ d).and_then(|()| bus.load32(at, addr)).ok()?;
    }
    core.set_ar(first + 2, outcome.result.0);
    if let Some(high) = outcome.result.1 {
        core.set_ar(first + 3, high);
    }
    bus.frame_left(sp.wrapping_sub(16), caller_sp.wrapping_sub(16));
    core.state.pc = entry.pc & 0xc000_0000 | back & 0x3fff_ffff;
    Some(outcome.instructions)
}
