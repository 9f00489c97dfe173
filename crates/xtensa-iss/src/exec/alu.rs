//! Arithmetic, logic and conditional moves on address registers.

use crate::bus::Bus;
use crate::core::{Core, Done};
use crate::op::{Insn, Op};

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, _: &mut B, insn: &Insn) -> Done {
    match insn.op {
        // ADD ar, as, at
        Op::Add { r, s, t } => core.set_ar(r, core.ar(s).wrapping_add(core.ar(t))),
        // ADDX2/4/8 ar, as, at: (as << 1/2/3) + at
        Op::Addx2 { r, s, t } => core.set_ar(r, (core.ar(s) << 1).wrapping_add(core.ar(t))),
        Op::Addx4 { r, s, t } => core.set_ar(r, (core.ar(s) << 2).wrapping_add(core.ar(t))),
        Op::Addx8 { r, s, t } => core.set_ar(r, (core.ar(s) << 3).wrapping_add(core.ar(t))),
        // SUB ar, as, at
        Op::Sub { r, s, t } => core.set_ar(r, core.ar(s).wrapping_sub(core.ar(t))),
        // SUBX2/4/8 ar, as, at: (as << 1/2/3) - at
        Op::Subx2 { r, s, t } => core.set_ar(r, (core.ar(s) << 1).wrapping_sub(core.ar(t))),
        Op::Subx4 { r, s, t } => core.set_ar(r, (core.ar(s) << 2).wrapping_sub(core.ar(t))),
        Op::Subx8 { r, s, t } => core.set_ar(r, (core.ar(s) << 3).wrapping_sub(core.ar(t))),
        Op::And { r, s, t } => core.set_ar(r, core.ar(s) & core.ar(t)),
        Op::Or { r, s, t } => core.set_ar(r, core.ar(s) | core.ar(t)),
        Op::Xor { r, s, t } => core.set_ar(r, core.ar(s) ^ core.ar(t)),
        Op::Neg { r, t } => core.set_ar(r, core.ar(t).wrapping_neg()),
        // ABS ar, at: the most negative value stays.
        Op::Abs { r, t } => core.set_ar(r, (core.ar(t) as i32).wrapping_abs() as u32),
        // ADDI, ADDMI, ADDI.N
        Op::Addi { t, s, imm } => core.set_ar(t, core.ar(s).wrapping_add_signed(imm)),
        // The same into a1, with the stack limit checked.
        Op::AddiSp { s, imm } => {
            let sp = core.ar(s).wrapping_add_signed(imm);
            core.check_stack(sp)?;
            core.set_ar(1, sp);
        }
        Op::Movi { t, imm } => core.set_ar(t, imm as u32),
        Op::Mov { t, s } => core.set_ar(t, core.ar(s)),
        // CONST16 at, imm: at <- (at << 16) | imm
        Op::Const16 { t, imm } => core.set_ar(t, core.ar(t) << 16 | u32::from(imm)),
        // SEXT ar, as, bit: copies `bit` into everything above it.
        Op::Sext { r, s, bit } => {
            let up = 31 - u32::from(bit & 31);
            core.set_ar(r, ((core.ar(s) << up) as i32 >> up) as u32);
        }
        // CLAMPS ar, as, bit: saturates to -2^bit ..= 2^bit - 1.
        Op::Clamps { r, s, bit } => {
            let bound = 1i32 << (bit & 31);
            core.set_ar(r, (core.ar(s) as i32).clamp(-bound, bound - 1) as u32);
        }
        Op::Min { r, s, t } => core.set_ar(r, (core.ar(s) as i32).min(core.ar(t) as i32) as u32),
        Op::Max { r, s, t } => core.set_ar(r, (core.ar(s) as i32).max(core.ar(t) as i32) as u32),
        Op::Minu { r, s, t } => core.set_ar(r, core.ar(s).min(core.ar(t))),
        Op::Maxu { r, s, t } => core.set_ar(r, core.ar(s).max(core.ar(t))),
        // NSA at, as: sign bits below the top one; 31 for 0 and -1.
        Op::Nsa { t, s } => {
            let v = core.ar(s);
            core.set_ar(t, (v ^ ((v as i32 >> 31) as u32)).leading_zeros() - 1);
        }
        // NSAU at, as: leading zeros; 32 for 0.
        Op::Nsau { t, s } => core.set_ar(t, core.ar(s).leading_zeros()),
        // MOVcc ar, as, at: ar <- as if at meets the condition.
        Op::Moveqz { r, s, t } => move_if(core, core.ar(t) == 0, r, s),
        Op::Movnez { r, s, t } => move_if(core, core.ar(t) != 0, r, s),
        Op::Movltz { r, s, t } => move_if(core, (core.ar(t) as i32) < 0, r, s),
        Op::Movgez { r, s, t } => move_if(core, core.ar(t) as i32 >= 0, r, s),
        // The index in the parent module sends nothing else here.
        _ => {}
    }
    Ok(())
}

#[inline(always)]
pub(super) fn move_if(core: &mut Core, condition: bool, r: u8, s: u8) {
    let value = if condition { core.ar(s) } else { core.ar(r) };
    core.set_ar(r, value);
}
