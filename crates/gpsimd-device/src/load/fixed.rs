//! The machine: loads a library on one or eight cores and calls its operators.
//!
//! Cores run in parallel threads over frozen shared memory; results are merged and diagnosed in core order afterwards.
//! Unaware of files and terminals. Facts: spec `customop-abi.md` §3.4, §5, `load-and-dispatch.md` §11.1.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use gpsimd_lsp::{CpuId, Variant};

use crate::call::error::CallError;
use crate::call::shared::SharedMemory;
use crate::cores::core::{Core, Run};
use crate::cores::run::{Ended, Function, Limits};
use crate::explain::symbols::Symbols;
use crate::load::error::LoadError;
use crate::load::placed::Placed;
use crate::memory::image::Image;
use crate::memory::private::Memory;
use crate::memory::view::View;
use crate::parts::firmware;
use crate::parts::map::{self, DataramLayout};
use crate::report::RunReport;
use crate::report::checks::Code;
use crate::{Arg, Output};

/// Most instructions for static constructors and registration.
pub(crate) const BOOT_BUDGET: u64 = 200_000_000;

/// Sizes and limits of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Bytes of data RAM per core.
    pub dataram: u32,
    /// Bytes of local stack per core.
    pub stack: u32,
    /// Most bytes of device memory for the tensors of one call.
    pub hbm: u64,
    /// Most instructions per core and call.
    pub budget: u64,
}

impl Default for Config {
    /// 64 KiB of data RAM, 8 KiB of stack, 4 GiB of tensors, 20 billion instructions.
    fn default() -> Config {
        Config { dataram: 0x1_0000, stack: 0x2000, hbm: 4 << 30, budget: 20_000_000_000 }
    }
}

/// One core's image, with its unstripped form where there is one.
#[derive(Debug, Clone)]
pub struct CoreImage {
    /// `.so`, `.stripped.so` or `.packed.so` bytes.
    pub bytes: Vec<u8>,
    /// Unstripped `.so` bytes for names and lines; `None`: take them from `bytes` if it has any.
    pub debug: Option<Vec<u8>>,
}

impl CoreImage {
    /// An image without separate debug information.
    pub fn new(bytes: Vec<u8>) -> CoreImage {
        CoreImage { bytes, debug: None }
    }

    pub(crate) fn symbols(&self) -> Symbols<'_> {
        Symbols::read(self.debug.as_deref().unwrap_or(&self.bytes))
    }
}

/// Lets another thread stop a run and see how far it is.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    executed: [AtomicU64; map::CORES],
}

impl Control {
    /// Makes every core stop at its next slice, within a few milliseconds.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub(crate) fn stop_flag(&self) -> &AtomicBool {
        &self.stop
    }

    /// Where a core counts its instructions; there are eight cores.
    pub(crate) fn counter(&self, core: u8) -> &AtomicU64 {
        &self.executed[usize::from(core) % map::CORES]
    }

    /// Instructions executed so far, over all cores.
    pub fn executed(&self) -> u64 {
        self.executed.iter().map(|core| core.load(Ordering::Relaxed)).sum()
    }
}

/// Cores with a booted library.
#[derive(Debug)]
pub struct Machine {
    config: Config,
    cores: Vec<Core>,
    images: Vec<CoreImage>,
}

impl Machine {
    /// Loads a library and boots it on every core: one image for a single core, eight in core order for all.
    ///
    /// # Errors
    /// [`LoadError`] for a wrong number of images, damaged or misplaced images, and libraries that do not boot or that
    /// register different functions on different cores.
    pub fn load(images: Vec<CoreImage>, config: Config) -> Result<Machine, LoadError> {
        let variants: Vec<Variant> = match images.len() {
            1 => vec![Variant::Single],
            map::CORES => CpuId::all().map(Variant::Cpu).collect(),
            found => return Err(LoadError::ImageCount { found }),
        };
        let layout = DataramLayout::new(config.dataram, config.stack)
            .ok_or(LoadError::Sizes { dataram: config.dataram, stack: config.stack })?;
        let mut cores = Vec::new();
        for (core, (variant, image)) in (0..).zip(variants.into_iter().zip(&images)) {
            let parsed =
                Image::parse(&image.bytes, variant).map_err(|source| LoadError::Image { core, source })?;
            let mut booted = Core::new(Memory::new(core, layout, &parsed));
            boot(&mut booted, parsed.entry(), config.budget.min(BOOT_BUDGET))?;
            cores.push(booted);
        }
        let machine = Machine { config, cores, images };
        let first: Vec<&str> = machine.functions().iter().map(|function| function.name.as_str()).collect();
        for core in &machine.cores {
            if core.functions.iter().map(|function| function.name.as_str()).ne(first.iter().copied()) {
                let names = core.functions.iter().map(|function| function.name.clone()).collect();
                let first = first.into_iter().map(str::to_owned).collect();
                return Err(LoadError::Different { core: core.memory.core, names, first });
            }
        }
        Ok(machine)
    }

    /// Operators the library registered, in registration order; the position is the function id.
    pub fn functions(&self) -> &[Function] {
        self.cores.first().map_or(&[], |core| &core.functions)
    }

    /// Number of cores: 1 or 8.
    pub fn core_count(&self) -> usize {
        self.cores.len()
    }

    /// Calls an operator and waits for all cores. `progress` is told the instructions executed, a few times a second.
    ///
    /// # Errors
    /// [`CallError`] when the call cannot be made at all; what goes wrong on the device is in the report.
    pub fn call(
        &mut self,
        op: &str,
        args: Vec<Arg>,
        output: impl Into<Output>,
        control: &Control,
        progress: impl FnMut(u64),
    ) -> Result<RunReport, CallError> {
        self.call_edited(op, args, output, control, progress, |_| {})
    }

    /// As [`Machine::call`], but the call's blocks pass through `edit` before the cores get them: shows what a library makes
    /// of descriptors that [`Call::encode`] never writes.
    ///
    /// # Errors
    /// As [`Machine::call`]; edited blocks are not checked.
    pub fn call_edited(
        &mut self,
        op: &str,
        args: Vec<Arg>,
        output: impl Into<Output>,
        control: &Control,
        mut progress: impl FnMut(u64),
        edit: impl FnOnce(&mut Vec<u8>),
    ) -> Result<RunReport, CallError> {
        let Some(function_id) = self.functions().iter().position(|function| function.name == op) else {
            let known = self.functions().iter().map(|function| function.name.clone()).collect();
            return Err(CallError::NoSuchOp { op: op.to_owned(), known });
        };
        let mut placed = Placed::new(function_id, args, output.into(), self.config.hbm)?;
        edit(&mut placed.blocks);

        let multicore = self.cores.len() > 1;
        let budget = self.config.budget;
        let runs = std::thread::scope(|scope| {
            let (done, wait) = mpsc::channel();
            let mut handles = Vec::new();
            for (core, executed) in self.cores.iter_mut().zip(&control.executed) {
                core.memory.registers.feed(placed.blocks.clone());
                let (shared, done) = (&placed.shared, done.clone());
                handles.push(scope.spawn(move || {
                    let limits = Limits { budget, stop: &control.stop, executed };
                    let launcher = core.functions.get(function_id).map_or(0, |function| function.launcher);
                    let run = core.run(launcher, None, View::new(shared), multicore, limits);
                    // The receiver outlives the cores; a failed send only means nobody watches.
                    let _ = done.send(());
                    run
                }));
            }
            drop(done);
            let mut running = handles.len();
            while running > 0 {
                match wait.recv_timeout(Duration::from_millis(100)) {
                    Ok(()) => running -= 1,
                    Err(mpsc::RecvTimeoutError::Timeout) => progress(control.executed()),
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
            }
            let joined = handles.into_iter().map(|handle| handle.join());
            joined
                .map(|run| run.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect::<Vec<Run>>()
        });
        let bases: Vec<u32> = self.cores.iter().map(|core| core.memory.image_base).collect();
        Ok(placed.report(op, runs, &self.images, &bases, 0))
    }
}

fn boot(core: &mut Core, entry: u32, budget: u64) -> Result<(), LoadError> {
    let nothing = SharedMemory::default();
    let (stop, executed) = (AtomicBool::new(false), AtomicU64::new(0));
    let limits = Limits { budget, stop: &stop, executed: &executed };
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
            let why = crate::explain::describe::ending(&run).map_or_else(String::new, |(_, message)| message);
            Err(LoadError::Boot { core: run.core, why, text })
        }
    }
}

/// Names of the library's status codes, spec `customop-abi.md` §3.1.
fn status_name(status: u32) -> &'static str {
    match status {
        1 => "failure",
        2 => "the hand-off block is too small for the library's ABI",
        3 => "no opcode for a kernel",
        4 => "impossible number of functions",
        _ => "unknown status",
    }
}

impl RunReport {
    /// Drops findings of these checks.
    pub fn allow(&mut self, codes: &std::collections::BTreeSet<Code>) {
        self.findings.retain(|finding| !codes.contains(&finding.code));
    }
}
