//! The lane of split-load libraries, from a packed object to numbers and back: pack, unpack, prelink, stage, record, load,
//! bind, instruction, dispatch, output, unload, destroy.
//!
//! Puts together what others do; every byte goes the documented way. Facts: spec `load-and-dispatch.md` §3, §5-§9, §13.1,
//! `prelink.md` §11. That custom ops are called by opcode 0xF0 with a spec from 10 on, and find their arguments at the same
//! instruction port as in the other lane, is a convention of this project (`load-and-dispatch.md` §0.2).

use std::sync::mpsc;
use std::time::Duration;

use gpsimd_loader::device::{self, Dispatched, Outcome, Pool};
use gpsimd_loader::kernel_table::{EXTENDED, TableRef};
use gpsimd_loader::library::{Context, ContextId, Library, LogLine};
use gpsimd_loader::memory::HostMemory;
use gpsimd_loader::record::{ALL_CORES, RECORD, Record};
use gpsimd_loader::registry::Registry;
use gpsimd_loader::selector::{Environment, selector};
use gpsimd_loader::sequence::{self, get_load_sequence, get_unload_sequence};
use gpsimd_loader::ucpl::Header;
use gpsimd_loader::{Generation, Mode, Region, ResultCode, prelink};

use crate::call::arg::{Arg, Output};
use crate::call::error::CallError;
use crate::explain::symbols::Symbols;
use crate::load::chip::{Chip, Session};
use crate::load::fixed::{Config, Control, CoreImage};
use crate::load::placed::Placed;
pub use crate::load::split_error::LaneError;
use crate::load::trace::{self, Trace};
use crate::report::RunReport;

/// SoC address of the device memory in which images are staged.
const IMAGES: u64 = 0x10_0000_0000;
/// Bytes of it.
const IMAGES_LEN: u64 = 1 << 30;
/// The index that callers ask for; the environment may turn it into another one.
const LIBRARY: u64 = 0;

/// A library on its way, and the host and the device that it travels between.
#[derive(Debug)]
pub struct Lane {
    config: Config,
    generation: Generation,
    context: Context<HostMemory>,
    library: Library,
    image: CoreImage,
    table: TableRef,
    /// How far the loader moves the code.
    shift: u32,
    load: Record,
    unload: Record,
    pool: Pool,
    chip: Chip,
    kernels: Vec<Kernel>,
    trace: Trace,
}

/// An op as the device dispatches it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Kernel {
    /// The name it registers.
    pub name: String,
    /// Opcode of its instruction.
    pub opcode: u8,
    /// Spec of its instruction.
    pub spec: u8,
    /// NX address of its row's function.
    pub func: u32,
}

impl Lane {
    /// Does the host's part for the split-load library in `image` (as it is, or packed) on 1 or 8 cores: pack, unpack,
    /// prelink by the strict rules, stage, and write the load and the unload record.
    ///
    /// # Errors
    /// [`LaneError`] of any of these stages; nothing stays allocated then.
    pub fn prepare(
        image: CoreImage,
        cores: u8,
        generation: Generation,
        environment: Environment,
        config: Config,
    ) -> Result<Lane, LaneError> {
        let core_mask = match cores {
            1 => 1,
            8 => ALL_CORES,
            found => return Err(LaneError::Cores { found }),
        };
        let bounds = generation.bounds();
        let chip = Chip::new(config, bounds)
            .ok_or(LaneError::Sizes { dataram: config.dataram, stack: config.stack })?;
        let mut trace = Trace::default();

        let (packed, elf) = packed_and_plain(&image.bytes).map_err(LaneError::Unpack)?;
        let payload = ("payload", "section .rodata, symbol lib_func".to_owned());
        trace.add("pack", [("object", size(packed.len())), payload], Vec::new());
        trace.add("unpack", [("library", size(elf.len()))], Vec::new());

        let debug = image.debug.unwrap_or_else(|| elf.clone());
        let prelinked = prelink(&elf, &bounds, Mode::Strict, &mut |_| {})?;
        let header = prelinked.header;
        let shift = header.start.wrapping_sub(entry(&elf));
        let table = prelinked.kernel_table.unwrap_or(TableRef { addr: bounds.data.base, rows: 0 });
        trace.add(
            "prelink",
            [
                ("generation", generation.to_string()),
                ("code", placed(bounds.code, header.code_len)),
                ("data", placed(bounds.data, header.data_len)),
                ("start", named(&debug, shift, header.start)),
                ("init, fini", format!("{:#x}, {:#x}", header.init, header.fini)),
                ("table", format!("kernel_info_table at {:#x}, rows: {}", table.addr, table.rows)),
                ("image", format!("{}, UCPL", size(prelinked.image().len()))),
            ],
            Vec::new(),
        );

        let index = selector(LIBRARY, environment);
        let mut catalogue = Registry::new();
        catalogue.insert(generation, index, elf.clone());
        let memory = HostMemory::new(IMAGES, IMAGES_LEN);
        let mut context = Context::new(ContextId(0), memory, environment);
        let library = context.create(&catalogue, generation.coretype(), 0, LIBRARY)?;
        let Some(soc_addr) = library.device_addr() else {
            let _ = context.destroy(library);
            return Err(LaneError::NothingStaged { generation });
        };
        trace.add(
            "stage",
            [
                ("handle", format!("{}, selector {}", library.name(), library.selector())),
                ("soc address", format!("{soc_addr:#x}")),
                ("size", size(library.size() as usize)),
            ],
            texts(context.log.drain(..)),
        );

        let records = records(&library, &mut context);
        let (load, unload) = match records {
            Ok((load, unload)) => (load.on_cores(core_mask), unload.on_cores(core_mask)),
            Err(error) => {
                let _ = context.destroy(library);
                return Err(error);
            }
        };
        trace.add("record", [("load", hex(load.encode())), ("unload", hex(unload.encode()))], Vec::new());

        let pool = Pool::new(&device::Config::new(bounds));
        let image = CoreImage { bytes: elf, debug: Some(debug) };
        let kernels = Vec::new();
        Ok(Lane {
            config,
            generation,
            context,
            library,
            image,
            table,
            shift,
            load,
            unload,
            pool,
            chip,
            kernels,
            trace,
        })
    }

    /// The device's part of loading: it executes the load record on its cores, which start the library and bind its table.
    ///
    /// # Errors
    /// [`LaneError::Load`] if a core refuses, [`LaneError::Table`] for a table that does not name the ops.
    pub fn load(&mut self) -> Result<(), LaneError> {
        self.pool.announce_table(self.load.library_index, self.table);
        let record = self.load;
        let (outcomes, log) = self.execute(&record);
        for (core, outcome) in &outcomes {
            if !matches!(outcome, Outcome::Loaded | Outcome::AlreadyLoaded) {
                return Err(LaneError::Load { core: *core, why: said(outcome), log });
            }
        }
        let windows: Vec<String> = self.windows();
        let bounds = self.chip.bounds();
        self.trace.add(
            "load",
            [
                ("cores", cores_of(record.core_mask)),
                ("window", windows.concat()),
                ("code", format!("dma {:#x} -> {:#x}", record.soc_addr + 0x20, bounds.code.base)),
                ("data", format!("dma {:#x} -> {:#x}", self.data_soc(), bounds.data.base)),
            ],
            log,
        );
        let names = self.chip.core(0).map_or(&[][..], |core| &core.functions);
        let rows: Vec<_> = self.pool.cores()[0].rows().map(|(_, row)| *row).collect();
        if rows.len() != names.len() {
            return Err(LaneError::Table { rows: rows.len(), functions: names.len() });
        }
        let kernels = names.iter().zip(rows).map(|(function, row)| Kernel {
            name: function.name.clone(),
            opcode: row.opcode,
            spec: row.spec,
            func: row.func,
        });
        self.kernels = kernels.collect();
        let debug = self.image.debug.as_deref().unwrap_or_default();
        let row = |kernel: &Kernel| {
            let Kernel { name, opcode, spec, func } = kernel;
            format!("({opcode:#04x}, {spec}) -> {} for {name}", named(debug, self.shift, *func))
        };
        let rows = self.kernels.iter().map(row).collect();
        self.trace.add("bind", [("rows", self.kernels.len().to_string())], rows);
        Ok(())
    }

    /// The ops of the loaded library, in registration order.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Hands the cores the instruction of an op and waits until it has run everywhere. `progress` is told the instructions
    /// executed, a few times a second.
    ///
    /// # Errors
    /// [`CallError`] when the call cannot be made at all; what goes wrong on the device is in the report.
    pub fn call(
        &mut self,
        op: &str,
        args: Vec<Arg>,
        output: impl Into<Output>,
        control: &Control,
        mut progress: impl FnMut(u64),
    ) -> Result<RunReport, CallError> {
        let Some(function) = self.kernels.iter().position(|kernel| kernel.name == op) else {
            let known = self.kernels.iter().map(|kernel| kernel.name.clone()).collect();
            return Err(CallError::NoSuchOp { op: op.to_owned(), known });
        };
        let placed = Placed::new(function, args, output.into(), self.config.hbm)?;
        let instruction = instruction(self.kernels.get(function).map_or(0, |kernel| kernel.spec));
        let blocks = placed.blocks.chunks(64).map(hex).collect();
        self.trace.add("instruction", [("extended", hex(instruction))], blocks);

        let multicore = self.load.core_mask == ALL_CORES;
        let (pool, chip, hbm) = (&mut self.pool, &mut self.chip, &self.context.memory);
        let (dispatched, runs) = std::thread::scope(|scope| {
            let (done, wait) = mpsc::channel();
            let call = Some((&placed, control));
            let device = scope.spawn(move || {
                let mut session = Session { chip, hbm, call, multicore, runs: Vec::new() };
                let [opcode, .., spec] = instruction.first_chunk::<13>().copied().unwrap_or_default();
                let dispatched = pool.dispatch(opcode, spec, &mut session);
                // The receiver outlives the device; a failed send only means nobody watches.
                let _ = done.send(());
                (dispatched, session.runs)
            });
            while wait.recv_timeout(Duration::from_millis(100)) == Err(mpsc::RecvTimeoutError::Timeout) {
                progress(control.executed());
            }
            device.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        let ran = |dispatched: &Dispatched| match dispatched {
            Dispatched::Ran { func, status, .. } => format!("{func:#x} returned {status}"),
            Dispatched::Failed { func, why, .. } => format!("{func:#x} did not return: {}", why.0),
            Dispatched::Unknown => "no row".to_owned(),
            Dispatched::Dead(assertion) => format!("dead: {assertion}"),
        };
        let log = trace::together(&std::mem::take(&mut self.pool.log));
        let lines: Vec<String> =
            dispatched.iter().enumerate().map(|(prid, d)| format!("P{prid}: {}", ran(d))).collect();
        let kernel = trace::together(&lines).join("; ");
        self.trace.add("dispatch", [("kernel", kernel)], log);

        let images = vec![self.image.clone(); runs.len()];
        let bases = vec![self.chip.bounds().code.base; runs.len()];
        let report = placed.report(op, runs, &images, &bases, self.shift);
        let spec = &report.output.spec;
        let shape: Vec<String> = spec.shape.iter().map(ToString::to_string).collect();
        self.trace.add(
            "output",
            [
                ("tensor", format!("{} [{}]", spec.dtype, shape.join(", "))),
                ("size", size(report.output.data.len())),
                (
                    "instructions",
                    report.cores.iter().map(|core| core.counters.instructions).sum::<u64>().to_string(),
                ),
            ],
            Vec::new(),
        );
        Ok(report)
    }

    /// The device executes the unload record: fini, window and table back.
    ///
    /// # Errors
    /// [`LaneError::Unload`] if a core does not have the library.
    pub fn unload(&mut self) -> Result<(), LaneError> {
        let record = self.unload;
        let (outcomes, log) = self.execute(&record);
        self.kernels.clear();
        for (core, outcome) in outcomes {
            if outcome != Outcome::Unloaded {
                return Err(LaneError::Unload { core, why: said(&outcome) });
            }
        }
        self.trace.add(
            "unload",
            [("cores", cores_of(record.core_mask)), ("windows", self.free_windows())],
            log,
        );
        Ok(())
    }

    /// The host destroys the handle and gives the staged image's memory back; the trace of the whole way is what remains.
    ///
    /// # Errors
    /// [`LaneError::Leak`] if something stays allocated.
    pub fn destroy(mut self) -> Result<Trace, LaneError> {
        let soc_addr = self.library.device_addr().unwrap_or_default();
        // The only context there is made the library.
        if self.context.destroy(self.library).is_err() {
            return Err(ResultCode::Invalid.into());
        }
        match self.context.memory.allocations() {
            0 => {}
            allocations => return Err(LaneError::Leak { allocations }),
        }
        let log = texts(self.context.log.drain(..));
        self.trace.add("destroy", [("freed", format!("{soc_addr:#x}"))], log);
        Ok(self.trace)
    }

    /// What has happened so far.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The generation that the library was prelinked for.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    fn execute(&mut self, record: &Record) -> (Vec<(u8, Outcome)>, Vec<String>) {
        let multicore = record.core_mask == ALL_CORES;
        let hbm = &self.context.memory;
        let mut session = Session { chip: &mut self.chip, hbm, call: None, multicore, runs: Vec::new() };
        let outcomes = self.pool.execute(record, &mut session);
        (outcomes, trace::together(&std::mem::take(&mut self.pool.log)))
    }

    fn windows(&self) -> Vec<String> {
        let of = |window: &device::Window| {
            let last = window.soc_addr + device::Window::MASK;
            format!("slot {}, {:#x} shows {:#x}..={last:#x}", window.slot, window.xt_addr, window.soc_addr)
        };
        self.pool.cores()[0].windows().used().map(of).collect()
    }

    fn free_windows(&self) -> String {
        let free = self.pool.cores().iter().map(|core| core.windows().free()).min().unwrap_or(0);
        format!("{free} of {} free on each core, slot 0 is reserved", device::SLOTS)
    }

    fn data_soc(&self) -> u64 {
        let header = self.context.memory.at(self.load.soc_addr, gpsimd_loader::ucpl::HEADER);
        let header = header.and_then(|bytes| Header::parse(bytes).ok());
        self.load.soc_addr + header.map_or(0, |header| u64::from(header.data_off))
    }
}

/// The packed form of a library and the library that comes out of it again.
fn packed_and_plain(bytes: &[u8]) -> Result<(Vec<u8>, Vec<u8>), gpsimd_image::ImageError> {
    let packed = match gpsimd_image::unpack(bytes) {
        Ok(_) => bytes.to_vec(),
        Err(_) => gpsimd_image::pack(bytes)?,
    };
    let elf = gpsimd_image::unpack(&packed)?.to_vec();
    Ok((packed, elf))
}

/// Both records of a library for a core of its own context.
fn records(library: &Library, context: &mut Context<HostMemory>) -> Result<(Record, Record), LaneError> {
    let core = sequence::Core { context: context.id };
    let log = &mut context.log;
    let mut buffer = Buffer([0; RECORD]);
    get_load_sequence(Some(library), Some(&core), Some(&mut buffer.0), log)?;
    let load = Record::parse(0, &buffer.0)?;
    get_unload_sequence(Some(library), Some(&core), Some(&mut buffer.0), log)?;
    Ok((load, Record::parse(0, &buffer.0)?))
}

/// One record, aligned as the generators ask.
#[repr(align(8))]
struct Buffer([u8; RECORD]);

/// The 64-byte extended instruction that calls the kernel of a spec and reads and writes memory (§9.1).
fn instruction(spec: u8) -> [u8; 64] {
    /// `has_read` and `has_write`, all ports.
    const COMPLETION: u8 = 0b101;
    let mut bytes = [0; 64];
    bytes[0] = EXTENDED;
    bytes[1] = 64 / 4;
    bytes[12] = spec;
    bytes[13] = COMPLETION;
    bytes
}

/// The entry point of an ELF file; 0 if it is none, which the prelinker has refused before.
fn entry(elf: &[u8]) -> u32 {
    let word = elf.get(24..).and_then(|rest| rest.first_chunk::<4>());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

fn said(outcome: &Outcome) -> String {
    use gpsimd_loader::device::{CallError, Refusal};
    match outcome {
        Outcome::Refused(Refusal::Start { status }) => format!("its start function returned status {status}"),
        Outcome::Refused(Refusal::Call(CallError(why))) => {
            format!("its start function did not return: {why}")
        }
        Outcome::Refused(Refusal::Occupied { by }) => format!("library {by} has the memory"),
        Outcome::Refused(refusal) => format!("{refusal:?}"),
        Outcome::Died(assertion) => assertion.to_string(),
        Outcome::NotLoaded => "it is not loaded".to_owned(),
        outcome => format!("{outcome:?}"),
    }
}

/// A device address, with the name of its function if the library has one for it.
fn named(debug: &[u8], shift: u32, addr: u32) -> String {
    match Symbols::read(debug).moved_by(shift).function(addr) {
        Some(name) => format!("{addr:#x} {name}"),
        None => format!("{addr:#x}"),
    }
}

fn texts(log: impl Iterator<Item = LogLine>) -> Vec<String> {
    log.map(|line| line.text).collect()
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
