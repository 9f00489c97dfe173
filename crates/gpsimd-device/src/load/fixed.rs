//! Images at fixed places: one for a single core, or eight, each linked for the bank of its core.
//!
//! Cores that have more than a little to do run in parallel threads. Unaware of records. Facts: spec `customop-abi.md` §3.4, §5, `load-and-dispatch.md` §11.1.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use gpsimd_loader::device::sequencer::{CUSTOM_OP, Fault, Handed, Sequencer};
use gpsimd_loader::device::table::{LibraryRow, LibraryTable};
use gpsimd_lsp::{CpuId, Variant};

use super::control::{Config, Control};
use super::error::LoadError;
use super::fetched::Fetched;
use super::program::CoreImage;
use super::steps::{self, Step};
use super::trace::Trace;
use super::way::{Asked, Launch, Way};
use crate::call::placed::Placed;
use crate::call::shared::SharedMemory;
use crate::cores::core::{Core, Run};
use crate::cores::run::{Ended, Function, Limits};
use crate::explain::describe;
use crate::explain::evidence::Program;
use crate::explain::symbols::{Memo, Symbols};
use crate::memory::image::Image;
use crate::memory::private::Memory;
use crate::memory::view::View;
use crate::memory::watch::Watch;
use crate::parts::firmware;
use crate::parts::map::{self, DataramLayout};

/// Bytes of local stack of a checked image.
const CHECKED_STACK: u32 = 0x6000;

/// Between two looks at what others still do.
const BEAT: Duration = Duration::from_millis(50);

/// A library by its images, the cores that have booted it, and the table by which the firmware finds its functions.
#[derive(Debug)]
pub struct Fixed {
    config: Config,
    images: Arc<[CoreImage]>,
    /// One for each image.
    memos: Vec<Memo>,
    cores: Vec<Core>,
    /// Where each of them has its image.
    bases: Vec<u32>,
    table: LibraryTable,
    sequencer: Sequencer,
    trace: Trace,
}

impl Fixed {
    /// A library yet to be loaded.
    pub fn new(images: Arc<[CoreImage]>, config: Config) -> Fixed {
        let memos = images.iter().map(|_| Memo::default()).collect();
        let (table, sequencer) = (LibraryTable::default(), Sequencer::default());
        Fixed {
            config,
            images,
            memos,
            cores: Vec::new(),
            bases: Vec::new(),
            table,
            sequencer,
            trace: Trace::default(),
        }
    }

    /// Installs a row for every function of every core, as the host does, and reads back what the firmware sees.
    fn install(&mut self, cores: &[Core]) -> Result<(), LoadError> {
        let mut table = LibraryTable::default();
        for core in cores {
            let cpu_id = core.memory.core;
            for (sub_opcode, function) in (0..=u8::MAX).zip(&core.functions) {
                table.push(LibraryRow {
                    opcode: CUSTOM_OP,
                    sub_opcode,
                    cpu_id,
                    total_cpus: cores.len() as u8,
                    flags: 0,
                    stripped_lib_addr: map::block_soc(cpu_id),
                    func_name: function.name.clone(),
                })?;
            }
        }
        let offsets = |offset: fn(u8) -> u32| std::array::from_fn(|core| u64::from(offset(core as u8)));
        let scratch = (map::scratch_soc(0), u64::from(map::SCRATCH_LEN));
        self.table =
            LibraryTable::parse(&table.encode(scratch, offsets(map::m2s_offset), offsets(map::s2m_offset)));
        Ok(())
    }

    /// Who runs a function of the table, and by which launcher.
    fn found(&self, function: u8) -> Vec<(u8, Option<LibraryRow>, u32)> {
        let find = |core: &Core| {
            let prid = core.memory.core;
            let row = self.table.find(CUSTOM_OP, function, prid).cloned();
            let is_named = |known: &&Function| row.as_ref().is_some_and(|row| row.func_name == known.name);
            let launcher = core.functions.iter().find(is_named).map_or(0, |function| function.launcher);
            (prid, row, launcher)
        };
        self.cores.iter().map(find).collect()
    }

    fn tell(&mut self, step: &Step<'_>, log: Vec<String>) {
        let first = self.images.first().zip(self.memos.first());
        let symbols = first.map(|(image, memo)| image.symbols().remembering(memo));
        let stage = step.tell(&symbols.unwrap_or(Symbols::read(&[])), log);
        self.trace.stages.push(stage);
    }
}

impl Way for Fixed {
    /// Copies each image to its place and boots it: one image for a single core, eight in core order for all.
    ///
    /// # Errors
    /// [`LoadError`] for a wrong number of images, damaged or misplaced images, and libraries that do not boot or that
    /// register different functions on different cores.
    fn load(&mut self) -> Result<(), LoadError> {
        let Config { dataram, stack, .. } = self.config;
        let variants: Vec<Variant> = match self.images.len() {
            1 => vec![Variant::Single],
            map::CORES => CpuId::all().map(Variant::Cpu).collect(),
            found => return Err(LoadError::ImageCount { found }),
        };
        let layout = DataramLayout::new(dataram, stack).ok_or(LoadError::Sizes { dataram, stack })?;
        let mut cores: Vec<Core> = Vec::new();
        let mut entries = Vec::new();
        for (core, (variant, image)) in (0..).zip(variants.into_iter().zip(self.images.iter())) {
            let _span = tracing::debug_span!("load", core).entered();
            let parsed =
                Image::parse(&image.bytes, variant).map_err(|source| LoadError::Image { core, source })?;
            // redzones make frames larger; a finding about that would be about nothing that ships
            let roomy = parsed.is_checked().then(|| DataramLayout::new(dataram, CHECKED_STACK));
            let layout = roomy.flatten().unwrap_or(layout);
            let mut booted = Core::new(Memory::new(core, layout, &parsed), self.config.core());
            booted.watch(Watch::jobs(|names| image.symbols().find(names)));
            entries.push(parsed.entry());
            boot(&mut booted, parsed.entry(), self.config)
                .inspect_err(|error| self.trace.fail("boot", error, Vec::new()))?;
            let names = |core: &Core| -> Vec<String> {
                core.functions.iter().map(|function| function.name.clone()).collect()
            };
            if let Some(first) = cores.first().map(names).filter(|first| *first != names(&booted)) {
                return Err(LoadError::Different { core, names: names(&booted), first });
            }
            cores.push(booted);
        }
        self.install(&cores).inspect_err(|error| self.trace.fail("table", error, Vec::new()))?;
        self.bases = cores.iter().map(|core| core.memory.image_base).collect();
        self.cores = cores;
        let rows = self.table.rows().to_vec();
        self.tell(&Step::Installed { rows: &rows, entries }, Vec::new());
        let functions = self.functions().to_vec();
        self.tell(&Step::Booted { functions: &functions }, Vec::new());
        Ok(())
    }

    fn functions(&self) -> &[Function] {
        self.cores.first().map_or(&[], |core| &core.functions)
    }

    fn dispatch(&mut self, _function: usize, call: Asked<'_>) -> Result<Vec<Run>, Fault> {
        self.trace.begin_call();
        let mut runs = Vec::new();
        let mut rest = &call.placed.blocks[..];
        while let Some(fetched) = Fetched::next(&mut self.sequencer, rest, &mut self.trace)? {
            let Fetched { handed, instruction, blocks, behind, log } = fetched;
            self.tell(&Step::Fetched { what: handed.to_string(), instruction, blocks }, log);
            if let Handed::CustomOp { function, .. } = handed {
                let found = self.found(function);
                runs = self.execute(&found, call);
                self.tell(&Step::Found(found), Vec::new());
                self.trace.stages.extend(steps::call(call.placed, &runs, self.config.stack));
            }
            rest = behind;
        }
        Ok(runs)
    }

    fn hand_over(&mut self, _function: usize, call: &Placed) -> Result<Vec<Launch>, Fault> {
        let mut launches = Vec::new();
        let mut rest = &call.blocks[..];
        while let Some(fetched) = Fetched::next(&mut self.sequencer, rest, &mut self.trace)? {
            if let Handed::CustomOp { function, .. } = fetched.handed {
                let multicore = self.cores.len() > 1;
                let found = self.found(function);
                let cores = std::mem::take(&mut self.cores).into_iter().zip(found);
                launches = cores
                    .filter(|(_, (_, row, _))| row.is_some())
                    .map(|(mut core, (_, _, launcher))| {
                        core.memory.registers.feed(call.blocks.clone());
                        Launch { core, launcher, multicore }
                    })
                    .collect();
            }
            rest = fetched.behind;
        }
        Ok(launches)
    }

    fn programs(&self) -> Vec<Program<'_>> {
        let cores = self.images.iter().zip(&self.memos).zip(&self.bases);
        cores
            .map(|((image, memo), base)| Program { symbols: image.symbols().remembering(memo), base: *base })
            .collect()
    }

    fn trace(&self) -> Trace {
        self.trace.clone()
    }

    fn unload(&mut self) -> Result<(), LoadError> {
        self.tell(&Step::Forgotten(self.cores.len()), Vec::new());
        self.cores.clear();
        self.bases.clear();
        self.table = LibraryTable::default();
        Ok(())
    }

    fn destroy(self: Box<Self>) -> Result<Trace, LoadError> {
        Ok(self.trace)
    }
}

impl Fixed {
    /// Lets every core that has the function run it on the call's blocks. Short runs follow each other on this thread;
    /// during the first long one others take up what is left.
    fn execute(&mut self, found: &[(u8, Option<LibraryRow>, u32)], call: Asked<'_>) -> Vec<Run> {
        let multicore = self.cores.len() > 1;
        let config = self.config;
        let Asked { placed, control, beat } = call;
        let start = |core: &mut Core, beat: &dyn Fn()| {
            let (_, _, launcher) =
                found.iter().find(|(prid, row, _)| *prid == core.memory.core && row.is_some())?;
            core.memory.registers.feed(placed.blocks.clone());
            let limits = Limits { beat, ..control.limits(core.memory.core, config) };
            Some(core.run(*launcher, None, View::new(&placed.shared), multicore, limits))
        };
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let helpers = self.cores.len().min(processors).saturating_sub(1);
        let waiting = Mutex::new(self.cores.iter_mut().enumerate());
        let done = Mutex::new(Vec::new());
        // a function, so that nobody holds the queue while a core runs
        let next = || lock(&waiting).next();
        let work = |beat: &dyn Fn()| {
            while let Some((at, core)) = next() {
                if let Some(run) = start(core, beat) {
                    lock(&done).push((at, run));
                }
            }
        };
        std::thread::scope(|scope| {
            let (working, idle) = mpsc::channel::<()>();
            let is_alone = Cell::new(true);
            let call_for_help = || {
                // Threads that the machine refuses are only missed: the others run more cores each.
                let refused = |_: &usize| {
                    let working = working.clone();
                    let help = || {
                        let _working = working;
                        work(&|| {});
                    };
                    std::thread::Builder::new().spawn_scoped(scope, help).is_err()
                };
                let _ = (0..helpers).find(refused);
            };
            work(&|| {
                if is_alone.replace(false) {
                    call_for_help();
                }
                beat();
            });
            drop(working);
            while idle.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                beat();
            }
        });
        let mut runs = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        runs.sort_by_key(|(at, _)| *at);
        runs.into_iter().map(|(_, run)| run).collect()
    }
}

fn boot(core: &mut Core, entry: u32, config: Config) -> Result<(), LoadError> {
    let (nothing, control) = (SharedMemory::default(), Control::default());
    let limits = control.limits(core.memory.core, config.for_boot());
    let handoff = core.memory.firmware_base + firmware::HANDOFF;
    let run = core.run(entry, Some(handoff), View::new(&nothing), false, limits);
    let text = String::from_utf8_lossy(&run.text.bytes).into_owned();
    match run.ended {
        Ended::Returned(0) => {
            core.earlier = run.log;
            Ok(())
        }
        Ended::Returned(status) => {
            Err(LoadError::Status { core: run.core, status, meaning: status_name(status) })
        }
        _ => {
            let why = describe::ending(&run).map_or_else(String::new, |(_, message)| message);
            Err(LoadError::Boot { core: run.core, why, text })
        }
    }
}

/// Names of the library's status codes, spec `customop-abi.md` §3.1.
pub(super) fn status_name(status: u32) -> &'static str {
    match status {
        1 => "failure",
        2 => "the hand-off block is too small for the library's ABI",
        3 => "no opcode for a kernel",
        4 => "impossible number of functions",
        _ => "unknown status",
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
