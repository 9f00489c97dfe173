//! The bus: what a core sees of the world outside its registers.
//!
//! Unaware of instructions; the core is generic over [`Bus`], so every method is inlined into the interpreter and a
//! method that is not overridden costs nothing. Plain RAM is therefore as fast as the implementor's own `load32`: no
//! dynamic call and no pointer cache stand in between.

use crate::reach::{Layout, Reach, Reachable};

/// Where in the program an access comes from; passed by value, free when the bus ignores it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct At {
    /// Address of the instruction that accesses memory.
    pub pc: u32,
    /// `a1` before the instruction: the stack pointer of the running frame.
    pub sp: u32,
}

/// Why the bus refuses an access. The core adds address, size and pc ([`crate::Fault`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum BusFault {
    /// Nothing answers at this address.
    #[error("nothing is mapped there")]
    Unmapped,
    /// Something is there, but it does not allow this kind of access (store to read-only, fetch from data).
    #[error("the memory there does not allow this kind of access")]
    Denied,
    /// Some of the bytes hold no value. The core reads them all the same and tracks where they go ([`Bus::undefined`]).
    #[error("nothing has written the memory there")]
    Undefined,
    /// The device raised its own diagnostic and keeps the details under this number.
    #[error("the device refused (diagnostic {0})")]
    Device(u32),
}

/// Bits without a value: a set bit is undefined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Undefined {
    /// Which bits.
    pub bits: u32,
    /// Where they came from, by the bus's own number.
    pub origin: u32,
}

/// What undefined bits decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    /// Where control goes, or whether an instruction faults.
    Decision,
    /// The address of a load or store.
    Address,
    /// What is stored at an address; no trouble in itself.
    Store {
        /// Where.
        addr: u32,
        /// Bytes: 1, 2 or 4.
        size: u8,
    },
}

/// What a native routine does to many bytes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bulk {
    /// Bytes from one place to another, as if all were read before one is written.
    Copy {
        /// First byte written.
        to: u32,
        /// First byte read.
        from: u32,
        /// How many.
        len: u32,
    },
    /// One value to many bytes.
    Fill {
        /// First byte written.
        to: u32,
        /// What is written.
        value: u8,
        /// How many.
        len: u32,
    },
}

/// How often an instruction of translated code ran, and its accesses that the bus did not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// How often it completed.
    pub instructions: u64,
    /// Its loads.
    pub loads: u64,
    /// Its stores.
    pub stores: u64,
}

/// Bytes one [`Bus::fetch`] may hand over: the longest instruction of the core family.
pub const FETCH_BYTES: usize = 16;

/// Memory and devices behind one core. Addresses of 16 and 32-bit accesses are aligned.
pub trait Bus {
    /// Reads one byte.
    ///
    /// # Errors
    /// The bus has no readable byte there.
    fn load8(&mut self, at: At, addr: u32) -> Result<u8, BusFault>;
    /// Reads two bytes, little-endian.
    ///
    /// # Errors
    /// As [`Bus::load8`].
    fn load16(&mut self, at: At, addr: u32) -> Result<u16, BusFault>;
    /// Reads four bytes, little-endian.
    ///
    /// # Errors
    /// As [`Bus::load8`].
    fn load32(&mut self, at: At, addr: u32) -> Result<u32, BusFault>;
    /// Writes one byte.
    ///
    /// # Errors
    /// The bus has no writable byte there.
    fn store8(&mut self, at: At, addr: u32, value: u8) -> Result<(), BusFault>;
    /// Writes two bytes, little-endian.
    ///
    /// # Errors
    /// As [`Bus::store8`].
    fn store16(&mut self, at: At, addr: u32, value: u16) -> Result<(), BusFault>;
    /// Writes four bytes, little-endian.
    ///
    /// # Errors
    /// As [`Bus::store8`].
    fn store32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault>;

    /// Copies code bytes from `addr` on and says how many are valid (1..=16; fewer only at the end of a mapping).
    /// Called when a block is decoded, not when it runs.
    ///
    /// # Errors
    /// Nothing executable at `addr` itself.
    fn fetch(&mut self, addr: u32, into: &mut [u8; FETCH_BYTES]) -> Result<usize, BusFault>;

    /// A literal read by L32R; a plain load unless overridden.
    ///
    /// # Errors
    /// As [`Bus::load32`].
    #[inline(always)]
    fn literal32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.load32(at, addr)
    }
    /// Register-window overflow writes a register to its save area; a plain store unless overridden.
    ///
    /// # Errors
    /// As [`Bus::store32`].
    #[inline(always)]
    fn spill32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.store32(at, addr, value)
    }
    /// Register-window underflow reads a register back; a plain load unless overridden.
    ///
    /// # Errors
    /// As [`Bus::load32`].
    #[inline(always)]
    fn fill32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.load32(at, addr)
    }

    /// Does what so many plain loads, stores, or pairs of both would do, if every byte is memory where nothing is to be
    /// noticed; else nothing, and says so. At least one byte; no range wraps around.
    fn bulk(&mut self, _what: Bulk, _accesses: u64) -> bool {
        false
    }
    /// Bytes before the first zero from `addr` on, read one by one, if all are memory where nothing is to be noticed and
    /// there are at most `most`.
    fn length(&mut self, _addr: u32, _most: u64) -> Option<u32> {
        None
    }

    /// Memory that translated code may reach by itself.
    fn layout(&self) -> Layout {
        Layout::default()
    }
    /// That memory, as it is now.
    fn reach(&mut self) -> Reach<'_> {
        Reach::default()
    }
    /// Loads and stores that translated code did by itself.
    fn reached(&mut self, _loads: u64, _stores: u64) {}
    /// A literal that stays what it is until the core is told of changed code ([`crate::Cpu::invalidate_code`]) or the
    /// program itself stores there.
    fn constant32(&mut self, _addr: u32) -> Option<u32> {
        None
    }

    /// Whether the methods below are to be told what ran. Asked when a run begins, and the same until it ends.
    #[inline(always)]
    fn is_profiled(&self) -> bool {
        false
    }
    /// Whether all that passed has to be told before a function is computed.
    #[inline(always)]
    fn is_timed(&self) -> bool {
        true
    }
    /// The function whose ENTRY is at `pc`, called by the instruction at `site`, is about to begin.
    fn entered(&mut self, _pc: u32, _site: u32) {}
    /// These instructions ran, each once, from the first in memory order.
    fn executed(&mut self, _pcs: impl Iterator<Item = u32>) {}
    /// So many instructions ran, once each; which ones is told later ([`Bus::tallied`]).
    fn passed(&mut self, _instructions: u64) {}
    /// What the instruction at `pc` did of what was told as [`Bus::passed`] and [`Bus::reached`].
    fn tallied(&mut self, _pc: u32, _tally: Tally) {}
    /// The host computed the function at `pc`, called by the instruction at `site`, which stands for so many instructions.
    fn computed(&mut self, _pc: u32, _site: u32, _instructions: u64) {}
    /// The function entered last has returned, or did not begin.
    fn left(&mut self) {}

    /// Definedness begins or ends to be tracked: in between no load answers [`BusFault::Undefined`]. A bus that never does
    /// needs none of the methods below.
    fn track(&mut self, _on: bool) {}
    /// The undefined bits of `size` readable bytes, the first byte's lowest.
    fn undefined(&mut self, _addr: u32, _size: u8) -> Undefined {
        Undefined::default()
    }
    /// Bytes that the program just stored hold undefined bits.
    fn set_undefined(&mut self, _addr: u32, _size: u8, _undefined: Undefined) {}
    /// The next instruction uses undefined bits.
    ///
    /// # Errors
    /// The bus wants the core to stop before it.
    fn use_undefined(&mut self, _at: At, _what: Use, _undefined: Undefined) -> Result<(), BusFault> {
        Ok(())
    }
    /// A function returned: its frame and its caller's save area, `from..to`, are nobody's.
    #[inline(always)]
    fn frame_left(&mut self, _from: u32, _to: u32) {}
}

/// One block of RAM, readable, writable and executable; everything else is unmapped.
#[derive(Debug, Clone)]
pub struct Ram {
    base: u32,
    bytes: Vec<u8>,
}

impl Ram {
    /// Zeroed RAM of `len` bytes at `base`.
    #[must_use]
    pub fn new(base: u32, len: usize) -> Self {
        Self { base, bytes: vec![0; len] }
    }

    /// First address.
    #[must_use]
    pub fn base(&self) -> u32 {
        self.base
    }

    /// All bytes; index 0 is the byte at [`Ram::base`].
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes `data` at `addr`.
    ///
    /// # Errors
    /// Not all of it lies inside.
    pub fn write(&mut self, addr: u32, data: &[u8]) -> Result<(), BusFault> {
        let at = addr.wrapping_sub(self.base) as usize;
        let end = at.checked_add(data.len()).ok_or(BusFault::Unmapped)?;
        self.bytes.get_mut(at..end).ok_or(BusFault::Unmapped)?.copy_from_slice(data);
        Ok(())
    }

    #[inline(always)]
    fn get<const N: usize>(&self, addr: u32) -> Result<[u8; N], BusFault> {
        let at = addr.wrapping_sub(self.base) as usize;
        match self.bytes.get(at..at.wrapping_add(N)).and_then(|b| b.first_chunk::<N>()) {
            Some(bytes) => Ok(*bytes),
            None => Err(BusFault::Unmapped),
        }
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, addr: u32, value: [u8; N]) -> Result<(), BusFault> {
        let at = addr.wrapping_sub(self.base) as usize;
        match self.bytes.get_mut(at..at.wrapping_add(N)).and_then(|b| b.first_chunk_mut::<N>()) {
            Some(bytes) => {
                *bytes = value;
                Ok(())
            }
            None => Err(BusFault::Unmapped),
        }
    }
}

impl Bus for Ram {
    #[inline(always)]
    fn load8(&mut self, _: At, addr: u32) -> Result<u8, BusFault> {
        self.get::<1>(addr).map(|[b]| b)
    }
    #[inline(always)]
    fn load16(&mut self, _: At, addr: u32) -> Result<u16, BusFault> {
        self.get(addr).map(u16::from_le_bytes)
    }
    #[inline(always)]
    fn load32(&mut self, _: At, addr: u32) -> Result<u32, BusFault> {
        self.get(addr).map(u32::from_le_bytes)
    }
    #[inline(always)]
    fn store8(&mut self, _: At, addr: u32, value: u8) -> Result<(), BusFault> {
        self.put(addr, [value])
    }
    #[inline(always)]
    fn store16(&mut self, _: At, addr: u32, value: u16) -> Result<(), BusFault> {
        self.put(addr, value.to_le_bytes())
    }
    #[inline(always)]
    fn store32(&mut self, _: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.put(addr, value.to_le_bytes())
    }
    fn bulk(&mut self, what: Bulk, _: u64) -> bool {
        let at = |addr: u32, len: u32| {
            let start = addr.wrapping_sub(self.base) as usize;
            start..start.saturating_add(len as usize)
        };
        match what {
            Bulk::Copy { to, from, len } => {
                let (to, from) = (at(to, len), at(from, len));
                let fits = self.bytes.get(to.clone()).is_some() && self.bytes.get(from.clone()).is_some();
                if fits {
                    self.bytes.copy_within(from, to.start);
                }
                fits
            }
            Bulk::Fill { to, value, len } => match self.bytes.get_mut(at(to, len)) {
                Some(bytes) => {
                    bytes.fill(value);
                    true
                }
                None => false,
            },
        }
    }
    fn length(&mut self, addr: u32, most: u64) -> Option<u32> {
        let tail = self.bytes.get(addr.wrapping_sub(self.base) as usize..)?;
        let len =
            tail.iter().take(usize::try_from(most).ok()?.saturating_add(1)).position(|byte| *byte == 0)?;
        u32::try_from(len).ok()
    }
    fn layout(&self) -> Layout {
        let memory = Reachable { base: self.base, len: self.bytes.len().min(1 << 29) as u32 & !3 };
        match self.base & 3 {
            0 => Layout { memories: [memory, Reachable::default()], holds_code: true, ..Layout::default() },
            _ => Layout::default(),
        }
    }
    fn reach(&mut self) -> Reach<'_> {
        let len = self.layout().memories[0].len;
        Reach { memories: [(&mut self.bytes, len), (&mut [], 0)], untouched: 0 }
    }
    fn constant32(&mut self, addr: u32) -> Option<u32> {
        self.get(addr).ok().map(u32::from_le_bytes)
    }
    fn fetch(&mut self, addr: u32, into: &mut [u8; FETCH_BYTES]) -> Result<usize, BusFault> {
        let tail = self.bytes.get(addr.wrapping_sub(self.base) as usize..).unwrap_or_default();
        let n = tail.len().min(FETCH_BYTES);
        if n == 0 {
            return Err(BusFault::Unmapped);
        }
        into[..n].copy_from_slice(&tail[..n]);
        Ok(n)
    }
}
