//! What the loader needs of the machine it runs on.

use crate::kernel_table::TableRef;

use super::window::Window;

/// A function the loader calls on a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entry {
    /// The image's initialisation function; no arguments.
    Init,
    /// The image's start symbol; its argument is the 36-byte hand-off block.
    Start,
    /// The image's finalisation function; no arguments.
    Fini,
    /// A kernel, for an instruction.
    Kernel,
}

/// What a called function left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Returned {
    /// Its result.
    pub value: u32,
    /// The kernel table that it registered, if it is a start symbol that does so.
    pub table: Option<TableRef>,
}

/// A failed transfer, by the number that the firmware logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DmaError(pub i32);

/// A function that did not return, in words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallError(pub String);

/// The machine under the loader. Cores are numbered 0 to 7; every call is on behalf of one of them.
pub trait Hardware {
    /// Makes a window show another part of SoC memory, or nothing.
    fn program_window(&mut self, core: u8, slot: u8, window: Option<&Window>);

    /// Makes channel 0 of the internal DMA ready.
    ///
    /// # Errors
    /// Any, if it cannot be.
    fn init_dma(&mut self, core: u8) -> Result<(), DmaError>;

    /// Copies SoC memory into `into`, through channel 0.
    ///
    /// # Errors
    /// The channel's error.
    fn dma(&mut self, core: u8, soc_addr: u64, into: &mut [u8]) -> Result<(), DmaError>;

    /// Puts what the DMA brought into the core's instruction or data memory.
    ///
    /// # Errors
    /// The channel's error, if there is no such memory.
    fn store(&mut self, core: u8, addr: u32, bytes: &[u8]) -> Result<(), DmaError>;

    /// Reads the core's data memory.
    ///
    /// # Errors
    /// The channel's error, if there is no such memory.
    fn load(&mut self, core: u8, addr: u32, into: &mut [u8]) -> Result<(), DmaError>;

    /// Calls a windowed function and runs the core until it returns.
    ///
    /// # Errors
    /// Why it did not return.
    fn call(&mut self, core: u8, entry: Entry, addr: u32) -> Result<Returned, CallError>;
}
