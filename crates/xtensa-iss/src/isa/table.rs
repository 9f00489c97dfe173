//! The instruction table: one row per instruction, and everything that follows from the rows.
//!
//! A row says which words are the instruction, how it is written, which operands it reads and writes, where control goes,
//! and what it does. The decoder, the disassembler, the interpreter and the blocks know instructions from here only. To add
//! one, add a row: its operation has to compile, and `tests/rows.rs` decodes, prints and executes it.
//!
//! Columns: name (of [`Op`]), mnemonic, pattern ([`Pattern`](super::row::Pattern)), operands and flow
//! ([`Row::new`]), operation. Mnemonics, fields and operands are the ISA reference manual's. Where two rows match a word,
//! the first is meant.
//!
//! Operations are written with these names: `r`, `s`, `t` the register fields; `a`, `b` the values of `as`, `at`; `imm` the
//! last immediate operand and `k` the one before it; `ea` is `a + imm`; `at` the place of the access, `next` the address
//! behind the instruction. What takes more than a line is a function in `exec`.

use std::cmp::Ordering::{Equal, Greater, Less};

use super::imm::{b4const, b4constu};
use super::row::{Flow, Row};
use crate::bus::{At, Bus};
use crate::core::{Core, Done};
use crate::exec::float::Comparison::{Quiet, Signaling};
use crate::exec::memory::{compare_and_store, literal, load8, load16, load32, store8, store16, store32};
use crate::exec::{Operation, alu, float, registers, window};
use crate::fault::Stop;
use crate::fp::{IntRange, Rounding};

/// One decoded instruction, with its place in memory. Fields that its row does not name are without meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Insn {
    /// Its row.
    pub op: Op,
    /// Its length in bytes: 2, 3, 8 or 16.
    pub len: u8,
    /// Register fields, 0..=15.
    pub r: u8,
    /// See `r`.
    pub s: u8,
    /// See `r`.
    pub t: u8,
    /// The immediate before the last, if there are two.
    pub k: u8,
    /// The last immediate: scaled and extended; addresses absolute.
    pub imm: u32,
    /// Its address.
    pub pc: u32,
}

impl Insn {
    /// Address of the instruction behind this one.
    #[must_use]
    #[inline(always)]
    pub fn end(&self) -> u32 {
        self.pc.wrapping_add(u32::from(self.len))
    }

    /// What the table says about it.
    #[must_use]
    #[inline(always)]
    pub fn row(&self) -> &'static Row {
        self.op.row()
    }
}

impl Op {
    /// What the table says about it.
    #[must_use]
    #[inline(always)]
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }
}

macro_rules! instructions {
    (
        |$core:ident, $bus:ident, $at:ident, $next:ident, $r:ident, $s:ident, $t:ident, $a:ident, $b:ident, $ea:ident, $k:ident, $imm:ident|
        $($name:ident $mnemonic:literal $pattern:literal $operands:literal $flow:ident $operation:expr;)*
    ) => {
        /// The instructions, one per row.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        #[allow(missing_docs, reason = "the names are the manual's; the manual's page is the documentation")]
        pub enum Op { $($name,)* }

        impl Op {
            /// All of them, in the order of the rows.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];
        }

        /// The rows; that of an [`Op`] is at its number.
        pub(super) static ROWS: [Row; Op::ALL.len()] = [$(Row::new($mnemonic, $pattern, $operands, Flow::$flow),)*];

        /// Executes one instruction. `core.state.pc` is neither read nor, but for jumps, written.
        ///
        /// Each operation is inlined with its names bound in front; what it does not use is not computed.
        #[inline(always)]
        #[allow(unused_variables, reason = "every operation has all names")]
        pub(crate) fn execute<B: Bus>($core: &mut Core, $bus: &mut B, insn: &Insn) -> Done {
            match insn.op {
                $(Op::$name => {
                    let ($r, $s, $t, $k, $imm) = (insn.r, insn.s, insn.t, insn.k, insn.imm);
                    let ($a, $b) = ($core.ar($s), $core.ar($t));
                    let ($ea, $next) = ($a.wrapping_add($imm), insn.end());
                    let $at = At { pc: insn.pc, sp: $core.ar(1) };
                    Operation::done($operation)
                })*
            }
        }
    };
}

instructions! {
    |core, bus, at, next, r, s, t, a, b, ea, k, imm|

    // Arithmetic and logic. ADDX2/4/8: (as << 1/2/3) + at; SUBX alike.
    Add     "add"      "8 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a.wrapping_add(b));
    Addx2   "addx2"    "9 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a << 1).wrapping_add(b));
    Addx4   "addx4"    "A 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a << 2).wrapping_add(b));
    Addx8   "addx8"    "B 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a << 3).wrapping_add(b));
    Sub     "sub"      "C 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a.wrapping_sub(b));
    Subx2   "subx2"    "D 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a << 1).wrapping_sub(b));
    Subx4   "subx4"    "E 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a << 2).wrapping_sub(b));
    Subx8   "subx8"    "F 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a << 3).wrapping_sub(b));
    AddN    "add.n"    "r s t A"        "=ar as at"                        Next  core.set_ar(r, a.wrapping_add(b));
    And     "and"      "1 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a & b);
    Or      "or"       "2 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a | b);
    Xor     "xor"      "3 0 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a ^ b);
    Neg     "neg"      "6 0 r 0 t 0"    "=ar at"                           Next  core.set_ar(r, b.wrapping_neg());
    Abs     "abs"      "6 0 r 1 t 0"    "=ar at"                           Next  core.set_ar(r, (b as i32).wrapping_abs() as u32);
    // A new stack pointer is checked against the stack limit; these rows come before those they are special cases of.
    AddiSp  "addi"     "i i C s 1 2"    "=a1 as simm8"                     Next  window::set_sp(core, ea);
    AddmiSp "addmi"    "i i D s 1 2"    "=a1 as simm8*256"                 Next  window::set_sp(core, ea);
    AddiNSp "addi.n"   "1 s i B"        "=a1 as t_or_-1"                   Next  window::set_sp(core, ea);
    Addi    "addi"     "i i C s t 2"    "=at as simm8"                     Next  core.set_ar(t, ea);
    Addmi   "addmi"    "i i D s t 2"    "=at as simm8*256"                 Next  core.set_ar(t, ea);
    AddiN   "addi.n"   "r s i B"        "=ar as t_or_-1"                   Next  core.set_ar(r, ea);
    Movi    "movi"     "i i A i t 2"    "=at simm12"                       Next  core.set_ar(t, imm);
    MoviN   "movi.n"   "i s 0iii C"     "=as imm7"                         Next  core.set_ar(s, imm);
    MovN    "mov.n"    "0 s t D"        "=at as"                           Next  core.set_ar(t, a);
    Const16 "const16"  "i i i i t 4"    "+at imm16"                        Next  core.set_ar(t, b << 16 | imm);
    Sext    "sext"     "2 3 r s t 0"    "=ar as t+7"                       Next  core.set_ar(r, alu::sign_extend(a, imm));
    Clamps  "clamps"   "3 3 r s t 0"    "=ar as t+7"                       Next  core.set_ar(r, alu::clamp(a, imm));
    Min     "min"      "4 3 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a as i32).min(b as i32) as u32);
    Max     "max"      "5 3 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a as i32).max(b as i32) as u32);
    Minu    "minu"     "6 3 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a.min(b));
    Maxu    "maxu"     "7 3 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a.max(b));
    Nsa     "nsa"      "4 0 E s t 0"    "=at as"                           Next  core.set_ar(t, alu::sign_bits(a));
    Nsau    "nsau"     "4 0 F s t 0"    "=at as"                           Next  core.set_ar(t, a.leading_zeros());
    Moveqz  "moveqz"   "8 3 r s t 0"    "+ar as at"                        Next  alu::move_if(core, b == 0, r, a);
    Movnez  "movnez"   "9 3 r s t 0"    "+ar as at"                        Next  alu::move_if(core, b != 0, r, a);
    Movltz  "movltz"   "A 3 r s t 0"    "+ar as at"                        Next  alu::move_if(core, (b as i32) < 0, r, a);
    Movgez  "movgez"   "B 3 r s t 0"    "+ar as at"                        Next  alu::move_if(core, b as i32 >= 0, r, a);

    // Multiplication and division. MULUH, MULSH: the upper word of the product. QUOS, REMS: the most negative value by -1 gives
    // itself, remainder 0.
    Mull    "mull"     "8 2 r s t 0"    "=ar as at"                        Next  core.set_ar(r, a.wrapping_mul(b));
    Muluh   "muluh"    "A 2 r s t 0"    "=ar as at"                        Next  core.set_ar(r, ((u64::from(a) * u64::from(b)) >> 32) as u32);
    Mulsh   "mulsh"    "B 2 r s t 0"    "=ar as at"                        Next  core.set_ar(r, ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32);
    Mul16u  "mul16u"   "C 1 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (a & 0xffff) * (b & 0xffff));
    Mul16s  "mul16s"   "D 1 r s t 0"    "=ar as at"                        Next  core.set_ar(r, (i32::from(a as i16) * i32::from(b as i16)) as u32);
    Quou    "quou"     "C 2 r s t 0"    "=ar as at"                        Next  alu::divide(core, r, b, || a / b);
    Quos    "quos"     "D 2 r s t 0"    "=ar as at"                        Next  alu::divide(core, r, b, || (a as i32).wrapping_div(b as i32) as u32);
    Remu    "remu"     "E 2 r s t 0"    "=ar as at"                        Next  alu::divide(core, r, b, || a % b);
    Rems    "rems"     "F 2 r s t 0"    "=ar as at"                        Next  alu::divide(core, r, b, || (a as i32).wrapping_rem(b as i32) as u32);

    // Shifts. SSL keeps 32 less the amount, so SAR may be 32; SSA8L, SSA8B take bytes. SRC: the low word of as:at shifted.
    Ssr     "ssr"      "4 0 0 s 0 0"    "as / =sar"                        Next  core.state.sar = a & 31;
    Ssl     "ssl"      "4 0 1 s 0 0"    "as / =sar"                        Next  core.state.sar = 32 - (a & 31);
    Ssa8l   "ssa8l"    "4 0 2 s 0 0"    "as / =sar"                        Next  core.state.sar = (a & 3) << 3;
    Ssa8b   "ssa8b"    "4 0 3 s 0 0"    "as / =sar"                        Next  core.state.sar = 32 - ((a & 3) << 3);
    Ssai    "ssai"     "4 0 4 i 000i 0" "ts / =sar"                        Next  core.state.sar = imm;
    Sll     "sll"      "A 1 r s 0 0"    "=ar as / sar"                     Next  core.set_ar(r, (u64::from(a) << 32 >> (core.state.sar & 63)) as u32);
    Srl     "srl"      "9 1 r 0 t 0"    "=ar at / sar"                     Next  core.set_ar(r, (u64::from(b) >> (core.state.sar & 63)) as u32);
    Sra     "sra"      "B 1 r 0 t 0"    "=ar at / sar"                     Next  core.set_ar(r, (i64::from(b as i32) >> (core.state.sar & 63)) as u32);
    Src     "src"      "8 1 r s t 0"    "=ar as at / sar"                  Next  core.set_ar(r, ((u64::from(a) << 32 | u64::from(b)) >> (core.state.sar & 63)) as u32);
    Slli    "slli"     "000i 1 r s i 0" "=ar as 32-op2_t"                  Next  core.set_ar(r, (u64::from(a) << (imm & 63)) as u32);
    Srli    "srli"     "4 1 r i t 0"    "=ar at s"                         Next  core.set_ar(r, b >> (imm & 31));
    Srai    "srai"     "001i 1 r i t 0" "=ar at op2_s"                     Next  core.set_ar(r, (b as i32 >> (imm & 31)) as u32);
    Extui   "extui"    "i 010i r i t 0" "=ar at op1_s op2+1"               Next  core.set_ar(r, b >> (k & 31) & ((1 << (imm & 31)) - 1));

    // Loads and stores. L32AI and S32RI order accesses of other cores; one core cannot tell. L32E and S32E are for window
    // handlers; without privilege rings they are plain.
    L8ui    "l8ui"     "i i 0 s t 2"    "=at as imm8 / mem8"               Next  load8(core, bus, at, ea).map(|v| core.set_ar(t, v.into()));
    L16ui   "l16ui"    "i i 1 s t 2"    "=at as imm8*2 / mem16"            Next  load16(core, bus, at, ea).map(|v| core.set_ar(t, v.into()));
    L16si   "l16si"    "i i 9 s t 2"    "=at as imm8*2 / mem16"            Next  load16(core, bus, at, ea).map(|v| core.set_ar(t, v as i16 as u32));
    L32i    "l32i"     "i i 2 s t 2"    "=at as imm8*4 / mem32"            Next  load32(core, bus, at, ea).map(|v| core.set_ar(t, v));
    L32iN   "l32i.n"   "i s t 8"        "=at as r*4 / mem32"               Next  load32(core, bus, at, ea).map(|v| core.set_ar(t, v));
    L32ai   "l32ai"    "i i B s t 2"    "=at as imm8*4 / mem32"            Next  load32(core, bus, at, ea).map(|v| core.set_ar(t, v));
    L32e    "l32e"     "0 9 i s t 0"    "=at as r*4-64 / mem32"            Next  load32(core, bus, at, ea).map(|v| core.set_ar(t, v));
    L32r    "l32r"     "i i i i t 1"    "=at literal / mem32"              Next  literal(core, bus, at, imm).map(|v| core.set_ar(t, v));
    S8i     "s8i"      "i i 4 s t 2"    "at as imm8 / =mem8"               Next  store8(core, bus, at, ea, b as u8);
    S16i    "s16i"     "i i 5 s t 2"    "at as imm8*2 / =mem16"            Next  store16(core, bus, at, ea, b as u16);
    S32i    "s32i"     "i i 6 s t 2"    "at as imm8*4 / =mem32"            Next  store32(core, bus, at, ea, b);
    S32iN   "s32i.n"   "i s t 9"        "at as r*4 / =mem32"               Next  store32(core, bus, at, ea, b);
    S32ri   "s32ri"    "i i F s t 2"    "at as imm8*4 / =mem32"            Next  store32(core, bus, at, ea, b);
    S32e    "s32e"     "4 9 i s t 0"    "at as r*4-64 / =mem32"            Next  store32(core, bus, at, ea, b);
    S32c1i  "s32c1i"   "i i E s t 2"    "+at as imm8*4 / scompare1 +mem32" Next  compare_and_store(core, bus, at, ea, t);

    // Booleans and the moves that depend on them. ANY and ALL: of four or eight, the first of which is bs.
    Andb    "andb"     "0 2 r s t 0"    "=br bs bt"                        Next  core.set_br(r, core.br(s) & core.br(t));
    Andbc   "andbc"    "1 2 r s t 0"    "=br bs bt"                        Next  core.set_br(r, core.br(s) & !core.br(t));
    Orb     "orb"      "2 2 r s t 0"    "=br bs bt"                        Next  core.set_br(r, core.br(s) | core.br(t));
    Orbc    "orbc"     "3 2 r s t 0"    "=br bs bt"                        Next  core.set_br(r, core.br(s) | !core.br(t));
    Xorb    "xorb"     "4 2 r s t 0"    "=br bs bt"                        Next  core.set_br(r, core.br(s) ^ core.br(t));
    Any4    "any4"     "0 0 8 ss00 t 0" "=bt bs4"                          Next  core.set_br(t, core.state.br >> (s & 15) & 0xf != 0);
    All4    "all4"     "0 0 9 ss00 t 0" "=bt bs4"                          Next  core.set_br(t, core.state.br >> (s & 15) & 0xf == 0xf);
    Any8    "any8"     "0 0 A s000 t 0" "=bt bs8"                          Next  core.set_br(t, core.state.br >> (s & 15) & 0xff != 0);
    All8    "all8"     "0 0 B s000 t 0" "=bt bs8"                          Next  core.set_br(t, core.state.br >> (s & 15) & 0xff == 0xff);
    Movf    "movf"     "C 3 r s t 0"    "+ar as bt"                        Next  alu::move_if(core, !core.br(t), r, a);
    Movt    "movt"     "D 3 r s t 0"    "+ar as bt"                        Next  alu::move_if(core, core.br(t), r, a);

    // Single-precision floating point. The updating accesses (U) write their address back. MADD.S, MSUB.S round once.
    // Comparisons are ordered (O) or true of a NaN too (U); quiet ones do not mind a quiet NaN.
    Lsi     "lsi"      "i i 0 s t 3"    "=ft as imm8*4 / mem32"            Next  load32(core, bus, at, ea).map(|v| core.set_fr(t, v));
    Lsiu    "lsiu"     "i i 8 s t 3"    "=ft +as imm8*4 / mem32"           Next  float::load_update(core, bus, at, t, s, ea);
    Lsx     "lsx"      "0 8 r s t 0"    "=fr as at / mem32"                Next  load32(core, bus, at, a.wrapping_add(b)).map(|v| core.set_fr(r, v));
    Lsxu    "lsxu"     "1 8 r s t 0"    "=fr +as at / mem32"               Next  float::load_update(core, bus, at, r, s, a.wrapping_add(b));
    Ssi     "ssi"      "i i 4 s t 3"    "ft as imm8*4 / =mem32"            Next  store32(core, bus, at, ea, core.fr(t));
    Ssiu    "ssiu"     "i i C s t 3"    "ft +as imm8*4 / =mem32"           Next  float::store_update(core, bus, at, t, s, ea);
    Ssx     "ssx"      "4 8 r s t 0"    "fr as at / =mem32"                Next  store32(core, bus, at, a.wrapping_add(b), core.fr(r));
    Ssxu    "ssxu"     "5 8 r s t 0"    "fr +as at / =mem32"               Next  float::store_update(core, bus, at, r, s, a.wrapping_add(b));
    AddS    "add.s"    "0 A r s t 0"    "=fr fs ft / fcr +fsr"             Next  float::compute(core, r, |env, f| env.add(f(s), f(t)));
    SubS    "sub.s"    "1 A r s t 0"    "=fr fs ft / fcr +fsr"             Next  float::compute(core, r, |env, f| env.sub(f(s), f(t)));
    MulS    "mul.s"    "2 A r s t 0"    "=fr fs ft / fcr +fsr"             Next  float::compute(core, r, |env, f| env.mul(f(s), f(t)));
    MaddS   "madd.s"   "4 A r s t 0"    "+fr fs ft / fcr +fsr"             Next  float::compute(core, r, |env, f| env.mul_add(f(s), f(t), f(r)));
    MsubS   "msub.s"   "5 A r s t 0"    "+fr fs ft / fcr +fsr"             Next  float::compute(core, r, |env, f| env.mul_sub(f(s), f(t), f(r)));
    MovS    "mov.s"    "F A r s 0 0"    "=fr fs"                           Next  core.set_fr(r, core.fr(s));
    AbsS    "abs.s"    "F A r s 1 0"    "=fr fs"                           Next  core.set_fr(r, core.fr(s) & 0x7fff_ffff);
    NegS    "neg.s"    "F A r s 6 0"    "=fr fs"                           Next  core.set_fr(r, core.fr(s) ^ 0x8000_0000);
    Rfr     "rfr"      "F A r s 4 0"    "=ar fs"                           Next  core.set_ar(r, core.fr(s));
    Wfr     "wfr"      "F A r s 5 0"    "=fr as"                           Next  core.set_fr(r, a);
    RoundS  "round.s"  "8 A r s i 0"    "=ar fs t / +fsr"                  Next  float::to_int(core, r, s, imm, Rounding::Nearest, IntRange::Signed);
    TruncS  "trunc.s"  "9 A r s i 0"    "=ar fs t / +fsr"                  Next  float::to_int(core, r, s, imm, Rounding::Zero, IntRange::Signed);
    FloorS  "floor.s"  "A A r s i 0"    "=ar fs t / +fsr"                  Next  float::to_int(core, r, s, imm, Rounding::Down, IntRange::Signed);
    CeilS   "ceil.s"   "B A r s i 0"    "=ar fs t / +fsr"                  Next  float::to_int(core, r, s, imm, Rounding::Up, IntRange::Signed);
    UtruncS "utrunc.s" "E A r s i 0"    "=ar fs t / +fsr"                  Next  float::to_int(core, r, s, imm, Rounding::Zero, IntRange::Unsigned);
    FloatS  "float.s"  "C A r s i 0"    "=fr as t / fcr +fsr"              Next  float::compute(core, r, |env, _| env.integer((a as i32).into(), imm as u8));
    UfloatS "ufloat.s" "D A r s i 0"    "=fr as t / fcr +fsr"              Next  float::compute(core, r, |env, _| env.integer(a.into(), imm as u8));
    UnS     "un.s"     "1 B r s t 0"    "=br fs ft / +fsr"                 Next  float::compare(core, r, s, t, Quiet, |o| o.is_none());
    OeqS    "oeq.s"    "2 B r s t 0"    "=br fs ft / +fsr"                 Next  float::compare(core, r, s, t, Quiet, |o| o == Some(Equal));
    UeqS    "ueq.s"    "3 B r s t 0"    "=br fs ft / +fsr"                 Next  float::compare(core, r, s, t, Quiet, |o| matches!(o, None | Some(Equal)));
    OltS    "olt.s"    "4 B r s t 0"    "=br fs ft / +fsr"                 Next  float::compare(core, r, s, t, Signaling, |o| o == Some(Less));
    UltS    "ult.s"    "5 B r s t 0"    "=br fs ft / +fsr"                 Next  float::compare(core, r, s, t, Quiet, |o| matches!(o, None | Some(Less)));
    OleS    "ole.s"    "6 B r s t 0"    "=br fs ft / +fsr"                 Next  float::compare(core, r, s, t, Signaling, |o| matches!(o, Some(Less | Equal)));
    UleS    "ule.s"    "7 B r s t 0"    "=br fs ft / +fsr"                 Next  float::compare(core, r, s, t, Quiet, |o| o != Some(Greater));
    MoveqzS "moveqz.s" "8 B r s t 0"    "+fr fs at"                        Next  float::move_if(core, b == 0, r, s);
    MovnezS "movnez.s" "9 B r s t 0"    "+fr fs at"                        Next  float::move_if(core, b != 0, r, s);
    MovltzS "movltz.s" "A B r s t 0"    "+fr fs at"                        Next  float::move_if(core, (b as i32) < 0, r, s);
    MovgezS "movgez.s" "B B r s t 0"    "+fr fs at"                        Next  float::move_if(core, b as i32 >= 0, r, s);
    MovfS   "movf.s"   "C B r s t 0"    "+fr fs bt"                        Next  float::move_if(core, !core.br(t), r, s);
    MovtS   "movt.s"   "D B r s t 0"    "+fr fs bt"                        Next  float::move_if(core, core.br(t), r, s);

    // Order and caches: one core in program order, coherent with its memory.
    Nop     "nop"      "0 0 2 0 F 0"    ""                                 Next  ();
    NopN    "nop.n"    "F 0 3 D"        ""                                 Next  ();
    Isync   "isync"    "0 0 2 0 0 0"    ""                                 Next  ();
    Rsync   "rsync"    "0 0 2 0 1 0"    ""                                 Next  ();
    Esync   "esync"    "0 0 2 0 2 0"    ""                                 Next  ();
    Dsync   "dsync"    "0 0 2 0 3 0"    ""                                 Next  ();
    Excw    "excw"     "0 0 2 0 8 0"    ""                                 Next  ();
    Memw    "memw"     "0 0 2 0 C 0"    ""                                 Next  ();
    Extw    "extw"     "0 0 2 0 D 0"    ""                                 Next  ();
    Dpfr    "dpfr"     "i i 7 s 0 2"    "as imm8*4"                        Next  ();
    Dpfw    "dpfw"     "i i 7 s 1 2"    "as imm8*4"                        Next  ();
    Dpfro   "dpfro"    "i i 7 s 2 2"    "as imm8*4"                        Next  ();
    Dpfwo   "dpfwo"    "i i 7 s 3 2"    "as imm8*4"                        Next  ();
    Dhwb    "dhwb"     "i i 7 s 4 2"    "as imm8*4"                        Next  ();
    Dhwbi   "dhwbi"    "i i 7 s 5 2"    "as imm8*4"                        Next  ();
    Dhi     "dhi"      "i i 7 s 6 2"    "as imm8*4"                        Next  ();
    Dii     "dii"      "i i 7 s 7 2"    "as imm8*4"                        Next  ();
    Ipf     "ipf"      "i i 7 s C 2"    "as imm8*4"                        Next  ();
    Ihi     "ihi"      "i i 7 s E 2"    "as imm8*4"                        Next  ();
    Iii     "iii"      "i i 7 s F 2"    "as imm8*4"                        Next  ();

    // Branches. Masks: any, none, all, not all of at's bits are set in as.
    Beqz    "beqz"     "i i i s 1 6"    "as label12"                       Ends  core.branch(a == 0, imm);
    Bnez    "bnez"     "i i i s 5 6"    "as label12"                       Ends  core.branch(a != 0, imm);
    Bltz    "bltz"     "i i i s 9 6"    "as label12"                       Ends  core.branch((a as i32) < 0, imm);
    Bgez    "bgez"     "i i i s D 6"    "as label12"                       Ends  core.branch(a as i32 >= 0, imm);
    BeqzN   "beqz.n"   "i s 10ii C"     "as label6"                        Ends  core.branch(a == 0, imm);
    BnezN   "bnez.n"   "i s 11ii C"     "as label6"                        Ends  core.branch(a != 0, imm);
    Beqi    "beqi"     "i i i s 2 6"    "as b4const label8"                Ends  core.branch(a as i32 == b4const(k), imm);
    Bnei    "bnei"     "i i i s 6 6"    "as b4const label8"                Ends  core.branch(a as i32 != b4const(k), imm);
    Blti    "blti"     "i i i s A 6"    "as b4const label8"                Ends  core.branch((a as i32) < b4const(k), imm);
    Bgei    "bgei"     "i i i s E 6"    "as b4const label8"                Ends  core.branch(a as i32 >= b4const(k), imm);
    Bltui   "bltui"    "i i i s B 6"    "as b4constu label8"               Ends  core.branch(a < b4constu(k), imm);
    Bgeui   "bgeui"    "i i i s F 6"    "as b4constu label8"               Ends  core.branch(a >= b4constu(k), imm);
    Beq     "beq"      "i i 1 s t 7"    "as at label8"                     Ends  core.branch(a == b, imm);
    Bne     "bne"      "i i 9 s t 7"    "as at label8"                     Ends  core.branch(a != b, imm);
    Blt     "blt"      "i i 2 s t 7"    "as at label8"                     Ends  core.branch((a as i32) < b as i32, imm);
    Bge     "bge"      "i i A s t 7"    "as at label8"                     Ends  core.branch(a as i32 >= b as i32, imm);
    Bltu    "bltu"     "i i 3 s t 7"    "as at label8"                     Ends  core.branch(a < b, imm);
    Bgeu    "bgeu"     "i i B s t 7"    "as at label8"                     Ends  core.branch(a >= b, imm);
    Bany    "bany"     "i i 8 s t 7"    "as at label8"                     Ends  core.branch(a & b != 0, imm);
    Bnone   "bnone"    "i i 0 s t 7"    "as at label8"                     Ends  core.branch(a & b == 0, imm);
    Ball    "ball"     "i i 4 s t 7"    "as at label8"                     Ends  core.branch(!a & b == 0, imm);
    Bnall   "bnall"    "i i C s t 7"    "as at label8"                     Ends  core.branch(!a & b != 0, imm);
    Bbc     "bbc"      "i i 5 s t 7"    "as at label8"                     Ends  core.branch(a >> (b & 31) & 1 == 0, imm);
    Bbs     "bbs"      "i i D s t 7"    "as at label8"                     Ends  core.branch(a >> (b & 31) & 1 != 0, imm);
    Bbci    "bbci"     "i i 011i s i 7" "as r_t label8"                    Ends  core.branch(a >> (k & 31) & 1 == 0, imm);
    Bbsi    "bbsi"     "i i 111i s i 7" "as r_t label8"                    Ends  core.branch(a >> (k & 31) & 1 != 0, imm);
    Bf      "bf"       "i i 0 s 7 6"    "bs label8"                        Ends  core.branch(!core.br(s), imm);
    Bt      "bt"       "i i 1 s 7 6"    "bs label8"                        Ends  core.branch(core.br(s), imm);

    // Zero-overhead loops, as times (0 means 2^32). The variants may skip the body, with the registers set all the same.
    Loop    "loop"     "i i 8 s 7 6"    "as lend / =loop"                  Ends  core.start_loop(a, next, imm, true);
    Loopnez "loopnez"  "i i 9 s 7 6"    "as lend / =loop"                  Ends  core.start_loop(a, next, imm, a != 0);
    Loopgtz "loopgtz"  "i i A s 7 6"    "as lend / =loop"                  Ends  core.start_loop(a, next, imm, a as i32 > 0);

    // Jumps, calls and windows. CALLn leaves the return address, with n in its top bits, in the callee's a0-to-be.
    J       "j"        "i i i i ii00 6" "label18"                          Ends  core.jump(imm);
    Jx      "jx"       "0 0 0 s A 0"    "as"                               Ends  core.jump(a);
    Call0   "call0"    "i i i i ii00 5" "call18 / =a0"                     Ends  window::call0(core, next, imm);
    Call4   "call4"    "i i i i ii01 5" "call18 / =window +ps"             Ends  window::call(core, 1, next, imm);
    Call8   "call8"    "i i i i ii10 5" "call18 / =window +ps"             Ends  window::call(core, 2, next, imm);
    Call12  "call12"   "i i i i ii11 5" "call18 / =window +ps"             Ends  window::call(core, 3, next, imm);
    Callx0  "callx0"   "0 0 0 s C 0"    "as / =a0"                         Ends  window::call0(core, next, a);
    Callx4  "callx4"   "0 0 0 s D 0"    "as / =window +ps"                 Ends  window::call(core, 1, next, a);
    Callx8  "callx8"   "0 0 0 s E 0"    "as / =window +ps"                 Ends  window::call(core, 2, next, a);
    Callx12 "callx12"  "0 0 0 s F 0"    "as / =window +ps"                 Ends  window::call(core, 3, next, a);
    Ret     "ret"      "0 0 0 0 8 0"    "/ a0"                             Ends  core.jump(core.ar(0));
    RetN    "ret.n"    "F 0 0 D"        "/ a0"                             Ends  core.jump(core.ar(0));
    Entry   "entry"    "i i i s 3 6"    "as imm12*8 / +window +ps"         Next  window::entry(core, bus, at, s, imm);
    Retw    "retw"     "0 0 0 0 9 0"    "/ a0 +window +ps"                 Ends  window::retw(core, bus, at);
    RetwN   "retw.n"   "F 0 1 D"        "/ a0 +window +ps"                 Ends  window::retw(core, bus, at);
    Movsp   "movsp"    "0 0 1 s t 0"    "=at as / a0 +window"              Next  window::movsp(core, bus, at, t, a);
    Rotw    "rotw"     "4 0 8 0 i 0"    "signed_t / +window"               Next  core.rotate(imm as u8 & 15);

    // Special and user registers.
    Rsr     "rsr"      "0 3 i i t 0"    "=at sr"                           Ends  registers::rsr(core, t, imm as u8);
    Wsr     "wsr"      "1 3 i i t 0"    "at sr"                            Ends  core.write_special(imm as u8, b);
    Xsr     "xsr"      "6 1 i i t 0"    "+at sr"                           Ends  registers::xsr(core, t, imm as u8);
    Rur     "rur"      "E 3 r i i 0"    "=ar ur_st"                        Ends  registers::rur(core, r, imm as u8);
    Wur     "wur"      "F 3 i i t 0"    "at ur"                            Ends  registers::wur(core, imm as u8, b);
    Rsil    "rsil"     "0 0 6 i t 0"    "=at s / +ps"                      Ends  registers::rsil(core, t, imm);

    // Traps. Vectors, and with them RFE, RFI, RFWO, …, do not exist here.
    Break   "break"    "0 0 4 i i 0"    "s t"                              Ends  core.trap(Stop::Break { s: k, t: imm as u8 });
    BreakN  "break.n"  "F i 2 D"        "s"                                Ends  core.trap(Stop::Break { s: imm as u8, t: 0 });
    Syscall "syscall"  "0 0 5 0 0 0"    ""                                 Ends  core.trap(Stop::Syscall);
    Simcall "simcall"  "0 0 5 1 0 0"    ""                                 Ends  core.trap(Stop::Simcall);
    Waiti   "waiti"    "0 0 7 i 0 0"    "s / +ps"                          Ends  registers::waiti(core, imm);
    Ill     "ill"      "0 0 0 0 0 0"    "/ bytes"                          Ends  core.illegal(imm);
    IllN    "ill.n"    "F 0 6 D"        "/ bytes"                          Ends  core.illegal(imm);
    // What the decoder makes of words that no row above matches.
    Illegal ".byte"    ""               "bytes"                            Ends  core.illegal(imm);
    Flix    "flix"     ""               "length"                           Ends  core.flix(imm);
}
