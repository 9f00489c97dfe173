//! One row of the instruction table as data: which words it matches, its mnemonic, its operands, where control goes.
//!
//! Unaware of the instructions themselves and of what they do. Patterns and operand lists are text, taken apart when the
//! crate is compiled; a mistake in one does not compile.

use super::imm::Imm;

/// A row: everything that is known about an instruction but what it does.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// As assemblers write it.
    pub mnemonic: &'static str,
    /// Words that are this instruction.
    pub pattern: Pattern,
    /// The first `count` of these are its operands, explicit ones first, in assemblers' order.
    operands: [Operand; MAX_OPERANDS],
    count: u8,
    /// Where control goes.
    pub flow: Flow,
}

/// Where control goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the instruction behind this one, if it completes.
    Next,
    /// Perhaps elsewhere, or this one must see exact counters: a block ends here.
    Ends,
}

/// Which words are an instruction: those with `word & mask == bits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pattern {
    /// Bits that must agree.
    pub mask: u32,
    /// What they must be.
    pub bits: u32,
    /// Bytes: 2 or 3; 0 matches nothing.
    pub len: u8,
}

/// Reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read.
    In,
    /// Written whatever happens.
    Out,
    /// Read and written, or written only sometimes.
    InOut,
}

/// Which field of the word names a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Bits 12..16.
    R,
    /// Bits 8..12.
    S,
    /// Bits 4..8.
    T,
}

/// What an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Address register `a0..a15`.
    Ar(Field),
    /// The stack pointer, where an encoding names no other.
    A1,
    /// The return address.
    A0,
    /// Single-precision register `f0..f15`.
    Fr(Field),
    /// That many boolean registers from the one named on.
    Br(Field, u8),
    /// A constant.
    Imm(Imm),
    /// Shift amount.
    Sar,
    /// Rounding mode.
    Fcr,
    /// Floating-point flags.
    Fsr,
    /// What S32C1I compares with.
    Scompare1,
    /// LBEG, LEND and LCOUNT.
    Loop,
    /// The processor status.
    Ps,
    /// That many bytes of memory at the effective address.
    Memory(u8),
    /// The register window turns, save areas may be written or read.
    Window,
}

/// One operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operand {
    /// What it is.
    pub kind: Kind,
    /// Whether it is read or written.
    pub access: Access,
    /// Not written by assemblers.
    pub implicit: bool,
}

/// Most operands of a row.
const MAX_OPERANDS: usize = 6;
const NO_OPERAND: Operand = Operand { kind: Kind::Ps, access: Access::In, implicit: true };

impl Row {
    /// A row from its columns.
    ///
    /// `operands` is the manual's syntax with the access in front, as compilers' constraints mark it: `=ar` is written,
    /// `+ar` read and written, `as` read. What follows `/` is implicit.
    pub(crate) const fn new(
        mnemonic: &'static str,
        pattern: &str,
        operands: &'static str,
        flow: Flow,
    ) -> Self {
        let pattern = Pattern::parse(pattern.as_bytes());
        let (operands, count) = parse_operands(operands.as_bytes());
        Self { mnemonic, pattern, operands, count, flow }
    }

    /// All operands, explicit ones first, in assemblers' order.
    #[must_use]
    pub fn operands(&self) -> &[Operand] {
        self.operands.get(..usize::from(self.count)).unwrap_or_default()
    }
}

impl Pattern {
    /// Whether `word`, of `len` bytes, is this instruction.
    #[must_use]
    pub const fn matches(&self, word: u32, len: u8) -> bool {
        self.len == len && word & self.mask == self.bits
    }

    /// Groups from the top of the word down, apart by spaces: one character stands for four bits, four characters for one
    /// each. Digits are fixed (hexadecimal for four bits), small letters free.
    const fn parse(text: &[u8]) -> Self {
        let (mut mask, mut bits, mut width) = (0, 0, 0);
        let mut at = 0;
        while at < text.len() {
            let start = at;
            while at < text.len() && text[at] != b' ' {
                at += 1;
            }
            let each = match at - start {
                1 => 4,
                4 => 1,
                _ => panic!("a group has one character or four"),
            };
            let mut digit = start;
            while digit < at {
                let (fixed, value) = match text[digit] {
                    c @ b'0'..=b'9' => (true, c - b'0'),
                    c @ b'A'..=b'F' => (true, c - b'A' + 10),
                    b'a'..=b'z' => (false, 0),
                    _ => panic!("digits and small letters"),
                };
                assert!((value as u32) < 1 << each, "a bit is 0 or 1");
                mask = mask << each | if fixed { (1 << each) - 1 } else { 0 };
                bits = bits << each | value as u32;
                width += each;
                digit += 1;
            }
            at += 1;
        }
        assert!(width == 0 || width == 16 || width == 24, "16 or 24 bits");
        Self { mask, bits, len: (width / 8) as u8 }
    }
}

const fn parse_operands(text: &[u8]) -> ([Operand; MAX_OPERANDS], u8) {
    let mut operands = [NO_OPERAND; MAX_OPERANDS];
    let (mut count, mut at, mut implicit) = (0, 0, false);
    while at < text.len() {
        let start = at;
        while at < text.len() && text[at] != b' ' {
            at += 1;
        }
        let (_, word) = text.split_at(start);
        let (word, _) = word.split_at(at - start);
        at += 1;
        match word {
            b"/" => implicit = true,
            [b'=', name @ ..] => {
                operands[count] = Operand { kind: kind(name), access: Access::Out, implicit };
                count += 1;
            }
            [b'+', name @ ..] => {
                operands[count] = Operand { kind: kind(name), access: Access::InOut, implicit };
                count += 1;
            }
            name => {
                operands[count] = Operand { kind: kind(name), access: Access::In, implicit };
                count += 1;
            }
        }
    }
    (operands, count as u8)
}

const fn kind(name: &[u8]) -> Kind {
    match name {
        b"a0" => Kind::A0,
        b"a1" => Kind::A1,
        [b'a', field @ (b'r' | b's' | b't')] => Kind::Ar(register(*field)),
        [b'f', field @ (b'r' | b's' | b't')] => Kind::Fr(register(*field)),
        [b'b', field @ (b'r' | b's' | b't')] => Kind::Br(register(*field), 1),
        b"bs4" => Kind::Br(Field::S, 4),
        b"bs8" => Kind::Br(Field::S, 8),
        b"sar" => Kind::Sar,
        b"fcr" => Kind::Fcr,
        b"fsr" => Kind::Fsr,
        b"scompare1" => Kind::Scompare1,
        b"loop" => Kind::Loop,
        b"ps" => Kind::Ps,
        b"window" => Kind::Window,
        b"mem8" => Kind::Memory(1),
        b"mem16" => Kind::Memory(2),
        b"mem32" => Kind::Memory(4),
        _ => Kind::Imm(immediate(name)),
    }
}

const fn register(field: u8) -> Field {
    match field {
        b'r' => Field::R,
        b's' => Field::S,
        _ => Field::T,
    }
}

const fn immediate(name: &[u8]) -> Imm {
    let mut at = 0;
    while at < Imm::NAMES.len() {
        let (known, imm) = Imm::NAMES[at];
        if equal(known.as_bytes(), name) {
            return imm;
        }
        at += 1;
    }
    panic!("no operand has this name")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
