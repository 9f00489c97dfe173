//! One question about one stopped frame: its memory, its registers, its frame base, within a fixed number of steps.
//!
//! Unaware of variables and types. Facts: in the windowed ABI `entry` turns the window and makes the frame, so that on the
//! instruction itself the registers are still the caller's; GCC says from where on the frame address holds.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use gimli::UnwindSection as _;

use crate::entries::{Entries, Id};
use crate::error::Absence;
use crate::inspect::Inspect;
use crate::registers::Written;

/// Steps that one question may take: entries looked at, and bytes read.
pub(crate) const MAX_STEPS: usize = 1 << 20;

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

    pub(crate) fn memory(&self, address: u32, into: &mut [u8]) -> Result<(), Absence> {
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
}

/// Copies from a part, of which `skip` bytes do not count.
fn copy(from: &[u8], skip: u32, into: &mut [u8]) -> Result<(), Absence> {
    let bytes = from.get(skip as usize..).and_then(|rest| rest.get(..into.len()));
    into.copy_from_slice(bytes.ok_or_else(|| Absence::Unsupported("a short constant".to_owned()))?);
    Ok(())
}
