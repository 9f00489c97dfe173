//! The 16 windows through which a core sees SoC memory, and the list of those that are free.
//!
//! Unaware of libraries. Facts: spec `load-and-dispatch.md` §6.3, open question O11: one window is always in use.

use super::Assertion;

/// Windows of a core.
pub const SLOTS: u8 = 16;
/// Bits of an address inside a window: 16 MiB.
const BITS: u32 = 24;
/// What the loader's windows occupy in the core's address space. Where the firmware has them is not known.
const XT_BASE: u32 = 0x1000_0000;

/// One window in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Window {
    /// Its slot.
    pub slot: u8,
    /// Where the core sees it.
    pub xt_addr: u32,
    /// What it shows, a multiple of its length.
    pub soc_addr: u64,
}

impl Window {
    /// The address bits that pass unchanged (`l_mask`).
    pub const MASK: u64 = (1 << BITS) - 1;

    /// Where the core sees a SoC address, if the window shows it.
    pub fn translate(&self, soc_addr: u64) -> Option<u32> {
        let is_shown = soc_addr & !Window::MASK == self.soc_addr;
        // The low bits fit 24 bits, and windows are as much aligned.
        is_shown.then_some(self.xt_addr | (soc_addr & Window::MASK) as u32)
    }
}

/// A core's windows. Allocation takes the one that was freed last.
#[derive(Debug, Clone)]
pub struct WindowTable {
    used: [Option<Window>; SLOTS as usize],
    free: Vec<u8>,
}

impl Default for WindowTable {
    /// Slot 0 is reserved, all others are free, the lowest first.
    fn default() -> WindowTable {
        WindowTable { used: [None; SLOTS as usize], free: (1..SLOTS).rev().collect() }
    }
}

impl WindowTable {
    /// How many windows can still be had.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// The windows in use, by slot.
    pub fn used(&self) -> impl Iterator<Item = &Window> {
        self.used.iter().flatten()
    }

    /// Takes a window and lets it show the 16 MiB around an address; nothing if all are taken.
    pub fn update_soc_address(&mut self, soc_addr: u64) -> Option<Window> {
        let slot = self.free.pop()?;
        let window =
            Window { slot, xt_addr: XT_BASE | u32::from(slot) << BITS, soc_addr: soc_addr & !Window::MASK };
        *self.used.get_mut(usize::from(slot))? = Some(window);
        Some(window)
    }

    /// Where the core sees a SoC address, by the first window that shows it.
    ///
    /// # Errors
    /// [`Assertion::NO_WINDOW`]; the core is dead then.
    pub fn translate_soc_to_xt_address(&self, soc_addr: u64) -> Result<u32, Assertion> {
        self.used().find_map(|window| window.translate(soc_addr)).ok_or(Assertion::NO_WINDOW)
    }

    /// Gives a window back.
    ///
    /// # Errors
    /// [`Assertion::WINDOW_LIST`] if it would be one too many; the core is dead then.
    pub fn push_unallocated_window(&mut self, slot: u8) -> Result<(), Assertion> {
        if self.free.len() >= usize::from(SLOTS) - 1 {
            return Err(Assertion::WINDOW_LIST);
        }
        if let Some(window) = self.used.get_mut(usize::from(slot)) {
            *window = None;
        }
        self.free.push(slot);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_freed_window_is_taken_first() {
        let mut table = WindowTable::default();
        let slots: Vec<u8> = (0..15).map(|i| table.update_soc_address(i << 24).unwrap().slot).collect();
        assert_eq!(slots, (1..16).collect::<Vec<u8>>());
        assert_eq!(table.update_soc_address(0), None, "slot 0 is reserved");
        for slot in [3, 9, 5] {
            table.push_unallocated_window(slot).unwrap();
        }
        let slots: Vec<u8> = (0..3).map(|_| table.update_soc_address(0).unwrap().slot).collect();
        assert_eq!(slots, [5, 9, 3]);
    }

    #[test]
    fn one_window_too_many() {
        let mut table = WindowTable::default();
        assert_eq!(table.push_unallocated_window(4), Err(Assertion::WINDOW_LIST));
    }

    #[test]
    fn translation() {
        let mut table = WindowTable::default();
        assert_eq!(table.translate_soc_to_xt_address(0x12_3456_7000), Err(Assertion::NO_WINDOW));
        let window = table.update_soc_address(0x12_3456_7000).unwrap();
        assert_eq!(window, Window { slot: 1, xt_addr: 0x1100_0000, soc_addr: 0x12_3400_0000 });
        let rows = [
            (0x12_3456_7000, Ok(0x1156_7000)),
            (0x12_34ff_ffff, Ok(0x11ff_ffff)),
            (0x12_3500_0000, Err(Assertion::NO_WINDOW)),
            (0x34_0000_0000, Err(Assertion::NO_WINDOW)),
        ];
        for (soc, want) in rows {
            assert_eq!(table.translate_soc_to_xt_address(soc), want, "{soc:#x}");
        }
        table.push_unallocated_window(1).unwrap();
        assert_eq!(table.translate_soc_to_xt_address(0x12_3456_7000), Err(Assertion::NO_WINDOW));
    }
}
