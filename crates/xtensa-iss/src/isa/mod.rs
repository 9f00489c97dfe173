//! The instruction set: a table with one row per instruction, and what reads and writes instructions by it.
//!
//! Unaware of blocks and of when instructions run.

mod decode;
mod disasm;
mod imm;
mod row;
mod table;

pub use decode::{decode, length};
pub use disasm::disasm;
pub use imm::{B4CONST, B4CONSTU, Imm, Style};
pub(crate) use imm::{b4const, b4constu};
pub use row::{Access, Field, Flow, Kind, Operand, Pattern, Row};
pub(crate) use table::execute;
pub use table::{Insn, Op};
