//! Boolean registers and the moves that depend on them.

use super::alu::move_if;
use crate::bus::Bus;
use crate::core::{Core, Done};
use crate::op::{Insn, Op};

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, _: &mut B, insn: &Insn) -> Done {
    match insn.op {
        Op::Andb { r, s, t } => core.set_br(r, core.br(s) & core.br(t)),
        Op::Andbc { r, s, t } => core.set_br(r, core.br(s) & !core.br(t)),
        Op::Orb { r, s, t } => core.set_br(r, core.br(s) | core.br(t)),
        Op::Orbc { r, s, t } => core.set_br(r, core.br(s) | !core.br(t)),
        Op::Xorb { r, s, t } => core.set_br(r, core.br(s) ^ core.br(t)),
        // ANY4 bt, bs: bs is the first of four (eight) booleans.
        Op::Any4 { t, s } => core.set_br(t, core.state.br >> (s & 15) & 0xf != 0),
        Op::All4 { t, s } => core.set_br(t, core.state.br >> (s & 15) & 0xf == 0xf),
        Op::Any8 { t, s } => core.set_br(t, core.state.br >> (s & 15) & 0xff != 0),
        Op::All8 { t, s } => core.set_br(t, core.state.br >> (s & 15) & 0xff == 0xff),
        // MOVF/MOVT ar, as, bt
        Op::Movf { r, s, t } => move_if(core, !core.br(t), r, s),
        Op::Movt { r, s, t } => move_if(core, core.br(t), r, s),
        // The index in the parent module sends nothing else here.
        _ => {}
    }
    Ok(())
}
