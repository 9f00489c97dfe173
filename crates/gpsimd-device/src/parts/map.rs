//! Addresses: what lies where in one core's 32-bit NX space and in the shared 64-bit SoC space.
//!
//! Unaware of contents; memories and registers import this.
//! Facts: spec `lsp-and-memory.md` §13.1-§13.5, `device-runtime.md` §9, §21. Values that the spec marks as invented for
//! the model (engine base, scratch blocks, queue offsets) are free choices that satisfy its constraints.

/// Number of GPSIMD cores of a NeuronCore.
pub const CORES: usize = 8;

/// NX base of the data RAM (TCM).
pub const DATARAM: u32 = 0x0008_0000;
/// NX base of the memory-mapped register block.
pub const REGISTERS: u32 = 0x0010_0000;
/// Length of the register block.
pub const REGISTERS_LEN: u32 = 0x850;
/// NX base of the aperture of `MEM_WINDOW0`; window *n* follows at `n` × [`WINDOW_LEN`].
pub const WINDOWS: u32 = 0x0400_0000;
/// Bytes one MEM window shows.
pub const WINDOW_LEN: u32 = 0x0100_0000;
/// Number of MEM windows.
pub const WINDOW_COUNT: usize = 8;
/// NX base of the aperture of `TPB_WINDOW0`; window 1 follows.
pub const PINNED: u32 = 0x8000_0000;
/// Bytes one TPB window shows.
pub const PINNED_LEN: u32 = 0x0400_0000;
/// NX base of the second pinned window: code image and HBM scratch of the core.
pub const BANKS: u32 = PINNED + PINNED_LEN;
/// NX page with the firmware's entry points and the hand-off block.
///
/// RETW keeps the two top address bits of the returning function, so functions that call each other must share a 1 GiB
/// quarter of the address space: the page lies at the end of the quarter that holds the images.
pub const FIRMWARE: u32 = 0xBFFF_F000;
/// The address bits that RETW keeps.
const QUARTER: u32 = 0xC000_0000;
/// Bytes of the firmware page.
pub const FIRMWARE_LEN: u32 = 0x1000;

/// SoC base of the on-chip state buffer.
pub const SBUF: u64 = 0x20_0000_0000;
/// Bytes of the state buffer.
pub const SBUF_LEN: u64 = 32 << 20;
/// SoC base of this engine, as registers 0x100028/0x10002C report it: SBUF + 41 MiB.
pub const ENGINE_BASE: u64 = SBUF + 0x290_0000;
/// SoC base that `MEM_WINDOW0` must hold: the register space of the DMA engine.
pub const APB_BASE: u64 = 0xFFF_F000_0000;
/// SoC base of core 0's private 64 MiB HBM block; core *c* follows at `c` × [`BLOCK_LEN`].
pub const BLOCKS: u64 = 0x4000_0000;
/// Bytes of a core's HBM block: the lower half holds the code image, the upper half is `hbm_scratch`.
pub const BLOCK_LEN: u64 = 64 << 20;
/// Offset of `hbm_scratch` in the block.
pub const SCRATCH_OFFSET: u64 = 32 << 20;
/// Bytes of `hbm_scratch`.
pub const SCRATCH_LEN: u32 = 32 << 20;
/// SoC address behind which tensors are placed, after one guard gap.
pub const TENSORS: u64 = 0x1_0000_0000;
/// Unmapped bytes kept free between two tensors, so that an access past one never lands in the next.
pub const TENSOR_GUARD: u64 = 64 << 10;
/// Alignment of a tensor, as the HBM allocator gives it.
pub const TENSOR_ALIGN: u64 = 64;

/// NX address of the firmware page in the quarter of the address space that holds `code`: [`FIRMWARE`] for code in a bank,
/// another one for split-load libraries, whose code lies in instruction RAM.
pub fn firmware(code: u32) -> u32 {
    code & QUARTER | FIRMWARE & !QUARTER
}

/// Whether an address lies in a firmware page.
pub fn is_firmware(addr: u32) -> bool {
    addr & !QUARTER >= FIRMWARE & !QUARTER
}

/// SoC base of a core's data RAM as the DMA engine sees it.
pub fn dataram_soc(core: u8) -> u64 {
    ENGINE_BASE + ((2 * u64::from(core) + 9) << 16)
}

/// SoC base of a core's private HBM block.
pub fn block_soc(core: u8) -> u64 {
    BLOCKS + u64::from(core) * BLOCK_LEN
}

/// SoC base of a core's HBM scratch.
pub fn scratch_soc(core: u8) -> u64 {
    block_soc(core) + SCRATCH_OFFSET
}

/// Offset in the APB aperture of a core's memory-to-stream queue block.
pub fn m2s_offset(core: u8) -> u32 {
    0x1000 + u32::from(core) * 0x1000
}

/// Offset in the APB aperture of a core's stream-to-memory queue block.
pub fn s2m_offset(core: u8) -> u32 {
    0x2_1000 + u32::from(core) * 0x1000
}

/// How one core's data RAM is divided before an op runs.
///
/// The runtime's scratch map needs 0x7200 bytes from the start; the stack lies below the interrupt stack base
/// (0x130 bytes under the end of a 64 KiB data RAM), as the core configuration puts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataramLayout {
    /// Bytes of data RAM.
    pub len: u32,
    /// NX address handed out by `get_data_scratch`.
    pub scratch: u32,
    /// Its length.
    pub scratch_len: u32,
    /// Lowest stack address: the initial stack limit.
    pub stack_floor: u32,
    /// First address above the stack: the initial stack pointer.
    pub stack_top: u32,
}

impl DataramLayout {
    /// Bytes kept above the stack: the interrupt stack.
    const ABOVE_STACK: u32 = 0x130;
    /// Bytes of scratch the runtime is given: exactly its scratch map, so that anything past the TCM pool is nobody's.
    const SCRATCH_LEN: u32 = 0x7200;

    /// Lays out `len` bytes of data RAM with a stack of `stack` bytes.
    ///
    /// Returns `None` when the parts do not fit or the sizes are not multiples of 64.
    pub fn new(len: u32, stack: u32) -> Option<DataramLayout> {
        if !len.is_multiple_of(64) || !stack.is_multiple_of(64) || stack == 0 || len > REGISTERS - DATARAM {
            return None;
        }
        let top = len.checked_sub(Self::ABOVE_STACK)?;
        let floor = top.checked_sub(stack)?;
        (floor >= Self::SCRATCH_LEN).then_some(DataramLayout {
            len,
            scratch: DATARAM,
            scratch_len: Self::SCRATCH_LEN,
            stack_floor: DATARAM + floor,
            stack_top: DATARAM + top,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_base_lets_the_pinned_window_cover_sbuf() {
        // device-runtime.md §21: (ENGINE_BASE - 0x2900000) mod 64 MiB == 0
        assert_eq!((ENGINE_BASE - 0x290_0000) % u64::from(PINNED_LEN), 0);
        assert_eq!(ENGINE_BASE, 0x20_0290_0000);
        assert_eq!(BLOCKS % BLOCK_LEN, 0);
    }

    #[test]
    fn firmware_is_where_retw_reaches_it() {
        for (code, want) in [(BANKS, FIRMWARE), (0x1_8000, 0x3FFF_F000)] {
            assert_eq!(firmware(code), want);
            assert!(is_firmware(want) && is_firmware(want + FIRMWARE_LEN - 1) && !is_firmware(code));
        }
    }

    #[test]
    fn dataram_apertures_are_128_kib_apart() {
        // device-runtime.md §22 vector 8: NX 0x83200 on core 3
        assert_eq!(dataram_soc(3) + 0x3200, ENGINE_BASE + 0xF_3200);
        let indices: Vec<u64> = (0..8).map(|core| (dataram_soc(core) - ENGINE_BASE) >> 16).collect();
        assert_eq!(indices, [9, 11, 13, 15, 17, 19, 21, 23]);
    }

    #[test]
    fn default_dataram_layout() {
        let layout = DataramLayout::new(0x1_0000, 0x2000).unwrap();
        assert_eq!(layout.stack_top, 0x8_FED0);
        assert_eq!(layout.stack_floor, 0x8_DED0);
        assert!(layout.scratch + layout.scratch_len <= layout.stack_floor);
        assert_eq!(layout.stack_top % 16, 0);
    }

    #[test]
    fn impossible_dataram_layouts_are_refused() {
        for (len, stack) in
            [(0x1000, 0x800), (0x1_0000, 0xA000), (0x1_0001, 0x2000), (0x1_0000, 0), (0x80_0000, 0x2000)]
        {
            assert_eq!(DataramLayout::new(len, stack), None, "{len:#x} {stack:#x}");
        }
    }
}
