//! Decoder: bytes at an address to one [`Insn`], by the rows' patterns.
//!
//! Unaware of execution. Never fails: what no row matches is [`Op::Illegal`], a vendor bundle [`Op::Flix`].
//!
//! Lengths: spec `lsp-and-memory.md` §15 and `prelink.md` §9.1 (op0 0..=7: 3 bytes; 8..=D: 2; E: 16; F: 8 or 16 by byte 3).

use super::imm::Word;
use super::row::{Kind, Pattern};
use super::table::{Insn, Op, ROWS};

/// Decodes the instruction that starts with `bytes` (at least as many as it is long, up to 16) at address `pc`. Bytes that
/// end too early decode to [`Op::Illegal`].
#[must_use]
pub fn decode(bytes: &[u8], pc: u32) -> Insn {
    let b = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let len = length(b(0), b(3));
    let raw = u32::from_le_bytes([b(0), b(1), b(2), 0]);
    let (op, bits) = match len {
        _ if bytes.len() < usize::from(len) => (Op::Illegal, raw),
        2 | 3 => (find(raw, len), raw),
        // There is no such bundle.
        _ if b(0) & 15 == 15 && b(3) & 7 == 7 => (Op::Illegal, raw),
        _ => (Op::Flix, len.into()),
    };
    unpack(op, len, Word { bits, pc })
}

/// Length in bytes from byte 0 and, for bundles, byte 3.
#[must_use]
pub fn length(byte0: u8, byte3: u8) -> u8 {
    match byte0 & 15 {
        0..=7 => 3,
        8..=13 => 2,
        14 => 16,
        _ if byte3 & 1 == 0 => 8,
        _ => 16,
    }
}

/// The first row whose pattern matches.
fn find(word: u32, len: u8) -> Op {
    let word = if len == 2 { word & 0xffff } else { word };
    let from = usize::from(FIRST[key(word, word & 15)]);
    let candidates = Op::ALL.get(from..).unwrap_or_default().iter().zip(&ROWS[from.min(ROWS.len())..]);
    candidates.into_iter().find(|(_, row)| row.pattern.matches(word, len)).map_or(Op::Illegal, |(op, _)| *op)
}

fn unpack(op: Op, len: u8, word: Word) -> Insn {
    let (r, s, t) = (word.r() as u8, word.s() as u8, word.t() as u8);
    let mut insn = Insn { op, len, r, s, t, k: 0, imm: 0, pc: word.pc };
    for operand in insn.row().operands() {
        if let Kind::Imm(imm) = operand.kind {
            insn.k = insn.imm as u8;
            insn.imm = imm.value(word);
        }
    }
    insn
}

/// Where the search for a row starts, by the twelve bits that tell most of them apart.
static FIRST: [u8; 1 << 12] = first_rows();

/// op0 and, for op0 0, op1 and op2, else t and r. `op0` is given apart, so that masks have keys too.
const fn key(word: u32, op0: u32) -> usize {
    let rest = match op0 {
        0 => word >> 16 & 0xff,
        _ => word >> 4 & 15 | word >> 8 & 0xf0,
    };
    (op0 << 8 | rest) as usize
}

const fn first_rows() -> [u8; 1 << 12] {
    let mut first = [ROWS_END; 1 << 12];
    let mut row = ROWS.len();
    while row > 0 {
        row -= 1;
        let Pattern { mask, bits, len } = ROWS[row].pattern;
        if len == 0 {
            continue;
        }
        let op0 = bits & 15;
        let (mask, bits) = (key(mask, op0), key(bits, op0));
        let mut at = (op0 << 8) as usize;
        while at >> 8 == op0 as usize {
            if at & mask & 0xff == bits & 0xff {
                first[at] = row as u8;
            }
            at += 1;
        }
    }
    first
}

/// No row matches.
const ROWS_END: u8 = ROWS.len() as u8;
