//! The way of a library, stage by stage, for people and programs.
//!
//! Each stage hands in what it knows; the words are made here. Unaware of how the stages do what they do.
//! Facts: spec `load-and-dispatch.md` §3, §5-§9, §13.1.

use std::collections::BTreeMap;
use std::fmt;

use gpsimd_loader::device::{self, Dispatched};
use gpsimd_loader::kernel_table::{Row, TableRef};
use gpsimd_loader::record::{ALL_CORES, Record};
use gpsimd_loader::ucpl::Header;
use gpsimd_loader::{Bounds, Generation, Region};

use crate::call::tensor::TensorSpec;
use crate::explain::symbols::Symbols;

/// Everything that happened, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Trace {
    /// The stages.
    pub stages: Vec<Stage>,
}

/// What a stage did.
#[derive(Debug, Clone)]
pub enum Step {
    /// The library became an object of so many bytes.
    Packed(usize),
    /// It came out of it again.
    Unpacked(usize),
    /// It got its addresses.
    Prelinked {
        /// For which generation.
        generation: Generation,
        /// Where it may lie.
        bounds: Bounds,
        /// What its image says.
        header: Header,
        /// Where its kernel table is.
        table: TableRef,
        /// Bytes of the image.
        image: usize,
    },
    /// It is in device memory, under a handle.
    Staged {
        /// The handle.
        handle: String,
        /// The library that the runtime took.
        selector: u64,
        /// Where it is.
        soc_addr: u64,
        /// Bytes.
        size: usize,
    },
    /// The device's orders are written.
    Recorded {
        /// To load it.
        load: Record,
        /// To take it off.
        unload: Record,
    },
    /// The cores have it.
    Loaded {
        /// The order.
        record: Record,
        /// Windows that show the image.
        windows: Vec<device::Window>,
        /// Where code and data are on each core.
        bounds: Bounds,
        /// Where its data is in device memory.
        data: u64,
    },
    /// Its table is bound: each op with its row.
    Bound(Vec<(String, Row)>),
    /// An instruction was made, with the blocks it reads.
    Instructed {
        /// The instruction.
        instruction: [u8; 64],
        /// The blocks.
        blocks: Vec<u8>,
    },
    /// The cores have executed it.
    Dispatched(Vec<Dispatched>),
    /// The output is there.
    Returned {
        /// What it is.
        spec: TensorSpec,
        /// Instructions over all cores.
        instructions: u64,
    },
    /// The cores have given it back.
    Unloaded {
        /// The order.
        record: Record,
        /// Windows free on each core now.
        free: usize,
    },
    /// Its device memory is given back.
    Destroyed(u64),
}

/// One stage.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Stage {
    /// Its name.
    pub name: &'static str,
    /// What is to be known about it, with the name of each piece.
    pub facts: Vec<Fact>,
    /// What host and cores logged.
    pub log: Vec<String>,
}

/// A piece of knowledge.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Fact {
    /// What it is.
    pub name: &'static str,
    /// Its value, as people read it.
    pub value: String,
}

/// Who knows the names of device addresses: unstripped bytes, and how far their code was moved.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    /// The unstripped library.
    pub debug: &'a [u8],
    /// Bytes that the loader moves it up by.
    pub shift: u32,
}

impl Names<'_> {
    /// A device address, with the name of its function if the library has one for it.
    fn of(self, addr: u32) -> String {
        match Symbols::read(self.debug).moved_by(self.shift).function(addr) {
            Some(name) => format!("{addr:#x} {name}"),
            None => format!("{addr:#x}"),
        }
    }
}

impl Step {
    /// The step in words, with what host and cores logged meanwhile.
    pub(super) fn tell(&self, names: Names<'_>, mut log: Vec<String>) -> Stage {
        let (name, facts) = match self {
            Step::Packed(len) => {
                let payload = "section .rodata, symbol lib_func".to_owned();
                ("pack", vec![("object", size(*len)), ("payload", payload)])
            }
            Step::Unpacked(len) => ("unpack", vec![("library", size(*len))]),
            Step::Prelinked { generation, bounds, header, table, image } => (
                "prelink",
                vec![
                    ("generation", generation.to_string()),
                    ("code", placed(bounds.code, header.code_len)),
                    ("data", placed(bounds.data, header.data_len)),
                    ("start", names.of(header.start)),
                    ("init, fini", format!("{:#x}, {:#x}", header.init, header.fini)),
                    ("table", format!("kernel_info_table at {:#x}, rows: {}", table.addr, table.rows)),
                    ("image", format!("{}, UCPL", size(*image))),
                ],
            ),
            Step::Staged { handle, selector, soc_addr, size: len } => (
                "stage",
                vec![
                    ("handle", format!("{handle}, selector {selector}")),
                    ("soc address", format!("{soc_addr:#x}")),
                    ("size", size(*len)),
                ],
            ),
            Step::Recorded { load, unload } => {
                ("record", vec![("load", hex(load.encode())), ("unload", hex(unload.encode()))])
            }
            Step::Loaded { record, windows, bounds, data } => (
                "load",
                vec![
                    ("cores", cores_of(record.core_mask)),
                    ("window", windows.iter().map(window).collect()),
                    ("code", format!("dma {:#x} -> {:#x}", record.soc_addr + 0x20, bounds.code.base)),
                    ("data", format!("dma {data:#x} -> {:#x}", bounds.data.base)),
                ],
            ),
            Step::Bound(rows) => {
                let row = |(op, row): &(String, Row)| {
                    format!("({:#04x}, {}) -> {} for {op}", row.opcode, row.spec, names.of(row.func))
                };
                log = rows.iter().map(row).collect();
                ("bind", vec![("rows", rows.len().to_string())])
            }
            Step::Instructed { instruction, blocks } => {
                log = blocks.chunks(64).map(hex).collect();
                ("instruction", vec![("extended", hex(instruction))])
            }
            Step::Dispatched(cores) => {
                let lines: Vec<String> =
                    (0..).zip(cores).map(|(prid, core): (u8, _)| format!("P{prid}: {}", ran(core))).collect();
                ("dispatch", vec![("kernel", together(&lines).join("; "))])
            }
            Step::Returned { spec, instructions } => {
                let shape: Vec<String> = spec.shape.iter().map(ToString::to_string).collect();
                (
                    "output",
                    vec![
                        ("tensor", format!("{} [{}]", spec.dtype, shape.join(", "))),
                        ("size", format!("{} bytes", spec.byte_len())),
                        ("instructions", instructions.to_string()),
                    ],
                )
            }
            Step::Unloaded { record, free } => {
                let free = format!("{free} of {} free on each core, slot 0 is reserved", device::SLOTS);
                ("unload", vec![("cores", cores_of(record.core_mask)), ("windows", free)])
            }
            Step::Destroyed(soc_addr) => ("destroy", vec![("freed", format!("{soc_addr:#x}"))]),
        };
        let facts = facts.into_iter().map(|(name, value)| Fact { name, value }).collect();
        Stage { name, facts, log }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, stage) in self.stages.iter().enumerate() {
            writeln!(f, "{:>2} {}", index + 1, stage.name)?;
            for Fact { name, value } in &stage.facts {
                writeln!(f, "     {name:12} {value}")?;
            }
            for line in &stage.log {
                writeln!(f, "     | {line}")?;
            }
        }
        Ok(())
    }
}

fn ran(dispatched: &Dispatched) -> String {
    match dispatched {
        Dispatched::Ran { func, status, .. } => format!("{func:#x} returned {status}"),
        Dispatched::Failed { func, why, .. } => format!("{func:#x} did not return: {}", why.0),
        Dispatched::Unknown => "no row".to_owned(),
        Dispatched::Dead(assertion) => format!("dead: {assertion}"),
    }
}

fn window(window: &device::Window) -> String {
    let last = window.soc_addr + device::Window::MASK;
    format!("slot {}, {:#x} shows {:#x}..={last:#x}", window.slot, window.xt_addr, window.soc_addr)
}

fn size(bytes: usize) -> String {
    format!("{bytes} bytes")
}

fn placed(region: Region, len: u32) -> String {
    format!("{:#x}..{:#x}, {len} of {} bytes", region.base, region.base.wrapping_add(len), region.size)
}

fn cores_of(mask: u8) -> String {
    let cores = if mask == ALL_CORES { "0 to 7" } else { "0" };
    format!("{cores} (mask {mask:#04x})")
}

/// Bytes in hexadecimal, the zeros at the end left out.
fn hex(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref();
    let used = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let words: Vec<String> = bytes.iter().take(used).map(|byte| format!("{byte:02x}")).collect();
    match bytes.len() - used {
        0 => words.join(" "),
        zeros => format!("{} (+{zeros} zeros)", words.join(" ")),
    }
}

/// Log lines of several cores (`P3: …`) with what they have in common said once: `P0-P7: …`.
pub(super) fn together(lines: &[String]) -> Vec<String> {
    let mut cores: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in lines {
        let (core, text) = line.split_once(": ").unwrap_or(("", line));
        cores.entry(core).or_default().push(without_prid(text));
    }
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for (core, texts) in cores {
        match groups.iter_mut().find(|(_, other)| *other == texts) {
            Some((names, _)) => names.push(core),
            None => groups.push((vec![core], texts)),
        }
    }
    let mut merged = Vec::new();
    for (names, texts) in groups {
        let who = match names.as_slice() {
            [first, .., last] => format!("{first}-{last}"),
            names => names.concat(),
        };
        merged.extend(texts.iter().map(|text| format!("{who}: {text}")));
    }
    merged
}

/// A dispatch line names its core once more.
fn without_prid(text: &str) -> &str {
    match text.strip_prefix("In dispatch, CPU ID: ") {
        Some(rest) => rest.split_once(", ").map_or(text, |(_, rest)| rest),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_that_say_the_same_are_named_together() {
        let lines = ["P0: a", "P0: In dispatch, CPU ID: 0, got opcode 0xf0.", "P1: b", "P2: a"];
        let mut lines = lines.map(str::to_owned).to_vec();
        lines.push("P2: In dispatch, CPU ID: 2, got opcode 0xf0.".to_owned());
        assert_eq!(together(&lines), ["P0-P2: a", "P0-P2: got opcode 0xf0.", "P1: b"]);
    }
}
