//! One split image by load record, from what the host has made of it to numbers and back: load, bind, instruction, dispatch,
//! output, unload, destroy.
//!
//! Puts together what others do; every byte goes the documented way. Facts: spec `load-and-dispatch.md` §3, §5-§9, §13.1,
//! `prelink.md` §11. That custom ops are called by opcode 0xF0 with a spec from 10 on, and find their arguments at the same
//! instruction port as those of images at fixed places, is a convention of this project (`load-and-dispatch.md` §0.2).

use gpsimd_loader::ResultCode;
use gpsimd_loader::device::sequencer::{CUSTOM_OP, Fault, Handed, Sequencer};
use gpsimd_loader::device::{self, Dispatched, Outcome, Pool, Refusal};
use gpsimd_loader::kernel_table::{EXTENDED, Row, TableRef};
use gpsimd_loader::library::{Context, Library};
use gpsimd_loader::memory::HostMemory;
use gpsimd_loader::record::{ALL_CORES, Record};
use gpsimd_loader::ucpl::Header;

use super::chip::{self, Chip, Turn};
use super::control::{Config, Control};
use super::error::LoadError;
use super::fetched::Fetched;
use super::fixed::status_name;
use super::host::{self, Made, Orders};
use super::program::Shipment;
use super::steps::{self, Step};
use super::trace::{Trace, together};
use super::way::{Asked, Launch, Way};
use crate::call::placed::Placed;
use crate::cores::core::Run;
use crate::cores::run::Function;
use crate::explain::evidence::Program;
use crate::explain::symbols::{Memo, Symbols};
use crate::memory::watch::Watch;

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
    orders: Orders,
    sequencer: Sequencer,
    pool: Pool,
    chip: Chip,
    functions: Vec<Function>,
    rows: Vec<Row>,
    trace: Trace,
}

impl Split {
    /// Does the host's part for a split-load library on 1 or 8 cores: pack, unpack, prelink by the strict rules, stage; or
    /// stages the very bytes of an image that was prelinked before. Then finds the library by opcodes, and writes the
    /// records, unless some are given. `trace` has the stages up to a failure.
    ///
    /// # Errors
    /// [`LoadError`] of any of these stages; nothing stays allocated then.
    pub fn prepare(shipment: &Shipment, config: Config, trace: &mut Trace) -> Result<Split, LoadError> {
        let Shipment { cores, generation, .. } = *shipment;
        let core_mask = match cores {
            1 => 1,
            8 => ALL_CORES,
            found => return Err(LoadError::Cores { found }),
        };
        if let Some(never) = generation.never_staged() {
            return Err(never.into());
        }
        let bounds = generation.bounds();
        let mut chip = Chip::new(config, bounds)
            .ok_or(LoadError::Sizes { dataram: config.dataram, stack: config.stack })?;
        let given = Record::read_all(&shipment.records)
            .inspect_err(|error| trace.fail("record", error, Vec::new()))?;
        let Made { mut context, library, debug, table, shift, constants, opcodes } =
            if shipment.is_prelinked() {
                host::adopt(shipment, &given, trace)?
            } else {
                host::make(shipment, trace)?
            };
        let symbols = Symbols::read(&debug).moved_by(shift);
        let told = |step: Step<'_>| step.tell(&symbols, Vec::new());
        let records = || -> Result<Orders, LoadError> {
            trace.stages.push(host::resolve(&opcodes, shipment).map(&told)?);
            host::orders(&library, &mut context, core_mask, given)
        };
        let orders = match records() {
            Ok(orders) => orders,
            Err(error) => {
                trace.fail("record", &error, Vec::new());
                let _ = context.destroy(library);
                return Err(error);
            }
        };
        if let (Some(&load), Some(&unload)) = (orders.load.first(), orders.unload.first()) {
            let are_given = !shipment.records.is_empty();
            trace.stages.push(told(Step::Recorded { load, unload, are_given }));
        }
        chip.watched = Watch::jobs(|names| symbols.find(names));
        chip.constants = constants;
        Ok(Split {
            shift,
            debug,
            memo: Memo::default(),
            context,
            library,
            table,
            orders,
            sequencer: Sequencer::default(),
            pool: Pool::new(&device::Config::new(bounds)),
            chip,
            functions: Vec::new(),
            rows: Vec::new(),
            trace: std::mem::take(trace),
        })
    }

    /// Puts an instruction stream before the sequencer, which hands what it fetches to the cores of the pool.
    fn run(&mut self, stream: &[u8], call: Option<Asked<'_>>) -> Result<Handled, Fault> {
        self.handle(stream, call, false)
    }

    /// As [`Split::run`]; kernels run only unless their cores are handed over.
    fn handle(
        &mut self,
        stream: &[u8],
        call: Option<Asked<'_>>,
        is_handed_over: bool,
    ) -> Result<Handled, Fault> {
        let mut handled = Handled::default();
        let mut rest = stream;
        loop {
            let Some(fetched) = Fetched::next(&mut self.sequencer, rest, &mut self.trace)? else {
                return Ok(handled);
            };
            let multicore = self.orders.load.iter().any(|record| record.core_mask == ALL_CORES);
            let Fetched { handed, instruction, blocks, behind, log } = fetched;
            self.tell(Step::Fetched { what: handed.to_string(), instruction, blocks }, log);
            let (chip, hbm) = (&mut self.chip, &self.context.memory);
            let handed_over = is_handed_over.then(Vec::new);
            let mut turn = Turn { chip, hbm, call, multicore, runs: Vec::new(), handed_over };
            match handed {
                Handed::PoolConfig(record) => handled.outcomes.extend(self.pool.execute(&record, &mut turn)),
                Handed::Extended { spec, .. } => {
                    handled.dispatched = self.pool.dispatch(EXTENDED, spec, &mut turn).to_vec()
                }
                Handed::CustomOp { .. } => {
                    handled.dispatched = self.pool.dispatch(CUSTOM_OP, 0, &mut turn).to_vec()
                }
            }
            handled.runs.append(&mut turn.runs);
            handled.launches.extend(turn.handed_over.into_iter().flatten());
            rest = behind;
        }
    }

    /// What the cores have logged since it was asked last.
    fn logged(&mut self) -> Vec<String> {
        together(&std::mem::take(&mut self.pool.log))
    }

    fn tell(&mut self, step: Step<'_>, log: Vec<String>) {
        let symbols = Symbols::read(&self.debug).moved_by(self.shift).remembering(&self.memo);
        let stage = step.tell(&symbols, log);
        tracing::debug!(stage = stage.name, facts = ?stage.facts);
        self.trace.stages.push(stage);
    }
}

/// What came of an instruction stream.
#[derive(Default)]
struct Handled {
    outcomes: Vec<(u8, Outcome)>,
    dispatched: Vec<Dispatched>,
    runs: Vec<Run>,
    launches: Vec<Launch>,
}

impl Way for Split {
    /// The device executes the load record on its cores, which start the library and bind its table.
    fn load(&mut self) -> Result<(), LoadError> {
        let Some(&record) = self.orders.load.first() else {
            return Err(LoadError::NoLoadRecord { found: 0 });
        };
        let _span = tracing::debug_span!("load", mask = record.core_mask).entered();
        self.pool.announce_table(record.library_index, self.table);
        let stream: Vec<u8> = self.orders.load.iter().flat_map(Record::encode).collect();
        let outcomes = self.run(&stream, None)?.outcomes;
        let log = self.logged();
        for (core, outcome) in &outcomes {
            if !matches!(outcome, Outcome::Loaded | Outcome::AlreadyLoaded) {
                let error = LoadError::Refused { core: *core, why: said(outcome), log: log.clone() };
                self.trace.fail("load", &format!("on core {core}: {}", said(outcome)), log);
                return Err(error);
            }
        }
        let first = outcomes.first().map_or(0, |(core, _)| usize::from(*core));
        let header = self.context.memory.at(record.soc_addr, gpsimd_loader::ucpl::HEADER);
        let header = header.and_then(|bytes| Header::parse(bytes).ok());
        let data = record.soc_addr.wrapping_add(header.map_or(0, |header| u64::from(header.data_off)));
        let core = self.pool.cores().get(first);
        let windows = core.map_or_else(Vec::new, |core| core.windows().used().copied().collect());
        let rows: Vec<Row> = core.map_or_else(Vec::new, |core| core.rows().map(|(_, row)| *row).collect());
        self.tell(Step::Loaded { record, windows, bounds: self.chip.bounds(), data }, log);
        let functions = self.chip.core(first as u8).map_or(&[][..], |core| &core.functions);
        if rows.len() != functions.len() {
            let error = LoadError::Table { rows: rows.len(), functions: functions.len() };
            self.trace.fail("bind", &error, Vec::new());
            return Err(error);
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

    /// The stream of a call: the extended instruction of the op, and the blocks with its arguments.
    fn dispatch(&mut self, function: usize, call: Asked<'_>) -> Result<Vec<Run>, Fault> {
        self.trace.begin_call();
        let instruction = instruction(self.rows.get(function).map_or(0, |row| row.spec));
        let stream = [&instruction[..], &call.placed.blocks].concat();
        let Handled { dispatched, runs, .. } = self.run(&stream, Some(call))?;
        let log = self.logged();
        self.tell(Step::Dispatched(dispatched), log);
        self.trace.stages.extend(steps::call(call.placed, &runs, self.chip.local_stack()));
        Ok(runs)
    }

    fn hand_over(&mut self, function: usize, call: &Placed) -> Result<Vec<Launch>, Fault> {
        let instruction = instruction(self.rows.get(function).map_or(0, |row| row.spec));
        let stream = [&instruction[..], &call.blocks].concat();
        let asked = Asked { placed: call, control: &Control::default(), beat: &|| {} };
        Ok(self.handle(&stream, Some(asked), true)?.launches)
    }

    fn programs(&self) -> Vec<Program<'_>> {
        let base = self.chip.bounds().code.base;
        let symbols = || Symbols::read(&self.debug).moved_by(self.shift).remembering(&self.memo);
        let program = |_| Program { symbols: symbols(), base };
        self.pool.cores().iter().map(program).collect()
    }

    fn trace(&self) -> Trace {
        self.trace.clone()
    }

    /// The device executes the unload record: fini, window and table back.
    fn unload(&mut self) -> Result<(), LoadError> {
        let stream: Vec<u8> = self.orders.unload.iter().flat_map(Record::encode).collect();
        let outcomes = self.run(&stream, None)?.outcomes;
        let log = self.logged();
        self.functions.clear();
        self.rows.clear();
        for (core, outcome) in &outcomes {
            if *outcome != Outcome::Unloaded && !outcomes.contains(&(*core, Outcome::Unloaded)) {
                let why = said(outcome);
                self.trace.fail("unload", &format!("on core {core}: {why}"), log);
                return Err(LoadError::Unload { core: *core, why });
            }
        }
        let free = self.pool.cores().iter().map(|core| core.windows().free()).min().unwrap_or(0);
        if let Some(&record) = self.orders.unload.first() {
            self.tell(Step::Unloaded { record, free }, log);
        }
        Ok(())
    }

    /// The host destroys the handle and gives the staged image's memory back.
    fn destroy(self: Box<Self>) -> Result<Trace, LoadError> {
        let Split { mut context, library, debug, shift, mut trace, .. } = *self;
        let step = Step::Destroyed(library.device_addr().unwrap_or_default());
        // The only context there is made the library.
        context.destroy(library).map_err(|_| ResultCode::Invalid)?;
        match context.memory.allocations() {
            0 => {}
            allocations => return Err(LoadError::Leak { allocations }),
        }
        let log = context.log.drain(..).map(|line| line.text).collect();
        trace.stages.push(step.tell(&Symbols::read(&debug).moved_by(shift), log));
        Ok(trace)
    }
}

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

fn said(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Refused(Refusal::Dma(error)) => format!("{outcome}: {}", chip::transfer_error(*error)),
        Outcome::Refused(Refusal::Start { status }) => format!("{outcome}: {}", status_name(*status)),
        outcome => outcome.to_string(),
    }
}
