//! The programmer-visible registers of one core, and the register window onto them.
//!
//! Unaware of instructions and memory. 64 physical address registers (spec `lsp-and-memory.md` §15), of which a window of
//! 16 starting at `4 * WindowBase` is visible as `a0..a15`.

/// Physical address registers.
pub const PHYSICAL_REGISTERS: usize = 64;
/// WindowBase counts groups of four registers.
pub const WINDOW_POSITIONS: u32 = (PHYSICAL_REGISTERS / 4) as u32;

/// Special register that holds the stack limit (0 = no limit).
///
/// Spec `customop-abi.md` §8 names the register, not its number. The number is ours until a primary source is found; the
/// open runtime only ever writes it through the same number.
pub const ISL: u8 = 221;

/// Fields of the processor status register.
pub mod ps {
    /// Interrupt level, 4 bits.
    pub const INTLEVEL: u32 = 0xf;
    /// Exception mode: windows and loop-backs are off.
    pub const EXCM: u32 = 1 << 4;
    /// User vector mode.
    pub const UM: u32 = 1 << 5;
    /// First bit of the window increment that the last CALL4/8/12 asks ENTRY for.
    pub const CALLINC_SHIFT: u32 = 16;
    /// Window increment, 2 bits.
    pub const CALLINC: u32 = 3 << CALLINC_SHIFT;
    /// Window overflow enable: windowed calls are allowed.
    pub const WOE: u32 = 1 << 18;
}

/// Everything a program can observe of one core; two equal states run on identically.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// Address of the next instruction.
    pub pc: u32,
    /// Physical address registers; `a0` is `ar[4 * window_base]`, wrapping around.
    pub ar: [u32; PHYSICAL_REGISTERS],
    /// Position of the visible window, 0..16, in groups of four registers.
    pub window_base: u8,
    /// One bit per window position where a live frame starts.
    pub window_start: u16,
    /// Processor status; fields in [`ps`].
    pub ps: u32,
    /// Shift amount, 6 bits.
    pub sar: u32,
    /// First instruction of the zero-overhead loop.
    pub lbeg: u32,
    /// First address behind the zero-overhead loop.
    pub lend: u32,
    /// Times the loop still goes back.
    pub lcount: u32,
    /// Boolean registers b0..b15, one bit each.
    pub br: u16,
    /// What S32C1I compares memory with.
    pub scompare1: u32,
    /// Stack limit, 0 for none; special register [`ISL`].
    pub isl: u32,
    /// Thread pointer, user register 231.
    pub threadptr: u32,
    /// Single-precision registers f0..f15 as bits.
    pub fr: [u32; 16],
    /// Floating-point control: rounding mode in bits 0..2.
    pub fcr: u32,
    /// Floating-point status: inexact 7, underflow 8, overflow 9, divide by zero 10, invalid 11.
    pub fsr: u32,
    /// Special registers that only store a value, by number ([`crate::special`]).
    pub plain: [u32; 256],
    /// Instructions completed.
    pub instructions: u64,
    /// Cycles: instructions plus what the host added. CCOUNT is its low word plus `ccount_offset`.
    pub cycles: u64,
    /// Difference between CCOUNT and `cycles`, set by a write to CCOUNT.
    pub ccount_offset: u32,
}

impl Default for State {
    /// As a loader hands a core over: windows on, one frame at position 0, all else zero.
    fn default() -> Self {
        Self {
            pc: 0,
            ar: [0; PHYSICAL_REGISTERS],
            window_base: 0,
            window_start: 1,
            ps: ps::WOE | ps::UM,
            sar: 0,
            lbeg: 0,
            lend: 0,
            lcount: 0,
            br: 0,
            scompare1: 0,
            isl: 0,
            threadptr: 0,
            fr: [0; 16],
            fcr: 0,
            fsr: 0,
            plain: [0; 256],
            instructions: 0,
            cycles: 0,
            ccount_offset: 0,
        }
    }
}
