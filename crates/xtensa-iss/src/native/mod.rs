//! Native routines: functions of the compiler's and the C library that the host computes instead of the simulated core.
//!
//! A routine is known by its bytes, never by its name. A native call leaves the registers that a caller may rely on, memory,
//! findings and every count as the routine's own instructions would; scratch registers of the callee's window are not
//! written. Where that cannot be had at little cost (special operands, memory that is not plain, a window that has to be
//! spilled, a budget that ends inside) the answer is to execute the instructions. Unaware of blocks, and of translated code,
//! which asks for the calls that it makes itself what [`call`] asks for.

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
    /// What it returns in `a2`, and in `a3` above if it is wide ([`Routine::is_wide`]).
    pub bits: u64,
    /// Instructions that its own code takes, ENTRY and RETW included.
    pub instructions: u64,
}

impl Outcome {
    fn new(result: u32, instructions: u64) -> Option<Outcome> {
        Some(Outcome { bits: result.into(), instructions })
    }

    fn double(bits: u64, instructions: u64) -> Option<Outcome> {
        Some(Outcome { bits, instructions })
    }
}

/// The four words of `a2..a5` that a routine may take.
#[derive(Debug, Clone, Copy)]
struct Operands([u32; 4]);

impl Operands {
    fn words(self) -> [u32; 4] {
        self.0
    }

    fn doubles(self) -> [u64; 2] {
        let [a, b, c, d] = self.0.map(u64::from);
        [b << 32 | a, d << 32 | c]
    }
}

/// Rows of routines that do nothing but compute: what they are called with, as words or as doubles, and what comes of it.
macro_rules! arithmetic {
    ($($view:ident { $($routine:ident($($operand:ident),*) = $outcome:expr;)* })*) => {
        impl Routine {
            /// What it comes to, if it does nothing but compute and has operands that are not special.
            fn compute(self, operands: Operands) -> Option<Outcome> {
                match self {
                    $($(Routine::$routine => {
                        let [$($operand,)* ..] = operands.$view();
                        $outcome
                    })*)*
                    _ => None,
                }
            }

            /// The same as a function for translated code, if it does nothing but compute.
            #[cfg(all(target_arch = "x86_64", feature = "translate"))]
            pub fn host_function(self) -> Option<HostFunction> {
                Some(match self {
                    $($(Routine::$routine => {
                        extern "sysv64" fn host(a: u32, b: u32, c: u32, d: u32) -> Answer {
                            let [$($operand,)* ..] = Operands([a, b, c, d]).$view();
                            Answer::from($outcome)
                        }
                        host
                    })*)*
                    _ => return None,
                })
            }
        }
    };
}

arithmetic! {
    words {
        AddS(a, b) = single::add(a, b);
        SubS(a, b) = single::sub(a, b);
        MulS(a, b) = single::mul(a, b);
        DivS(a, b) = single::div(a, b);
        EqS(a, b) = single::equal(a, b);
        GtS(a, b) = single::greater_or_not_above(a, b, 0);
        LeS(a, b) = single::greater_or_not_above(a, b, 1);
        GeS(a, b) = single::less_or_not_below(a, b, u32::MAX);
        LtS(a, b) = single::less_or_not_below(a, b, 0);
        UnordS(a, b) = single::unordered(a, b);
        FixS(a) = single::to_int(a);
        FixUnsignedS(a) = single::to_unsigned(a);
        FloatS(a) = single::from_int(a);
        FloatUnsignedS(a) = single::from_unsigned(a);
        Extend(a) = double::from_single(a);
        FloatD(a) = double::from_int(a);
        FloatUnsignedD(a) = double::from_unsigned(a);
        Product(a, b) = integer::product(a, b);
        Quotient(a, b) = integer::quotient(a, b);
        UnsignedQuotient(a, b) = integer::unsigned_quotient(a, b);
        Remainder(a, b) = integer::remainder(a, b);
        UnsignedRemainder(a, b) = integer::unsigned_remainder(a, b);
    }
    doubles {
        AddD(x, y) = double::add(x, y);
        SubD(x, y) = double::sub(x, y);
        DivD(x, y) = double::div(x, y);
        EqD(x, y) = double::equal(x, y);
        GtD(x, y) = double::greater_or_not_above(x, y, 0);
        LeD(x, y) = double::greater_or_not_above(x, y, 1);
        GeD(x, y) = double::less_or_not_below(x, y, u32::MAX);
        LtD(x, y) = double::less_or_not_below(x, y, 0);
        UnordD(x, y) = double::unordered(x, y);
        FixD(x) = double::to_int(x);
        FixUnsignedD(x) = double::to_unsigned(x);
        Truncate(x) = double::to_single(x);
    }
}

/// What a routine comes to, in the two registers that the host's functions return.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Answer {
    pub bits: u64,
    /// 0 if the routine has to be executed.
    pub instructions: u64,
}

impl From<Option<Outcome>> for Answer {
    fn from(outcome: Option<Outcome>) -> Answer {
        let (bits, instructions) = outcome.map_or((0, 0), |outcome| (outcome.bits, outcome.instructions));
        Answer { bits, instructions }
    }
}

/// A routine's arithmetic on `a2..a5`.
#[cfg(all(target_arch = "x86_64", feature = "translate"))]
pub(crate) type HostFunction = extern "sysv64" fn(u32, u32, u32, u32) -> Answer;

impl Routine {
    /// Those that read or write memory, or their own frame.
    pub const WITH_MEMORY: [Routine; 7] = [
        Routine::MulD,
        Routine::CopyBytes,
        Routine::CopyWords,
        Routine::SetBytes,
        Routine::SetWords,
        Routine::Move,
        Routine::Length,
    ];

    /// Whether it returns two words.
    pub fn is_wide(self) -> bool {
        use Routine::*;
        matches!(self, AddD | SubD | MulD | DivD | FloatD | FloatUnsignedD | Extend | Product)
    }

    /// Does what the routine does, called as said with `a2..a5`, unless it takes more than `most` instructions or is better
    /// executed.
    pub fn perform<B: Bus>(
        self,
        core: &Core,
        bus: &mut B,
        at: At,
        words: [u32; 4],
        most: u64,
    ) -> Option<Outcome> {
        match self {
            Routine::MulD => product_of_doubles(core, bus, at, words, most),
            Routine::CopyBytes
            | Routine::CopyWords
            | Routine::SetBytes
            | Routine::SetWords
            | Routine::Move
            | Routine::Length => bytes::judge(core, bus, self, words, most),
            _ => self.compute(Operands(words)).filter(|outcome| outcome.instructions <= most),
        }
    }
}

/// It keeps a word in its frame, but returns early where an operand is zero.
fn product_of_doubles<B: Bus>(
    core: &Core,
    bus: &mut B,
    at: At,
    words: [u32; 4],
    most: u64,
) -> Option<Outcome> {
    let [x, y] = Operands(words).doubles();
    let outcome = double::mul(x, y).filter(|outcome| outcome.instructions <= most)?;
    if x << 1 != 0 && y << 1 != 0 {
        let addr = at.sp.wrapping_add(4);
        if core.code.overlaps(addr, 4) {
            return None;
        }
        let [_, b, _, d] = words;
        bus.store32(at, addr, b ^ d).and_then(|()| bus.load32(at, addr)).ok()?;
    }
    Some(outcome)
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
    let words = [2, 3, 4, 5].map(|r| core.ar(first + r));
    let outcome = routine.perform(core, bus, At { pc: entry.pc, sp }, words, most)?;
    core.set_ar(first + 2, outcome.bits as u32);
    if routine.is_wide() {
        core.set_ar(first + 3, (outcome.bits >> 32) as u32);
    }
    bus.frame_left(sp.wrapping_sub(16), caller_sp.wrapping_sub(16));
    core.state.pc = entry.pc & 0xc000_0000 | back & 0x3fff_ffff;
    core.native_calls += 1;
    Some(outcome.instructions)
}
