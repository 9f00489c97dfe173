//! Locations of the debug information, evaluated to places.
//!
//! Unaware of whose they are. What a location says of registers is trusted as far as the function's code bears it out.

use crate::entries::{Id, Reader};
use crate::error::Absence;
use crate::stop::{From, Part, Spot, Stop};

/// Operations that one location may take.
const MAX_OPERATIONS: u32 = 1000;

/// Where a location is said to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// From one address to another, the frame's between them.
    Within(u32, u32),
    /// Everywhere in the scope, which is not so of registers.
    Everywhere,
}

impl Stop<'_> {
    /// Evaluates a location of an entry; `base` gives the frame base.
    pub(crate) fn locate(
        &self,
        id: Id,
        (expression, holds): (gimli::Expression<Reader>, Holds),
        size: Option<u32>,
        base: &dyn Fn() -> Result<u32, Absence>,
    ) -> Result<Spot, Absence> {
        use gimli::EvaluationResult as Needs;
        let damaged = |error: gimli::Error| Absence::Unsupported(error.to_string());
        let foreign = |what: &str| Err(Absence::Unsupported(what.to_owned()));
        let mut evaluation = expression.evaluation(self.entries.unit(id).encoding());
        evaluation.set_max_iterations(MAX_OPERATIONS);
        let mut needs = evaluation.evaluate().map_err(damaged)?;
        loop {
            if !self.spend(1) {
                return foreign("a location takes too many steps");
            }
            needs = match needs {
                Needs::Complete => break,
                Needs::RequiresMemory { address, size, space: None, base_type } => {
                    let mut word = [0; 8];
                    let part = word.get_mut(..usize::from(size)).unwrap_or_default();
                    self.memory(address as u32, part)?;
                    let value = self.typed(id, base_type, u64::from_le_bytes(word))?;
                    evaluation.resume_with_memory(value)
                }
                Needs::RequiresRegister { register, base_type } => {
                    let number = u8::try_from(register.0).ok().filter(|number| *number < 16);
                    let Some(number) = number else { return foreign("a register that is not seen here") };
                    self.trusted(number, holds)?;
                    let value = self.typed(id, base_type, self.register(number)?.into())?;
                    if value.value_type().bit_size(u32::MAX.into()) > 32 {
                        return foreign("a register with its neighbour");
                    }
                    evaluation.resume_with_register(value)
                }
                Needs::RequiresFrameBase => evaluation.resume_with_frame_base(base()?.into()),
                Needs::RequiresCallFrameCfa => evaluation.resume_with_call_frame_cfa(self.cfa()?.into()),
                // what the linker dropped has the address 0
                Needs::RequiresRelocatedAddress(0) => return Err(Absence::OptimisedAway),
                Needs::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address((address as u32).wrapping_add(self.shift).into())
                }
                Needs::RequiresBaseType(offset) => match self.value_type(id, offset)? {
                    // gimli 0.34 takes a negative integer for a large one there
                    gimli::ValueType::F32 | gimli::ValueType::F64 => {
                        return foreign("an integer that has become a floating-point number");
                    }
                    kind => evaluation.resume_with_base_type(kind),
                },
                // what a register held when the function was called: nobody kept it
                Needs::RequiresEntryValue(_) | Needs::RequiresParameterRef(_) => {
                    return Err(Absence::OptimisedAway);
                }
                _ => return foreign("an operation that kernels do not have"),
            }
            .map_err(damaged)?;
        }
        self.placed(evaluation.result(), size, holds)
    }

    /// Refuses a register that may hold something else by now.
    fn trusted(&self, number: u8, holds: Holds) -> Result<(), Absence> {
        match holds != Holds::Everywhere || self.is_kept(number) {
            true => Ok(()),
            false => Err(Absence::OptimisedAway),
        }
    }

    /// The same for a register that holds the second half of a value.
    fn trusted_second(&self, number: u8, holds: Holds) -> Result<(), Absence> {
        match holds {
            Holds::Within(start, end) if !self.is_kept_within(number, start, end) => {
                Err(Absence::OptimisedAway)
            }
            _ => self.trusted(number, holds),
        }
    }

    /// A word as the type that the debug information gives it.
    fn typed(&self, id: Id, base: gimli::UnitOffset, word: u64) -> Result<gimli::Value, Absence> {
        use gimli::{Value, ValueType};
        let kind = match base.0 {
            0 => ValueType::Generic,
            _ => self.value_type(id, base)?,
        };
        match kind {
            ValueType::F32 => Ok(Value::F32(f32::from_bits(word as u32))),
            ValueType::F64 => Ok(Value::F64(f64::from_bits(word))),
            _ => Value::from_u64(kind, word).map_err(|error| Absence::Unsupported(error.to_string())),
        }
    }

    fn value_type(&self, id: Id, base: gimli::UnitOffset) -> Result<gimli::ValueType, Absence> {
        let found = self.entries.at_unit(id, base).and_then(|base| {
            let bytes = self.entries.number(base, gimli::DW_AT_byte_size)?;
            match self.entries.attribute(base, gimli::DW_AT_encoding)? {
                gimli::AttributeValue::Encoding(encoding) => gimli::ValueType::from_encoding(encoding, bytes),
                _ => None,
            }
        });
        found.ok_or_else(|| Absence::Unsupported("a type of no numbers".to_owned()))
    }

    /// What an evaluation found, as a place for a value of `size` bytes.
    fn placed(
        &self,
        pieces: Vec<gimli::Piece<Reader>>,
        size: Option<u32>,
        holds: Holds,
    ) -> Result<Spot, Absence> {
        if let [piece] = pieces.as_slice()
            && piece.size_in_bits.is_none()
        {
            match piece.location {
                gimli::Location::Address { address } => return Ok(Spot::Memory(address as u32)),
                gimli::Location::ImplicitPointer { value, byte_offset } => {
                    let target = self.entries.at_section(value).ok_or(Absence::OptimisedAway)?;
                    return Ok(Spot::Implicit { target, offset: byte_offset });
                }
                gimli::Location::Empty => return Err(Absence::OptimisedAway),
                _ => {}
            }
        }
        if pieces.is_empty() {
            return Err(Absence::OptimisedAway);
        }
        let mut parts: Vec<Part> = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let bits = piece.size_in_bits;
            let bytes = bits.and_then(|bits| u32::try_from(bits / 8).ok());
            if bits.is_some_and(|bits| bits % 8 != 0) || piece.bit_offset.unwrap_or(0) != 0 {
                return Err(Absence::Unsupported("a value in odd bits".to_owned()));
            }
            let (natural, from) = match piece.location {
                gimli::Location::Address { address } => (u32::MAX, From::Memory(address as u32)),
                gimli::Location::Register { register } => match u8::try_from(register.0) {
                    Ok(number) if number < 16 => {
                        let is_second = match parts.last() {
                            Some(Part { from: From::Register(first), .. }) => *first + 1 == number,
                            _ => false,
                        };
                        let trusted = match is_second {
                            true => self.trusted_second(number, holds),
                            false => self.trusted(number, holds),
                        };
                        (4, trusted.map_or_else(From::Nowhere, |()| From::Register(number)))
                    }
                    _ => (4, From::Nowhere(Absence::Unsupported("a register that is not seen here".into()))),
                },
                gimli::Location::Value { value } => {
                    let bits = value.value_type().bit_size(u32::MAX.into());
                    let word = match value {
                        gimli::Value::F32(value) => value.to_bits().into(),
                        gimli::Value::F64(value) => value.to_bits(),
                        value => value.to_u64(u64::MAX).map_err(|e| Absence::Unsupported(e.to_string()))?,
                    };
                    (bits / 8, From::Bytes(word.to_le_bytes()[..].into()))
                }
                gimli::Location::Bytes { value } => {
                    let bytes = value.bytes();
                    (bytes.len() as u32, From::Bytes(bytes.into()))
                }
                gimli::Location::Empty | gimli::Location::ImplicitPointer { .. } => {
                    (u32::MAX, From::Nowhere(Absence::OptimisedAway))
                }
            };
            let size = bytes.unwrap_or(natural);
            if size > natural {
                return Err(Absence::Unsupported("a part is larger than its place".to_owned()));
            }
            parts.push(Part { size, from });
        }
        let whole: u64 = parts.iter().map(|part| u64::from(part.size)).sum();
        match size {
            Some(size) if whole < size.into() => {
                Err(Absence::Unsupported("the value is larger than its place".to_owned()))
            }
            _ => Ok(Spot::Parts { parts: parts.into(), offset: 0 }),
        }
    }
}
