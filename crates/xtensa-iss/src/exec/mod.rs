//! Execution: what each instruction does, one arm each, in a module per class.
//!
//! A module reads top to bottom like the manual's chapter of its class. [`execute`] is the index: which class has which
//! instruction. Every entry inlines its class with the variant known, so all that remains is one jump table with the arms
//! behind it.

mod alu;
mod boolean;
mod control;
mod float;
mod memory;
mod muldiv;
mod registers;
mod shift;
mod window;

use crate::bus::Bus;
use crate::core::{Core, Done};
use crate::op::{Insn, Op};

/// Executes one instruction. `core.state.pc` is neither read nor, but for jumps, written.
#[inline(always)]
pub(crate) fn execute<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn) -> Done {
    macro_rules! index {
        ($($class:ident: $($variant:ident)*;)*) => {
            match insn.op {
                $($(Op::$variant { .. } => $class::execute(core, bus, insn),)*)*
            }
        };
    }
    index! {
        alu: Add Addx2 Addx4 Addx8 Sub Subx2 Subx4 Subx8 And Or Xor Neg Abs Addi AddiSp Movi Mov Const16
            Sext Clamps Min Max Minu Maxu Nsa Nsau Moveqz Movnez Movltz Movgez;
        memory: L8ui L16ui L16si L32i L32ai L32r S8i S16i S32i S32ri S32c1i L32e S32e;
        control: Beqz Bnez Bltz Bgez Beqi Bnei Blti Bgei Bltui Bgeui Beq Bne Blt Bge Bltu Bgeu Bany Bnone
            Ball Bnall Bbc Bbs Bbci Bbsi Bf Bt J Jx Loop Loopnez Loopgtz Nop Memw Extw Isync Rsync Esync
            Dsync Excw Cache Break Syscall Simcall Waiti Illegal Flix;
        shift: Ssr Ssl Ssa8l Ssa8b Ssai Sll Srl Sra Src Slli Srli Srai Extui;
        muldiv: Mull Muluh Mulsh Mul16u Mul16s Quou Remu Quos Rems;
        boolean: Andb Andbc Orb Orbc Xorb Any4 All4 Any8 All8 Movf Movt;
        float: Lsi Ssi Lsiu Ssiu Lsx Ssx Lsxu Ssxu AddS SubS MulS MaddS MsubS MovS AbsS NegS RoundS TruncS
            FloorS CeilS UtruncS FloatS UfloatS Rfr Wfr UnS OeqS UeqS OltS UltS OleS UleS MoveqzS MovnezS
            MovltzS MovgezS MovfS MovtS;
        window: Call0 Callx0 Ret Call Callx Entry Retw Movsp Rotw;
        registers: Rsr Wsr Xsr Rur Wur Rsil;
    }
}
