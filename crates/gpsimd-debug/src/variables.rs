//! Variables and expressions at a frame of a core, and what is written through them.
//!
//! Shows a core to [`gpsimd_variables`] as a frame with memory and registers. Unaware of DWARF and of how values look.

use std::cell::RefCell;

use gpsimd_device::Session;
use gpsimd_device::cores::bus::Place;
use gpsimd_device::explain::symbols::Frame;
use gpsimd_variables::{At, Inspect, Scopes, Value, Variable};

use crate::engine::Debugger;
use crate::error::DebugError;
use crate::program::Programs;
use crate::stack::Level;
use crate::track::{Edit, Track};

/// A frame, with a name and a line; inlined functions have some of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Framed {
    /// The function that has the frame's registers.
    pub level: Level,
    /// How many calls it is from the running function.
    pub depth: usize,
    /// Its name and line.
    pub frame: Frame,
    /// The address that names and lines are those of: in callers inside the call.
    pub pc: u32,
    /// Functions inlined there that are further in.
    pub inlined: usize,
}

/// A frame as variables are read from it.
struct Seen<'s> {
    session: RefCell<&'s mut Session>,
    track: &'s mut Track,
    core: usize,
    /// Whether it is the running function's.
    is_running: bool,
    registers: [Option<u32>; 16],
}

impl Seen<'_> {
    fn read(&self, place: Place, into: &mut [u8]) -> bool {
        let bytes = self.session.borrow_mut().read(self.core, place, into.len());
        let fits = bytes.data.len() == into.len();
        if fits {
            into.copy_from_slice(&bytes.data);
        }
        fits
    }

    fn write(&mut self, place: Place, bytes: &[u8]) -> bool {
        self.track.edit(self.session.get_mut(), Edit::Memory(place, bytes.to_vec()))
    }
}

impl Inspect for Seen<'_> {
    fn memory(&self, address: u32, into: &mut [u8]) -> bool {
        let place = self.session.borrow_mut().place(self.core, address);
        self.read(place, into)
    }

    fn register(&self, number: u8) -> Option<u32> {
        self.registers.get(usize::from(number)).copied().flatten()
    }

    fn device_memory(&self, address: u64, into: &mut [u8]) -> bool {
        let place = self.session.borrow_mut().device_place(self.core, address);
        self.read(place, into)
    }

    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> bool {
        let place = self.session.get_mut().place(self.core, address);
        self.write(place, bytes)
    }

    fn write_register(&mut self, number: u8, value: u32) -> bool {
        let is_done =
            self.is_running && self.track.edit(self.session.get_mut(), Edit::Register(number, value));
        if let Some(register) = self.registers.get_mut(usize::from(number)).filter(|_| is_done) {
            *register = Some(value);
        }
        is_done
    }

    fn write_device_memory(&mut self, address: u64, bytes: &[u8]) -> bool {
        let place = self.session.get_mut().device_place(self.core, address);
        self.write(place, bytes)
    }
}

impl<'i> Debugger<'i> {
    /// The frames of a core, inlined ones among them, innermost first.
    pub fn stack(&mut self, core: usize) -> Vec<Framed> {
        let mut stack = Vec::new();
        for (depth, level) in self.levels(core).into_iter().enumerate() {
            // a return address stands for the call before it
            let pc = if depth == 0 { level.pc } else { level.pc.wrapping_sub(1) };
            let mut frames = self.location(core, pc).frames;
            if frames.is_empty() && depth > 0 {
                // whoever called the library is the device's
                break;
            }
            if frames.is_empty() {
                frames.push(Frame {
                    function: String::new(),
                    file: String::new(),
                    line: 0,
                    column: 0,
                    inlined: false,
                });
            }
            for (inlined, frame) in frames.into_iter().enumerate() {
                stack.push(Framed { level: level.clone(), depth, frame, pc, inlined });
            }
        }
        stack
    }

    /// Does something with what the image tells of variables and a frame.
    fn seen<R>(
        &mut self,
        (core, frame): (usize, usize),
        act: impl FnOnce(&gpsimd_variables::Program, At, &mut Seen<'_>) -> R,
    ) -> Result<R, DebugError> {
        let missing = || DebugError::Frame { number: frame.to_string() };
        let Framed { level, depth, pc, inlined, .. } =
            self.stack(core).into_iter().nth(frame).ok_or_else(missing)?;
        let programs: &Programs<'i> = &self.programs;
        let variables = programs.get(core).ok_or_else(missing)?.variables()?;
        let track = self.tracks.get_mut(core).ok_or_else(missing)?;
        let mut seen = Seen {
            session: RefCell::new(&mut self.session),
            track,
            core,
            is_running: depth == 0,
            registers: level.registers,
        };
        Ok(act(variables, At { pc, level: inlined }, &mut seen))
    }

    /// What an expression holds at a frame of a core.
    ///
    /// # Errors
    /// [`DebugError`]: it is not understood, or cannot be told.
    pub fn evaluate(&mut self, at: (usize, usize), expression: &str) -> Result<Value, DebugError> {
        Ok(self.seen(at, |program, place, seen| program.evaluate(expression, place, seen))??)
    }

    /// The variables of a frame of a core.
    ///
    /// # Errors
    /// [`DebugError`]: there is no such frame, or nothing is known of variables.
    pub fn scopes(&mut self, at: (usize, usize)) -> Result<Scopes, DebugError> {
        self.seen(at, |program, place, seen| program.scopes(place, seen))
    }

    /// Children of a value.
    ///
    /// # Errors
    /// As [`Debugger::scopes`].
    pub fn children(
        &mut self,
        at: (usize, usize),
        (value, path): (&Value, Option<&str>),
        start: u64,
        count: usize,
    ) -> Result<Vec<Variable>, DebugError> {
        self.seen(at, |program, place, seen| program.children(value, path, place, seen, start, count))
    }

    /// Gives what one expression names the value of another; what it holds then.
    ///
    /// # Errors
    /// As [`Debugger::evaluate`]; or it cannot be written.
    pub fn assign(&mut self, at: (usize, usize), place: &str, value: &str) -> Result<Value, DebugError> {
        Ok(self.seen(at, |program, pc, seen| program.set(place, value, pc, seen))??)
    }

    /// A message with what its `{x}` hold.
    pub(crate) fn filled(&mut self, at: (usize, usize), message: &str) -> String {
        let mut text = String::new();
        let mut rest = message;
        while let Some((before, (expression, behind))) =
            rest.split_once('{').and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
        {
            text += before;
            text += &match self.evaluate(at, expression) {
                Ok(value) => value.summary,
                Err(error) => format!("<{error}>"),
            };
            rest = behind;
        }
        text + rest
    }
}
