//! Core-private memory with a state byte beside every data byte: may it be accessed, was it ever written.
//!
//! Unaware of addresses outside itself and of who allocates; callers paint the states.

/// The byte may be read and written.
pub const ACCESS: u8 = 1;
/// The byte holds a value someone wrote.
pub const INIT: u8 = 2;
/// The byte must not be written: code.
pub const LOCKED: u8 = 4;
/// The byte belonged to a heap block that was given back.
pub const FREED: u8 = 8;
/// Writing the byte changes heap bookkeeping, which the model follows.
pub const WATCHED: u8 = 16;

/// The byte is a redzone, which checked code put there: inaccessible until it opens it again.
pub const REDZONE: u8 = 32;
/// The byte is old: a copy of a tensor's that has been written since, or static data of a call before. Accessible without
/// [`ACCESS`], so that a look is taken at the next load.
pub const STALE: u8 = 128;
/// Part of the byte, or its origin, is kept elsewhere if it holds no value: [`INIT`] off.
pub const KNOWN: u8 = 64;

/// Dense memory. Untouched parts cost address space only.
#[derive(Debug)]
pub struct Ram {
    /// Data, then as many states: translated code finds one by the other.
    bytes: Vec<u8>,
    len: usize,
}

impl Clone for Ram {
    /// A copy costs what was touched: most of a core's memory never is.
    fn clone(&self) -> Ram {
        const PAGE: usize = 4096;
        let mut bytes = vec![0; self.bytes.len()];
        for (to, from) in bytes.chunks_mut(PAGE).zip(self.bytes.chunks(PAGE)) {
            if from != &[0; PAGE][..from.len()] {
                to.copy_from_slice(from);
            }
        }
        Ram { bytes, len: self.len }
    }
}

impl Ram {
    /// `len` zero bytes, nothing accessible.
    pub fn new(len: usize) -> Ram {
        Ram { bytes: vec![0; 2 * len], len }
    }

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn data(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    #[inline(always)]
    fn state(&self) -> &[u8] {
        self.bytes.get(self.len..).unwrap_or_default()
    }

    #[inline(always)]
    fn split(&mut self) -> (&mut [u8], &mut [u8]) {
        self.bytes.split_at_mut(self.len)
    }

    /// Data, then states.
    pub fn both(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The value at `at` if all `N` bytes are accessible and initialised.
    #[inline(always)]
    pub fn load<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        let state = chunk::<N>(self.state(), at)?;
        if ok_to_load(state) { chunk::<N>(self.data(), at) } else { None }
    }

    /// Writes `value` at `at` if all `N` bytes are plain writable memory; says whether it did.
    #[inline(always)]
    pub fn store<const N: usize>(&mut self, at: usize, value: [u8; N]) -> bool {
        let (data, state) = self.split();
        let Some(state) = chunk_mut::<N>(state, at) else { return false };
        if !ok_to_store(*state) {
            return false;
        }
        for byte in state {
            *byte |= INIT;
        }
        match chunk_mut::<N>(data, at) {
            Some(data) => {
                *data = value;
                true
            }
            None => false,
        }
    }

    /// The value at `at` whatever its state; `None` outside the memory.
    #[inline]
    pub fn peek<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        chunk(self.data(), at)
    }

    /// States of `N` bytes; `None` outside the memory.
    #[inline]
    pub fn states<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        chunk(self.state(), at)
    }

    /// Writes `value` at `at` whatever its state, marking it initialised; nothing outside the memory.
    pub fn poke(&mut self, at: usize, value: &[u8]) {
        if let Some((data, state)) = self.range_mut(at, value.len()) {
            data.copy_from_slice(value);
            for state in state {
                *state |= INIT;
            }
        }
    }

    /// Sets the state of `len` bytes from `at` on; parts outside the memory are ignored.
    pub fn paint(&mut self, at: usize, len: usize, state: u8) {
        let end = at.saturating_add(len).min(self.len);
        if let Some(states) = self.split().1.get_mut(at..end) {
            states.fill(state);
        }
    }

    /// Adds state bits to `len` bytes from `at` on.
    pub fn add_state(&mut self, at: usize, len: usize, bits: u8) {
        let end = at.saturating_add(len).min(self.len);
        // a plain loop, which the compiler makes one over many bytes at once
        if let Some(states) = self.split().1.get_mut(at..end) {
            for state in states {
                *state |= bits;
            }
        }
    }

    /// Takes state bits from `len` bytes from `at` on.
    pub fn remove_state(&mut self, at: usize, len: usize, bits: u8) {
        let end = at.saturating_add(len).min(self.len);
        for state in self.split().1.get_mut(at..end).into_iter().flatten() {
            *state &= !bits;
        }
    }

    /// Makes the accessible ones of `len` bytes from `at` on a redzone.
    pub fn seal(&mut self, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.len);
        for state in
            self.split().1.get_mut(at..end).into_iter().flatten().filter(|state| **state & ACCESS != 0)
        {
            *state = *state & !ACCESS | REDZONE;
        }
    }

    /// Makes the accessible ones of `len` bytes from `at` on stale.
    pub fn outdate(&mut self, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.len);
        for state in
            self.split().1.get_mut(at..end).into_iter().flatten().filter(|state| **state & ACCESS != 0)
        {
            *state = *state & !ACCESS | STALE;
        }
    }

    /// Makes what was stale in `len` bytes from `at` on accessible again.
    pub fn renew(&mut self, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.len);
        for state in
            self.split().1.get_mut(at..end).into_iter().flatten().filter(|state| **state & STALE != 0)
        {
            *state = *state & !STALE | ACCESS;
        }
    }

    /// Makes what was a redzone in `len` bytes from `at` on accessible again.
    pub fn unseal(&mut self, at: usize, len: usize) {
        let end = at.saturating_add(len).min(self.len);
        for state in
            self.split().1.get_mut(at..end).into_iter().flatten().filter(|state| **state & REDZONE != 0)
        {
            *state = *state & !REDZONE | ACCESS;
        }
    }

    /// Where the program may write: whole multiples of `unit` bytes, as offset and length, in order.
    pub fn writable(&self, unit: usize) -> Vec<(usize, usize)> {
        let mut stretches: Vec<(usize, usize)> = Vec::new();
        let units = (0..).step_by(unit).zip(self.state().chunks(unit));
        let is_writable = |state: &u8| state & (ACCESS | LOCKED) == ACCESS;
        for (at, states) in units.filter(|(_, states)| states.iter().any(is_writable)) {
            match stretches.last_mut() {
                Some((start, len)) if *start + *len == at => *len += states.len(),
                _ => stretches.push((at, states.len())),
            }
        }
        stretches
    }

    /// Bytes that the program owns hold no value any more.
    #[inline]
    pub fn forget_values(&mut self, at: usize, len: usize) {
        if let Some(states) = self.split().1.get_mut(at..at.saturating_add(len)) {
            states.fill(ACCESS);
        }
    }

    /// Data and states of a range; `None` unless all of it lies inside.
    pub fn range(&self, at: usize, len: usize) -> Option<(&[u8], &[u8])> {
        let end = at.checked_add(len)?;
        Some((self.data().get(at..end)?, self.state().get(at..end)?))
    }

    /// Writable data and states of a range; `None` unless all of it lies inside.
    pub fn range_mut(&mut self, at: usize, len: usize) -> Option<(&mut [u8], &mut [u8])> {
        let (data, state) = self.split();
        Some((range_mut(data, at, len)?, range_mut(state, at, len)?))
    }
}

/// Every byte accessible and initialised, nothing else asked.
#[inline(always)]
pub fn ok_to_load<const N: usize>(state: [u8; N]) -> bool {
    state.iter().fold(ACCESS | INIT, |all, byte| all & byte) == ACCESS | INIT
}

/// Every byte accessible, none locked or watched.
#[inline(always)]
pub fn ok_to_store<const N: usize>(state: [u8; N]) -> bool {
    state.iter().fold(0, |any, byte| any | byte ^ ACCESS) & (ACCESS | LOCKED | WATCHED) == 0
}

#[inline(always)]
fn chunk<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

#[inline(always)]
fn chunk_mut<const N: usize>(bytes: &mut [u8], at: usize) -> Option<&mut [u8; N]> {
    bytes.get_mut(at..)?.first_chunk_mut::<N>()
}

fn range_mut(bytes: &mut [u8], at: usize, len: usize) -> Option<&mut [u8]> {
    bytes.get_mut(at..at.checked_add(len)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_decide_loads_and_stores() {
        let rows: &[(u8, bool, bool)] = &[
            (0, false, false),
            (ACCESS, false, true),
            (ACCESS | INIT, true, true),
            (ACCESS | INIT | LOCKED, true, false),
            (ACCESS | INIT | WATCHED, true, false),
            (FREED | INIT, false, false),
        ];
        for &(state, loads, stores) in rows {
            let mut ram = Ram::new(16);
            ram.paint(0, 16, ACCESS | INIT);
            ram.paint(6, 1, state);
            assert_eq!(ram.load::<4>(4).is_some(), loads, "{state:#x}");
            assert_eq!(ram.store::<4>(4, [1; 4]), stores, "{state:#x}");
            assert!(ram.load::<4>(8).is_some() && ram.store::<4>(8, [1; 4]));
        }
    }

    #[test]
    fn writable_stretches_are_of_whole_units() {
        let mut ram = Ram::new(30);
        ram.paint(3, 2, ACCESS | INIT | LOCKED);
        ram.paint(7, 6, ACCESS);
        ram.paint(22, 8, ACCESS | INIT);
        assert_eq!(ram.writable(4), [(4, 12), (20, 10)]);
    }

    #[test]
    fn storing_initialises() {
        let mut ram = Ram::new(8);
        ram.paint(0, 8, ACCESS);
        assert_eq!(ram.load::<2>(2), None);
        assert!(ram.store::<2>(2, [7, 8]));
        assert_eq!(ram.load::<2>(2), Some([7, 8]));
        assert_eq!(ram.load::<4>(0), None);
    }

    #[test]
    fn nothing_outside() {
        let mut ram = Ram::new(4);
        ram.paint(0, 100, ACCESS | INIT);
        assert_eq!(ram.load::<4>(1), None);
        assert!(!ram.store::<4>(usize::MAX, [0; 4]));
        ram.poke(3, &[1, 2]);
        assert_eq!(ram.peek::<1>(3), Some([0]));
    }
}
