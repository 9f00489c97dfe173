//! One question about one stopped frame: its memory, its registers, its frame base, within a fixed number of steps.
//!
//! Unaware of variables and types. Facts: in the windowed ABI `entry` turns the window and makes the frame, so that on the
//! instruction itself the registers are still the caller's; GCC says from where on the frame address holds.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use gimli::UnwindSection as _;

use crate::entries::{Entries, Id, Reader};
use crate::error::Absence;
use crate::inspect::Inspect;
use crate::registers::Written;

/// Steps that one question may take: entries looked at, and bytes read.
pub(crate) const MAX_STEPS: usize = 1 << 20;

/// Operations that one location may take.
const MAX_OPERATIONS: u32 = 1000;

/// Where a value lies.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Spot {
    /// Memory as the core sees it.
    Memory(u32),
    /// Device memory.
    Device(u64),
    /// Registers, constants and scattered memory, from a byte of them on.
    Parts { parts: Arc<[Part]>, offset: u32 },
    /// A pointer that the compiler dropped; what it points at is known.
    Implicit { target: Id, offset: i64 },
    /// Nowhere that can be told.
    Absent(Absence),
}

/// Some bytes of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) size: u32,
    pub(crate) from: From,
}

/// What the bytes of a part come from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum From {
    Memory(u32),
    /// The low bytes of a register.
    Register(u8),
    Bytes(Arc<[u8]>),
    Nowhere(Absence),
}

impl Spot {
    /// Bytes that lie nowhere in the program.
    pub(crate) fn bytes(bytes: &[u8]) -> Spot {
        let part = Part { size: bytes.len() as u32, from: From::Bytes(bytes.into()) };
        Spot::Parts { parts: [part].into(), offset: 0 }
    }

    /// The place some bytes further on.
    pub(crate) fn plus(&self, bytes: u32) -> Spot {
        match self {
            Spot::Memory(address) => Spot::Memory(address.wrapping_add(bytes)),
            Spot::Device(address) => Spot::Device(address.wrapping_add(bytes.into())),
            Spot::Parts { parts, offset } => {
                Spot::Parts { parts: Arc::clone(parts), offset: offset.saturating_add(bytes) }
            }
            Spot::Implicit { .. } if bytes > 0 => Spot::Absent(Absence::OptimisedAway),
            other => other.clone(),
        }
    }
}

/// Where a location is said to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// From one address to another, the frame's between them.
    Within(u32, u32),
    /// Everywhere in the scope, which is not so of registers.
    Everywhere,
}

/// A stopped frame under a question.
pub(crate) struct Stop<'a> {
    pub(crate) entries: &'a Entries,
    /// What the loader added to addresses of the link.
    pub(crate) shift: u32,
    /// Where the frame is, as the link has it.
    pub(crate) pc: u32,
    pub(crate) frame: &'a dyn Inspect,
    fuel: Cell<usize>,
    cfa: OnceCell<Result<u32, Absence>>,
    body: OnceCell<u32>,
    pub(crate) writes: OnceCell<Option<Vec<Written>>>,
}

impl<'a> Stop<'a> {
    pub(crate) fn new(entries: &'a Entries, shift: u32, pc: u32, frame: &'a dyn Inspect) -> Self {
        Stop {
            entries,
            shift,
            pc: pc.wrapping_sub(shift),
            frame,
            fuel: Cell::new(MAX_STEPS),
            cfa: OnceCell::new(),
            body: OnceCell::new(),
            writes: OnceCell::new(),
        }
    }

    /// Pays for some steps; false when there are none left.
    pub(crate) fn spend(&self, steps: usize) -> bool {
        let left = self.fuel.get().checked_sub(steps);
        self.fuel.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Reads a value's bytes.
    pub(crate) fn read(&self, spot: &Spot, len: u32) -> Result<Vec<u8>, Absence> {
        if !self.spend(len as usize + 1) {
            return Err(Absence::Unsupported("the value is too large".to_owned()));
        }
        let mut bytes = vec![0; len as usize];
        match spot {
            Spot::Memory(address) => {
                self.memory(*address, &mut bytes)?;
                if !self.frame.is_set(*address, len) {
                    return Err(Absence::NotSet);
                }
            }
            Spot::Device(address) => {
                if !self.frame.device_memory(*address, &mut bytes) {
                    return Err(Absence::Unreadable(format!("device memory at {address:#x}")));
                }
            }
            Spot::Parts { parts, offset } => self.gather(parts, *offset, &mut bytes)?,
            Spot::Implicit { .. } => return Err(Absence::OptimisedAway),
            Spot::Absent(why) => return Err(why.clone()),
        }
        Ok(bytes)
    }

    fn memory(&self, address: u32, into: &mut [u8]) -> Result<(), Absence> {
        match self.frame.memory(address, into) {
            true => Ok(()),
            false => Err(Absence::Unreadable(format!("memory at {address:#010x}"))),
        }
    }

    fn gather(&self, parts: &[Part], offset: u32, into: &mut [u8]) -> Result<(), Absence> {
        let (mut skip, mut rest) = (offset, into);
        for part in parts {
            if rest.is_empty() {
                break;
            }
            if skip >= part.size {
                skip -= part.size;
                continue;
            }
            let len = ((part.size - skip) as usize).min(rest.len());
            let (now, later) = rest.split_at_mut(len);
            match &part.from {
                From::Memory(address) => self.memory(address.wrapping_add(skip), now)?,
                From::Register(number) => copy(&self.register(*number)?.to_le_bytes(), skip, now)?,
                From::Bytes(bytes) => copy(bytes, skip, now)?,
                From::Nowhere(why) => return Err(why.clone()),
            }
            (skip, rest) = (0, later);
        }
        match rest.is_empty() {
            true => Ok(()),
            false => Err(Absence::Unsupported("the value is larger than its place".to_owned())),
        }
    }

    /// A register of the frame.
    pub(crate) fn register(&self, number: u8) -> Result<u32, Absence> {
        if self.is_at_entry() {
            return Err(Absence::NotYet);
        }
        self.frame.register(number).ok_or_else(|| Absence::Unreadable(format!("register a{number}")))
    }

    /// The function that the frame is of.
    pub(crate) fn function(&self) -> Option<Id> {
        self.entries.function(self.pc)
    }

    fn is_at_entry(&self) -> bool {
        self.entries.begins(self.pc)
    }

    /// The caller's stack pointer.
    pub(crate) fn cfa(&self) -> Result<u32, Absence> {
        self.cfa.get_or_init(|| self.find_cfa()).clone()
    }

    fn find_cfa(&self) -> Result<u32, Absence> {
        let unknown = |error: gimli::Error| Absence::Unsupported(error.to_string());
        let (frames, bases) = (&self.entries.frames, gimli::BaseAddresses::default());
        let mut context = gimli::UnwindContext::new();
        let fde = frames
            .fde_for_address(&bases, self.pc.into(), gimli::DebugFrame::cie_from_offset)
            .map_err(unknown)?;
        let row =
            fde.unwind_info_for_address(frames, &bases, &mut context, self.pc.into()).map_err(unknown)?;
        // the first row is that of the instruction `entry`, but reaches until the frame pointer is set
        if row.start_address() == fde.initial_address() {
            return Err(Absence::NotYet);
        }
        match row.cfa() {
            gimli::CfaRule::RegisterAndOffset { register, offset } => {
                let number = u8::try_from(register.0).ok().filter(|number| *number < 16);
                let number = number.ok_or_else(|| Absence::Unsupported(format!("{register:?}")))?;
                Ok(self.register(number)?.wrapping_add(*offset as u32))
            }
            gimli::CfaRule::Expression(_) => Err(Absence::Unsupported("a computed frame address".to_owned())),
        }
    }

    /// Whether the frame has not yet stored its arguments: before the second row of its function's lines.
    pub(crate) fn is_in_prologue(&self) -> bool {
        self.pc < *self.body.get_or_init(|| self.find_body().unwrap_or(0))
    }

    fn find_body(&self) -> Option<u32> {
        let function = self.function()?;
        let start = self.entries.low_pc(function)?;
        let gimli::AttributeValue::DebugLineRef(lines) =
            self.entries.attribute(self.entries.root(function), gimli::DW_AT_stmt_list)?
        else {
            return None;
        };
        let program = self.entries.dwarf.debug_line.program(lines, 4, None, None).ok()?;
        let (mut rows, mut begun) = (program.rows(), false);
        while let Ok(Some((_, row))) = rows.next_row() {
            if !self.spend(1) || (begun && row.end_sequence()) {
                return None;
            }
            let address = row.address() as u32;
            if begun && address > start {
                return Some(address);
            }
            begun |= address == start;
        }
        None
    }

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
                Needs::RequiresBaseType(offset) => {
                    evaluation.resume_with_base_type(self.value_type(id, offset)?)
                }
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

/// Copies from a part, of which `skip` bytes do not count.
fn copy(from: &[u8], skip: u32, into: &mut [u8]) -> Result<(), Absence> {
    let bytes = from.get(skip as usize..).and_then(|rest| rest.get(..into.len()));
    into.copy_from_slice(bytes.ok_or_else(|| Absence::Unsupported("a short constant".to_owned()))?);
    Ok(())
}
