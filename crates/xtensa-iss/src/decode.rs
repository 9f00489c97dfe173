//! Decoder: bytes at an address to one [`Insn`].
//!
//! Unaware of execution. Walks the manual's opcode maps in its own order (op0; then QRST by op1 and op2; …). Never fails:
//! what is not an instruction of the core decodes to [`Op::Illegal`], a vendor bundle to [`Op::Flix`].
//!
//! Lengths: spec `lsp-and-memory.md` §15 and `prelink.md` §9.1 (op0 0..=7: 3 bytes; 8..=D: 2; E: 16; F: 8 or 16 by byte 3).
//! CONST16 takes op0 4, where other configurations have MAC16 (spec `prelink.md` §9.2).

use crate::op::{Insn, Op};

/// Decodes the instruction that starts with `bytes` (at least as many as it is long, up to 16) at address `pc`. Bytes that
/// end too early decode to [`Op::Illegal`].
#[must_use]
pub fn decode(bytes: &[u8], pc: u32) -> Insn {
    let b = |i: usize| bytes.get(i).copied().unwrap_or(0);
    let len = length(b(0), b(3));
    let raw = [b(0), b(1), b(2)];
    let op = match len {
        _ if bytes.len() < usize::from(len) => Op::Illegal { bytes: raw },
        2 => narrow(Fields::new([raw[0], raw[1], 0], pc)),
        3 => wide(Fields::new(raw, pc)),
        _ if b(0) & 15 == 15 && b(3) & 7 == 7 => Op::Illegal { bytes: raw },
        _ => Op::Flix,
    };
    let op = match op {
        // One place to say which bytes were not understood.
        Op::Illegal { .. } => Op::Illegal { bytes: raw },
        op => op,
    };
    // A bundle's length is only meaningful when it is one; an illegal instruction is not stepped over.
    Insn { op, pc, len }
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

const ILLEGAL: Op = Op::Illegal { bytes: [0; 3] };

/// The fields of the 24-bit formats, little-endian.
#[derive(Clone, Copy)]
struct Fields {
    word: u32,
    pc: u32,
}

impl Fields {
    fn new([b0, b1, b2]: [u8; 3], pc: u32) -> Self {
        Self { word: u32::from_le_bytes([b0, b1, b2, 0]), pc }
    }
    fn nibble(self, n: u32) -> u8 {
        (self.word >> (4 * n) & 15) as u8
    }
    fn op0(self) -> u8 {
        self.nibble(0)
    }
    fn t(self) -> u8 {
        self.nibble(1)
    }
    fn s(self) -> u8 {
        self.nibble(2)
    }
    fn r(self) -> u8 {
        self.nibble(3)
    }
    fn op1(self) -> u8 {
        self.nibble(4)
    }
    fn op2(self) -> u8 {
        self.nibble(5)
    }
    /// Two-bit fields of op0 5 and 6.
    fn n(self) -> u8 {
        self.t() & 3
    }
    fn m(self) -> u8 {
        self.t() >> 2
    }
    fn imm8(self) -> u16 {
        (self.word >> 16) as u16
    }
    fn imm16(self) -> u16 {
        (self.word >> 8) as u16
    }
    fn sr(self) -> u8 {
        (self.word >> 8) as u8
    }
    fn simm8(self) -> i32 {
        i32::from(self.imm8() as i8)
    }
    /// pc + 4 + `offset`: where BRI8, BRI12 and J go.
    fn relative(self, offset: i32) -> u32 {
        self.pc.wrapping_add(4).wrapping_add_signed(offset)
    }
    fn branch8(self) -> u32 {
        self.relative(self.simm8())
    }
    /// Signed 18-bit offset of J and CALLn.
    fn offset18(self) -> i32 {
        (self.word << 8) as i32 >> 14
    }
    fn branch12(self) -> u32 {
        self.relative((self.word << 8) as i32 >> 20)
    }
}

/// 24-bit instructions: op0 0..=7.
fn wide(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op0() {
        0 => qrst(f),
        1 => Op::L32r {
            t,
            addr: (f.pc.wrapping_add(3) & !3).wrapping_add((0xffff_0000 | u32::from(f.imm16())) << 2),
        },
        2 => lsai(f),
        3 => match r {
            0 => Op::Lsi { t, s, offset: f.imm8() << 2 },
            4 => Op::Ssi { t, s, offset: f.imm8() << 2 },
            8 => Op::Lsiu { t, s, offset: f.imm8() << 2 },
            12 => Op::Ssiu { t, s, offset: f.imm8() << 2 },
            _ => ILLEGAL,
        },
        4 => Op::Const16 { t, imm: f.imm16() },
        5 => {
            let target = (f.pc & !3).wrapping_add(4).wrapping_add_signed(f.offset18() << 2);
            match f.n() {
                0 => Op::Call0 { target },
                n => Op::Call { n, target },
            }
        }
        6 => si(f),
        _ => branch(f),
    }
}

/// op0 0: three-register instructions.
fn qrst(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op1() {
        0 => rst0(f),
        1 => rst1(f),
        2 => rst2(f),
        3 => rst3(f),
        4 | 5 => Op::Extui { r, t, shift: (f.op1() & 1) << 4 | s, bits: f.op2() + 1 },
        8 => match f.op2() {
            0 => Op::Lsx { r, s, t },
            1 => Op::Lsxu { r, s, t },
            4 => Op::Ssx { r, s, t },
            5 => Op::Ssxu { r, s, t },
            _ => ILLEGAL,
        },
        9 => {
            let offset = (i16::from(r) << 2) - 64;
            match f.op2() {
                0 => Op::L32e { t, s, offset },
                4 => Op::S32e { t, s, offset },
                _ => ILLEGAL,
            }
        }
        10 => fp0(f),
        11 => fp1(f),
        _ => ILLEGAL,
    }
}

fn rst0(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op2() {
        0 => st0(f),
        1 => Op::And { r, s, t },
        2 if s == t => Op::Mov { t: r, s },
        2 => Op::Or { r, s, t },
        3 => Op::Xor { r, s, t },
        4 => st1(f),
        6 => match s {
            0 => Op::Neg { r, t },
            1 => Op::Abs { r, t },
            _ => ILLEGAL,
        },
        8 => Op::Add { r, s, t },
        9 => Op::Addx2 { r, s, t },
        10 => Op::Addx4 { r, s, t },
        11 => Op::Addx8 { r, s, t },
        12 => Op::Sub { r, s, t },
        13 => Op::Subx2 { r, s, t },
        14 => Op::Subx4 { r, s, t },
        15 => Op::Subx8 { r, s, t },
        _ => ILLEGAL,
    }
}

fn st0(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match r {
        // SNM0: m selects ILL, JR, CALLX; n the member.
        0 => match (f.m(), f.n()) {
            (2, 0) if s == 0 => Op::Ret,
            (2, 1) if s == 0 => Op::Retw,
            (2, 2) => Op::Jx { s },
            (3, 0) => Op::Callx0 { s },
            (3, n) => Op::Callx { n, s },
            _ => ILLEGAL,
        },
        1 => Op::Movsp { t, s },
        2 if s == 0 => match t {
            0 => Op::Isync,
            1 => Op::Rsync,
            2 => Op::Esync,
            3 => Op::Dsync,
            8 => Op::Excw,
            12 => Op::Memw,
            13 => Op::Extw,
            15 => Op::Nop,
            _ => ILLEGAL,
        },
        // RFE, RFI, RFWO, …: return from vectors that this model does not have.
        4 => Op::Break { s, t },
        5 if t == 0 => match s {
            0 => Op::Syscall,
            1 => Op::Simcall,
            _ => ILLEGAL,
        },
        6 => Op::Rsil { t, level: s },
        7 if t == 0 => Op::Waiti { level: s },
        8 if s & 3 == 0 => Op::Any4 { t, s },
        9 if s & 3 == 0 => Op::All4 { t, s },
        10 if s & 7 == 0 => Op::Any8 { t, s },
        11 if s & 7 == 0 => Op::All8 { t, s },
        _ => ILLEGAL,
    }
}

fn st1(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match r {
        0 if t == 0 => Op::Ssr { s },
        1 if t == 0 => Op::Ssl { s },
        2 if t == 0 => Op::Ssa8l { s },
        3 if t == 0 => Op::Ssa8b { s },
        4 if t < 2 => Op::Ssai { amount: t << 4 | s },
        8 if s == 0 => Op::Rotw { by: (t << 4) as i8 >> 4 },
        14 => Op::Nsa { t, s },
        15 => Op::Nsau { t, s },
        _ => ILLEGAL,
    }
}

fn rst1(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op2() {
        // The encoded amount is 32 - sa; 0 would be a shift by 32.
        0 | 1 => Op::Slli { r, s, amount: 32 - ((f.op2() & 1) << 4 | t) },
        2 | 3 => Op::Srai { r, t, amount: (f.op2() & 1) << 4 | s },
        4 => Op::Srli { r, t, amount: s },
        6 => Op::Xsr { t, number: f.sr() },
        8 => Op::Src { r, s, t },
        9 if s == 0 => Op::Srl { r, t },
        10 if t == 0 => Op::Sll { r, s },
        11 if s == 0 => Op::Sra { r, t },
        12 => Op::Mul16u { r, s, t },
        13 => Op::Mul16s { r, s, t },
        _ => ILLEGAL,
    }
}

fn rst2(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op2() {
        0 => Op::Andb { r, s, t },
        1 => Op::Andbc { r, s, t },
        2 => Op::Orb { r, s, t },
        3 => Op::Orbc { r, s, t },
        4 => Op::Xorb { r, s, t },
        8 => Op::Mull { r, s, t },
        10 => Op::Muluh { r, s, t },
        11 => Op::Mulsh { r, s, t },
        12 => Op::Quou { r, s, t },
        13 => Op::Quos { r, s, t },
        14 => Op::Remu { r, s, t },
        15 => Op::Rems { r, s, t },
        _ => ILLEGAL,
    }
}

fn rst3(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op2() {
        0 => Op::Rsr { t, number: f.sr() },
        1 => Op::Wsr { t, number: f.sr() },
        2 => Op::Sext { r, s, bit: t + 7 },
        3 => Op::Clamps { r, s, bit: t + 7 },
        4 => Op::Min { r, s, t },
        5 => Op::Max { r, s, t },
        6 => Op::Minu { r, s, t },
        7 => Op::Maxu { r, s, t },
        8 => Op::Moveqz { r, s, t },
        9 => Op::Movnez { r, s, t },
        10 => Op::Movltz { r, s, t },
        11 => Op::Movgez { r, s, t },
        12 => Op::Movf { r, s, t },
        13 => Op::Movt { r, s, t },
        14 => Op::Rur { r, number: s << 4 | t },
        _ => Op::Wur { t, number: f.sr() },
    }
}

/// Floating-point arithmetic and conversion. The approximation steps of the divide and square-root sequences (DIV0.S,
/// RECIP0.S, …) belong to another option that this core's register files leave no room for.
fn fp0(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op2() {
        0 => Op::AddS { r, s, t },
        1 => Op::SubS { r, s, t },
        2 => Op::MulS { r, s, t },
        4 => Op::MaddS { r, s, t },
        5 => Op::MsubS { r, s, t },
        8 => Op::RoundS { r, s, scale: t },
        9 => Op::TruncS { r, s, scale: t },
        10 => Op::FloorS { r, s, scale: t },
        11 => Op::CeilS { r, s, scale: t },
        12 => Op::FloatS { r, s, scale: t },
        13 => Op::UfloatS { r, s, scale: t },
        14 => Op::UtruncS { r, s, scale: t },
        15 => match t {
            0 => Op::MovS { r, s },
            1 => Op::AbsS { r, s },
            4 => Op::Rfr { r, s },
            5 => Op::Wfr { r, s },
            6 => Op::NegS { r, s },
            _ => ILLEGAL,
        },
        _ => ILLEGAL,
    }
}

fn fp1(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op2() {
        1 => Op::UnS { r, s, t },
        2 => Op::OeqS { r, s, t },
        3 => Op::UeqS { r, s, t },
        4 => Op::OltS { r, s, t },
        5 => Op::UltS { r, s, t },
        6 => Op::OleS { r, s, t },
        7 => Op::UleS { r, s, t },
        8 => Op::MoveqzS { r, s, t },
        9 => Op::MovnezS { r, s, t },
        10 => Op::MovltzS { r, s, t },
        11 => Op::MovgezS { r, s, t },
        12 => Op::MovfS { r, s, t },
        13 => Op::MovtS { r, s, t },
        _ => ILLEGAL,
    }
}

/// op0 2: loads, stores and immediates with an 8-bit operand.
fn lsai(f: Fields) -> Op {
    let (s, t, imm8) = (f.s(), f.t(), f.imm8());
    match f.r() {
        0 => Op::L8ui { t, s, offset: imm8 },
        1 => Op::L16ui { t, s, offset: imm8 << 1 },
        2 => Op::L32i { t, s, offset: imm8 << 2 },
        4 => Op::S8i { t, s, offset: imm8 },
        5 => Op::S16i { t, s, offset: imm8 << 1 },
        6 => Op::S32i { t, s, offset: imm8 << 2 },
        7 => match t {
            0..=7 | 12 | 14 | 15 => Op::Cache { t, s, offset: imm8 << 2 },
            _ => ILLEGAL,
        },
        9 => Op::L16si { t, s, offset: imm8 << 1 },
        10 => Op::Movi { t, imm: i32::from(((u16::from(s) << 8 | imm8) << 4) as i16 >> 4) },
        11 => Op::L32ai { t, s, offset: imm8 << 2 },
        12 => addi(t, s, f.simm8()),
        13 => addi(t, s, f.simm8() << 8),
        14 => Op::S32c1i { t, s, offset: imm8 << 2 },
        15 => Op::S32ri { t, s, offset: imm8 << 2 },
        _ => ILLEGAL,
    }
}

fn addi(t: u8, s: u8, imm: i32) -> Op {
    match t {
        1 => Op::AddiSp { s, imm },
        _ => Op::Addi { t, s, imm },
    }
}

/// op0 6: jump, branches against zero and constants, ENTRY, loops.
fn si(f: Fields) -> Op {
    let (r, s) = (f.r(), f.s());
    match (f.n(), f.m()) {
        (0, _) => Op::J { target: f.relative(f.offset18()) },
        (1, 0) => Op::Beqz { s, target: f.branch12() },
        (1, 1) => Op::Bnez { s, target: f.branch12() },
        (1, 2) => Op::Bltz { s, target: f.branch12() },
        (1, _) => Op::Bgez { s, target: f.branch12() },
        (2, 0) => Op::Beqi { s, k: r, target: f.branch8() },
        (2, 1) => Op::Bnei { s, k: r, target: f.branch8() },
        (2, 2) => Op::Blti { s, k: r, target: f.branch8() },
        (2, _) => Op::Bgei { s, k: r, target: f.branch8() },
        (_, 0) => Op::Entry { s, frame: (f.word >> 12 << 3) as u16 },
        (_, 1) => {
            let lend = f.pc.wrapping_add(4).wrapping_add(u32::from(f.imm8()));
            match r {
                0 => Op::Bf { s, target: f.branch8() },
                1 => Op::Bt { s, target: f.branch8() },
                8 => Op::Loop { s, lend },
                9 => Op::Loopnez { s, lend },
                10 => Op::Loopgtz { s, lend },
                _ => ILLEGAL,
            }
        }
        (_, 2) => Op::Bltui { s, k: r, target: f.branch8() },
        (_, _) => Op::Bgeui { s, k: r, target: f.branch8() },
    }
}

/// op0 7: branches that compare two registers or test a bit.
fn branch(f: Fields) -> Op {
    let (r, s, t, target) = (f.r(), f.s(), f.t(), f.branch8());
    match r {
        0 => Op::Bnone { s, t, target },
        1 => Op::Beq { s, t, target },
        2 => Op::Blt { s, t, target },
        3 => Op::Bltu { s, t, target },
        4 => Op::Ball { s, t, target },
        5 => Op::Bbc { s, t, target },
        6 | 7 => Op::Bbci { s, bit: (r & 1) << 4 | t, target },
        8 => Op::Bany { s, t, target },
        9 => Op::Bne { s, t, target },
        10 => Op::Bge { s, t, target },
        11 => Op::Bgeu { s, t, target },
        12 => Op::Bnall { s, t, target },
        13 => Op::Bbs { s, t, target },
        _ => Op::Bbsi { s, bit: (r & 1) << 4 | t, target },
    }
}

/// 16-bit instructions (density option): op0 8..=13.
fn narrow(f: Fields) -> Op {
    let (r, s, t) = (f.r(), f.s(), f.t());
    match f.op0() {
        8 => Op::L32i { t, s, offset: u16::from(r) << 2 },
        9 => Op::S32i { t, s, offset: u16::from(r) << 2 },
        10 => Op::Add { r, s, t },
        11 => addi(r, s, if t == 0 { -1 } else { i32::from(t) }),
        12 if t & 8 == 0 => {
            let imm7 = (t & 7) << 4 | r;
            // Asymmetric sign extension: -32..=95.
            Op::Movi { t: s, imm: i32::from(imm7) - if imm7 >= 96 { 128 } else { 0 } }
        }
        12 => {
            let target = f.relative(i32::from((t & 3) << 4 | r));
            match t & 4 {
                0 => Op::Beqz { s, target },
                _ => Op::Bnez { s, target },
            }
        }
        _ => match (r, t) {
            (0, _) => Op::Mov { t, s },
            (15, 0) if s == 0 => Op::Ret,
            (15, 1) if s == 0 => Op::Retw,
            (15, 2) => Op::Break { s, t: 0 },
            (15, 3) if s == 0 => Op::Nop,
            _ => ILLEGAL,
        },
    }
}
