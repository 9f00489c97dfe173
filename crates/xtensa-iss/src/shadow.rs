//! Definedness of the registers: which bits hold no value, and where that came from.
//!
//! Unaware of instructions. Address registers are kept by their physical place, so that a turn of the window moves nothing.

use crate::bus::Undefined;
use crate::state::PHYSICAL_REGISTERS;

const FLOATS: usize = PHYSICAL_REGISTERS;
const BOOLEANS: usize = FLOATS + 16;
/// The shift amount.
pub(crate) const SAR: usize = BOOLEANS + 16;

/// A set of registers, a bit each.
pub(crate) type Places = u128;
const _: () = assert!(SAR < Places::BITS as usize && PHYSICAL_REGISTERS == u64::BITS as usize);

/// Undefined bits of every register that a program computes with.
#[derive(Debug, Clone)]
pub(crate) struct Shadow {
    /// Whether the core tracks them.
    pub tracking: bool,
    registers: [Undefined; SAR + 1],
    /// Those that have undefined bits.
    undefined: Places,
    /// The last register that holds undefined bits of another under a mask, as long as both do.
    masked: Option<Masked>,
    /// What a function left where results are, and the instructions until that is nobody's.
    left: ([(usize, Undefined); 4], u32),
}

/// What `and` made of a register with undefined bits.
#[derive(Debug, Clone, Copy)]
struct Masked {
    result: usize,
    of: usize,
    mask: u32,
}

impl Masked {
    fn is_about(&self, place: usize) -> bool {
        place == self.result || place == self.of
    }
}

/// Instructions after a return within which its result is used or moved. What lies there longer was none: it would keep the
/// core tracking for ever.
const RESULTS_LIVE: u32 = 64;

impl Default for Shadow {
    fn default() -> Self {
        Self {
            tracking: false,
            registers: [Undefined::default(); SAR + 1],
            undefined: 0,
            masked: None,
            left: Default::default(),
        }
    }
}

impl Shadow {
    /// Register `r` of the window at `position`.
    pub fn ar(&self, position: u8, r: u8) -> Undefined {
        self.get(address(position, r))
    }

    pub fn set_ar(&mut self, position: u8, r: u8, undefined: Undefined) {
        self.set(address(position, r), undefined);
    }

    pub fn get(&self, place: usize) -> Undefined {
        self.registers.get(place).copied().unwrap_or_default()
    }

    pub fn set(&mut self, place: usize, undefined: Undefined) {
        if self.masked.is_some_and(|masked| masked.is_about(place)) {
            self.masked = None;
        }
        if let Some(register) = self.registers.get_mut(place) {
            let bit = 1 << place;
            self.undefined = if undefined.bits != 0 { self.undefined | bit } else { self.undefined & !bit };
            *register = undefined;
        }
    }

    /// Whether all of these hold values.
    pub fn hold_values(&self, places: Places) -> bool {
        self.undefined & places == 0
    }

    /// Gives all of these values.
    pub fn define(&mut self, places: Places) {
        let mut left = self.undefined & places;
        while left != 0 {
            self.set(left.trailing_zeros() as usize, Undefined::default());
            left &= left - 1;
        }
    }

    /// `result` holds what `of` does under a mask, which is a value.
    pub fn mask(&mut self, result: usize, of: usize, mask: u32) {
        self.masked = (result != of).then_some(Masked { result, of, mask });
    }

    /// Bits that two registers have in common, whatever they hold: the exclusive or has zeros there. Compilers clear bits so.
    pub fn common(&self, a: usize, b: usize) -> u32 {
        let masked = self.masked.filter(|masked| a != b && masked.is_about(a) && masked.is_about(b));
        masked.map_or(0, |masked| masked.mask)
    }

    /// A function whose window was at `position` has returned: a2 to a5 may be its results.
    pub fn leave(&mut self, position: u8) {
        self.expire();
        let places = [2, 3, 4, 5].map(|r| address(position, r));
        self.left = (places.map(|place| (place, self.get(place))), RESULTS_LIVE);
    }

    /// One more instruction.
    pub fn tick(&mut self) {
        match self.left.1 {
            0 => {}
            1 => self.expire(),
            _ => self.left.1 -= 1,
        }
    }

    /// What was left where results are, and is still there, holds a value like everything that nobody reads.
    fn expire(&mut self) {
        if std::mem::take(&mut self.left.1) == 0 {
            return;
        }
        for (place, undefined) in self.left.0 {
            if self.get(place) == undefined {
                self.set(place, Undefined::default());
            }
        }
    }

    /// Everything holds a value.
    pub fn is_clean(&self) -> bool {
        self.undefined == 0
    }

    /// Forgets the undefined bits of one origin, because they were told.
    pub fn forget(&mut self, origin: u32) {
        for place in 0..self.registers.len() {
            let register = self.get(place);
            if register.bits != 0 && register.origin == origin {
                self.set(place, Undefined::default());
            }
        }
    }
}

/// What the window at `position` shows in the places in which the window at 0 shows these.
pub(crate) fn seen_from(position: u8, places: Places) -> Places {
    let addresses = (places as u64).rotate_left(u32::from(position) * 4);
    places >> PHYSICAL_REGISTERS << PHYSICAL_REGISTERS | Places::from(addresses)
}

/// Place of address register `r` of the window at `position`.
pub(crate) fn address(position: u8, r: u8) -> usize {
    (usize::from(position) * 4 + usize::from(r)) % PHYSICAL_REGISTERS
}

/// Place of a single-precision register.
pub(crate) fn float(f: u8) -> usize {
    FLOATS + usize::from(f & 15)
}

/// Place of a boolean register.
pub(crate) fn boolean(b: u8) -> usize {
    BOOLEANS + usize::from(b & 15)
}
