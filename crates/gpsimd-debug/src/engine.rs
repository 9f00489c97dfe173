//! The session: a call's cores, what is stopped at, and going on.
//!
//! Cores take turns of a fixed length, so that a session is the same every time; nothing that one does is seen by another.
//! Unaware of who asks and how an answer is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gpsimd_device::cores::observed::{Lookout, Range};
use gpsimd_device::cores::paused::Halt;
use gpsimd_device::cores::run::Ended;
use gpsimd_device::{Session, Sources};

use crate::error::DebugError;
use crate::program::{Images, Location, Program, Programs};
use crate::stack::{self, Level};
use crate::stops::{Breakpoint, Hits, What};
use crate::track::{Edit, Track};

/// Instructions of a core's turn.
const TURN: u64 = 100_000;

/// Lets another thread make the cores pause.
#[derive(Debug, Default)]
pub struct Pauser {
    pub(crate) is_wanted: AtomicBool,
    is_busy: AtomicBool,
}

impl Pauser {
    /// Forgets a pause that was wanted before.
    pub fn forget(&self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    /// Makes the cores pause; says whether they were at work.
    pub fn pause(&self) -> bool {
        self.is_wanted.store(true, Ordering::Relaxed);
        self.is_busy.load(Ordering::Relaxed)
    }
}

/// Why the cores stand still.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing was executed yet, or everything was undone.
    Begin,
    /// At breakpoints of these numbers.
    Breakpoint(Vec<u32>),
    /// Watched bytes were touched.
    Watch {
        /// Number of the breakpoint.
        id: u32,
        /// The instruction that did, and the calls around it.
        chain: Vec<u32>,
        /// What was there before, and what is there now.
        values: (String, String),
    },
    /// The next instruction does what a run would report.
    Finding(String),
    /// A step is done.
    Step,
    /// Somebody wanted it.
    Paused,
    /// The call ended on a core, otherwise than by returning.
    Failed(String),
    /// All cores have returned.
    End,
}

/// A debugging session.
pub struct Debugger<'i> {
    pub(crate) session: Session,
    pub(crate) programs: Programs<'i>,
    pub(crate) sources: Sources,
    pub(crate) tracks: Vec<Track>,
    pub(crate) stops: Vec<Breakpoint>,
    /// The core that commands are about.
    pub(crate) current: usize,
    /// The frame of it that commands are about.
    pub(crate) frame: usize,
    /// Whether what a run would report is stopped at.
    pub(crate) stops_on_finding: bool,
    /// What was reported already.
    pub(crate) known: Vec<String>,
    /// What there is to be shown: printed by the program, written by breakpoints.
    pub(crate) output: Vec<String>,
    pauser: Arc<Pauser>,
    /// When each core stood at a stop that was told: the same one is not told again.
    stood: Vec<Option<u64>>,
    /// Bytes of each core's text that were shown.
    shown: Vec<usize>,
    next: u32,
}

impl<'i> Debugger<'i> {
    /// A session about a call that was made ready.
    pub fn new(session: Session, images: &'i Images, sources: Sources) -> Debugger<'i> {
        let cores = session.cores().len();
        let tracks = (0..cores).map(|core| Track::new(&session, core)).collect();
        Debugger {
            session,
            programs: Programs::of(images),
            sources,
            tracks,
            stops: Vec::new(),
            current: 0,
            frame: 0,
            stops_on_finding: true,
            known: Vec::new(),
            output: Vec::new(),
            pauser: Arc::default(),
            stood: vec![None; cores],
            shown: vec![0; cores],
            next: 1,
        }
    }

    /// Lets another thread make the cores pause.
    pub fn pauser(&self) -> Arc<Pauser> {
        Arc::clone(&self.pauser)
    }

    /// Does something that takes long, and that may be paused.
    pub fn at_work<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        self.pauser.is_busy.store(true, Ordering::Relaxed);
        let result = act(self);
        self.pauser.is_busy.store(false, Ordering::Relaxed);
        self.pauser.forget();
        result
    }

    /// Whether somebody wants the cores to pause.
    pub(crate) fn is_paused(&self) -> bool {
        self.pauser.is_wanted.load(Ordering::Relaxed)
    }

    /// Whether to stop at what a run would report.
    pub fn stop_on_finding(&mut self, whether: bool) {
        self.stops_on_finding = whether;
    }

    /// Instructions that a core has executed.
    pub fn time(&self, core: usize) -> u64 {
        self.session.core(core).map_or(0, |core| core.time())
    }

    pub(crate) fn pc(&self, core: usize) -> u32 {
        self.session.core(core).map_or(0, |core| core.pc())
    }

    pub(crate) fn program(&self, core: usize) -> Option<&Program<'i>> {
        self.programs.get(core)
    }

    /// Where an address of a core is in the source.
    pub(crate) fn location(&self, core: usize, pc: u32) -> Location {
        self.program(core).map_or(Location { frames: Vec::new() }, |program| program.location(pc))
    }

    /// The stack of a core.
    pub fn levels(&mut self, core: usize) -> Vec<Level> {
        stack::levels(&mut self.session, core)
    }

    /// How a core's call ended, if it did.
    pub fn ended(&self, core: usize) -> Option<&Ended> {
        self.session.core(core).and_then(|core| core.ended())
    }

    /// Whether a core's call ended otherwise than by returning.
    pub(crate) fn has_failed(&self, core: usize) -> bool {
        self.ended(core).is_some_and(|ended| *ended != Ended::Returned(0))
    }

    /// Adds a breakpoint.
    ///
    /// # Errors
    /// [`DebugError::Place`] where there is no code.
    pub fn add(&mut self, what: What) -> Result<&mut Breakpoint, DebugError> {
        let mut line = None;
        let mut places: Vec<Vec<u32>> = Vec::new();
        for core in 0..self.tracks.len() {
            let program = self.program(core);
            places.push(match &what {
                What::Line(file, wanted) => {
                    let found = program.map(|program| program.line(file, *wanted)).unwrap_or_default();
                    line = found.first().map(|(_, line)| *line).or(line);
                    found.into_iter().map(|(at, _)| at).collect()
                }
                What::Function(name) => program.map(|program| program.function(name)).unwrap_or_default(),
                What::Address(at) => vec![*at],
                What::Bytes { .. } => Vec::new(),
            });
        }
        let id = self.next;
        let added = Breakpoint {
            id,
            what,
            hits: Hits::All,
            condition: None,
            message: None,
            is_once: false,
            is_enabled: true,
            places,
            line,
            count: 0,
        };
        if !matches!(added.what, What::Bytes { .. }) && added.places.iter().all(Vec::is_empty) {
            return Err(DebugError::Place { place: added.shown() });
        }
        self.next += 1;
        self.stops.push(added);
        let last = self.stops.len() - 1;
        Ok(&mut self.stops[last])
    }

    /// Takes a breakpoint away.
    ///
    /// # Errors
    /// [`DebugError::Breakpoint`].
    pub fn remove(&mut self, id: u32) -> Result<(), DebugError> {
        let position = self.stops.iter().position(|known| known.id == id);
        let position = position.ok_or_else(|| DebugError::Breakpoint { number: id.to_string() })?;
        self.stops.remove(position);
        Ok(())
    }

    /// What a core is to look out for, and which breakpoint each range is.
    pub(crate) fn lookout(&self, core: usize) -> (Lookout, Vec<u32>) {
        let mut lookout = Lookout { incidents: self.stops_on_finding, ..Lookout::default() };
        let mut ids = Vec::new();
        for known in self.stops.iter().filter(|known| known.is_enabled) {
            lookout.traps.extend(known.places.get(core).into_iter().flatten());
            if let What::Bytes { place, len, core: owner, reads, writes, .. } = known.what
                && owner.is_none_or(|owner| owner == core)
            {
                lookout.ranges.push(Range { place, len, reads, writes });
                ids.push(known.id);
            }
        }
        (lookout, ids)
    }

    /// Goes on until something is met. A place at which the core was found standing is left first.
    pub(crate) fn go(&mut self, core: usize, lookout: &Lookout, until: u64) -> Halt {
        let now = self.time(core);
        let Some(track) = self.tracks.get_mut(core) else { return Halt::Ended };
        if self.stood.get(core) == Some(&Some(now)) && now < until {
            let off = Lookout { traps: Default::default(), ..lookout.clone() };
            let halt = track.forward(&mut self.session, &off, now + 1, &self.pauser.is_wanted);
            if halt != Halt::Reached || now + 1 >= until {
                self.hear(core);
                return halt;
            }
        }
        let halt = track.forward(&mut self.session, lookout, until, &self.pauser.is_wanted);
        self.hear(core);
        halt
    }

    /// Marks that a core is known to stand where it is.
    pub(crate) fn stand(&mut self, core: usize) {
        let now = self.time(core);
        if let Some(stood) = self.stood.get_mut(core) {
            *stood = Some(now);
        }
    }

    /// Forgets where a core was known to stand.
    pub(crate) fn unstand(&mut self, core: usize) {
        if let Some(stood) = self.stood.get_mut(core) {
            *stood = None;
        }
    }

    /// Puts a core where it was at some time.
    pub(crate) fn put(&mut self, core: usize, time: u64) {
        if let Some(track) = self.tracks.get_mut(core) {
            track.go_to(&mut self.session, time);
        }
    }

    /// Puts a core where it was, or will be, at some time: so many instructions executed.
    pub fn travel(&mut self, core: usize, time: u64) {
        self.put(core, time);
    }

    /// All that makes a core's future; equal ones run on identically.
    pub fn picture(&mut self, core: usize) -> Vec<u8> {
        self.session.picture(core)
    }

    /// Changes something on a core.
    pub(crate) fn edit(&mut self, core: usize, edit: Edit) -> bool {
        self.tracks.get_mut(core).is_some_and(|track| track.edit(&mut self.session, edit))
    }

    /// Takes over what the program has printed.
    fn hear(&mut self, core: usize) {
        let Some(text) = self.session.core(core).map(|core| &core.text().bytes) else { return };
        let Some(shown) = self.shown.get_mut(core) else { return };
        if let Some(new) = text.get(*shown..).filter(|new| !new.is_empty()) {
            self.output.push(String::from_utf8_lossy(new).into_owned());
            *shown = text.len();
        }
    }

    /// What there is to be shown since the last time: printed by the program, written by breakpoints.
    pub fn take_output(&mut self) -> Vec<String> {
        std::mem::take(&mut self.output)
    }

    /// Puts all cores where they began.
    pub fn restart(&mut self) {
        for core in 0..self.tracks.len() {
            self.put(core, 0);
            self.unstand(core);
        }
        self.stops.iter_mut().for_each(|known| known.count = 0);
        self.known.clear();
        (self.current, self.frame) = (0, 0);
    }

    /// Lets all cores go on until one meets something.
    pub fn resume(&mut self) -> Stopped {
        let (cores, first) = (self.tracks.len(), self.current);
        let lookouts: Vec<_> = (0..cores).map(|core| self.lookout(core)).collect();
        loop {
            let mut is_alive = false;
            for core in (0..cores).map(|step| (first + step) % cores) {
                if self.ended(core).is_some() {
                    continue;
                }
                is_alive = true;
                let (lookout, ids) = &lookouts[core];
                let until = self.time(core) + TURN;
                while self.time(core) < until {
                    let halt = self.go(core, lookout, until);
                    if let Some(stopped) = self.judge(core, halt, ids) {
                        return self.stopped_on(core, stopped);
                    }
                    if self.ended(core).is_some() {
                        break;
                    }
                }
            }
            if !is_alive {
                return Stopped::End;
            }
        }
    }

    /// Notes on which core the session stopped.
    pub(crate) fn stopped_on(&mut self, core: usize, stopped: Stopped) -> Stopped {
        (self.current, self.frame) = (core, 0);
        if matches!(stopped, Stopped::Watch { .. } | Stopped::Finding(_) | Stopped::Paused) {
            // in the middle of the SDK the author's frame is what one wants to see
            let author = self.stack(core).iter().position(|found| !found.frame.is_runtime());
            self.frame = author.unwrap_or(0);
        }
        self.stand(core);
        stopped
    }

    /// Where the chosen frame is in the source, if its function is the running one or inlined there; else where the core is.
    pub(crate) fn chosen(&mut self, core: usize) -> Location {
        let frame = self.frame;
        let inlined =
            self.stack(core).get(frame).filter(|found| found.depth == 0).map_or(0, |found| found.inlined);
        let mut location = self.location(core, self.pc(core));
        location.frames.drain(..inlined.min(location.frames.len()));
        location
    }
}
