//! What one core did, counted, and the cycle estimate made from it.
//!
//! Unaware of where counts come from, and of what the numbers of the estimate are.

use crate::report::costs::Costs;

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

impl Counters {
    /// Gives `to` what was counted since `before`, which is now. Asked at every call of a profiled program, where seldom more
    /// has moved than loads and stores.
    #[inline]
    pub(crate) fn give_since(&self, before: &mut Counters, to: &mut Counters) {
        to.loads = to.loads.wrapping_add(self.loads.wrapping_sub(before.loads));
        to.stores = to.stores.wrapping_add(self.stores.wrapping_sub(before.stores));
        (before.loads, before.stores) = (self.loads, self.stores);
        let moved = (self.window_loads ^ before.window_loads)
            | (self.window_stores ^ before.window_stores)
            | (self.window_misses ^ before.window_misses)
            | (self.element_accesses ^ before.element_accesses)
            | (self.dma_transfers ^ before.dma_transfers)
            | (self.dma_bytes ^ before.dma_bytes);
        if moved != 0 {
            *to += *self - *before;
            *before = *self;
        }
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
    /// `part` of `whole` parts of each count, rounded down.
    pub fn share(self, part: u64, whole: u64) -> Counters {
        let of = |count: u64| {
            let share = u128::from(count) * u128::from(part) / u128::from(whole.max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        Counters {
            instructions: of(self.instructions),
            loads: of(self.loads),
            stores: of(self.stores),
            window_loads: of(self.window_loads),
            window_stores: of(self.window_stores),
            window_misses: of(self.window_misses),
            element_accesses: of(self.element_accesses),
            dma_transfers: of(self.dma_transfers),
            dma_bytes: of(self.dma_bytes),
        }
    }

    /// Accesses through a window that needed no move.
    pub fn window_hits(&self) -> u64 {
        (self.window_loads + self.window_stores).saturating_sub(self.window_misses)
    }

    /// Estimated cycles.
    pub fn cycles(&self, costs: &Costs) -> u64 {
        self.parts(costs).sum()
    }

    /// What the estimated cycles are spent on.
    pub fn parts(&self, costs: &Costs) -> Cycles {
        Cycles {
            instructions: self.instructions.saturating_mul(costs.instruction),
            window_loads: self.window_loads.saturating_mul(costs.window_load),
            window_stores: self.window_stores.saturating_mul(costs.window_store),
            window_moves: self.window_misses.saturating_mul(costs.window_move),
            dma_wait: self.dma_transfers.saturating_mul(costs.dma_start),
            dma_copy: self.dma_bytes / costs.dma_bytes_per_cycle.max(1),
        }
    }
}

/// Estimated cycles, by what they are spent on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Cycles {
    /// Executing instructions.
    pub instructions: u64,
    /// Waiting for loads through address windows.
    pub window_loads: u64,
    /// Storing through address windows.
    pub window_stores: u64,
    /// Moving address windows.
    pub window_moves: u64,
    /// Waiting for DMA transfers to start and to be seen complete.
    pub dma_wait: u64,
    /// Waiting while DMA transfers copy.
    pub dma_copy: u64,
}

impl Cycles {
    /// All of them.
    pub fn sum(&self) -> u64 {
        let Cycles { instructions, window_loads, window_stores, window_moves, dma_wait, dma_copy } = *self;
        [instructions, window_loads, window_stores, window_moves, dma_wait, dma_copy]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

impl std::ops::AddAssign for Cycles {
    fn add_assign(&mut self, more: Cycles) {
        self.instructions += more.instructions;
        self.window_loads += more.window_loads;
        self.window_stores += more.window_stores;
        self.window_moves += more.window_moves;
        self.dma_wait += more.dma_wait;
        self.dma_copy += more.dma_copy;
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
        let costs = Costs {
            instruction: 1,
            window_load: 200,
            window_store: 20,
            window_move: 60,
            dma_start: 1500,
            dma_bytes_per_cycle: 32,
            element_access: 0,
        };
        assert_eq!(counters.cycles(&costs), 1000 + 600 + 40 + 60 + 3000 + 200);
        assert_eq!(counters.parts(&costs).dma_wait, 3000);
        assert_eq!(counters.window_hits(), 4);
    }
}
