//! The way of one core through its call: moments kept on it, and how to get to any time of it.
//!
//! A time is a number of instructions executed. What somebody changed by hand belongs to the way: whoever comes by that time
//! again finds it changed again. Unaware of why a time is wanted.

use std::sync::atomic::AtomicBool;

use gpsimd_device::Session;
use gpsimd_device::cores::bus::Place;
use gpsimd_device::cores::observed::Lookout;
use gpsimd_device::cores::paused::{Halt, Moment};

/// Instructions between two moments, at first.
const INTERVAL: u64 = 1 << 18;
/// Moments kept; with more, every other is dropped.
const MOST: usize = 24;

/// Something that was changed by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Edit {
    /// Bytes of memory.
    Memory(Place, Vec<u8>),
    /// A register of the running function.
    Register(u8, u32),
}

/// The way of one core.
pub(crate) struct Track {
    core: usize,
    interval: u64,
    /// By time; the first is the call's begin.
    moments: Vec<Moment>,
    /// By time.
    edits: Vec<(u64, Edit)>,
}

impl Track {
    pub fn new(session: &Session, core: usize) -> Track {
        let moments = session.moment(core).into_iter().collect();
        Track { core, interval: INTERVAL, moments, edits: Vec::new() }
    }

    fn time(&self, session: &Session) -> u64 {
        session.core(self.core).map_or(0, |core| core.time())
    }

    /// Times from which one can go on, latest first, that are before another.
    pub fn moments_before(&self, time: u64) -> Vec<u64> {
        self.moments.iter().rev().map(Moment::time).filter(|moment| *moment < time).collect()
    }

    /// Goes on until something is met, or the time has come.
    pub fn forward(
        &mut self,
        session: &mut Session,
        lookout: &Lookout,
        until: u64,
        stop: &AtomicBool,
    ) -> Halt {
        loop {
            let now = self.time(session);
            let last = self.moments.last().map_or(0, Moment::time);
            let edit = self.edits.iter().map(|(time, _)| *time).find(|time| *time > now).unwrap_or(u64::MAX);
            let next = (now.max(last) / self.interval + 1) * self.interval;
            let halt = session.advance(self.core, lookout, until.min(next).min(edit), stop);
            if halt != Halt::Reached {
                return halt;
            }
            let now = self.time(session);
            for (_, edit) in self.edits.iter().filter(|(time, _)| *time == now) {
                apply(session, self.core, edit);
            }
            if now > last && now.is_multiple_of(self.interval) {
                self.keep(session);
            }
            if now >= until {
                return Halt::Reached;
            }
        }
    }

    fn keep(&mut self, session: &Session) {
        self.moments.extend(session.moment(self.core));
        if self.moments.len() > MOST {
            self.interval *= 2;
            let mut number = 0;
            self.moments.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }

    /// Goes to a time, back or forward.
    pub fn go_to(&mut self, session: &mut Session, time: u64) {
        let moment = self.moments.iter().rev().find(|moment| moment.time() <= time);
        let now = self.time(session);
        if let Some(moment) = moment.filter(|moment| now > time || moment.time() > now) {
            session.go_to(self.core, moment);
        }
        let never = AtomicBool::new(false);
        self.forward(session, &Lookout::default(), time, &never);
    }

    /// Changes something now. What was to come is another future.
    pub fn edit(&mut self, session: &mut Session, edit: Edit) -> bool {
        let now = self.time(session);
        let is_done = apply(session, self.core, &edit);
        if is_done {
            self.edits.retain(|(time, _)| *time <= now);
            self.edits.push((now, edit));
            self.moments.retain(|moment| moment.time() < now || moment.time() == 0);
            if now == 0 {
                self.moments = session.moment(self.core).into_iter().collect();
            }
        }
        is_done
    }
}

fn apply(session: &mut Session, core: usize, edit: &Edit) -> bool {
    match edit {
        Edit::Memory(place, bytes) => session.write(core, *place, bytes),
        Edit::Register(number, value) => {
            session.set_register(core, *number, *value);
            true
        }
    }
}
