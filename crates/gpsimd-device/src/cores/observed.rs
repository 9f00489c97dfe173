//! A core's bus under observation: places of the program and bytes of memory at which a run is to stop.
//!
//! A place is shown to the core as an illegal instruction, which it never completes; an access to watched bytes is refused
//! once. The bus behind knows of neither, and runs that nobody observes pay nothing. Unaware of why somebody looks.

use std::collections::BTreeSet;

use xtensa_iss::{At, BusFault, FETCH_BYTES, Undefined, Use};

use crate::cores::bus::{Bus, Place};

/// What an observed bus says to an access of watched bytes, or to one that may set off a transfer.
pub(crate) const TOUCH: BusFault = BusFault::Device(1);

/// What a run is to stop at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookout {
    /// Instructions that are not to be executed.
    pub traps: BTreeSet<u32>,
    /// Bytes that are watched.
    pub ranges: Vec<Range>,
    /// Whether anything that a run would report is one.
    pub incidents: bool,
}

/// Bytes that are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub place: Place,
    /// How many.
    pub len: usize,
    /// Whether reading them counts.
    pub reads: bool,
    /// Whether writing them counts.
    pub writes: bool,
}

impl Range {
    /// Whether an access of these bytes is one of the range's.
    fn is_hit(&self, place: Place, len: usize, write: bool) -> bool {
        let counts = if write { self.writes } else { self.reads };
        counts
            && line(self.place).zip(line(place)).is_some_and(|((memory, first), (other, at))| {
                memory == other && first < at + len && at < first + self.len
            })
    }
}

/// A memory's number, and an offset in it.
fn line(place: Place) -> Option<((u8, usize), usize)> {
    match place {
        Place::Tensor(region, offset) => Some(((0, region), offset)),
        Place::Image(offset) => Some(((1, 0), offset)),
        Place::Scratch(offset) => Some(((2, 0), offset)),
        Place::Dataram(offset) => Some(((3, 0), offset)),
        Place::Apb(_) | Place::Nowhere => None,
    }
}

/// A bus, and what is looked out for.
pub(crate) struct Observed<'o, 'a> {
    pub bus: &'o mut Bus<'a>,
    pub lookout: &'o Lookout,
    /// The ranges that the refused access is one of.
    pub hits: &'o mut Vec<usize>,
}

impl Observed<'_, '_> {
    /// Refuses an access that somebody waits for.
    #[inline(always)]
    fn look(&mut self, addr: u32, len: usize, write: bool) -> Result<(), BusFault> {
        if self.lookout.ranges.is_empty() { Ok(()) } else { self.look_closely(addr, len, write) }
    }

    fn look_closely(&mut self, addr: u32, len: usize, write: bool) -> Result<(), BusFault> {
        let place = self.bus.place(addr).unwrap_or(Place::Nowhere);
        let ranges = self.lookout.ranges.iter().enumerate();
        self.hits.clear();
        self.hits.extend(ranges.filter(|(_, range)| range.is_hit(place, len, write)).map(|(index, _)| index));
        let transfers = write && matches!(place, Place::Apb(_));
        if transfers || !self.hits.is_empty() { Err(TOUCH) } else { Ok(()) }
    }
}

impl xtensa_iss::Bus for Observed<'_, '_> {
    fn load8(&mut self, at: At, addr: u32) -> Result<u8, BusFault> {
        self.look(addr, 1, false)?;
        self.bus.load8(at, addr)
    }
    fn load16(&mut self, at: At, addr: u32) -> Result<u16, BusFault> {
        self.look(addr, 2, false)?;
        self.bus.load16(at, addr)
    }
    fn load32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.look(addr, 4, false)?;
        self.bus.load32(at, addr)
    }
    fn store8(&mut self, at: At, addr: u32, value: u8) -> Result<(), BusFault> {
        self.look(addr, 1, true)?;
        self.bus.store8(at, addr, value)
    }
    fn store16(&mut self, at: At, addr: u32, value: u16) -> Result<(), BusFault> {
        self.look(addr, 2, true)?;
        self.bus.store16(at, addr, value)
    }
    fn store32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.look(addr, 4, true)?;
        self.bus.store32(at, addr, value)
    }

    fn literal32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.bus.literal32(at, addr)
    }
    // a window that moves to or from the stack is not the program's access
    fn spill32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.bus.spill32(at, addr, value)
    }
    fn fill32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.bus.fill32(at, addr)
    }

    fn fetch(&mut self, addr: u32, into: &mut [u8; FETCH_BYTES]) -> Result<usize, BusFault> {
        /// ILL.
        const ILLEGAL: [u8; 3] = [0; 3];
        let valid = self.bus.fetch(addr, into)?;
        if self.lookout.traps.contains(&addr) {
            into[..ILLEGAL.len()].copy_from_slice(&ILLEGAL);
            return Ok(valid.max(ILLEGAL.len()));
        }
        Ok(valid)
    }

    fn track(&mut self, on: bool) {
        self.bus.track(on);
    }
    fn undefined(&mut self, addr: u32, size: u8) -> Undefined {
        self.bus.undefined(addr, size)
    }
    fn set_undefined(&mut self, addr: u32, size: u8, undefined: Undefined) {
        self.bus.set_undefined(addr, size, undefined);
    }
    fn use_undefined(&mut self, at: At, what: Use, undefined: Undefined) -> Result<(), BusFault> {
        self.bus.use_undefined(at, what, undefined)
    }
    fn frame_left(&mut self, from: u32, to: u32) {
        self.bus.frame_left(from, to);
    }
}
