//! What the ways to load have in common: a library goes onto the cores and off again, and calls are handed to it meanwhile.
//!
//! Unaware of how either of them does it.

use gpsimd_loader::device::sequencer::Fault;

use super::control::Control;
use super::error::LoadError;
use super::trace::Trace;
use crate::call::placed::Placed;
use crate::cores::core::{Core, Run};
use crate::cores::run::Function;
use crate::explain::evidence::Program;

/// A call as the device gets it.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Its tensors and blocks.
    pub placed: &'a Placed,
    /// Stops it, and sees how far it is.
    pub control: &'a Control,
    /// Called on the calling thread now and then, as long as the call takes.
    pub beat: &'a dyn Fn(),
}

/// A core that is to run an operator.
pub struct Launch {
    /// The core, with the call's blocks before it.
    pub core: Core,
    /// The operator's launcher.
    pub launcher: u32,
    /// Whether other cores run it, too.
    pub multicore: bool,
}

/// A library on the cores, by the way it got there.
pub trait Way: std::fmt::Debug + Send {
    /// Brings the library up on its cores: start functions run, operators are bound.
    ///
    /// # Errors
    /// [`LoadError`] when a core does not take it.
    fn load(&mut self) -> Result<(), LoadError>;

    /// Operators the library registered, in registration order; the position is the function id.
    fn functions(&self) -> &[Function];

    /// Hands the sequencer an operator's instructions and waits for all cores that execute them; what they did, in core order.
    ///
    /// # Errors
    /// [`Fault`] when the sequencer stops at one of them.
    fn dispatch(&mut self, function: usize, call: Asked<'_>) -> Result<Vec<Run>, Fault>;

    /// Goes as far with an operator's instructions as to the cores that would execute them, and takes those off the device,
    /// which does nothing any more from then on.
    ///
    /// # Errors
    /// [`Fault`] when the sequencer stops at one of the instructions.
    fn hand_over(&mut self, function: usize, call: &Placed) -> Result<Vec<Launch>, Fault>;

    /// What the cores run, in core order.
    fn programs(&self) -> Vec<Program<'_>>;

    /// Takes the library off the cores. It can be loaded again.
    ///
    /// # Errors
    /// [`LoadError`] when a core does not have it.
    fn unload(&mut self) -> Result<(), LoadError>;

    /// What is to be told of the way so far.
    fn trace(&self) -> Trace;

    /// Gives back what the library took; the trace of the whole way is what remains.
    ///
    /// # Errors
    /// [`LoadError`] when something does not come back.
    fn destroy(self: Box<Self>) -> Result<Trace, LoadError>;
}
