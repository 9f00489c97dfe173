//! The registers while they run: [`State`] plus the visible window as a flat array, and what an instruction reports back.
//!
//! Unaware of decoding and blocks. The 16 visible registers live in `Core::window` and move to and from `State::ar` only
//! when the window rotates, so that an ordinary instruction indexes sixteen words and nothing else.

use std::collections::HashMap;

use crate::config::Config;
use crate::fault::{FaultKind, Stop};
use crate::shadow::Shadow;
use crate::state::{State, ps};

/// Why an instruction did not simply hand over to the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Completed; goes on at `Core::state.pc`.
    Jump,
    /// Completed, but decoded code was overwritten; goes on at the next instruction.
    CodeWritten,
    /// Completed; the host is wanted, for the reason in `Core::stop`.
    Trap,
    /// Not completed, for the reason in `Core::fault`.
    Fault,
}

/// What an instruction returns.
pub(crate) type Done = Result<(), Leave>;

/// One core's registers in running form.
#[derive(Debug)]
pub(crate) struct Core {
    /// Everything but the visible window; `pc` is current only between blocks.
    pub state: State,
    /// `a0..a15`.
    pub window: [u32; 16],
    pub config: Config,
    pub code: CodeMap,
    /// Set with [`Leave::Fault`].
    pub fault: FaultKind,
    /// Set with [`Leave::Trap`].
    pub stop: Stop,
    /// A window spill overwrote decoded code.
    pub spilled_into_code: bool,
    /// Which registers hold undefined bits.
    pub shadow: Box<Shadow>,
    /// Calls of routines that the host computed.
    pub native_calls: u64,
}

impl Core {
    pub fn new(config: Config) -> Self {
        Self {
            state: State::default(),
            window: [0; 16],
            config,
            code: CodeMap::new(),
            fault: FaultKind::DivideByZero,
            stop: Stop::Budget,
            spilled_into_code: false,
            shadow: Box::default(),
            native_calls: 0,
        }
    }

    #[inline(always)]
    pub fn ar(&self, r: u8) -> u32 {
        self.window[usize::from(r & 15)]
    }

    #[inline(always)]
    pub fn set_ar(&mut self, r: u8, value: u32) {
        self.window[usize::from(r & 15)] = value;
    }

    #[inline(always)]
    pub fn br(&self, b: u8) -> bool {
        self.state.br >> (b & 15) & 1 != 0
    }

    #[inline(always)]
    pub fn set_br(&mut self, b: u8, value: bool) {
        let bit = 1 << (b & 15);
        self.state.br = if value { self.state.br | bit } else { self.state.br & !bit };
    }

    #[inline(always)]
    pub fn fr(&self, f: u8) -> u32 {
        self.state.fr[usize::from(f & 15)]
    }

    #[inline(always)]
    pub fn set_fr(&mut self, f: u8, bits: u32) {
        self.state.fr[usize::from(f & 15)] = bits;
    }

    #[cold]
    #[inline(never)]
    pub fn fail(&mut self, kind: FaultKind) -> Leave {
        self.fault = kind;
        Leave::Fault
    }

    pub fn snapshot(&self) -> State {
        let mut state = self.state.clone();
        for (q, group) in self.window.chunks_exact(4).enumerate() {
            let at = group_start(state.window_base, q);
            state.ar[at..at + 4].copy_from_slice(group);
        }
        state
    }

    pub fn restore(&mut self, state: &State) {
        self.state = state.clone();
        *self.shadow = Shadow::default();
        self.state.window_base &= 15;
        self.load_window();
    }

    /// Writes the visible window back to the physical registers.
    #[inline(always)]
    pub fn store_window(&mut self) {
        for q in 0..4 {
            let at = group_start(self.state.window_base, q);
            let (to, from) = (&mut self.state.ar[at..at + 4], &self.window[4 * q..4 * q + 4]);
            to.copy_from_slice(from);
        }
    }

    /// Fetches the visible window from the physical registers.
    #[inline(always)]
    pub fn load_window(&mut self) {
        for q in 0..4 {
            let at = group_start(self.state.window_base, q);
            let (to, from) = (&mut self.window[4 * q..4 * q + 4], &self.state.ar[at..at + 4]);
            to.copy_from_slice(from);
        }
    }

    /// Address of the instruction that calls the function whose ENTRY is at `pc` and comes next.
    pub fn call_site(&self, pc: u32) -> u32 {
        let increment = (self.state.ps & ps::CALLINC) >> ps::CALLINC_SHIFT;
        call_before(self.ar(increment as u8 * 4), pc)
    }

    /// WindowBase <- WindowBase + `by`.
    #[inline(always)]
    pub fn rotate(&mut self, by: u8) {
        match by & 15 {
            0 => {}
            1 => self.rotate_up::<1>(),
            2 => self.rotate_up::<2>(),
            3 => self.rotate_up::<3>(),
            13 => self.rotate_down::<3>(),
            14 => self.rotate_down::<2>(),
            15 => self.rotate_down::<1>(),
            _ => {
                self.store_window();
                self.state.window_base = self.state.window_base.wrapping_add(by) & 15;
                self.load_window();
            }
        }
    }

    /// By `N` groups of four: those left behind go to the physical registers, the others move along.
    #[inline(always)]
    fn rotate_up<const N: usize>(&mut self) {
        let base = self.state.window_base;
        for q in 0..N {
            let at = group_start(base, q);
            self.state.ar[at..at + 4].copy_from_slice(&self.window[4 * q..4 * q + 4]);
        }
        self.window.copy_within(4 * N.., 0);
        for q in 4 - N..4 {
            let at = group_start(base, q + N);
            self.window[4 * q..4 * q + 4].copy_from_slice(&self.state.ar[at..at + 4]);
        }
        self.state.window_base = base.wrapping_add(N as u8) & 15;
    }

    #[inline(always)]
    fn rotate_down<const N: usize>(&mut self) {
        let base = self.state.window_base;
        for q in 4 - N..4 {
            let at = group_start(base, q);
            self.state.ar[at..at + 4].copy_from_slice(&self.window[4 * q..4 * q + 4]);
        }
        self.window.copy_within(..16 - 4 * N, 4 * N);
        self.state.window_base = base.wrapping_sub(N as u8) & 15;
        for q in 0..N {
            let at = group_start(self.state.window_base, q);
            self.window[4 * q..4 * q + 4].copy_from_slice(&self.state.ar[at..at + 4]);
        }
    }
}

/// Address of the instruction that called the function at `pc`, by its return address, of which two bits are the call's.
pub(crate) fn call_before(back: u32, pc: u32) -> u32 {
    const CALL_BYTES: u32 = 3;
    (pc & 0xc000_0000 | back & 0x3fff_ffff).wrapping_sub(CALL_BYTES)
}

/// Index of the first of four physical registers, `q` groups after the window's start.
#[inline(always)]
fn group_start(window_base: u8, q: usize) -> usize {
    (usize::from(window_base) + q) % 16 * 4
}

/// Which memory holds decoded instructions, so that a store into it is noticed.
///
/// A bit per 256 bytes answers almost every store with one load; the exact ranges are asked only for code's neighbours.
pub(crate) struct CodeMap {
    /// All 4 GiB, by pages; those without code are not there.
    pages: Vec<Option<Box<Page>>>,
    /// First and last byte of all that was decoded; nothing while the first is behind the last.
    first: u32,
    last: u32,
    ranges: HashMap<u32, Vec<(u32, u32)>>,
}

impl std::fmt::Debug for CodeMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeMap").field("ranges", &self.ranges).finish_non_exhaustive()
    }
}

const GRANULE_SHIFT: u32 = 8;
/// A word has the bits of so many bytes.
const WORD_SHIFT: u32 = GRANULE_SHIFT + 6;
const PAGE_SHIFT: u32 = 20;
const PAGES: usize = 1 << (32 - PAGE_SHIFT);
const WORDS: usize = 1 << (PAGE_SHIFT - WORD_SHIFT);

type Page = [u64; WORDS];

fn bit(granule: u32) -> u64 {
    1 << (granule & 63)
}

impl CodeMap {
    fn new() -> Self {
        Self { pages: vec![None; PAGES], first: u32::MAX, last: 0, ranges: HashMap::new() }
    }

    /// Whether code may lie in the granule of `addr`.
    #[inline(always)]
    pub fn near(&self, addr: u32) -> bool {
        match &self.pages[(addr >> PAGE_SHIFT) as usize % PAGES] {
            Some(page) => page[(addr >> WORD_SHIFT) as usize % WORDS] & bit(addr >> GRANULE_SHIFT) != 0,
            None => false,
        }
    }

    /// Whether the `len` bytes at `addr` overlap decoded instructions.
    #[cold]
    #[inline(never)]
    pub fn overlaps(&self, addr: u32, len: u32) -> bool {
        let last = addr.saturating_add(len.saturating_sub(1));
        if len > 1 << 20 {
            return self.ranges.values().flatten().any(|&(from, to)| from <= last && addr <= to);
        }
        (addr >> GRANULE_SHIFT..=last >> GRANULE_SHIFT)
            .filter(|&g| self.near(g << GRANULE_SHIFT))
            .filter_map(|g| self.ranges.get(&g))
            .flatten()
            .any(|&(from, to)| from <= last && addr <= to)
    }

    /// Notes that the bytes `from..=to` were decoded.
    pub fn insert(&mut self, from: u32, to: u32) {
        (self.first, self.last) = (self.first.min(from), self.last.max(to));
        for granule in from >> GRANULE_SHIFT..=to >> GRANULE_SHIFT {
            let addr = granule << GRANULE_SHIFT;
            let page =
                self.pages[(addr >> PAGE_SHIFT) as usize % PAGES].get_or_insert_with(|| Box::new([0; WORDS]));
            page[(addr >> WORD_SHIFT) as usize % WORDS] |= bit(granule);
            self.ranges.entry(granule).or_default().push((from, to));
        }
    }

    /// Start and length of memory, in whole words, outside of which there is no code.
    pub fn span(&self) -> (u32, u32) {
        match self.first <= self.last {
            true => (self.first & !3, (self.last - (self.first & !3)).saturating_add(1)),
            false => (0, 0),
        }
    }

    pub fn clear(&mut self) {
        (self.first, self.last) = (u32::MAX, 0);
        for (granule, _) in self.ranges.drain() {
            self.pages[(granule << GRANULE_SHIFT >> PAGE_SHIFT) as usize % PAGES] = None;
        }
    }
}
