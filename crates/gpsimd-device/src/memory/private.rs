//! All memory private to one core, and what each part of it is for.
//!
//! Owns the paint: which bytes the program may touch, and which hold a value. Unaware of instructions, shared tensors and
//! reports. Facts: spec `lsp-and-memory.md` §13.1-§13.5, `device-runtime.md` §11.2, §21.

use crate::checked::Peek;
use crate::checked::objects::{Globals, Variable, on_stack};
use crate::memory::arena::Arena;
use crate::memory::heap::{Block, Heap, Kind};
use crate::memory::image::Image;
use crate::memory::ram::{ACCESS, FREED, INIT, LOCKED, Ram, WATCHED};
use crate::memory::watch::Watch;
use crate::parts::firmware;
use crate::parts::map::{self, DataramLayout};
use crate::parts::registers::Registers;
use crate::parts::sdma::Sdma;

/// Bytes of static data that count as changed together.
const WORD: usize = 4;

/// Private memory, registers and DMA queues of one core.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Number of the core.
    pub core: u8,
    /// Division of the data RAM.
    pub layout: DataramLayout,
    /// Data RAM.
    pub dataram: Ram,
    /// NX address of the first byte of [`Memory::image`].
    pub image_base: u32,
    /// Code and data of the loaded library.
    pub image: Ram,
    /// The core's part of `hbm_scratch`.
    pub scratch: Ram,
    /// NX address of the firmware page.
    pub firmware_base: u32,
    /// The firmware page.
    pub firmware: Vec<u8>,
    /// Functions whose calls are looked into.
    pub watch: Watch,
    /// Register block.
    pub registers: Registers,
    /// DMA queues.
    pub sdma: Sdma,
    /// HBM, TCM and libc heap, in that order.
    pub heaps: [Heap; 3],
    /// Whether any heap is stale.
    pub stale: bool,
    scratch_open: bool,
    /// Where blocks are placed, in data RAM and in device memory; nothing while the runtime's places are taken as they are.
    apart: Option<[Arena; 2]>,
    /// Whether the image is a checked one, whose redzones and handlers count.
    pub is_checked: bool,
    /// Its variables with redzones.
    pub(crate) globals: Globals,
    /// Variables that incidents of the call name.
    pub(crate) named: Vec<Variable>,
    /// What the library's static data held when its first op was called, stretch by stretch of the image.
    at_first: Option<Vec<(usize, Vec<u8>)>>,
    /// Lowest offset in the data RAM's stack that was stored to.
    pub stack_low: usize,
    /// Stores to the stack below this offset are looked at: those that lower [`Memory::stack_low`], in a checked build all.
    pub stack_guard: usize,
    /// The block of the HBM heap that serves as stack, with the lowest offset stored to in it.
    pub hbm_stack: Option<HbmStack>,
}

/// A stack in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HbmStack {
    /// Offset in the scratch.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
    /// Lowest scratch offset stored to.
    pub low: u32,
}

impl Memory {
    /// Fresh memory of a core with `image` loaded and its bss zeroed.
    pub fn new(core: u8, layout: DataramLayout, image: &Image) -> Memory {
        let (image_base, image_end) = image.span();
        let mut ram = Ram::new((image_end - image_base) as usize);
        for segment in image.segments().iter().filter(|segment| segment.vaddr >= image_base) {
            let at = (segment.vaddr - image_base) as usize;
            let locked = if segment.writable { 0 } else { LOCKED };
            ram.paint(at, segment.mem_len as usize, ACCESS | INIT | locked);
            ram.poke(at, &segment.data);
        }
        for (start, len) in image.code() {
            if let Some(at) = start.checked_sub(image_base) {
                ram.add_state(at as usize, *len as usize, LOCKED);
            }
        }
        let mut memory = Memory::with_image(core, layout, image_base, ram);
        memory.is_checked = image.is_checked();
        memory
    }

    /// Fresh memory of a core whose code and data, loaded or to be loaded, are `image` at `image_base`.
    pub fn with_image(core: u8, layout: DataramLayout, image_base: u32, image: Ram) -> Memory {
        let mut dataram = Ram::new(layout.len as usize);
        dataram.paint((layout.scratch - map::DATARAM) as usize, layout.scratch_len as usize, ACCESS | INIT);
        let floor = (layout.stack_floor - map::DATARAM) as usize;
        dataram.paint(floor, (layout.stack_top - layout.stack_floor) as usize, ACCESS);
        let headers = (layout.scratch - map::DATARAM + crate::memory::heap::HEADERS) as usize;
        dataram.add_state(headers, 3 * crate::memory::heap::HEADER_LEN as usize, WATCHED);

        let firmware_base = map::firmware(image_base);
        let rings = map::dataram_soc(core) + u64::from(layout.scratch - map::DATARAM);
        Memory {
            core,
            layout,
            stack_low: (layout.stack_top - map::DATARAM) as usize,
            stack_guard: (layout.stack_top - map::DATARAM) as usize,
            dataram,
            image_base,
            image,
            scratch: Ram::new(map::SCRATCH_LEN as usize),
            firmware_base,
            firmware: firmware::page(firmware_base),
            watch: Watch::default(),
            registers: Registers::new(core),
            sdma: Sdma::new(rings + 0x100, rings + 0x140, rings + 0x180),
            heaps: Kind::ALL.map(|kind| Heap::new(kind, layout.scratch)),
            stale: false,
            is_checked: false,
            globals: Globals::default(),
            named: Vec::new(),
            scratch_open: false,
            apart: None,
            at_first: None,
            hbm_stack: None,
        }
    }

    /// From now on blocks are told by the runtime's calls and lie apart, in all of the data RAM that the pools and nobody else
    /// have, and in device memory.
    pub fn keep_apart(&mut self) {
        let headers = (self.layout.scratch - map::DATARAM + crate::memory::heap::HEADERS) as usize;
        self.dataram.remove_state(headers, 3 * crate::memory::heap::HEADER_LEN as usize, WATCHED);
        let start = self.heaps[Kind::Libc as usize].pool().0 - map::DATARAM;
        let end = self.layout.stack_floor - map::DATARAM;
        // what lies behind the scratch was not painted before
        let painted = end.min(self.layout.scratch - map::DATARAM + self.layout.scratch_len);
        self.dataram.paint(start as usize, painted.saturating_sub(start) as usize, 0);
        self.apart = Some([Arena::new(start, end), Arena::new(0, map::SCRATCH_LEN)]);
        for heap in &mut self.heaps {
            match heap.kind() {
                Kind::Hbm => heap.be_told(crate::memory::heap::HBM_POOL, map::SCRATCH_LEN),
                Kind::Tcm | Kind::Libc => heap.be_told(map::DATARAM, self.layout.len),
            }
        }
    }

    /// Whether blocks lie apart, and whether some have less room around them than they should.
    pub fn is_crowded(&self) -> bool {
        self.apart.iter().flatten().any(Arena::is_crowded)
    }

    /// Places a block that the runtime hands out; its offset in the memory of the heap, unless there is no room at all.
    /// `block` says everything but the place.
    pub fn hand_out(&mut self, kind: Kind, block: Block, align: u32) -> Option<u32> {
        let len = block.len;
        let [local, device] = self.apart.as_mut()?;
        let (ram, arena, most) = match kind {
            Kind::Hbm => (&mut self.scratch, device, 0x1000),
            Kind::Tcm | Kind::Libc => (&mut self.dataram, local, 0x100),
        };
        let offset = arena.place(len, align, (len / 2).clamp(64, most))?;
        ram.paint(offset as usize, len as usize, ACCESS);
        self.heaps[kind as usize].hand_out(Block { offset, ..block });
        Some(offset)
    }

    /// Takes the block at an offset back; nothing if there is none.
    pub fn take_back(&mut self, kind: Kind, offset: u32, site: &[u32], now: u64) -> Option<Block> {
        let block = self.heaps[kind as usize].take_back(offset, site, now)?;
        let [local, device] = self.apart.as_mut()?;
        let (ram, arena) = match kind {
            Kind::Hbm => (&mut self.scratch, device),
            Kind::Tcm | Kind::Libc => (&mut self.dataram, local),
        };
        ram.paint(offset as usize, block.len as usize, FREED);
        arena.rest(offset);
        Some(block)
    }

    /// Opens a block up to the length that the runtime says it has.
    pub fn open(&mut self, kind: Kind, block: &Block, len: u32) {
        let ram = if kind == Kind::Hbm { &mut self.scratch } else { &mut self.dataram };
        let more = len.saturating_sub(block.len).min(64);
        ram.paint((block.offset + block.len) as usize, more as usize, ACCESS);
    }

    /// Forgets the marks of the previous call.
    pub fn begin_call(&mut self) {
        self.stack_low = (self.layout.stack_top - map::DATARAM) as usize;
        self.stack_guard = self.stack_low;
        self.hbm_stack = None;
        // Frames of a call that ended half-way left values and redzones.
        let floor = (self.layout.stack_floor - map::DATARAM) as usize;
        self.dataram.paint(floor, self.stack_low - floor, ACCESS);
        for heap in &mut self.heaps {
            let (ram, base) = match heap.kind() {
                Kind::Hbm => (&mut self.scratch, 0),
                Kind::Tcm | Kind::Libc => (&mut self.dataram, (heap.pool().0 - map::DATARAM) as usize),
            };
            for block in heap.begin_call() {
                ram.paint(base + block.offset as usize, block.len as usize, 0);
            }
        }
        self.apart.iter_mut().flatten().for_each(Arena::clear);
    }

    /// An op is about to be called: static data that calls before have changed is old, which is noticed where it is read.
    pub fn begin_op(&mut self) {
        let image = &self.image;
        let now = |at: usize, len: usize| image.range(at, len).map_or(&[][..], |(now, _)| now);
        let Some(before) = &self.at_first else {
            let stretches = image.writable(WORD).into_iter();
            self.at_first = Some(stretches.map(|(at, len)| (at, now(at, len).to_vec())).collect());
            return;
        };
        /// Bytes compared at once: nearly all of the data is as it was.
        const PIECE: usize = 64 * WORD;
        let changed: Vec<usize> = before
            .iter()
            .flat_map(|(from, before)| {
                let pieces = differences(now(*from, before.len()), before, PIECE);
                pieces.flat_map(move |(piece, now, before)| {
                    differences(now, before, WORD).map(move |(at, ..)| from + piece + at)
                })
            })
            .collect();
        for at in changed {
            self.image.outdate(at, WORD);
        }
    }

    /// Reads the descriptors of globals that a constructor registers; gives the redzone behind each.
    pub(crate) fn register_globals(&mut self, table: u32, count: u32) -> Vec<(u32, u32)> {
        let mut globals = std::mem::take(&mut self.globals);
        let redzone = |global: &Variable| {
            (global.start.wrapping_add(global.len), global.with_redzone.saturating_sub(global.len))
        };
        let redzones = globals.register(table, count, self).iter().map(redzone).collect();
        self.globals = globals;
        redzones
    }

    /// The variable that an NX address is in or beside, if it has redzones.
    pub(crate) fn variable_at(&self, addr: u32) -> Option<Variable> {
        match self.globals.find(addr) {
            Some(global) => Some(global.clone()),
            None => on_stack(addr, self, |addr| self.is_redzone(addr)),
        }
    }

    /// Notes a store to watched bookkeeping; heap and descriptor when a block is being handed out.
    pub fn bookkeeping(&mut self, addr: u32, value: u32) -> Option<(Kind, usize)> {
        for heap in &mut self.heaps {
            if let Some(handed) = heap.written(addr, value) {
                self.stale = true;
                return handed.map(|d| (heap.kind(), d));
            }
        }
        None
    }

    /// Whether bytes of the core's own memory are plainly values, without a closer look.
    #[inline]
    pub fn holds_values(&self, addr: u32, size: u8) -> bool {
        let all = |ram: &Ram, base: u32| {
            let (_, states) = ram.range(addr.wrapping_sub(base) as usize, size.into())?;
            Some(states.iter().all(|state| state & (ACCESS | INIT) == ACCESS | INIT))
        };
        let in_image = || all(&self.image, self.image_base);
        !self.stale && all(&self.dataram, map::DATARAM).or_else(in_image).unwrap_or(false)
    }

    /// Brings the paint of all stale heaps up to date.
    pub fn look_at_heaps(&mut self) {
        self.stale = false;
        for heap in &mut self.heaps {
            if !heap.is_stale() {
                continue;
            }
            let change = heap.look(&self.dataram, &self.image);
            let (pool, pool_len) = heap.pool();
            let (ram, base) = match heap.kind() {
                Kind::Hbm => (&mut self.scratch, 0),
                Kind::Tcm | Kind::Libc => (&mut self.dataram, (pool - map::DATARAM) as usize),
            };
            if change.recognised && heap.is_followed() && heap.kind() != Kind::Hbm {
                ram.paint(base, pool_len as usize, 0);
            }
            for block in change.freed {
                ram.paint(base + block.offset as usize, block.len as usize, FREED);
            }
            for block in change.added {
                ram.paint(base + block.offset as usize, block.len as usize, ACCESS);
            }
        }
    }

    /// Opens the whole scratch to a program whose HBM heap cannot be followed.
    pub fn open_scratch(&mut self) {
        if !self.scratch_open && !self.heaps[Kind::Hbm as usize].is_followed() {
            self.scratch_open = true;
            self.scratch.paint(0, map::SCRATCH_LEN as usize, ACCESS | INIT);
        }
    }

    /// Recognises the HBM block that `sp` lies in as the stack.
    pub fn note_stack(&mut self, sp: u32) {
        let Some(offset) = self.scratch_offset(sp) else { return };
        if self.hbm_stack.is_some_and(|stack| offset.wrapping_sub(stack.offset) < stack.len) {
            return;
        }
        self.look_at_heaps();
        let blocks = self.heaps[Kind::Hbm as usize].blocks();
        if let Some(block) = blocks.iter().find(|block| offset.wrapping_sub(block.offset) < block.len) {
            self.hbm_stack = Some(HbmStack { offset: block.offset, len: block.len, low: offset });
        }
    }

    /// Whether a scratch offset is in the stack in device memory.
    pub fn in_hbm_stack(&self, offset: usize) -> bool {
        self.hbm_stack.is_some_and(|stack| (offset as u32).wrapping_sub(stack.offset) < stack.len)
    }

    /// Offset in the scratch that an NX address shows through the pinned window.
    pub fn scratch_offset(&self, addr: u32) -> Option<u32> {
        let offset = addr.wrapping_sub(map::BANKS + map::SCRATCH_OFFSET as u32);
        (offset < map::SCRATCH_LEN).then_some(offset)
    }

    /// Bytes at an NX address of private memory, whatever their state; `None` where the host has no business.
    pub fn peek(&self, addr: u32, len: usize) -> Option<&[u8]> {
        let at = |base: u32| addr.wrapping_sub(base) as usize;
        if let Some((data, _)) = self.dataram.range(at(map::DATARAM), len) {
            return Some(data);
        }
        if let Some((data, _)) = self.image.range(at(self.image_base), len) {
            return Some(data);
        }
        if let Some(offset) = self.scratch_offset(addr) {
            return self.scratch.range(offset as usize, len).map(|(data, _)| data);
        }
        let at = at(self.firmware_base);
        self.firmware.get(at..at.checked_add(len)?)
    }

    /// Writes bytes at an NX address of private memory; says whether it could.
    pub fn poke(&mut self, addr: u32, bytes: &[u8]) -> bool {
        let at = |base: u32| addr.wrapping_sub(base) as usize;
        let scratch = self.scratch_offset(addr).map(|offset| offset as usize);
        let (ram, at) = if self.dataram.range(at(map::DATARAM), bytes.len()).is_some() {
            (&mut self.dataram, at(map::DATARAM))
        } else if self.image.range(at(self.image_base), bytes.len()).is_some() {
            let at = at(self.image_base);
            (&mut self.image, at)
        } else if let Some(at) = scratch.filter(|at| self.scratch.range(*at, bytes.len()).is_some()) {
            (&mut self.scratch, at)
        } else {
            return false;
        };
        ram.poke(at, bytes);
        true
    }

    /// The zero-terminated string at an NX address, at most `limit` bytes of it.
    pub fn string(&self, addr: u32, limit: usize) -> String {
        let bytes: Vec<u8> = (0..limit as u32)
            .map_while(|i| self.peek(addr.wrapping_add(i), 1).and_then(|byte| byte.first().copied()))
            .take_while(|&byte| byte != 0)
            .collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Where two images differ, piece by piece, and how.
fn differences<'a>(
    now: &'a [u8],
    before: &'a [u8],
    size: usize,
) -> impl Iterator<Item = (usize, &'a [u8], &'a [u8])> + 'a {
    let pairs = now.chunks(size).zip(before.chunks(size));
    let places = (0..).step_by(size).zip(pairs).filter(|(_, (now, before))| now != before);
    places.map(|(at, (now, before))| (at, now, before))
}

impl Peek for Memory {
    fn peek(&self, addr: u32, len: usize) -> Option<Vec<u8>> {
        Memory::peek(self, addr, len).map(<[u8]>::to_vec)
    }
}
