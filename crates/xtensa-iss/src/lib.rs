#![doc = include_str!("../README.md")]
//!
//! # What is modelled
//!
//! [`Cpu`] runs little-endian Xtensa code out of anything that implements [`Bus`] until its budget is used up, the program
//! asks for the host ([`Stop::Break`] and friends) or an instruction cannot complete ([`Fault`], always precise).
//!
//! Modelled: base ISA, density, windowed registers (64 physical, overflow and underflow done by the model itself, to the
//! save areas of the windowed ABI), zero-overhead loops, L32R and CONST16, MUL16, MUL32 (high too), 32-bit divide, min/max,
//! sext, clamps, nsa, booleans, single-precision floating point, conditional store, special and user registers. FLIX bundles
//! are recognised ([`FaultKind::Flix`]), never executed.
//!
//! An instruction is one row of the table in `isa`; decoder, disassembler, interpreter and blocks follow from the rows.
//!
//! A bus may say that bytes hold no value. Then the core tracks, bit by bit, where they go, until no register holds one; it
//! asks the bus only when undefined bits decide something. Without such bytes this costs nothing.
//!
//! Blocks that run often are translated to host code, where there is a translator for the host ([`Config::translate_after`]).
//! Functions of the compiler's and the C library that the core meets again and again are recognised by their bytes and
//! computed by the host, with the same results and the same counts ([`Config::native`]).
//!
//! The stack limit (ISL) is checked where a stack pointer comes into being: ENTRY, MOVSP, and ADDI/ADDMI with destination
//! `a1`. Compiled code stores at non-negative offsets from `a1`, so a frame that passed the check stays above the limit.

#![cfg_attr(
    not(all(target_arch = "x86_64", feature = "translate")),
    allow(dead_code, reason = "what only the translator asks for")
)]

mod blocks;
mod bus;
mod config;
mod core;
mod cpu;
mod exec;
mod fault;
mod fp;
#[doc(hidden)]
pub mod fuzz;
pub mod isa;
mod native;
mod reach;
mod shadow;
pub mod special;
mod state;
mod track;
mod translate;

pub use bus::{At, Bulk, Bus, BusFault, FETCH_BYTES, Ram, Tally, Undefined, Use};
pub use config::{Config, Unaligned};
pub use cpu::{Cpu, Moment};
pub use fault::{Access, Fault, FaultKind, Stop};
pub use isa::{Insn, Op, decode, disasm, length};
pub use reach::{Frames, LAYOUT_MEMORIES, Layout, Marks, Reach, Reachable};
pub use state::{ISL, PHYSICAL_REGISTERS, State, WINDOW_POSITIONS, ps};
