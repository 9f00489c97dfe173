//! Why a run stops: budget, a trap the host wants to see, or a precise fault.
//!
//! Unaware of how instructions execute. A fault is precise: registers and memory are as they were before the instruction
//! at [`Fault::pc`], and the core's pc still points at it, so the host may repair the cause and run on.

use crate::bus::BusFault;

/// What ended [`crate::Cpu::run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The instruction budget is used up; run again to go on.
    Budget,
    /// `break s, t` (or `break.n s`, then `t` is 0). The pc is already behind it: run again to go on.
    Break {
        /// First immediate, 0..=15.
        s: u8,
        /// Second immediate, 0..=15.
        t: u8,
    },
    /// `simcall`, pc already behind it.
    Simcall,
    /// `syscall`, pc already behind it.
    Syscall,
    /// `waiti`: the core waits for an interrupt that this model never raises; pc already behind it.
    Wait,
    /// The instruction at the fault's pc cannot be executed.
    Fault(Fault),
}

/// A precise fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[error("at pc {pc:#010x}: {kind}")]
pub struct Fault {
    /// Address of the instruction that did not complete.
    pub pc: u32,
    /// What is wrong with it.
    pub kind: FaultKind,
}

/// What an access wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Data read by an instruction.
    Load,
    /// Data written by an instruction.
    Store,
    /// Register-window overflow writing a save area.
    Spill,
    /// Register-window underflow reading a save area.
    Fill,
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Access::Load => "load",
            Access::Store => "store",
            Access::Spill => "window spill",
            Access::Fill => "window fill",
        })
    }
}

/// The kinds of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum FaultKind {
    /// Not an instruction of the modelled core, or one that its state forbids.
    #[error("illegal instruction, bytes {:02x} {:02x} {:02x}", .bytes[0], .bytes[1], .bytes[2])]
    Illegal {
        /// The bytes at pc (zero where memory ends).
        bytes: [u8; 3],
    },
    /// A FLIX bundle: vendor-compiled code that this model recognises but does not execute.
    #[error("FLIX bundle of {len} bytes (vendor-compiled code; only scalar Xtensa code runs here)")]
    Flix {
        /// Length of the bundle in bytes: 8 or 16.
        len: u8,
    },
    /// The bus has no instruction at pc.
    #[error("instruction fetch: {fault}")]
    Fetch {
        /// The bus's reason.
        fault: BusFault,
    },
    /// The bus refused a data access.
    #[error("{access} of {size} bytes at {addr:#010x}: {fault}")]
    Bus {
        /// Effective address.
        addr: u32,
        /// Bytes: 1, 2 or 4.
        size: u8,
        /// What was wanted.
        access: Access,
        /// The bus's reason.
        fault: BusFault,
    },
    /// Address not a multiple of the access size.
    #[error("{access} of {size} bytes at {addr:#010x} is not aligned")]
    Unaligned {
        /// Effective address.
        addr: u32,
        /// Bytes: 2 or 4.
        size: u8,
        /// What was wanted.
        access: Access,
    },
    /// The stack pointer would go below the stack limit register ISL.
    #[error("stack pointer {sp:#010x} would be {} bytes below the stack limit {limit:#010x}", .limit.wrapping_sub(*.sp))]
    StackLimit {
        /// The stack pointer that was to be installed.
        sp: u32,
        /// Value of ISL.
        limit: u32,
    },
    /// QUOS, QUOU, REMS or REMU with divisor zero.
    #[error("integer divide by zero")]
    DivideByZero,
    /// RSR, WSR or XSR of a special register that the modelled core does not have.
    #[error("special register {number} does not exist on this core")]
    NoSpecialRegister {
        /// Number in the instruction.
        number: u8,
    },
    /// RUR or WUR of a user register that the modelled core does not have.
    #[error("user register {number} does not exist on this core")]
    NoUserRegister {
        /// Number in the instruction.
        number: u8,
    },
    /// RETW, ENTRY or a spill met a register window state that no windowed call produces.
    #[error("register windows are inconsistent (WindowBase {base}, WindowStart {start:#06x})")]
    Window {
        /// WindowBase.
        base: u8,
        /// WindowStart, one bit a frame.
        start: u16,
    },
}

impl FaultKind {
    /// Whether it is only that memory holds no value.
    pub(crate) fn is_undefined(self) -> bool {
        matches!(self, FaultKind::Bus { fault: BusFault::Undefined, .. })
    }
}
