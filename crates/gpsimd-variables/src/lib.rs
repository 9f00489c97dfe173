#![doc = include_str!("../README.md")]

mod entries;
mod error;
mod expression;
#[doc(hidden)]
pub mod fuzz;
mod inspect;
mod locations;
mod numbers;
mod objects;
mod printers;
mod registers;
mod scopes;
mod spelling;
mod stop;
mod types;
mod units;
mod values;

use gpsimd_image::ElfFile;

use entries::Entries;
use expression::Evaluator;
use stop::Stop;

pub use error::{Absence, Error, EvaluateError};
pub use inspect::Inspect;
pub use scopes::{Inlined, Scopes};
pub use values::{Value, Variable};

/// An address, and which of the functions there is meant: 0 is the innermost of [`Program::inlined_at`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct At {
    /// Address of the instruction that runs next; in a caller, one inside the call.
    pub pc: u32,
    /// Functions to go outwards.
    pub level: usize,
}

impl From<u32> for At {
    fn from(pc: u32) -> At {
        At { pc, level: 0 }
    }
}

impl From<(u32, usize)> for At {
    fn from((pc, level): (u32, usize)) -> At {
        At { pc, level }
    }
}

/// The debug information of one image.
pub struct Program {
    entries: Entries,
    shift: u32,
}

impl Program {
    /// Reads a linked image that was not stripped.
    ///
    /// # Errors
    /// The image has no debug information, or its debug information cannot be read.
    pub fn parse(image: &[u8]) -> Result<Program, Error> {
        let elf = ElfFile::without_symbols(image)?;
        if elf.section_data(".debug_info").is_empty() {
            return Err(Error::None);
        }
        let section =
            |name: &str| gimli::EndianArcSlice::new(elf.section_data(name).into(), gimli::LittleEndian);
        let text = elf.sections.iter().filter(|section| section.is_code() && section.is_alloc());
        let text = text.map(|section| (section.addr, section.data.into())).collect();
        Ok(Program { entries: Entries::read(image.len(), section, text)?, shift: 0 })
    }

    /// The same for code that was moved up by `shift` bytes (modulo 2^32) after the link.
    pub fn moved_by(self, shift: u32) -> Program {
        Program { shift, ..self }
    }

    /// The functions of an address: those inlined there, innermost first, then the one that has the code. Empty where
    /// nothing is known.
    pub fn inlined_at(&self, pc: u32) -> Vec<Inlined> {
        self.entries.inlined(pc.wrapping_sub(self.shift))
    }

    /// The variables in scope.
    pub fn scopes(&self, at: impl Into<At>, frame: &dyn Inspect) -> Scopes {
        let evaluator = self.evaluator(at.into(), frame);
        evaluator.nest.as_ref().map(|nest| evaluator.stop.scopes(nest)).unwrap_or_default()
    }

    /// What an expression holds: names, members, `->`, indices, casts, arithmetic, comparisons, `&& || ! ?:`, registers as
    /// `$a2`. Elements of tensors and accessors have indices as in the kernel.
    ///
    /// # Errors
    /// The expression is not understood, names what is not there, or cannot be told.
    pub fn evaluate(
        &self,
        expression: &str,
        at: impl Into<At>,
        frame: &dyn Inspect,
    ) -> Result<Value, EvaluateError> {
        let evaluator = self.evaluator(at.into(), frame);
        let tree = expression::parse(expression, &|name| evaluator.type_named(name))?;
        let object = evaluator.object(&tree)?;
        let value = evaluator.stop.value(object, false);
        match value.absent {
            Some(why) => Err(EvaluateError::Absent { what: expression.to_owned(), why }),
            None => Ok(value),
        }
    }

    /// Children `start..start + count` of a value. `path` is an expression for the value, and gives theirs.
    pub fn children(
        &self,
        of: &Value,
        path: Option<&str>,
        at: impl Into<At>,
        frame: &dyn Inspect,
        start: u64,
        count: usize,
    ) -> Vec<Variable> {
        self.stop(at.into(), frame).some_children(of, path, start, count)
    }

    /// Writes the value of one expression to the place of another, and returns what is there then.
    ///
    /// # Errors
    /// As [`Program::evaluate`]; and the place is none that a number can be written to.
    pub fn set(
        &self,
        place: &str,
        value: &str,
        at: impl Into<At>,
        frame: &mut dyn Inspect,
    ) -> Result<Value, EvaluateError> {
        let at = at.into();
        let writes = {
            let evaluator = self.evaluator(at, frame);
            let known = |name: &str| evaluator.type_named(name);
            evaluator.writes(&expression::parse(place, &known)?, &expression::parse(value, &known)?)?
        };
        if !writes.iter().all(|write| write.apply(frame)) {
            let why = "the memory or register cannot be written".to_owned();
            return Err(EvaluateError::Fixed { what: place.to_owned(), why });
        }
        self.evaluate(place, at, frame)
    }

    fn stop<'a>(&'a self, at: At, frame: &'a dyn Inspect) -> Stop<'a> {
        Stop::new(&self.entries, self.shift, at.pc, frame)
    }

    fn evaluator<'a>(&'a self, at: At, frame: &'a dyn Inspect) -> Evaluator<'a> {
        let stop = self.stop(at, frame);
        let nest = self.entries.nests(stop.pc).into_iter().nth(at.level);
        Evaluator { stop, nest }
    }
}

impl Value {
    /// As a condition counts it: anything but zero; true for what has no number.
    pub fn is_true(&self) -> bool {
        self.truth
    }
}
