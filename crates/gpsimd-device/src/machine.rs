//! The machine: cores with a loaded library, whose operators can be called.
//!
//! Cores run over frozen shared memory; results are merged and diagnosed in core order afterwards. Unaware of files and
//! terminals, and of which way the library came.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gpsimd_loader::Generation;
use gpsimd_loader::selector::Environment;

use crate::call::arg::{Arg, Output};
use crate::call::error::CallError;
use crate::call::placed::Placed;
use crate::cores::run::Function;
use crate::explain::evidence::Program;
use crate::explain::summary;
use crate::load::control::{Config, Control};
use crate::load::error::LoadError;
use crate::load::fixed::Fixed;
use crate::load::program::{CoreImage, Shipment};
use crate::load::split::Split;
use crate::load::trace::Trace;
use crate::load::way::{Asked, Way};
use crate::report::RunReport;
use crate::report::costs::Costs;
use crate::session::Session;

/// Between two reports of progress.
const PROGRESS: Duration = Duration::from_millis(100);

/// Cores and a library, which is on them or can be loaded.
#[derive(Debug)]
pub struct Machine {
    hbm: u64,
    costs: Costs,
    way: Box<dyn Way>,
}

impl Machine {
    /// A library of images at fixed places, loaded: one image for a single core, eight in core order for all.
    ///
    /// # Errors
    /// [`LoadError`] for a wrong number of images, damaged or misplaced images, and libraries that do not boot or that
    /// register different functions on different cores.
    pub fn boot(images: Vec<CoreImage>, config: Config) -> Result<Machine, LoadError> {
        let mut machine = Machine::fixed(images, config);
        machine.load()?;
        Ok(machine)
    }

    /// A library of images at fixed places, ready to be loaded. Machines of one library share its images.
    pub fn fixed(images: impl Into<Arc<[CoreImage]>>, config: Config) -> Machine {
        Machine { hbm: config.hbm, costs: config.costs, way: Box::new(Fixed::new(images.into(), config)) }
    }

    /// A split library for 1 or 8 cores, ready to be loaded by record.
    ///
    /// # Errors
    /// [`LoadError`] of any of the host's stages; nothing stays allocated then.
    pub fn prepare(
        image: CoreImage,
        cores: u8,
        generation: Generation,
        environment: Environment,
        config: Config,
    ) -> Result<Machine, LoadError> {
        let shipment = Shipment { image, cores, generation, environment, table: None, records: Vec::new() };
        Machine::ship(&shipment, config, &mut Trace::default())
    }

    /// A split library as it ships, ready to be loaded by record; `trace` has the stages up to a failure.
    ///
    /// # Errors
    /// As [`Machine::prepare`].
    pub fn ship(shipment: &Shipment, config: Config, trace: &mut Trace) -> Result<Machine, LoadError> {
        let split = Split::prepare(shipment, config, trace)?;
        Ok(Machine { hbm: config.hbm, costs: config.costs, way: Box::new(split) })
    }

    /// Brings the library up on its cores.
    ///
    /// # Errors
    /// [`LoadError`] when a core does not take it.
    pub fn load(&mut self) -> Result<(), LoadError> {
        self.way.load()
    }

    /// Operators the library registered, in registration order; the position is the function id.
    pub fn functions(&self) -> &[Function] {
        self.way.functions()
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
    /// of descriptors that [`crate::call::wire::Call::encode`] never writes.
    ///
    /// # Errors
    /// As [`Machine::call`]; edited blocks are not checked.
    pub fn call_edited(
        &mut self,
        op: &str,
        args: Vec<Arg>,
        output: impl Into<Output>,
        control: &Control,
        progress: impl FnMut(u64),
        edit: impl FnOnce(&mut Vec<u8>),
    ) -> Result<RunReport, CallError> {
        let function = self.function(op)?;
        let mut placed = Placed::new(function, args, output.into(), self.hbm)?;
        edit(&mut placed.blocks);
        let watcher = RefCell::new((progress, Instant::now()));
        let beat = || {
            let (progress, told) = &mut *watcher.borrow_mut();
            if told.elapsed() >= PROGRESS {
                progress(control.executed());
                *told = Instant::now();
            }
        };
        let runs = self.way.dispatch(function, Asked { placed: &placed, control, beat: &beat })?;
        Ok(summary::report(op, &placed, runs, &self.way.programs(), &self.costs))
    }

    /// Makes a call ready, but leaves its cores before their first instruction, to whoever wants to see each. The machine has
    /// them no more.
    ///
    /// # Errors
    /// As [`Machine::call`].
    pub fn begin(
        &mut self,
        op: &str,
        args: Vec<Arg>,
        output: impl Into<Output>,
    ) -> Result<Session, CallError> {
        let function = self.function(op)?;
        let call = Placed::new(function, args, output.into(), self.hbm)?;
        let launches = self.way.hand_over(function, &call)?;
        Ok(Session::new(op, call, launches, self.costs))
    }

    /// What the cores run, in core order.
    pub fn programs(&self) -> Vec<Program<'_>> {
        self.way.programs()
    }

    /// Position of an operator among those registered.
    fn function(&self, op: &str) -> Result<usize, CallError> {
        let names = || self.functions().iter().map(|function| function.name.clone());
        let position = names().position(|name| name == op);
        position.ok_or_else(|| CallError::NoSuchOp { op: op.to_owned(), known: names().collect() })
    }

    /// Takes the library off its cores. It can be loaded again.
    ///
    /// # Errors
    /// [`LoadError`] when a core does not have it.
    pub fn unload(&mut self) -> Result<(), LoadError> {
        self.way.unload()
    }

    /// What is to be told of the library's way so far.
    pub fn trace(&self) -> Trace {
        self.way.trace()
    }

    /// Gives back what the library took; the trace of its whole way is what remains.
    ///
    /// # Errors
    /// [`LoadError`] when something does not come back.
    pub fn destroy(self) -> Result<Trace, LoadError> {
        self.way.destroy()
    }
}
