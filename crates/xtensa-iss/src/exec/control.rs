//! Branches, jumps, zero-overhead loops, ordering instructions and traps.

use crate::bus::Bus;
use crate::core::{Core, Done, Leave};
use crate::fault::{FaultKind, Stop};
use crate::op::{B4CONST, B4CONSTU, Insn, Op};
use crate::state::ps;

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, _: &mut B, insn: &Insn) -> Done {
    match insn.op {
        Op::Beqz { s, target } => branch(core, core.ar(s) == 0, target),
        Op::Bnez { s, target } => branch(core, core.ar(s) != 0, target),
        Op::Bltz { s, target } => branch(core, (core.ar(s) as i32) < 0, target),
        Op::Bgez { s, target } => branch(core, core.ar(s) as i32 >= 0, target),
        Op::Beqi { s, k, target } => branch(core, core.ar(s) as i32 == b4const(k), target),
        Op::Bnei { s, k, target } => branch(core, core.ar(s) as i32 != b4const(k), target),
        Op::Blti { s, k, target } => branch(core, (core.ar(s) as i32) < b4const(k), target),
        Op::Bgei { s, k, target } => branch(core, core.ar(s) as i32 >= b4const(k), target),
        Op::Bltui { s, k, target } => branch(core, core.ar(s) < b4constu(k), target),
        Op::Bgeui { s, k, target } => branch(core, core.ar(s) >= b4constu(k), target),
        Op::Beq { s, t, target } => branch(core, core.ar(s) == core.ar(t), target),
        Op::Bne { s, t, target } => branch(core, core.ar(s) != core.ar(t), target),
        Op::Blt { s, t, target } => branch(core, (core.ar(s) as i32) < core.ar(t) as i32, target),
        Op::Bge { s, t, target } => branch(core, core.ar(s) as i32 >= core.ar(t) as i32, target),
        Op::Bltu { s, t, target } => branch(core, core.ar(s) < core.ar(t), target),
        Op::Bgeu { s, t, target } => branch(core, core.ar(s) >= core.ar(t), target),
        // Masks: any, none, all, not all of at's bits are set in as.
        Op::Bany { s, t, target } => branch(core, core.ar(s) & core.ar(t) != 0, target),
        Op::Bnone { s, t, target } => branch(core, core.ar(s) & core.ar(t) == 0, target),
        Op::Ball { s, t, target } => branch(core, !core.ar(s) & core.ar(t) == 0, target),
        Op::Bnall { s, t, target } => branch(core, !core.ar(s) & core.ar(t) != 0, target),
        Op::Bbc { s, t, target } => branch(core, core.ar(s) >> (core.ar(t) & 31) & 1 == 0, target),
        Op::Bbs { s, t, target } => branch(core, core.ar(s) >> (core.ar(t) & 31) & 1 != 0, target),
        Op::Bbci { s, bit, target } => branch(core, core.ar(s) >> (bit & 31) & 1 == 0, target),
        Op::Bbsi { s, bit, target } => branch(core, core.ar(s) >> (bit & 31) & 1 != 0, target),
        Op::Bf { s, target } => branch(core, !core.br(s), target),
        Op::Bt { s, target } => branch(core, core.br(s), target),
        Op::J { target } => core.jump(target),
        Op::Jx { s } => core.jump(core.ar(s)),
        // LOOP as, lend: as times (0 means 2^32). The variants skip the body, with the registers set all the same.
        Op::Loop { s, lend } => start_loop(core, insn, core.ar(s), lend, true),
        Op::Loopnez { s, lend } => start_loop(core, insn, core.ar(s), lend, core.ar(s) != 0),
        Op::Loopgtz { s, lend } => start_loop(core, insn, core.ar(s), lend, core.ar(s) as i32 > 0),
        // Order and caches: one core in program order, coherent with its memory.
        Op::Nop
        | Op::Memw
        | Op::Extw
        | Op::Isync
        | Op::Rsync
        | Op::Esync
        | Op::Dsync
        | Op::Excw
        | Op::Cache { .. } => Ok(()),
        Op::Break { s, t } => trap(core, Stop::Break { s, t }),
        Op::Syscall => trap(core, Stop::Syscall),
        Op::Simcall => trap(core, Stop::Simcall),
        Op::Waiti { level } => {
            core.state.ps = core.state.ps & !ps::INTLEVEL | u32::from(level);
            trap(core, Stop::Wait)
        }
        Op::Illegal { bytes } => Err(core.fail(FaultKind::Illegal { bytes })),
        Op::Flix => Err(core.fail(FaultKind::Flix { len: insn.len })),
        // The index in the parent module sends nothing else here.
        _ => Ok(()),
    }
}

#[inline(always)]
fn branch(core: &mut Core, taken: bool, target: u32) -> Done {
    if taken { core.jump(target) } else { Ok(()) }
}

#[inline(always)]
fn b4const(k: u8) -> i32 {
    B4CONST[usize::from(k & 15)]
}

#[inline(always)]
fn b4constu(k: u8) -> u32 {
    B4CONSTU[usize::from(k & 15)]
}

#[inline(always)]
fn start_loop(core: &mut Core, insn: &Insn, count: u32, lend: u32, enter: bool) -> Done {
    core.state.lcount = count.wrapping_sub(1);
    core.state.lbeg = insn.end();
    core.state.lend = lend;
    if enter { Ok(()) } else { core.jump(lend) }
}

#[cold]
fn trap(core: &mut Core, stop: Stop) -> Done {
    core.stop = stop;
    Err(Leave::Trap)
}
