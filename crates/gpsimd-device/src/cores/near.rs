//! What an address in no legal memory is next to, and who made or unmade it.
//!
//! Unaware of why anyone asks.

use crate::cores::bus::{Bus, Place};
use crate::cores::incident::{History, Near, What};
use crate::memory::heap::{Block, Kind};
use crate::parts::map;

/// How far behind the end of a pool an overrun of its last block is still explained by that block.
const POOL_REACH: u32 = 0x400;
/// Bytes from the first tensor on in which nothing but tensors is laid out.
const TENSOR_REACH: u64 = 16 << 30;
/// How far from a block an access is still explained by it: an index that is wrong by more than a pool is another mistake.
const BLOCK_REACH: i64 = 0x4400;

impl Bus<'_> {
    /// What lies near a SoC address in no memory.
    pub(crate) fn near_soc(&self, soc: u64) -> Near {
        let shared = self.view.shared();
        // only tensors are laid out there, so one is meant, however far off
        let is_for_tensors = (map::TENSORS..map::TENSORS + TENSOR_REACH).contains(&soc);
        let reach = if is_for_tensors { TENSOR_REACH } else { map::TENSOR_GUARD };
        match shared.nearest(soc, reach) {
            Some((region, _)) => {
                let base = shared.regions().get(region).map_or(0, |region| region.base);
                Near::Tensor { region, offset: soc.wrapping_sub(base) as i64 }
            }
            None => Near::Soc { addr: soc },
        }
    }

    /// What a place is, or is next to, and the call chain that allocated the block concerned (freed it, if that is the
    /// trouble); the chain is empty where there is no block.
    pub(crate) fn near_place(&mut self, place: Place, what: What) -> (Near, History) {
        let plain = |near| (near, History::default());
        if let What::Redzone { .. } = what
            && let Some(near) = self.near_variable(place)
        {
            return plain(near);
        }
        match place {
            Place::Tensor(region, offset) => plain(Near::Tensor { region, offset: offset as i64 }),
            Place::Image(offset) => {
                plain(Near::Nx { addr: self.memory.image_base.wrapping_add(offset as u32) })
            }
            Place::Scratch(offset) if self.memory.in_hbm_stack(offset) => {
                plain(Near::Stack { addr: map::BANKS + map::SCRATCH_OFFSET as u32 + offset as u32 })
            }
            Place::Scratch(offset) => self.near_block(Kind::Hbm, offset as i64, what).unwrap_or_else(|| {
                plain(Near::Soc { addr: map::scratch_soc(self.memory.core) + offset as u64 })
            }),
            Place::Dataram(offset) => {
                let addr = map::DATARAM.wrapping_add(offset as u32);
                let layout = self.memory.layout;
                if (layout.stack_floor..layout.stack_top).contains(&addr) {
                    return plain(Near::Stack { addr });
                }
                let pool = |kind: Kind| self.memory.heaps[kind as usize].pool();
                let (first, (last, len)) = (pool(Kind::Libc).0, pool(Kind::Tcm));
                let near = |kind| self.near_block(kind, i64::from(addr) - i64::from(pool(kind).0), what);
                // The pools adjoin: what lies before the first block of one is in the other.
                Some([Kind::Libc, Kind::Tcm])
                    .filter(|_| (first..last + len + POOL_REACH).contains(&addr))
                    .and_then(|kinds| kinds.into_iter().filter_map(near).min_by_key(|(near, _)| gap(near)))
                    .filter(|(near, _)| gap(near) < BLOCK_REACH)
                    .unwrap_or(plain(Near::Dataram { addr }))
            }
            Place::Apb(offset) => plain(Near::Nx { addr: map::WINDOWS.wrapping_add(offset) }),
            Place::Nowhere => plain(Near::Nx { addr: 0 }),
        }
    }

    /// The variable between redzones that a place is in or beside.
    fn near_variable(&mut self, place: Place) -> Option<Near> {
        let addr = match place {
            Place::Dataram(offset) => map::DATARAM.wrapping_add(offset as u32),
            Place::Image(offset) => self.memory.image_base.wrapping_add(offset as u32),
            Place::Scratch(offset) => map::BANKS + map::SCRATCH_OFFSET as u32 + offset as u32,
            _ => return None,
        };
        let variable = self.memory.variable_at(addr)?;
        let offset = i64::from(addr) - i64::from(variable.start);
        let named = &mut self.memory.named;
        let id = named.iter().position(|known| *known == variable).unwrap_or_else(|| {
            named.push(variable);
            named.len() - 1
        });
        Some(Near::Variable { id, offset })
    }

    /// The block nearest to an offset in a heap's pool: the latest one freed there, or the nearest live one.
    fn near_block(&self, kind: Kind, offset: i64, what: What) -> Option<(Near, History)> {
        let heap = &self.memory.heaps[kind as usize];
        let near = |block: &Block| Near::Block {
            heap: kind,
            len: block.len,
            offset: offset - i64::from(block.offset),
            hit: None,
        };
        if what == What::Freed {
            let inside = |block: &Block| gap(&near(block)) < 0;
            let freed = heap.freed().iter().rev().find(|freed| inside(&freed.block))?;
            return Some((near(&freed.block), History::from(freed)));
        }
        let block = heap.blocks().iter().min_by_key(|block| gap(&near(block)))?;
        let found = near(block);
        let Near::Block { heap, len, offset, .. } = found else { return None };
        let hit = self.memory.heaps[kind as usize].hit(block, offset);
        let history =
            History { hit: hit.map(|hit| hit.site.clone()).unwrap_or_default(), ..block.site.clone().into() };
        Some((Near::Block { heap, len, offset, hit: hit.map(|hit| hit.len) }, history))
    }
}

/// Bytes between an address and the block it is near: 0 right past the end, negative inside.
fn gap(near: &Near) -> i64 {
    match *near {
        Near::Block { len, offset, .. } if offset >= 0 => offset - i64::from(len),
        Near::Block { offset, .. } => -offset,
        _ => i64::MAX,
    }
}
