//! What one core did, counted, and the cycle estimate made from it.
//!
//! Unaware of where counts come from. The model is documented in `docs/device-model.md`.

/// Cycles charged beside one per instruction. Round numbers for comparing variants of a kernel, not silicon.
pub mod cost {
    /// A load through an address window: a round trip to device memory.
    pub const WINDOW_LOAD: u64 = 200;
    /// A store through an address window: posted.
    pub const WINDOW_STORE: u64 = 20;
    /// Moving a window: two register writes between two barriers.
    pub const WINDOW_MOVE: u64 = 60;
    /// Starting a DMA transfer and seeing it complete.
    pub const DMA_START: u64 = 1500;
    /// Bytes a DMA transfer moves per cycle.
    pub const DMA_BYTES_PER_CYCLE: u64 = 32;
}

/// Counts of one core over one call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Counters {
    /// Instructions executed.
    pub instructions: u64,
    /// Load instructions and window fills, literals excluded.
    pub loads: u64,
    /// Store instructions, window spills included.
    pub stores: u64,
    /// Loads through an address window (tensors, HBM heap, HBM stack, DMA registers).
    pub window_loads: u64,
    /// Stores through an address window.
    pub window_stores: u64,
    /// Times an address window was moved: a miss of the translation.
    pub window_misses: u64,
    /// Loads and stores of tensor elements by instruction: element accessors and raw pointers.
    pub element_accesses: u64,
    /// DMA transfers completed.
    pub dma_transfers: u64,
    /// Bytes they moved.
    pub dma_bytes: u64,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, more: Counters) {
        self.instructions += more.instructions;
        self.loads += more.loads;
        self.stores += more.stores;
        self.window_loads += more.window_loads;
        self.window_stores += more.window_stores;
        self.window_misses += more.window_misses;
        self.element_accesses += more.element_accesses;
        self.dma_transfers += more.dma_transfers;
        self.dma_bytes += more.dma_bytes;
    }
}

impl std::ops::Sub for Counters {
    type Output = Counters;

    /// What was counted since `before`.
    fn sub(self, before: Counters) -> Counters {
        Counters {
            instructions: self.instructions.wrapping_sub(before.instructions),
            loads: self.loads.wrapping_sub(before.loads),
            stores: self.stores.wrapping_sub(before.stores),
            window_loads: self.window_loads.wrapping_sub(before.window_loads),
            window_stores: self.window_stores.wrapping_sub(before.window_stores),
            window_misses: self.window_misses.wrapping_sub(before.window_misses),
            element_accesses: self.element_accesses.wrapping_sub(before.element_accesses),
            dma_transfers: self.dma_transfers.wrapping_sub(before.dma_transfers),
            dma_bytes: self.dma_bytes.wrapping_sub(before.dma_bytes),
        }
    }
}

impl Counters {
    /// Accesses through a window that needed no move.
    pub fn window_hits(&self) -> u64 {
        (self.window_loads + self.window_stores).saturating_sub(self.window_misses)
    }

    /// Estimated cycles.
    pub fn cycles(&self) -> u64 {
        self.instructions
            + self.window_loads * cost::WINDOW_LOAD
            + self.window_stores * cost::WINDOW_STORE
            + self.window_misses * cost::WINDOW_MOVE
            + self.dma_transfers * cost::DMA_START
            + self.dma_bytes / cost::DMA_BYTES_PER_CYCLE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_adds_up() {
        let counters = Counters {
            instructions: 1000,
            window_loads: 3,
            window_stores: 2,
            window_misses: 1,
            dma_transfers: 2,
            dma_bytes: 6400,
            ..Counters::default()
        };
        assert_eq!(counters.cycles(), 1000 + 600 + 40 + 60 + 3000 + 200);
        assert_eq!(counters.window_hits(), 4);
    }
}
