//! One core's register block at NX 0x100000: address windows, engine base, and the port that feeds it call blocks.
//!
//! Unaware of what lies behind the windows.
//! Facts: spec `device-runtime.md` §9.2, §21; `lsp-and-memory.md` §13.2. The instruction port uses reserved words of the
//! block; how real hardware delivers the blocks is not known (`customop-abi.md` Q-2).

use crate::parts::map;

/// Bytes of one instruction block.
pub const BLOCK: usize = 64;
/// Offset of `ENGINE_BASE_ADDR` LO; HI follows.
pub const ENGINE_BASE: u32 = 0x028;
/// Offset of `MEM_WINDOW0` LO; window *n* at 8*n*, HI four bytes on.
pub const MEM_WINDOW: u32 = 0x200;
/// Offset of `TPB_WINDOW0` LO; window 1 at +8.
pub const TPB_WINDOW: u32 = 0x300;
/// Instruction port: call blocks left, read only.
pub const INSN_AVAIL: u32 = 0x840;
/// Instruction port: each read takes the next word.
pub const INSN_DATA: u32 = 0x844;
/// Instruction port: writing 1 acknowledges a block.
pub const INSN_RESPOND: u32 = 0x848;

/// The register block of one core.
#[derive(Debug, Clone)]
pub struct Registers {
    words: Vec<u32>,
    mem: [u64; map::WINDOW_COUNT],
    programmed: u8,
    blocks: Vec<u8>,
    taken: usize,
    responses: u32,
    reprogrammed: u64,
}

impl Registers {
    /// The block as firmware leaves it: APB and pinned windows set, dynamic windows not.
    pub fn new(core: u8) -> Registers {
        let mut registers = Registers {
            words: vec![0; map::REGISTERS_LEN as usize / 4],
            mem: [0; map::WINDOW_COUNT],
            programmed: 0,
            blocks: Vec::new(),
            taken: 0,
            responses: 0,
            reprogrammed: 0,
        };
        registers.set_pair(ENGINE_BASE, map::ENGINE_BASE);
        registers.set_pair(MEM_WINDOW, map::APB_BASE);
        registers.set_pair(TPB_WINDOW, map::SBUF);
        registers.set_pair(TPB_WINDOW + 8, map::block_soc(core));
        registers.reprogrammed = 0;
        registers
    }

    fn set_pair(&mut self, offset: u32, value: u64) {
        self.store(offset + 4, (value >> 32) as u32);
        self.store(offset, value as u32);
    }

    /// SoC base that MEM window `n` shows, if it was ever programmed.
    #[inline]
    pub fn mem_window(&self, n: usize) -> Option<u64> {
        let base = self.mem.get(n)?;
        (self.programmed >> n & 1 != 0).then_some(base & !u64::from(map::WINDOW_LEN - 1))
    }

    /// SoC base that TPB window `n` shows.
    #[inline]
    pub fn tpb_window(&self, n: usize) -> u64 {
        let at = (TPB_WINDOW as usize / 4) + 2 * (n & 1);
        let base = u64::from(self.words[at]) | u64::from(self.words[at + 1]) << 32;
        base & !u64::from(map::PINNED_LEN - 1)
    }

    /// How often a window's low half, which completes a change, was written since the model preset it.
    pub fn reprogrammed(&self) -> u64 {
        self.reprogrammed
    }

    /// As [`Registers::reprogrammed`], and starts counting anew.
    pub fn take_reprogrammed(&mut self) -> u64 {
        std::mem::take(&mut self.reprogrammed)
    }

    /// Blocks acknowledged through the instruction port.
    pub fn responses(&self) -> u32 {
        self.responses
    }

    /// Queues the blocks of one call, replacing what was left of the previous one.
    pub fn feed(&mut self, blocks: Vec<u8>) {
        self.blocks = blocks;
        self.taken = 0;
        self.responses = 0;
    }

    /// Reads the word at a byte offset; the port's data word advances. `None` past the block.
    pub fn load(&mut self, offset: u32) -> Option<u32> {
        match offset {
            INSN_AVAIL => Some(self.blocks.len().saturating_sub(self.taken).div_ceil(BLOCK) as u32),
            INSN_DATA => {
                let word = self.blocks.get(self.taken..).and_then(|rest| rest.first_chunk::<4>());
                let value = word.map_or(0, |word| u32::from_le_bytes(*word));
                self.taken = (self.taken + 4).min(self.blocks.len());
                Some(value)
            }
            _ => self.peek(offset),
        }
    }

    /// Reads the word at a byte offset without side effects.
    pub fn peek(&self, offset: u32) -> Option<u32> {
        self.words.get(offset as usize / 4).copied()
    }

    /// Writes the word at a byte offset; says whether there is one.
    pub fn store(&mut self, offset: u32, value: u32) -> bool {
        let Some(word) = self.words.get_mut(offset as usize / 4) else { return false };
        *word = value;
        if offset == INSN_RESPOND && value == 1 {
            self.responses += 1;
        }
        let window = offset.wrapping_sub(MEM_WINDOW);
        if window < 8 * map::WINDOW_COUNT as u32 {
            // LO and HI latch independently (device-runtime.md §21).
            let n = (window / 8) as usize;
            let half = 32 * u64::from((window / 4) & 1);
            self.mem[n] = self.mem[n] & !(0xFFFF_FFFF << half) | u64::from(value) << half;
            self.programmed |= 1 << n;
            self.reprogrammed += u64::from(half == 0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets() {
        let registers = Registers::new(3);
        assert_eq!(registers.mem_window(0), Some(map::APB_BASE));
        assert_eq!(registers.peek(ENGINE_BASE), Some(0x0290_0000));
        assert_eq!(registers.peek(ENGINE_BASE + 4), Some(0x20));
        assert_eq!(registers.tpb_window(0), map::SBUF);
        assert_eq!(registers.tpb_window(1), map::block_soc(3));
        assert_eq!((1..8).filter(|n| registers.mem_window(*n).is_some()).count(), 0);
        assert_eq!(registers.reprogrammed(), 0);
    }

    #[test]
    fn translation_vectors() {
        // device-runtime.md §22 vectors 2 and 3: HI then LO; the NX slice of the window follows.
        let rows = [(3, 0x28_0201_2345u64), (5, 0x10_0100_0000), (6, 0x10_0200_0000), (3, 0x10_0300_0000)];
        let mut registers = Registers::new(0);
        for (count, (n, soc)) in rows.into_iter().enumerate() {
            let at = MEM_WINDOW + 8 * n;
            assert!(registers.store(at + 4, (soc >> 32) as u32));
            assert!(registers.store(at, soc as u32 & 0xFF00_0000));
            assert_eq!(registers.mem_window(n as usize), Some(soc & !0xFF_FFFF));
            assert_eq!(registers.reprogrammed(), count as u64 + 1);
        }
        assert_eq!(registers.peek(0x21C), Some(0x10));
        assert_eq!(registers.peek(0x218), Some(0x0300_0000));
        assert_eq!(registers.mem_window(5), Some(0x10_0100_0000));
    }

    #[test]
    fn window_bases_ignore_the_offset_bits() {
        let mut registers = Registers::new(0);
        registers.store(MEM_WINDOW + 8 * 3, 0x1234_5678);
        assert_eq!(registers.mem_window(3), Some(0x1200_0000));
    }

    #[test]
    fn the_port_hands_out_each_word_once() {
        let mut registers = Registers::new(0);
        registers.feed((0..128).collect());
        assert_eq!(registers.load(INSN_AVAIL), Some(2));
        assert_eq!(registers.load(INSN_DATA), Some(0x0302_0100));
        for _ in 0..15 {
            registers.load(INSN_DATA);
        }
        assert_eq!(registers.load(INSN_AVAIL), Some(1));
        registers.store(INSN_RESPOND, 1);
        assert_eq!(registers.responses(), 1);
        for _ in 0..20 {
            registers.load(INSN_DATA);
        }
        assert_eq!(registers.load(INSN_AVAIL), Some(0));
        assert_eq!(registers.load(INSN_DATA), Some(0));
    }

    #[test]
    fn nothing_past_the_block() {
        let mut registers = Registers::new(0);
        assert_eq!(registers.load(map::REGISTERS_LEN), None);
        assert!(!registers.store(0xFFFF_FFFC, 1));
    }
}
