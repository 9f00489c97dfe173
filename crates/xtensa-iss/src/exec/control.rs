//! Branches, jumps, zero-overhead loops and traps.

use crate::core::{Core, Done, Leave};
use crate::fault::{FaultKind, Stop};

impl Core {
    #[inline(always)]
    pub fn jump(&mut self, target: u32) -> Done {
        self.state.pc = target;
        Err(Leave::Jump)
    }

    #[inline(always)]
    pub fn branch(&mut self, taken: bool, target: u32) -> Done {
        if taken { self.jump(target) } else { Ok(()) }
    }

    /// A loop of `count` rounds from `start` to `end`, whose registers are set even if it is not entered.
    #[inline(always)]
    pub fn start_loop(&mut self, count: u32, start: u32, end: u32, enter: bool) -> Done {
        self.state.lcount = count.wrapping_sub(1);
        self.state.lbeg = start;
        self.state.lend = end;
        if enter { Ok(()) } else { self.jump(end) }
    }

    #[cold]
    pub fn trap(&mut self, stop: Stop) -> Done {
        self.stop = stop;
        Err(Leave::Trap)
    }

    /// `bytes`: the first three of the instruction, as a word.
    #[cold]
    pub fn illegal(&mut self, bytes: u32) -> Done {
        let [b0, b1, b2, _] = bytes.to_le_bytes();
        Err(self.fail(FaultKind::Illegal { bytes: [b0, b1, b2] }))
    }

    #[cold]
    pub fn flix(&mut self, len: u32) -> Done {
        Err(self.fail(FaultKind::Flix { len: len as u8 }))
    }
}
