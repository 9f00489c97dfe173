//! Decoded instructions: one variant per instruction, operands unpacked, pc-relative targets already absolute.
//!
//! Unaware of encodings and of execution. Named and described as in the Xtensa ISA reference manual. Register fields hold
//! 0..=15; `r`, `s`, `t` are the manual's field names. Instructions that differ only in encoding (`mov.n`, `l32i.n`, …)
//! share a variant.

/// One instruction with its place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Insn {
    /// What it does.
    pub op: Op,
    /// Its address.
    pub pc: u32,
    /// Its length in bytes: 2, 3, 8 or 16.
    pub len: u8,
}

impl Insn {
    /// Address of the instruction behind this one.
    #[must_use]
    #[inline(always)]
    pub fn end(&self) -> u32 {
        self.pc.wrapping_add(u32::from(self.len))
    }
}

/// Constants of BEQI, BNEI, BLTI, BGEI.
pub const B4CONST: [i32; 16] = [-1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256];
/// Constants of BLTUI, BGEUI.
pub const B4CONSTU: [u32; 16] = [32768, 65536, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256];

/// Operation and operands, 8 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants carry the manual's names; the manual's page is the documentation")]
#[rustfmt::skip]
pub enum Op {
    // Arithmetic and logic: alu.rs
    Add { r: u8, s: u8, t: u8 }, Addx2 { r: u8, s: u8, t: u8 }, Addx4 { r: u8, s: u8, t: u8 }, Addx8 { r: u8, s: u8, t: u8 },
    Sub { r: u8, s: u8, t: u8 }, Subx2 { r: u8, s: u8, t: u8 }, Subx4 { r: u8, s: u8, t: u8 }, Subx8 { r: u8, s: u8, t: u8 },
    And { r: u8, s: u8, t: u8 }, Or { r: u8, s: u8, t: u8 }, Xor { r: u8, s: u8, t: u8 },
    Neg { r: u8, t: u8 }, Abs { r: u8, t: u8 },
    Addi { t: u8, s: u8, imm: i32 }, Movi { t: u8, imm: i32 }, Mov { t: u8, s: u8 }, Const16 { t: u8, imm: u16 },
    /// ADDI, ADDMI, ADDI.N with destination a1: the stack limit is checked.
    AddiSp { s: u8, imm: i32 },
    Sext { r: u8, s: u8, bit: u8 }, Clamps { r: u8, s: u8, bit: u8 },
    Min { r: u8, s: u8, t: u8 }, Max { r: u8, s: u8, t: u8 }, Minu { r: u8, s: u8, t: u8 }, Maxu { r: u8, s: u8, t: u8 },
    Nsa { t: u8, s: u8 }, Nsau { t: u8, s: u8 },
    Moveqz { r: u8, s: u8, t: u8 }, Movnez { r: u8, s: u8, t: u8 }, Movltz { r: u8, s: u8, t: u8 }, Movgez { r: u8, s: u8, t: u8 },
    // Multiply and divide: muldiv.rs
    Mull { r: u8, s: u8, t: u8 }, Muluh { r: u8, s: u8, t: u8 }, Mulsh { r: u8, s: u8, t: u8 },
    Mul16u { r: u8, s: u8, t: u8 }, Mul16s { r: u8, s: u8, t: u8 },
    Quou { r: u8, s: u8, t: u8 }, Quos { r: u8, s: u8, t: u8 }, Remu { r: u8, s: u8, t: u8 }, Rems { r: u8, s: u8, t: u8 },
    // Shifts: shift.rs
    Ssr { s: u8 }, Ssl { s: u8 }, Ssa8l { s: u8 }, Ssa8b { s: u8 }, Ssai { amount: u8 },
    Sll { r: u8, s: u8 }, Srl { r: u8, t: u8 }, Sra { r: u8, t: u8 }, Src { r: u8, s: u8, t: u8 },
    Slli { r: u8, s: u8, amount: u8 }, Srli { r: u8, t: u8, amount: u8 }, Srai { r: u8, t: u8, amount: u8 },
    Extui { r: u8, t: u8, shift: u8, bits: u8 },
    // Memory: memory.rs
    L8ui { t: u8, s: u8, offset: u16 }, L16ui { t: u8, s: u8, offset: u16 }, L16si { t: u8, s: u8, offset: u16 },
    L32i { t: u8, s: u8, offset: u16 }, L32ai { t: u8, s: u8, offset: u16 }, L32r { t: u8, addr: u32 },
    S8i { t: u8, s: u8, offset: u16 }, S16i { t: u8, s: u8, offset: u16 }, S32i { t: u8, s: u8, offset: u16 }, S32ri { t: u8, s: u8, offset: u16 },
    S32c1i { t: u8, s: u8, offset: u16 },
    L32e { t: u8, s: u8, offset: i16 }, S32e { t: u8, s: u8, offset: i16 },
    // Booleans: boolean.rs
    Andb { r: u8, s: u8, t: u8 }, Andbc { r: u8, s: u8, t: u8 }, Orb { r: u8, s: u8, t: u8 }, Orbc { r: u8, s: u8, t: u8 }, Xorb { r: u8, s: u8, t: u8 },
    Any4 { t: u8, s: u8 }, All4 { t: u8, s: u8 }, Any8 { t: u8, s: u8 }, All8 { t: u8, s: u8 },
    Movf { r: u8, s: u8, t: u8 }, Movt { r: u8, s: u8, t: u8 },
    // Single-precision floating point: float.rs
    Lsi { t: u8, s: u8, offset: u16 }, Ssi { t: u8, s: u8, offset: u16 }, Lsiu { t: u8, s: u8, offset: u16 }, Ssiu { t: u8, s: u8, offset: u16 },
    Lsx { r: u8, s: u8, t: u8 }, Ssx { r: u8, s: u8, t: u8 }, Lsxu { r: u8, s: u8, t: u8 }, Ssxu { r: u8, s: u8, t: u8 },
    AddS { r: u8, s: u8, t: u8 }, SubS { r: u8, s: u8, t: u8 }, MulS { r: u8, s: u8, t: u8 },
    MaddS { r: u8, s: u8, t: u8 }, MsubS { r: u8, s: u8, t: u8 },
    MovS { r: u8, s: u8 }, AbsS { r: u8, s: u8 }, NegS { r: u8, s: u8 },
    RoundS { r: u8, s: u8, scale: u8 }, TruncS { r: u8, s: u8, scale: u8 }, FloorS { r: u8, s: u8, scale: u8 }, CeilS { r: u8, s: u8, scale: u8 },
    UtruncS { r: u8, s: u8, scale: u8 }, FloatS { r: u8, s: u8, scale: u8 }, UfloatS { r: u8, s: u8, scale: u8 },
    Rfr { r: u8, s: u8 }, Wfr { r: u8, s: u8 },
    UnS { r: u8, s: u8, t: u8 }, OeqS { r: u8, s: u8, t: u8 }, UeqS { r: u8, s: u8, t: u8 }, OltS { r: u8, s: u8, t: u8 },
    UltS { r: u8, s: u8, t: u8 }, OleS { r: u8, s: u8, t: u8 }, UleS { r: u8, s: u8, t: u8 },
    MoveqzS { r: u8, s: u8, t: u8 }, MovnezS { r: u8, s: u8, t: u8 }, MovltzS { r: u8, s: u8, t: u8 }, MovgezS { r: u8, s: u8, t: u8 },
    MovfS { r: u8, s: u8, t: u8 }, MovtS { r: u8, s: u8, t: u8 },
    // Order and cache control: no effect on one core whose caches are coherent
    Nop, Memw, Extw, Isync, Rsync, Esync, Dsync, Excw, Cache { t: u8, s: u8, offset: u16 },
    // Branches, jumps, loops: control.rs
    Beqz { s: u8, target: u32 }, Bnez { s: u8, target: u32 }, Bltz { s: u8, target: u32 }, Bgez { s: u8, target: u32 },
    Beqi { s: u8, k: u8, target: u32 }, Bnei { s: u8, k: u8, target: u32 }, Blti { s: u8, k: u8, target: u32 }, Bgei { s: u8, k: u8, target: u32 },
    Bltui { s: u8, k: u8, target: u32 }, Bgeui { s: u8, k: u8, target: u32 },
    Beq { s: u8, t: u8, target: u32 }, Bne { s: u8, t: u8, target: u32 }, Blt { s: u8, t: u8, target: u32 }, Bge { s: u8, t: u8, target: u32 },
    Bltu { s: u8, t: u8, target: u32 }, Bgeu { s: u8, t: u8, target: u32 },
    Bany { s: u8, t: u8, target: u32 }, Bnone { s: u8, t: u8, target: u32 }, Ball { s: u8, t: u8, target: u32 }, Bnall { s: u8, t: u8, target: u32 },
    Bbc { s: u8, t: u8, target: u32 }, Bbs { s: u8, t: u8, target: u32 }, Bbci { s: u8, bit: u8, target: u32 }, Bbsi { s: u8, bit: u8, target: u32 },
    Bf { s: u8, target: u32 }, Bt { s: u8, target: u32 },
    J { target: u32 }, Jx { s: u8 },
    Loop { s: u8, lend: u32 }, Loopnez { s: u8, lend: u32 }, Loopgtz { s: u8, lend: u32 },
    // Calls and windows: window.rs
    Call0 { target: u32 }, Callx0 { s: u8 }, Ret,
    /// CALL4, CALL8, CALL12; `n` is the window increment 1..=3.
    Call { n: u8, target: u32 },
    /// CALLX4, CALLX8, CALLX12.
    Callx { n: u8, s: u8 },
    Entry { s: u8, frame: u16 }, Retw, Movsp { t: u8, s: u8 }, Rotw { by: i8 },
    // Special and user registers: special.rs
    Rsr { t: u8, number: u8 }, Wsr { t: u8, number: u8 }, Xsr { t: u8, number: u8 },
    Rur { r: u8, number: u8 }, Wur { t: u8, number: u8 }, Rsil { t: u8, level: u8 },
    // Traps: control.rs
    Break { s: u8, t: u8 }, Syscall, Simcall, Waiti { level: u8 },
    /// ILL, ILL.N, and every encoding the core does not have.
    Illegal { bytes: [u8; 3] },
    /// A FLIX bundle; its length is the instruction's.
    Flix,
}

impl Op {
    /// Whether the instruction behind this one may not be the next to execute, or this one must see exact counters.
    #[must_use]
    #[rustfmt::skip]
    pub fn ends_block(self) -> bool {
        use Op::*;
        matches!(
            self,
            Beqz { .. } | Bnez { .. } | Bltz { .. } | Bgez { .. } | Beqi { .. } | Bnei { .. } | Blti { .. } | Bgei { .. }
                | Bltui { .. } | Bgeui { .. } | Beq { .. } | Bne { .. } | Blt { .. } | Bge { .. } | Bltu { .. } | Bgeu { .. }
                | Bany { .. } | Bnone { .. } | Ball { .. } | Bnall { .. } | Bbc { .. } | Bbs { .. } | Bbci { .. } | Bbsi { .. }
                | Bf { .. } | Bt { .. } | J { .. } | Jx { .. } | Loop { .. } | Loopnez { .. } | Loopgtz { .. } | Call0 { .. }
                | Callx0 { .. } | Ret | Call { .. } | Callx { .. } | Retw
                | Rsr { .. } | Wsr { .. } | Xsr { .. } | Rur { .. } | Wur { .. } | Rsil { .. } | Break { .. } | Syscall
                | Simcall | Waiti { .. } | Illegal { .. } | Flix
        )
    }
}
