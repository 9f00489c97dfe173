//! One split image by load record, from a packed object to numbers and back: pack, unpack, prelink, stage, record, load,
//! bind, instruction, dispatch, output, unload, destroy.
//!
//! Puts together what others do; every byte goes the documented way. Facts: spec `load-and-dispatch.md` §3, §5-§9, §13.1,
//! `prelink.md` §11. That custom ops are called by opcode 0xF0 with a spec from 10 on, and find their arguments at the same
//! instruction port as those of images at fixed places, is a convention of this project (`load-and-dispatch.md` §0.2).

use gpsimd_image::ElfFile;
use gpsimd_loader::device::{self, Outcome, Pool};
use gpsimd_loader::kernel_table::{EXTENDED, Row, TableRef};
use gpsimd_loader::library::{Context, ContextId, Library};
use gpsimd_loader::memory::HostMemory;
use gpsimd_loader::record::{ALL_CORES, RECORD, Record};
use gpsimd_loader::registry::Registry;
use gpsimd_loader::selector::{Environment, selector};
use gpsimd_loader::sequence::{self, get_load_sequence, get_unload_sequence};
use gpsimd_loader::ucpl::Header;
use gpsimd_loader::{Generation, Mode, Region, ResultCode, prelink};

use super::chip::{Chip, Turn};
use super::control::{Config, Control};
use super::error::LoadError;
use super::program::CoreImage;
use super::trace::{Names, Step, Trace, together};
use super::way::Way;
use crate::call::placed::Placed;
use crate::cores::core::Run;
use crate::cores::run::Function;
use crate::explain::evidence::Program;
use crate::explain::symbols::{Memo, Symbols};
use crate::memory::watch::Watch;

/// SoC address of the device memory in which images are staged.
const IMAGES: u64 = 0x10_0000_0000;
/// Bytes of it.
const IMAGES_LEN: u64 = 1 << 30;
/// The index that callers ask for; the environment may turn it into another one.
const LIBRARY: u64 = 0;

/// A library on its way, and the host and the device that it travels between.
#[derive(Debug)]
pub struct Split {
    context: Context<HostMemory>,
    library: Library,
    /// Unstripped, for names and lines.
    debug: Vec<u8>,
    memo: Memo,
    table: TableRef,
    /// How far the loader moves the code.
    shift: u32,
    load: Record,
    unload: Record,
    pool: Pool,
    chip: Chip,
    functions: Vec<Function>,
    rows: Vec<Row>,
    trace: Trace,
}

impl Split {
    /// Does the host's part for the split-load library in `image` (as it is, or packed) on 1 or 8 cores: pack, unpack,
    /// prelink by the strict rules, stage, and write the load and the unload record.
    ///
    /// # Errors
    /// [`LoadError`] of any of these stages; nothing stays allocated then.
    pub fn prepare(
        image: CoreImage,
        cores: u8,
        generation: Generation,
        environment: Environment,
        config: Config,
    ) -> Result<Split, LoadError> {
        let core_mask = match cores {
            1 => 1,
            8 => ALL_CORES,
            found => return Err(LoadError::Cores { found }),
        };
        let bounds = generation.bounds();
        let mut chip = Chip::new(config, bounds)
            .ok_or(LoadError::Sizes { dataram: config.dataram, stack: config.stack })?;

        let (packed, elf) = packed_and_plain(&image.bytes).map_err(LoadError::Unpack)?;
        let prelinked = prelink(&elf, &bounds, Mode::Strict, &mut |_| {})?;
        let header = prelinked.header;
        let table = prelinked.kernel_table.unwrap_or(TableRef { addr: bounds.data.base, rows: 0 });

        let mut libraries = Registry::new();
        libraries.insert(generation, selector(LIBRARY, environment), elf.clone());
        let mut context = Context::new(ContextId(0), HostMemory::new(IMAGES, IMAGES_LEN), environment);
        let library = context.create(&libraries, generation.coretype(), 0, LIBRARY)?;
        let staged = context.log.drain(..).map(|line| line.text).collect();
        let recorded = match library.device_addr() {
            Some(soc_addr) => records(&library, &mut context).map(|records| (soc_addr, records)),
            None => Err(LoadError::NothingStaged { generation }),
        };
        let (soc_addr, (load, unload)) = match recorded {
            Ok((soc_addr, (load, unload))) => {
                (soc_addr, (load.on_cores(core_mask), unload.on_cores(core_mask)))
            }
            Err(error) => {
                let _ = context.destroy(library);
                return Err(error);
            }
        };
        let handle = Step::Staged {
            handle: library.name().to_owned(),
            selector: library.selector(),
            soc_addr,
            size: library.size() as usize,
        };
        let shift = header.start.wrapping_sub(entry(&elf));
        let debug = image.debug.unwrap_or_else(|| elf.clone());
        chip.watched = Symbols::read(&debug).moved_by(shift).pick(Watch::job);
        chip.constants = constants(&elf, bounds.data);
        let object = Step::Packed(packed.len());
        let plain = Step::Unpacked(elf.len());
        let image_len = prelinked.image().len();
        let mut split = Split {
            shift,
            debug,
            memo: Memo::default(),
            context,
            library,
            table,
            load,
            unload,
            pool: Pool::new(&device::Config::new(bounds)),
            chip,
            functions: Vec::new(),
            rows: Vec::new(),
            trace: Trace::default(),
        };
        split.tell(object, Vec::new());
        split.tell(plain, Vec::new());
        split.tell(Step::Prelinked { generation, bounds, header, table, image: image_len }, Vec::new());
        split.tell(handle, staged);
        split.tell(Step::Recorded { load, unload }, Vec::new());
        Ok(split)
    }

    /// Hands a record to the device.
    fn execute(&mut self, record: &Record) -> (Vec<(u8, Outcome)>, Vec<String>) {
        let multicore = record.core_mask == ALL_CORES;
        let hbm = &self.context.memory;
        let mut turn = Turn { chip: &mut self.chip, hbm, call: None, multicore, runs: Vec::new() };
        let outcomes = self.pool.execute(record, &mut turn);
        (outcomes, together(&std::mem::take(&mut self.pool.log)))
    }

    fn tell(&mut self, step: Step, log: Vec<String>) {
        let stage = step.tell(Names { debug: &self.debug, shift: self.shift }, log);
        tracing::debug!(stage = stage.name, facts = ?stage.facts);
        self.trace.stages.push(stage);
    }
}

impl Way for Split {
    /// The device executes the load record on its cores, which start the library and bind its table.
    fn load(&mut self) -> Result<(), LoadError> {
        let record = self.load;
        let _span = tracing::debug_span!("load", mask = record.core_mask).entered();
        self.pool.announce_table(record.library_index, self.table);
        let (outcomes, log) = self.execute(&record);
        for (core, outcome) in &outcomes {
            if !matches!(outcome, Outcome::Loaded | Outcome::AlreadyLoaded) {
                return Err(LoadError::Refused { core: *core, why: said(outcome), log });
            }
        }
        let header = self.context.memory.at(record.soc_addr, gpsimd_loader::ucpl::HEADER);
        let header = header.and_then(|bytes| Header::parse(bytes).ok());
        let data = record.soc_addr + header.map_or(0, |header| u64::from(header.data_off));
        let windows = self.pool.cores()[0].windows().used().copied().collect();
        self.tell(Step::Loaded { record, windows, bounds: self.chip.bounds(), data }, log);
        let functions = self.chip.core(0).map_or(&[][..], |core| &core.functions);
        let rows: Vec<Row> = self.pool.cores()[0].rows().map(|(_, row)| *row).collect();
        if rows.len() != functions.len() {
            return Err(LoadError::Table { rows: rows.len(), functions: functions.len() });
        }
        self.functions = functions.to_vec();
        self.rows = rows;
        let names = self.functions.iter().map(|function| function.name.clone());
        self.tell(Step::Bound(names.zip(self.rows.iter().copied()).collect()), Vec::new());
        Ok(())
    }

    fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Hands the cores the instruction of an op.
    fn dispatch(&mut self, function: usize, call: &Placed, control: &Control) -> Vec<Run> {
        let instruction = instruction(self.rows.get(function).map_or(0, |row| row.spec));
        self.tell(Step::Instructed { instruction, blocks: call.blocks.clone() }, Vec::new());
        let multicore = self.load.core_mask == ALL_CORES;
        let (chip, hbm) = (&mut self.chip, &self.context.memory);
        let mut turn = Turn { chip, hbm, call: Some((call, control)), multicore, runs: Vec::new() };
        let [opcode, .., spec] = instruction.first_chunk::<13>().copied().unwrap_or_default();
        let dispatched = self.pool.dispatch(opcode, spec, &mut turn);
        let runs = turn.runs;
        let log = together(&std::mem::take(&mut self.pool.log));
        self.tell(Step::Dispatched(dispatched.to_vec()), log);
        let spec = call.shared.regions()[call.output].spec.clone();
        let instructions = runs.iter().map(|run| run.counters.instructions).sum();
        self.tell(Step::Returned { spec, instructions }, Vec::new());
        runs
    }

    fn programs(&self) -> Vec<Program<'_>> {
        let base = self.chip.bounds().code.base;
        let symbols = || Symbols::read(&self.debug).moved_by(self.shift).remembering(&self.memo);
        let program = |_| Program { symbols: symbols(), base };
        self.pool.cores().iter().map(program).collect()
    }

    fn trace(&self) -> Option<Trace> {
        Some(self.trace.clone())
    }

    /// The device executes the unload record: fini, window and table back.
    fn unload(&mut self) -> Result<(), LoadError> {
        let record = self.unload;
        let (outcomes, log) = self.execute(&record);
        self.functions.clear();
        self.rows.clear();
        for (core, outcome) in outcomes {
            if outcome != Outcome::Unloaded {
                return Err(LoadError::Unload { core, why: said(&outcome) });
            }
        }
        let free = self.pool.cores().iter().map(|core| core.windows().free()).min().unwrap_or(0);
        self.tell(Step::Unloaded { record, free }, log);
        Ok(())
    }

    /// The host destroys the handle and gives the staged image's memory back.
    fn destroy(self: Box<Self>) -> Result<Option<Trace>, LoadError> {
        let Split { mut context, library, debug, shift, mut trace, .. } = *self;
        let step = Step::Destroyed(library.device_addr().unwrap_or_default());
        // The only context there is made the library.
        context.destroy(library).map_err(|_| ResultCode::Invalid)?;
        match context.memory.allocations() {
            0 => {}
            allocations => return Err(LoadError::Leak { allocations }),
        }
        let log = context.log.drain(..).map(|line| line.text).collect();
        trace.stages.push(step.tell(Names { debug: &debug, shift }, log));
        Ok(Some(trace))
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
fn records(library: &Library, context: &mut Context<HostMemory>) -> Result<(Record, Record), LoadError> {
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

/// Where the constants of a library will be: sections that nobody writes, in the segment that becomes its data.
fn constants(elf: &[u8], data: Region) -> Vec<(u32, u32)> {
    let Ok(elf) = ElfFile::without_symbols(elf) else { return Vec::new() };
    let Some((_, segment)) = elf.loads().nth(1) else { return Vec::new() };
    let within = |addr: u32| addr.checked_sub(segment.vaddr).filter(|offset| *offset < segment.memsz);
    let constants = elf.sections.iter().filter(|section| section.is_alloc() && !section.is_writable());
    constants
        .filter_map(|section| Some((data.base.checked_add(within(section.addr)?)?, section.size)))
        .collect()
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
