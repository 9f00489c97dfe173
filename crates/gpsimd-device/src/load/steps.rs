//! What each stage of loading and calling knows, and the words for it.
//!
//! Unaware of how the stages do what they do. Facts: spec `load-and-dispatch.md` §3, §5-§9, §13.1.

use gpsimd_loader::device::sequencer::INSTRUCTION;
use gpsimd_loader::device::table::LibraryRow;
use gpsimd_loader::device::{self, Dispatched};
use gpsimd_loader::kernel_table::{Row, TableRef};
use gpsimd_loader::record::{self, ALL_CORES, Record};
use gpsimd_loader::ucpl::Header;
use gpsimd_loader::{Bounds, Generation, Region};

use super::trace::{Stage, hex, together};
use crate::call::placed::Placed;
use crate::cores::core::Run;
use crate::cores::run::{Ended, Function};
use crate::explain::describe;
use crate::explain::symbols::Symbols;

/// What a stage did.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// The library became an object of so many bytes.
    Packed(usize),
    /// It came out of it again.
    Unpacked(usize),
    /// The runtime makes a handle for it.
    Created { coretype: u32, selector: u64, guards: String },
    /// An image that was prelinked elsewhere is taken as it is.
    Adopted { generation: Generation, bounds: Bounds, header: Header, table: TableRef, image: usize },
    /// It got its addresses.
    Prelinked { generation: Generation, bounds: Bounds, header: Header, table: TableRef, image: usize },
    /// It is in device memory, under a handle.
    Staged { handle: String, selector: u64, soc_addr: u64, size: usize },
    /// The runtime finds the library for the ops' instructions.
    Resolved { opcodes: Vec<(u8, u8)>, library: Option<u64>, guards: String },
    /// The device's orders are written, or were given.
    Recorded { load: Record, unload: Record, are_given: bool },
    /// The sequencer got an instruction.
    Fetched { what: String, instruction: &'a [u8], blocks: &'a [u8] },
    /// The cores have the library.
    Loaded { record: Record, windows: Vec<device::Window>, bounds: Bounds, data: u64 },
    /// Its table is bound: each op with its row.
    Bound(Vec<(String, Row)>),
    /// Images are at their places, and the table of functions is installed.
    Installed { rows: &'a [LibraryRow], entries: Vec<u32> },
    /// The images' entries have run and registered functions.
    Booted { functions: &'a [Function] },
    /// The cores of a split library have executed the instruction.
    Dispatched(Vec<Dispatched>),
    /// The cores of images at fixed places have found the function.
    Found(Vec<(u8, Option<LibraryRow>, u32)>),
    /// The cores have given it back.
    Unloaded { record: Record, free: usize },
    /// Its images are forgotten.
    Forgotten(usize),
    /// Its device memory is given back.
    Destroyed(u64),
}

/// A device address, with the name of its function if the library has one for it.
fn named(symbols: &Symbols<'_>, addr: u32) -> String {
    match symbols.function(addr) {
        Some(name) => format!("{addr:#x} {name}"),
        None => format!("{addr:#x}"),
    }
}

impl Step<'_> {
    /// The step in words, with what host and cores logged meanwhile; `symbols` are those of the library where it is loaded.
    pub(super) fn tell(&self, symbols: &Symbols<'_>, mut log: Vec<String>) -> Stage {
        let (name, facts) = match self {
            Step::Packed(len) => {
                ("pack", vec![("object", format!("{len} bytes, symbol lib_func at .rodata"))])
            }
            Step::Unpacked(len) => ("unpack", vec![("library", size(*len))]),
            Step::Created { coretype, selector, guards } => {
                let call = format!("nrtucode_ll_create(coretype {coretype}, library 0)");
                ("create", vec![("call", format!("{call} -> selector {selector}; given: {guards}"))])
            }
            Step::Adopted { generation, bounds, header, table, image } => (
                "adopt",
                vec![
                    ("image", format!("{}, UCPL, prelinked for {generation}", size(*image))),
                    ("code", placed(bounds.code, header.code_len)),
                    ("data", placed(bounds.data, header.data_len)),
                    ("start", entries(symbols, header)),
                    ("table", rows(table)),
                ],
            ),
            Step::Prelinked { generation, bounds, header, table, image } => (
                "prelink",
                vec![
                    ("code", format!("{}, {generation}", placed(bounds.code, header.code_len))),
                    ("data", placed(bounds.data, header.data_len)),
                    ("start", entries(symbols, header)),
                    ("table", rows(table)),
                    ("image", format!("{}, UCPL", size(*image))),
                ],
            ),
            Step::Staged { handle, selector, soc_addr, size: len } => (
                "stage",
                vec![
                    ("handle", format!("{handle}, selector {selector}")),
                    ("soc address", format!("{soc_addr:#x}, {}", size(*len))),
                ],
            ),
            Step::Resolved { opcodes, library, guards } => {
                let keys: Vec<String> =
                    opcodes.iter().map(|(opcode, spec)| format!("({opcode:#04x}, {spec})")).collect();
                let library = library.map_or_else(|| "none".to_owned(), |index| index.to_string());
                (
                    "resolve",
                    vec![("opcodes", format!("{} -> library {library}; given: {guards}", keys.join(" ")))],
                )
            }
            Step::Recorded { load, unload, are_given } => {
                let whose = if *are_given { "given: " } else { "" };
                let record = |record: &Record| format!("{whose}{}", hex(record.encode()));
                ("record", vec![("load", record(load)), ("unload", record(unload))])
            }
            Step::Fetched { what, instruction, blocks } => {
                log.extend(blocks.chunks(INSTRUCTION).map(hex));
                let mut facts = vec![("instruction", what.clone())];
                // a record has been shown when it was written
                if instruction.first() != Some(&record::OPCODE) {
                    facts.push(("bytes", hex(instruction)));
                }
                ("fetch", facts)
            }
            Step::Loaded { record, windows, bounds, data } => (
                "load",
                vec![
                    ("cores", cores_of(record.core_mask)),
                    ("window", windows.iter().map(window).collect()),
                    (
                        "dma",
                        format!(
                            "{:#x} -> {:#x}, {data:#x} -> {:#x}",
                            record.soc_addr.wrapping_add(0x20),
                            bounds.code.base,
                            bounds.data.base
                        ),
                    ),
                ],
            ),
            Step::Bound(rows) => {
                let row = |(op, row): &(String, Row)| {
                    let key = format!("({:#04x}, {})", row.opcode, row.spec);
                    ("row", format!("{key} -> {} for {op}", named(symbols, row.func)))
                };
                ("bind", rows.iter().map(row).collect())
            }
            Step::Installed { rows, entries } => {
                let first = |row: &&LibraryRow| row.cpu_id == rows.first().map_or(0, |row| row.cpu_id);
                let row = |row: &LibraryRow| {
                    let (opcode, sub, cpus) = (row.opcode, row.sub_opcode, row.total_cpus);
                    (
                        "row",
                        format!(
                            "({opcode:#04x}, {sub}) -> {}, image at {:#x}, total_cpus {cpus}",
                            row.func_name, row.stripped_lib_addr
                        ),
                    )
                };
                let count =
                    format!("{} rows of {} bytes, one a function and image", rows.len(), device::table::ROW);
                let start = match entries.as_slice() {
                    [first, .., last] => format!("{first:#x} … {last:#x}, one a core"),
                    entries => entries.iter().map(|entry| format!("{entry:#x}")).collect(),
                };
                let start = ("entry", start);
                (
                    "table",
                    [("size", count)]
                        .into_iter()
                        .chain(rows.iter().filter(first).map(row))
                        .chain([start])
                        .collect(),
                )
            }
            Step::Booted { functions } => {
                let registered = |function: &Function| {
                    ("registered", format!("{} -> {}", function.name, named(symbols, function.launcher)))
                };
                let way =
                    ("entry", "_start -> entry_func -> register_funcs, the same on each core".to_owned());
                ("boot", [way].into_iter().chain(functions.iter().map(registered)).collect())
            }
            Step::Dispatched(cores) => {
                let lines = (0..).zip(cores).map(|(prid, core): (u8, _)| format!("P{prid}: {}", ran(core)));
                ("dispatch", said("kernel", lines))
            }
            Step::Found(cores) => {
                let line = |(prid, row, launcher): &(u8, Option<LibraryRow>, u32)| match row {
                    Some(row) => format!("P{prid}: {} -> {}", row.func_name, named(symbols, *launcher)),
                    None => format!("P{prid}: no row"),
                };
                ("dispatch", said("launcher", cores.iter().map(line)))
            }
            Step::Unloaded { record, free } => {
                let free = format!("{free} of {} windows free on each, slot 0 is reserved", device::SLOTS);
                ("unload", vec![("cores", format!("{}, {free}", cores_of(record.core_mask)))])
            }
            Step::Forgotten(cores) => ("unload", vec![("cores", format!("{cores}, their table is empty"))]),
            Step::Destroyed(soc_addr) => ("destroy", vec![("freed", format!("{soc_addr:#x}"))]),
        };
        let mut stage = Stage::new(name, facts, log);
        if let Step::Fetched { instruction, .. } = self {
            // which of the story's stages an instruction belongs to, its operation tells
            stage.stage = match (instruction.first(), instruction.get(12)) {
                (Some(&record::OPCODE), Some(1)) => 8,
                (Some(&record::OPCODE), _) => 10,
                _ => stage.stage,
            };
        }
        stage
    }
}

/// The call on the cores: stacks, arguments, work, result. `local` is the size of a core's own stack.
pub(super) fn call(placed: &Placed, runs: &[Run], local: u32) -> [Stage; 4] {
    let each = |words: &dyn Fn(&Run) -> String| -> Vec<String> {
        runs.iter().map(|run| format!("P{}: {}", run.core, words(run))).collect()
    };
    let stack = each(&|run| match run.hbm_stack {
        Some(stack) => format!("to {} bytes of device memory and back (saveContext, switchBack)", stack.len),
        None => format!("none: in place, {} of {local} bytes of the local stack", run.stack_high_water),
    });
    let taken = each(&|run| format!("{} blocks read from the port and acknowledged", run.responses));
    let arguments = placed.shared.regions().iter().map(|region| {
        let descriptor = region.descriptor();
        let location = format!("{:?}", descriptor.location).to_lowercase();
        let spec = &descriptor.spec;
        (
            "argument",
            format!("{} {location} {:#x} {} {:?}", region.name, descriptor.addr, spec.dtype, spec.shape),
        )
    });
    let work = each(&|run| {
        let c = &run.counters;
        let (loads, stores, moves) = (c.window_loads, c.window_stores, c.window_misses);
        let instructions = c.instructions;
        format!(
            "{instructions} instructions, window {loads} loads {stores} stores {moves} moves, {} dma",
            c.dma_transfers
        )
    });
    let ends = each(&|run| match run.ended {
        Ended::Returned(status) => format!("launcher returned {status}"),
        _ => describe::ending(run).map_or_else(|| "stopped".to_owned(), |(_, words)| words),
    });
    let spec = &placed.shared.regions()[placed.output].spec;
    let tensor = ("tensor", format!("{} {:?}, {} bytes", spec.dtype, spec.shape, spec.byte_len()));
    [
        Stage::new("switch", said("stack", stack), Vec::new()),
        Stage::new("marshal", said("setup", taken).into_iter().chain(arguments), Vec::new()),
        Stage::new("execute", said("work", work), Vec::new()),
        Stage::new("return", said("end", ends).into_iter().chain([tensor]), Vec::new()),
    ]
}

/// What cores have to say, once for those that say the same.
fn said(name: &'static str, lines: impl IntoIterator<Item = String>) -> Vec<(&'static str, String)> {
    let lines: Vec<String> = lines.into_iter().collect();
    together(&lines).into_iter().map(|line| (name, line)).collect()
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

fn entries(symbols: &Symbols<'_>, header: &Header) -> String {
    format!("{}, init {:#x}, fini {:#x}", named(symbols, header.start), header.init, header.fini)
}

fn rows(table: &TableRef) -> String {
    format!("kernel_info_table at {:#x}, rows: {}", table.addr, table.rows)
}

fn cores_of(mask: u8) -> String {
    match mask {
        ALL_CORES => format!("0 to 7 (mask {mask:#04x})"),
        mask => format!("{} (mask {mask:#04x})", mask.trailing_zeros()),
    }
}
