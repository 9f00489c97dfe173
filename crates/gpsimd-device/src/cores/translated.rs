//! What translated code may do without asking: loads and stores of private memory that its states call plain.
//!
//! The same states decide as on the straight path of [`crate::cores::bus`]. Unaware of translation.

use xtensa_iss::{Frames, Layout, Marks, Reach, Reachable};

use crate::cores::bus::Bus;
use crate::memory::ram::{ACCESS, INIT, LOCKED, WATCHED};
use crate::parts::map;

impl Bus<'_> {
    pub(crate) fn reachable(&self) -> Layout {
        let memory = &*self.memory;
        let layout = &memory.layout;
        let whole = |len: usize| if len.is_multiple_of(4) { len as u32 } else { 0 };
        Layout {
            memories: [
                Reachable { base: map::DATARAM, len: whole(memory.dataram.size()) },
                Reachable { base: memory.image_base, len: whole(memory.image.size()) },
            ],
            marks: Some(Marks {
                load: ACCESS | INIT,
                store: ACCESS | LOCKED | WATCHED,
                storable: ACCESS,
                stored: INIT,
            }),
            watermark: Some(layout.stack_floor - map::DATARAM),
            frames: Some(Frames { from: layout.stack_floor, to: layout.stack_top, mark: ACCESS }),
            // Code is in the image, where it is locked, and in the firmware page.
            holds_code: false,
        }
    }

    pub(crate) fn reach_now(&mut self) -> Reach<'_> {
        let memory = &mut *self.memory;
        let floor = (memory.layout.stack_floor - map::DATARAM) as usize;
        // Heaps whose bookkeeping moved on are looked at by the next access.
        let open = if memory.stale { 0 } else { memory.dataram.size() as u32 };
        let image = memory.image.size() as u32;
        Reach {
            untouched: memory.stack_guard.saturating_sub(floor) as u32,
            memories: [(memory.dataram.both(), open), (memory.image.both(), image)],
        }
    }

    /// A literal among locked bytes: nothing writes there but what tells the core so.
    pub(crate) fn constant(&self, addr: u32) -> Option<u32> {
        let offset = addr.wrapping_sub(self.memory.image_base) as usize;
        let states = self.memory.image.states::<4>(offset)?;
        let constant = ACCESS | INIT | LOCKED;
        let is_constant = states.iter().all(|state| state & constant == constant);
        is_constant.then(|| self.memory.image.peek::<4>(offset).map(u32::from_le_bytes)).flatten()
    }

    /// Accesses that translated code did.
    pub(crate) fn count_reached(&mut self, loads: u64, stores: u64) {
        self.notes.counters.loads = self.notes.counters.loads.wrapping_add(loads);
        self.notes.counters.stores = self.notes.counters.stores.wrapping_add(stores);
        self.profile.iter_mut().for_each(|profile| profile.reached(loads, stores));
    }
}
