//! Follows the runtime's three heaps from outside, by their documented bookkeeping, with or without symbols.
//!
//! The bookkeeping lies outside the pools: descriptors at fixed offsets of the scratch map, list heads in a manager that
//! names pool and descriptors. A write to a descriptor marks the heap stale; the next access to its pool reads the list of
//! live blocks again. So the allocator itself runs unobserved, and blocks are exact whenever memory is used.
//! Unaware of what the blocks are for. Facts: spec `device-runtime.md` §11.2, §12.1, §12.3.

use crate::memory::ram::Ram;
use crate::parts::map;

/// Return addresses from the running function outwards, the running pc first.
pub type Chain = Vec<u32>;

/// One of the three heaps.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "HeapKind")]
pub enum Kind {
    /// Device memory private to the core; pool addresses count from 0x80000000 and are never dereferenced.
    Hbm,
    /// The 16 KiB pool behind `tcm_malloc` and the streams.
    Tcm,
    /// `malloc`.
    Libc,
}

impl Kind {
    /// All heaps, in the order of their headers.
    pub const ALL: [Kind; 3] = [Kind::Hbm, Kind::Tcm, Kind::Libc];
}

/// Offset of the first heap header in the scratch map.
pub const HEADERS: u32 = 0x228;
/// Bytes of one header: 32 descriptors and a bit vector.
pub const HEADER_LEN: u32 = 0x204;
const DESCRIPTORS: u32 = 32;
const DESCRIPTOR_LEN: u32 = 16;
/// Where the bookkeeping of the HBM heap pretends its pool is.
pub const HBM_POOL: u32 = 0x8000_0000;
const TCM_POOL: (u32, u32) = (0x3200, 0x4000);
const LIBC_POOL: (u32, u32) = (0xA00, 0x2800);

const MANAGER_LEN: usize = 88;
const MANAGER_BUFFER: usize = 0x04;
const MANAGER_ALLOC_LIST: usize = 0x38;
const MANAGER_BLOCKS: usize = 0x48;

/// A live block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Offset of the first usable byte from the start of the pool.
    pub offset: u32,
    /// Usable bytes.
    pub len: u32,
    /// Who allocated it, outermost call last; empty when not seen.
    pub site: Chain,
    /// Descriptor that stands for it; 0 when not looked at.
    pub descriptor: usize,
    /// The address that the runtime knows it by.
    pub runtime: u32,
    /// Instructions executed when it was handed out; 0 when not looked at.
    pub born: u64,
}

impl Block {
    /// Whether an offset in the memory of its heap is in it.
    pub fn holds(&self, at: usize) -> bool {
        at.wrapping_sub(self.offset as usize) < self.len as usize
    }
}

/// A block that was given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freed {
    /// The block as it was.
    pub block: Block,
    /// Who gave it back, outermost call last; empty when not seen.
    pub site: Chain,
    /// Instructions executed when it was given back; 0 when not looked at.
    pub died: u64,
}

/// What changed since the last look.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Blocks given back.
    pub freed: Vec<Block>,
    /// Blocks handed out.
    pub added: Vec<Block>,
    /// The pool was just recognised: everything outside `added` belongs to nobody.
    pub recognised: bool,
}

/// One heap as seen from outside.
#[derive(Debug, Clone)]
pub struct Heap {
    kind: Kind,
    header: u32,
    pool: u32,
    pool_len: u32,
    manager: Option<usize>,
    blocks: Vec<Block>,
    freed: Vec<Freed>,
    sites: Vec<Chain>,
    handed_out: u32,
    stale: bool,
    high_water: u32,
    /// Whether blocks are told by the runtime's calls instead of being read from its bookkeeping.
    told: bool,
}

impl Heap {
    const FREED_KEPT: usize = 256;

    /// The heap of this kind in a scratch map at NX address `scratch`.
    pub fn new(kind: Kind, scratch: u32) -> Heap {
        let (pool, pool_len) = match kind {
            Kind::Hbm => (HBM_POOL, map::SCRATCH_LEN),
            Kind::Tcm => (scratch + TCM_POOL.0, TCM_POOL.1),
            Kind::Libc => (scratch + LIBC_POOL.0, LIBC_POOL.1),
        };
        Heap {
            kind,
            header: scratch + HEADERS + HEADER_LEN * kind as u32,
            pool,
            pool_len,
            manager: None,
            blocks: Vec::new(),
            freed: Vec::new(),
            sites: vec![Chain::new(); DESCRIPTORS as usize],
            handed_out: 0,
            stale: false,
            high_water: 0,
            told: false,
        }
    }

    /// From now on blocks are told by [`Heap::hand_out`] and [`Heap::take_back`]; their offsets count from `pool`, which has
    /// `len` bytes.
    pub fn be_told(&mut self, pool: u32, len: u32) {
        (self.pool, self.pool_len, self.told) = (pool, len, true);
    }

    /// A block was handed out.
    pub fn hand_out(&mut self, block: Block) {
        self.blocks.push(block);
        self.high_water = self.high_water.max(self.blocks.iter().map(|block| block.len).sum());
    }

    /// The block at an offset is given back; nothing if there is none.
    pub fn take_back(&mut self, offset: u32, site: &[u32], now: u64) -> Option<Block> {
        let at = self.blocks.iter().position(|block| block.offset == offset)?;
        let block = self.blocks.remove(at);
        self.freed.push(Freed { block: block.clone(), site: site.to_vec(), died: now });
        self.freed.drain(..self.freed.len().saturating_sub(Self::FREED_KEPT));
        Some(block)
    }

    /// The live block that the runtime has where it has this one, `offset` bytes on: what an overrun hits on the device.
    pub fn hit(&self, block: &Block, offset: i64) -> Option<&Block> {
        let at = i64::from(block.runtime) + offset;
        self.blocks.iter().find(|other| {
            let from = at - i64::from(other.runtime);
            *other != block && (0..i64::from(other.len)).contains(&from)
        })
    }

    /// Which heap.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// NX address and length of the pool (bookkeeping addresses for the HBM heap).
    pub fn pool(&self) -> (u32, u32) {
        (self.pool, self.pool_len)
    }

    /// Live blocks as of the last look.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Blocks given back, latest last; only the last few are kept.
    pub fn freed(&self) -> &[Freed] {
        &self.freed
    }

    /// Most bytes live at once, over all looks.
    pub fn high_water(&self) -> u32 {
        self.high_water
    }

    /// Whether the runtime's bookkeeping was found, so that blocks are known at all.
    pub fn is_followed(&self) -> bool {
        self.told || self.manager.is_some()
    }

    /// Whether the bookkeeping changed since the last look.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Forgets everything about blocks, for a new call: every launch empties the heaps. Returns what it knew of.
    pub fn begin_call(&mut self) -> Vec<Block> {
        self.high_water = 0;
        let freed = self.freed.drain(..).map(|freed| freed.block);
        freed.chain(self.blocks.drain(..)).collect()
    }

    /// Notes a write to NX address `addr`; `None` unless it is in this heap's header. `Some(Some(d))` when the write names
    /// the user pointer of descriptor `d`: a block is being handed out.
    pub fn written(&mut self, addr: u32, value: u32) -> Option<Option<usize>> {
        let at = addr.wrapping_sub(self.header);
        if at >= HEADER_LEN {
            return None;
        }
        self.stale = true;
        let hands_out = at < DESCRIPTORS * DESCRIPTOR_LEN && at % DESCRIPTOR_LEN == 12 && value != 0;
        Some(hands_out.then_some((at / DESCRIPTOR_LEN) as usize))
    }

    /// Remembers who made the runtime hand out descriptor `d`.
    pub fn set_site(&mut self, d: usize, site: &[u32]) {
        if let Some(slot) = self.sites.get_mut(d) {
            slot.clear();
            slot.extend_from_slice(site);
            self.handed_out |= 1 << d;
        }
    }

    /// Reads the live blocks anew. `dataram` is the core's data RAM, `image` its code and data.
    pub fn look(&mut self, dataram: &Ram, image: &Ram) -> Change {
        self.stale = false;
        let known = self.manager.is_some_and(|at| self.is_manager(image, at));
        let recognised = !known;
        if recognised {
            self.manager = (0..image.size().saturating_sub(MANAGER_LEN))
                .step_by(4)
                .find(|at| self.is_manager(image, *at));
        }
        let Some(manager) = self.manager else { return Change::default() };
        let now = self.live(dataram, image, manager);
        // A block that was given back and handed out again in between is another block, wherever it lies.
        let again = |block: &Block| self.handed_out >> block.descriptor & 1 != 0;
        let same = |old: &Block, new: &Block| old.offset == new.offset && old.len == new.len && !again(new);
        let freed: Vec<Block> =
            self.blocks.iter().filter(|old| !now.iter().any(|new| same(old, new))).cloned().collect();
        for block in &freed {
            // Giving a block back rewrites its descriptor's user pointer, which is seen like handing it out.
            let site = self.sites.get(block.descriptor).filter(|site| **site != block.site).cloned();
            self.freed.push(Freed { block: block.clone(), site: site.unwrap_or_default(), died: 0 });
        }
        self.freed.drain(..self.freed.len().saturating_sub(Self::FREED_KEPT));
        let added = now.iter().filter(|new| !self.blocks.iter().any(|old| same(old, new))).cloned().collect();
        self.handed_out = 0;
        self.blocks = now;
        self.high_water = self.high_water.max(self.blocks.iter().map(|block| block.len).sum());
        Change { freed, added, recognised }
    }

    fn is_manager(&self, image: &Ram, at: usize) -> bool {
        word(image, at + MANAGER_BUFFER) == Some(self.pool)
            && word(image, at + MANAGER_BLOCKS) == Some(self.header)
    }

    fn live(&self, dataram: &Ram, image: &Ram, manager: usize) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut next = word(image, manager + MANAGER_ALLOC_LIST).unwrap_or(0);
        // The list is at most as long as there are descriptors; a longer one is corrupt.
        for _ in 0..DESCRIPTORS {
            let at = next.wrapping_sub(self.header);
            if at >= DESCRIPTORS * DESCRIPTOR_LEN || !at.is_multiple_of(DESCRIPTOR_LEN) {
                break;
            }
            let field = |offset: u32| word(dataram, (next - map::DATARAM + offset) as usize).unwrap_or(0);
            let (size, buffer, user) = (field(4), field(8), field(12));
            let len = buffer.wrapping_add(size).wrapping_sub(user);
            let offset = user.wrapping_sub(self.pool);
            if len <= size && offset < self.pool_len && len <= self.pool_len - offset {
                let descriptor = (at / DESCRIPTOR_LEN) as usize;
                let site = self.sites.get(descriptor).cloned().unwrap_or_default();
                blocks.push(Block { offset, len, site, descriptor, runtime: user, born: 0 });
            }
            next = field(0);
        }
        blocks
    }
}

fn word(ram: &Ram, at: usize) -> Option<u32> {
    ram.peek(at).map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRATCH: u32 = map::DATARAM;

    struct World {
        dataram: Ram,
        image: Ram,
        heap: Heap,
    }

    impl World {
        fn new() -> World {
            let mut image = Ram::new(0x1000);
            let heap = Heap::new(Kind::Tcm, SCRATCH);
            image.poke(0x804, &heap.pool.to_le_bytes());
            image.poke(0x808, &heap.pool_len.to_le_bytes());
            image.poke(0x848, &heap.header.to_le_bytes());
            World { dataram: Ram::new(0x1_0000), image, heap }
        }

        fn descriptor(&mut self, d: u32, next: u32, size: u32, buffer: u32, user: u32) -> u32 {
            let at = self.heap.header + d * 16;
            for (i, value) in [next, size, buffer, user].into_iter().enumerate() {
                self.dataram.poke((at - map::DATARAM) as usize + 4 * i, &value.to_le_bytes());
            }
            at
        }

        fn list(&mut self, head: u32) {
            self.image.poke(0x838, &head.to_le_bytes());
        }

        fn look(&mut self) -> Change {
            self.heap.look(&self.dataram, &self.image)
        }
    }

    #[test]
    fn header_positions() {
        // device-runtime.md §11.2
        let headers: Vec<u32> = Kind::ALL.into_iter().map(|kind| Heap::new(kind, 0).header).collect();
        assert_eq!(headers, [0x228, 0x42C, 0x630]);
    }

    #[test]
    fn blocks_appear_and_disappear() {
        let mut world = World::new();
        let pool = world.heap.pool;
        let first = world.descriptor(1, 0, 100, pool, pool);
        let second = world.descriptor(2, first, 200, pool + 100, pool + 128);
        world.list(second);
        assert_eq!(world.heap.written(first + 12, pool), Some(Some(1)));
        world.heap.set_site(1, &[7, 8]);
        assert!(world.heap.is_stale());
        let change = world.look();
        let a = Block { offset: 0, len: 100, site: vec![7, 8], descriptor: 1, runtime: pool, born: 0 };
        let b = Block { offset: 128, len: 172, site: vec![], descriptor: 2, runtime: pool + 128, born: 0 };
        assert_eq!(change, Change { freed: vec![], added: vec![b.clone(), a.clone()], recognised: true });
        assert_eq!(world.heap.high_water(), 272);
        world.list(first);
        world.heap.set_site(2, &[9]);
        assert_eq!(world.look(), Change { freed: vec![b.clone()], added: vec![], recognised: false });
        assert_eq!(world.heap.freed(), [Freed { block: b, site: vec![9], died: 0 }]);
        assert_eq!(world.heap.blocks(), [a]);
    }

    #[test]
    fn a_block_handed_out_again_is_a_new_block() {
        let mut world = World::new();
        let pool = world.heap.pool;
        let first = world.descriptor(1, 0, 100, pool, pool);
        world.list(first);
        world.look();
        assert_eq!(world.look(), Change::default());
        world.heap.set_site(1, &[5]);
        let change = world.look();
        assert_eq!((change.freed.len(), change.added.len()), (1, 1));
        assert_eq!(change.added[0].site, [5]);
    }

    #[test]
    fn writes_elsewhere_are_not_its_business() {
        let mut world = World::new();
        assert_eq!(world.heap.written(SCRATCH + 0x42C - 4, 1), None);
        assert_eq!(world.heap.written(SCRATCH + 0x42C + 8, 1), Some(None));
        assert_eq!(world.heap.written(SCRATCH + 0x42C + 12, 0), Some(None));
        assert_eq!(world.heap.written(SCRATCH + 0x630, 1), None);
    }

    #[test]
    fn a_foreign_runtime_is_not_followed() {
        let mut heap = Heap::new(Kind::Libc, SCRATCH);
        assert_eq!(heap.look(&Ram::new(0x1_0000), &Ram::new(0x1000)), Change::default());
        assert!(!heap.is_followed());
    }

    #[test]
    fn corrupt_lists_end() {
        let mut world = World::new();
        let pool = world.heap.pool;
        let itself = world.heap.header + 16;
        world.descriptor(1, itself, u32::MAX, pool, pool + 5);
        world.list(itself);
        assert_eq!(world.look().added, []);
        world.list(3);
        assert_eq!(world.look().added, []);
    }
}
