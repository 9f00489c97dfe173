//! Steps back: to the last stop before now, to where the line or the one before began, by instruction.
//!
//! A core is put where a kept moment is, and replayed; the last of what is met before now is where it goes. One core moves, as
//! forward. Unaware of how anything is shown.

use gpsimd_device::cores::paused::{Halt, Touched};
use xtensa_iss::Op;

use crate::engine::{Debugger, Stopped};
use crate::program::Location;
use crate::stack::{instruction, is_return};
use crate::steps::Step;
use crate::stops::What;

/// What was met on the way.
enum Met {
    Breakpoints(Vec<u32>),
    Watch(u32, Touched),
}

impl Debugger<'_> {
    /// Takes the current core back to the last breakpoint that it passed, or write to watched bytes that it made; to its
    /// begin without one.
    pub fn resume_back(&mut self) -> Stopped {
        let core = self.current;
        let now = self.time(core);
        let (mut lookout, ids) = self.lookout(core);
        lookout.incidents = false;
        let mut until = now;
        for moment in self.tracks.get(core).map(|track| track.moments_before(now)).unwrap_or_default() {
            self.put(core, moment);
            self.unstand(core);
            let mut last = None;
            while self.time(core) < until {
                let halt = self.go(core, &lookout, until);
                match halt {
                    Halt::Trap => {
                        let pc = self.pc(core);
                        let is_met =
                            |known: &&crate::Breakpoint| known.is_at(core, pc) && known.message.is_none();
                        let met: Vec<u32> = self.stops.iter().filter(is_met).map(|known| known.id).collect();
                        let met = self.holding(core, met);
                        if !met.is_empty() {
                            last = Some((self.time(core), Met::Breakpoints(met)));
                        }
                        self.stand(core);
                    }
                    Halt::Touched(touched) => {
                        let id = touched.ranges.first().and_then(|range| ids.get(*range)).copied();
                        // before the instruction that wrote, or read
                        let at = self.time(core) - 1;
                        if let Some(id) = id.filter(|_| at < until) {
                            last = Some((at, Met::Watch(id, touched)));
                        }
                    }
                    Halt::Stopped => {
                        self.put(core, now);
                        return self.stopped_on(core, Stopped::Paused);
                    }
                    _ => {}
                }
            }
            if let Some((time, met)) = last {
                let stopped = match met {
                    Met::Breakpoints(ids) => Stopped::Breakpoint(ids),
                    Met::Watch(id, touched) => {
                        self.put(core, time + 1);
                        self.watched(core, id, &touched)
                    }
                };
                self.put(core, time);
                return self.stopped_on(core, stopped);
            }
            until = moment;
        }
        self.put(core, 0);
        self.stopped_on(core, Stopped::Begin)
    }

    /// Takes the current core back by a step.
    pub fn step_back(&mut self, step: Step) -> Stopped {
        let core = self.current;
        let now = self.time(core);
        let time = match step {
            _ if now == 0 => None,
            Step::Instruction | Step::InstructionOver => Some(now - 1),
            Step::In | Step::Over | Step::Out => self.before(core, step),
        };
        self.put(core, time.unwrap_or(0));
        let stopped = if time.is_some() { Stopped::Step } else { Stopped::Begin };
        self.stopped_on(core, stopped)
    }

    /// The time to which a step back goes.
    fn before(&mut self, core: usize, step: Step) -> Option<u64> {
        let now = self.time(core);
        let here = self.chosen(core);
        for moment in self.tracks.get(core).map(|track| track.moments_before(now)).unwrap_or_default() {
            let found = self.look_back(core, (moment, now), &here, step);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Replays from one time to another, and finds where the step back from there goes, if that is in between.
    fn look_back(&mut self, core: usize, (from, to): (u64, u64), here: &Location, step: Step) -> Option<u64> {
        self.put(core, from);
        // calls deeper than at the beginning; the last line that began at each depth and in each inlined call, outermost first
        let mut depth = 0_i64;
        let mut begun: Vec<((i64, usize), Location, u64)> = Vec::new();
        let mut last: Option<u64> = None;
        let mut calls: Vec<(i64, u64)> = Vec::new();
        let mut called = 0;
        while self.time(core) < to {
            let (pc, time) = (self.pc(core), self.time(core));
            let op = self.session.core(core).map(|core| instruction(core, pc).op);
            if self.program(core).is_some_and(|program| program.begins(pc)) {
                let location = self.location(core, pc);
                // ENTRY is the callee's, though it is still to come
                let place = (depth + i64::from(op == Some(Op::Entry)), location.depth());
                if location.is_authors() || !here.is_authors() {
                    begun.retain(|(known, ..)| *known <= place);
                    // what goes on behind a call in the middle of a line is no begin
                    let same = begun.last().filter(|(known, ..)| *known == place);
                    if same.is_none_or(|(_, known, _)| *known != location) {
                        begun.retain(|(known, ..)| *known < place);
                        begun.push((place, location, time));
                        last = Some(time);
                    }
                }
            }
            if op.is_some_and(crate::stack::is_call) {
                called = time;
            }
            self.put(core, time + 1);
            // a function that the model looks into begins with a stop in the place of its ENTRY
            if op == Some(Op::Entry) && self.pc(core) == pc.wrapping_add(3) {
                calls.push((depth, called));
                depth += 1;
            }
            if op.is_some_and(is_return) {
                depth -= 1;
                calls.retain(|(known, _)| *known < depth);
                begun.retain(|((known, _), ..)| *known <= depth);
            }
        }
        match step {
            Step::Out => calls.last().map(|(_, time)| *time),
            Step::Over => {
                let fits = |((known, inlined), ..): &&((i64, usize), Location, u64)| {
                    *known < depth || *inlined <= here.depth()
                };
                begun.iter().rev().find(fits).map(|(.., time)| *time)
            }
            _ => last,
        }
    }

    /// Those breakpoints whose conditions hold, or cannot be told.
    fn holding(&mut self, core: usize, ids: Vec<u32>) -> Vec<u32> {
        let mut holding = Vec::new();
        for id in ids {
            let known = self.stops.iter().find(|known| known.id == id);
            let condition = known.and_then(|known| known.condition.clone());
            let fails = condition.is_some_and(|condition| {
                self.evaluate((core, 0), &condition).is_ok_and(|value| !value.is_true())
            });
            if !fails {
                holding.push(id);
            }
        }
        holding
    }

    /// The breakpoints that are about bytes.
    pub(crate) fn watches(&self) -> impl Iterator<Item = &crate::Breakpoint> {
        self.stops.iter().filter(|known| matches!(known.what, What::Bytes { .. }))
    }
}
