//! Disassembler: an instruction as the GNU tools print it, for reports.
//!
//! Unaware of symbols; targets are absolute addresses. Everything it says is in the row.

use std::fmt::Write;

use super::decode::decode;
use super::imm::{B4CONST, B4CONSTU, Imm, Style};
use super::row::{Field, Kind};
use super::table::Insn;
use crate::special;

/// The instruction that starts with `bytes` at address `pc`, as text such as `addi.n a10, a2, -1`. Never fails: what the
/// core cannot execute reads `.byte 0x…` or `flix`.
#[must_use]
pub fn disasm(bytes: &[u8], pc: u32) -> String {
    text(&decode(bytes, pc))
}

fn text(insn: &Insn) -> String {
    let mut mnemonic = insn.row().mnemonic.to_owned();
    let mut operands = Vec::new();
    let explicit = || insn.row().operands().iter().filter(|operand| !operand.implicit);
    let immediates = explicit().filter(|operand| matches!(operand.kind, Kind::Imm(_))).count();
    let mut left = immediates;
    for operand in explicit() {
        match operand.kind {
            Kind::Ar(field) => operands.push(format!("a{}", insn.field(field))),
            Kind::A1 => operands.push("a1".into()),
            Kind::Fr(field) => operands.push(format!("f{}", insn.field(field))),
            Kind::Br(field, count) => operands.push(booleans(insn.field(field), count)),
            Kind::Imm(imm) => {
                left -= 1;
                let value = if left == 0 { insn.imm } else { insn.k.into() };
                match (imm.style(), register_name(imm, value)) {
                    (_, Some(name)) => mnemonic = format!("{mnemonic}.{name}"),
                    // rur.17 a2
                    (Style::User, None) => mnemonic = format!("{mnemonic}.{value}"),
                    _ => operands.push(number(imm, value, insn.len)),
                }
            }
            // Always implicit.
            _ => {}
        }
    }
    match operands.is_empty() {
        true => mnemonic,
        false => format!("{mnemonic} {}", operands.join(", ")),
    }
}

impl Insn {
    /// Number of the register that a field names.
    #[must_use]
    pub fn field(&self, field: Field) -> u8 {
        match field {
            Field::R => self.r,
            Field::S => self.s,
            Field::T => self.t,
        }
    }
}

/// `b8`, or `b8:b9:b10:b11`.
fn booleans(first: u8, count: u8) -> String {
    let members: Vec<String> = (first..first + count).map(|b| format!("b{b}")).collect();
    members.join(":")
}

fn register_name(imm: Imm, number: u32) -> Option<&'static str> {
    match imm.style() {
        Style::Special => special::special_register_name(number as u8),
        Style::User => special::user_register_name(number as u8),
        _ => None,
    }
}

fn number(imm: Imm, value: u32, len: u8) -> String {
    match imm.style() {
        Style::Unsigned | Style::Special | Style::User => value.to_string(),
        Style::Signed => (value as i32).to_string(),
        Style::Label => format!("{value:#x}"),
        Style::B4const => B4CONST[value as usize & 15].to_string(),
        Style::B4constu => B4CONSTU[value as usize & 15].to_string(),
        Style::Bytes => format!("({value} bytes)"),
        Style::Raw => {
            let bytes = value.to_le_bytes().into_iter().take(usize::from(len.min(3)));
            bytes.fold(String::new(), |mut text, byte| {
                let comma = if text.is_empty() { "" } else { ", " };
                let _ = write!(text, "{comma}{byte:#04x}");
                text
            })
        }
    }
}
