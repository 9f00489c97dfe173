//! The device around a core that stands still: address windows, DMA rings, and who holds which part of its memory.
//!
//! Unaware of how it is shown.

use gpsimd_device::memory::heap::{Block, Kind};
use gpsimd_device::parts::map;
use gpsimd_device::parts::sdma::{DESCRIPTOR_BYTES, Descriptor, Ring};

use crate::engine::Debugger;
use crate::program::base;

/// Entries of a ring that are shown: the model's rings have four.
const MOST_ENTRIES: u32 = 16;

/// Something of the device, and what it is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub name: String,
    pub value: String,
    pub parts: Vec<Part>,
}

impl Part {
    fn new(name: impl Into<String>, value: impl Into<String>, parts: Vec<Part>) -> Part {
        Part { name: name.into(), value: value.into(), parts }
    }

    fn leaf(name: impl Into<String>, value: impl Into<String>) -> Part {
        Part::new(name, value, Vec::new())
    }

    /// As lines, each part below the one that it is of.
    pub fn text(&self, depth: usize) -> String {
        let mut text = format!("{:indent$}{}: {}\n", "", self.name, self.value, indent = 2 * depth);
        self.parts.iter().for_each(|part| text += &part.text(depth + 1));
        text
    }
}

impl Debugger<'_> {
    /// The device as a core has it.
    pub(crate) fn device(&mut self, core: usize) -> Vec<Part> {
        [self.windows(core), self.queues(core), self.heaps(core)].concat()
    }

    fn windows(&self, core: usize) -> Vec<Part> {
        let Some(memory) = self.session.core(core).map(|core| core.memory()) else { return Vec::new() };
        let window = |number: usize| {
            let shown = memory.registers.mem_window(number)?;
            let at = map::WINDOWS + number as u32 * map::WINDOW_LEN;
            Some(Part::leaf(number.to_string(), format!("{at:#010x} shows {shown:#x}")))
        };
        let windows: Vec<Part> = (0..map::WINDOW_COUNT).filter_map(window).collect();
        let moves = memory.registers.reprogrammed();
        vec![Part::new("windows", format!("{} set, moved {moves} times", windows.len()), windows)]
    }

    fn queues(&mut self, core: usize) -> Vec<Part> {
        let Some(sdma) = self.session.core(core).map(|core| core.memory().sdma.clone()) else {
            return Vec::new();
        };
        let from = self.ring(core, "from memory", sdma.m2s.ring());
        let to = self.ring(core, "to memory", sdma.s2m.ring());
        let state = match sdma.why_stopped() {
            None => "ready".to_owned(),
            Some(why) => format!("stopped: {why:?}"),
        };
        vec![Part::new("DMA queues", state, vec![from, to])]
    }

    fn ring(&mut self, core: usize, name: &str, ring: Ring) -> Part {
        let entry = |(number, bytes): (u32, Vec<u8>)| {
            let descriptor = bytes.first_chunk::<16>().map(|bytes| Descriptor::decode(*bytes));
            let mark = if number == ring.next { ", next" } else { "" };
            let value = match descriptor.filter(|_| bytes.iter().any(|byte| *byte != 0)) {
                Some(Descriptor { len, addr, .. }) => format!("{len} bytes at {addr:#x}{mark}"),
                None => format!("nothing{mark}"),
            };
            Part::leaf(number.to_string(), value)
        };
        let read = |number: u32| {
            let place = self.session.device_place(core, ring.base + u64::from(number) * DESCRIPTOR_BYTES);
            (number, self.session.read(core, place, DESCRIPTOR_BYTES as usize).data)
        };
        let entries: Vec<(u32, Vec<u8>)> = (0..ring.len.min(MOST_ENTRIES)).map(read).collect();
        let value = format!("{} entries at {:#x}, {} waiting", ring.len, ring.base, ring.waiting);
        Part::new(name, value, entries.into_iter().map(entry).collect())
    }

    fn heaps(&self, core: usize) -> Vec<Part> {
        let Some(memory) = self.session.core(core).map(|core| core.memory()) else { return Vec::new() };
        let heap = |kind: Kind| {
            let heap = &memory.heaps[kind as usize];
            let name = match kind {
                Kind::Hbm => "device memory",
                Kind::Tcm => "TCM",
                Kind::Libc => "C heap",
            };
            let mut blocks: Vec<&Block> = heap.blocks().iter().collect();
            blocks.sort_by_key(|block| block.offset);
            let held: u64 = blocks.iter().map(|block| u64::from(block.len)).sum();
            let mut parts = Vec::new();
            let mut end = None;
            for block in blocks {
                if let Some(gap) = end.and_then(|end| block.offset.checked_sub(end)).filter(|gap| *gap > 0) {
                    parts.push(Part::leaf("between", format!("{gap} bytes")));
                }
                end = Some(block.offset.saturating_add(block.len));
                let place = match kind {
                    Kind::Hbm => format!("offset {:#x}", block.offset),
                    Kind::Tcm | Kind::Libc => format!("{:#010x}", map::DATARAM + block.offset),
                };
                parts.push(Part::leaf(place, format!("{} bytes{}", block.len, self.origin(core, block))));
            }
            let most = heap.high_water();
            Part::new(name, format!("{held} bytes in blocks, {most} at most so far"), parts)
        };
        [Kind::Tcm, Kind::Hbm, Kind::Libc].map(heap).into()
    }

    /// The author's line that a block was allocated at.
    fn origin(&self, core: usize, block: &Block) -> String {
        let from = block.site.iter().find_map(|pc| {
            let frames = self.location(core, pc.wrapping_sub(1)).frames;
            frames.into_iter().find(|frame| frame.line > 0 && !frame.is_runtime())
        });
        from.map_or_else(String::new, |frame| format!(", from {}:{}", base(&frame.file), frame.line))
    }
}
