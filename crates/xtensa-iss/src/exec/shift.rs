//! Shifts, the shift amount register, bit-field extract.

use crate::bus::Bus;
use crate::core::{Core, Done};
use crate::op::{Insn, Op};

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, _: &mut B, insn: &Insn) -> Done {
    match insn.op {
        // SSR/SSL as: amount for SRL, SRA, SRC / for SLL (kept as 32 - amount).
        Op::Ssr { s } => core.state.sar = core.ar(s) & 31,
        Op::Ssl { s } => core.state.sar = 32 - (core.ar(s) & 31),
        // SSA8L/SSA8B as: amount in bytes, for unaligned loads on little/big-endian cores.
        Op::Ssa8l { s } => core.state.sar = (core.ar(s) & 3) << 3,
        Op::Ssa8b { s } => core.state.sar = 32 - ((core.ar(s) & 3) << 3),
        Op::Ssai { amount } => core.state.sar = u32::from(amount),
        // SLL ar, as: left by 32 - SAR.
        Op::Sll { r, s } => core.set_ar(r, (u64::from(core.ar(s)) << 32 >> (core.state.sar & 63)) as u32),
        // SRL ar, at: right by SAR, which may be 32.
        Op::Srl { r, t } => core.set_ar(r, (u64::from(core.ar(t)) >> (core.state.sar & 63)) as u32),
        Op::Sra { r, t } => core.set_ar(r, (i64::from(core.ar(t) as i32) >> (core.state.sar & 63)) as u32),
        // SRC ar, as, at: low word of as:at right by SAR.
        Op::Src { r, s, t } => {
            let both = u64::from(core.ar(s)) << 32 | u64::from(core.ar(t));
            core.set_ar(r, (both >> (core.state.sar & 63)) as u32);
        }
        Op::Slli { r, s, amount } => core.set_ar(r, (u64::from(core.ar(s)) << (amount & 63)) as u32),
        Op::Srli { r, t, amount } => core.set_ar(r, core.ar(t) >> (amount & 31)),
        Op::Srai { r, t, amount } => core.set_ar(r, (core.ar(t) as i32 >> (amount & 31)) as u32),
        // EXTUI ar, at, shift, bits
        Op::Extui { r, t, shift, bits } => {
            let mask = (1u32 << (bits & 31)).wrapping_sub(1);
            core.set_ar(r, core.ar(t) >> (shift & 31) & mask);
        }
        // The index in the parent module sends nothing else here.
        _ => {}
    }
    Ok(())
}
