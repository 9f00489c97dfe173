//! Steps forward: by line, into or over calls, out of functions, by instruction. One core moves, the others wait.
//!
//! A line begins where its table says that a debugger should stop. Functions without lines, and those of the SDK when they are
//! called from the author's, are stepped over. Unaware of how anything is shown.

use gpsimd_device::cores::paused::Halt;
use xtensa_iss::Op;

use crate::engine::{Debugger, Stopped};
use crate::program::Location;
use crate::stack::{instruction, is_call};

/// How far a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the next line, also in a function that is called.
    In,
    /// To the next line of the function, or of one around it.
    Over,
    /// Behind the call of the function.
    Out,
    /// One instruction.
    Instruction,
    /// One instruction, calls in one go.
    InstructionOver,
}

impl Debugger<'_> {
    /// Takes the current core on by a step.
    pub fn step(&mut self, step: Step) -> Stopped {
        let core = self.current;
        let stopped = match step {
            Step::Instruction => self.one(core),
            Step::InstructionOver => self.over_call(core),
            Step::Out => self.out(core),
            Step::In | Step::Over => self.line(core, step),
        };
        self.stopped_on(core, stopped.unwrap_or(Stopped::Step))
    }

    fn sp(&self, core: usize) -> u32 {
        self.session.core(core).map_or(0, |core| core.register(1))
    }

    fn op(&self, core: usize) -> Option<Op> {
        self.session.core(core).map(|core| instruction(core, core.pc()).op)
    }

    /// One instruction; a breakpoint at the next one is met.
    fn one(&mut self, core: usize) -> Option<Stopped> {
        let (lookout, ids) = self.lookout(core);
        self.stand(core);
        let until = self.time(core) + 1;
        let halt = self.go(core, &lookout, until);
        let stopped = self.judge(core, halt, &ids);
        if stopped.is_some() {
            return stopped;
        }
        if self.ended(core).is_some() {
            return Some(self.rest());
        }
        if lookout.traps.contains(&self.pc(core)) { self.judge(core, Halt::Trap, &ids) } else { None }
    }

    /// One core has returned: there is nothing more to step through on it.
    fn rest(&mut self) -> Stopped {
        let is_over = (0..self.tracks.len()).all(|core| self.ended(core).is_some());
        if is_over { Stopped::End } else { Stopped::Step }
    }

    /// One instruction, or a call with all that it does.
    fn over_call(&mut self, core: usize) -> Option<Stopped> {
        if !self.op(core).is_some_and(is_call) {
            return self.one(core);
        }
        let (back, sp) = (self.pc(core).wrapping_add(3), self.sp(core));
        self.one(core).or_else(|| self.until(core, back, sp))
    }

    /// Until the core is at an address, in the frame of a stack pointer.
    fn until(&mut self, core: usize, address: u32, sp: u32) -> Option<Stopped> {
        let (mut lookout, ids) = self.lookout(core);
        lookout.traps.insert(address);
        loop {
            if self.pc(core) == address && self.sp(core) == sp {
                return None;
            }
            let halt = self.go(core, &lookout, u64::MAX);
            let is_there = halt == Halt::Trap && self.pc(core) == address && self.sp(core) == sp;
            if let Some(stopped) = self.judge(core, halt, &ids) {
                return Some(stopped);
            }
            if is_there {
                return None;
            }
            if self.ended(core).is_some() {
                return Some(self.rest());
            }
        }
    }

    /// Until the function around has the core again.
    fn out(&mut self, core: usize) -> Option<Stopped> {
        let location = self.chosen(core);
        if location.depth() > 0 {
            return self.leave_inlined(core, &location);
        }
        let levels = self.levels(core);
        match levels.get(1) {
            Some(caller) => self.until(core, caller.pc, caller.sp),
            None => Some(self.resume()),
        }
    }

    /// Until an inlined call is over.
    fn leave_inlined(&mut self, core: usize, from: &Location) -> Option<Stopped> {
        let sp = self.sp(core);
        loop {
            if let Some(stopped) = self.over_call(core) {
                return Some(stopped);
            }
            let now = self.location(core, self.pc(core));
            if self.sp(core) > sp || now.depth() < from.depth() {
                return None;
            }
        }
    }

    /// To where another line begins.
    fn line(&mut self, core: usize, step: Step) -> Option<Stopped> {
        let from = self.chosen(core);
        if !from.has_line() {
            // without lines there is only the way out
            return self.out(core);
        }
        let mut sp = self.sp(core);
        let mut is_entered = self.op(core) == Some(Op::Entry);
        loop {
            if self.is_paused() {
                return Some(Stopped::Paused);
            }
            let calls = self.op(core).is_some_and(is_call);
            let (back, caller) = (self.pc(core).wrapping_add(3), self.sp(core));
            if let Some(stopped) = self.one(core) {
                return Some(stopped);
            }
            if is_entered {
                // only behind ENTRY a function has its own stack pointer
                (is_entered, sp) = (false, self.sp(core));
            }
            if calls {
                if step == Step::In && self.is_worth(core, &from) {
                    return self.behind_prologue(core);
                }
                if let Some(stopped) = self.until(core, back, caller) {
                    return Some(stopped);
                }
            }
            let pc = self.pc(core);
            if !self.program(core).is_some_and(|program| program.begins(pc)) {
                continue;
            }
            let now = self.location(core, pc);
            if is_new(&from, &now, step, self.sp(core) > sp) {
                return None;
            }
        }
    }

    /// Whether the function that was just called is worth to be stepped into.
    fn is_worth(&self, core: usize, from: &Location) -> bool {
        let now = self.location(core, self.pc(core));
        now.has_line() && (now.is_authors() || !from.is_authors())
    }

    /// From the first instruction of a function to where its arguments are in place.
    fn behind_prologue(&mut self, core: usize) -> Option<Stopped> {
        let start = self.pc(core);
        let place =
            self.program(core).map(|program| program.first_line(start)).filter(|place| *place != start)?;
        self.one(core).or_else(|| {
            let sp = self.sp(core);
            self.until(core, place, sp)
        })
    }
}

/// Whether a line that begins is where a step ends.
fn is_new(from: &Location, now: &Location, step: Step, has_returned: bool) -> bool {
    if from.is_authors() && !now.is_authors() {
        return false;
    }
    if has_returned || now.depth() < from.depth() {
        return true;
    }
    if now.depth() > from.depth() && step == Step::Over {
        return false;
    }
    let place = |location: &Location, depth: usize| {
        location.at_depth(depth).map(|frame| (frame.function.clone(), frame.file.clone(), frame.line))
    };
    now.depth() > from.depth() || place(from, from.depth()) != place(now, from.depth())
}
