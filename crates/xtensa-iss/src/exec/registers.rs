//! Access to special and user registers.
//!
//! These end a block, so counters and loop state are exact when they run.

use crate::core::{Core, Done, Leave};
use crate::fault::{FaultKind, Stop};
use crate::special::{self, Sr};
use crate::state::ps;

#[inline(always)]
pub(crate) fn rsr(core: &mut Core, t: u8, number: u8) -> Done {
    let value = core.read_special(number)?;
    core.set_ar(t, value);
    Ok(())
}

#[inline(always)]
pub(crate) fn xsr(core: &mut Core, t: u8, number: u8) -> Done {
    let (old, new) = (core.read_special(number)?, core.ar(t));
    // WINDOWBASE moves a_t: the old value goes to the register that was named, before the window turns.
    core.set_ar(t, old);
    match core.write_special(number, new) {
        Err(Leave::Fault) => {
            core.set_ar(t, new);
            Err(Leave::Fault)
        }
        done => done,
    }
}

#[inline(always)]
pub(crate) fn rur(core: &mut Core, r: u8, number: u8) -> Done {
    let value = match number {
        special::THREADPTR => core.state.threadptr,
        special::FCR => core.state.fcr,
        special::FSR => core.state.fsr,
        _ => return Err(core.fail(FaultKind::NoUserRegister { number })),
    };
    core.set_ar(r, value);
    Ok(())
}

#[inline(always)]
pub(crate) fn wur(core: &mut Core, number: u8, value: u32) -> Done {
    match number {
        special::THREADPTR => core.state.threadptr = value,
        special::FCR => core.state.fcr = value & special::FCR_BITS,
        special::FSR => core.state.fsr = value & special::FSR_BITS,
        _ => return Err(core.fail(FaultKind::NoUserRegister { number })),
    }
    Ok(())
}

/// `at <- PS`, then the interrupt level is `level`.
#[inline(always)]
pub(crate) fn rsil(core: &mut Core, t: u8, level: u32) {
    core.set_ar(t, core.state.ps);
    core.state.ps = core.state.ps & !ps::INTLEVEL | level;
}

#[inline(always)]
pub(crate) fn waiti(core: &mut Core, level: u32) -> Done {
    core.state.ps = core.state.ps & !ps::INTLEVEL | level;
    core.trap(Stop::Wait)
}

impl Core {
    pub(crate) fn read_special(&mut self, number: u8) -> Result<u32, Leave> {
        let s = &self.state;
        Ok(match special::classify(number) {
            Sr::Lbeg => s.lbeg,
            Sr::Lend => s.lend,
            Sr::Lcount => s.lcount,
            Sr::Sar => s.sar,
            Sr::Br => u32::from(s.br),
            Sr::Scompare1 => s.scompare1,
            Sr::WindowBase => u32::from(s.window_base),
            Sr::WindowStart => u32::from(s.window_start),
            Sr::Ps => s.ps,
            Sr::Isl => s.isl,
            Sr::Prid => self.config.prid,
            Sr::Ccount => (s.cycles as u32).wrapping_add(s.ccount_offset),
            Sr::Plain => s.plain[usize::from(number)],
            Sr::WriteOnly | Sr::Absent => return Err(self.fail(FaultKind::NoSpecialRegister { number })),
        })
    }

    pub(crate) fn write_special(&mut self, number: u8, value: u32) -> Done {
        let s = &mut self.state;
        match special::classify(number) {
            Sr::Lbeg => s.lbeg = value,
            Sr::Lend => {
                s.lend = value;
                // Blocks may run across the new loop end.
                return Err(Leave::CodeWritten);
            }
            Sr::Lcount => s.lcount = value,
            Sr::Sar => s.sar = value & 63,
            Sr::Br => s.br = value as u16,
            Sr::Scompare1 => s.scompare1 = value,
            Sr::WindowBase => {
                self.store_window();
                self.state.window_base = value as u8 & 15;
                self.load_window();
            }
            Sr::WindowStart => s.window_start = value as u16,
            Sr::Ps => s.ps = value & special::PS_BITS,
            Sr::Isl => s.isl = value,
            Sr::Ccount => s.ccount_offset = value.wrapping_sub(s.cycles as u32),
            Sr::Plain => s.plain[usize::from(number)] = value,
            // INTSET, INTCLEAR: no interrupts to set.
            Sr::WriteOnly => {}
            Sr::Prid | Sr::Absent => return Err(self.fail(FaultKind::NoSpecialRegister { number })),
        }
        Ok(())
    }
}
