//! The device's side of loading: what each core does on a load record, an instruction and an unload record.
//!
//! Unaware of any simulator: memory, DMA and running code are behind [`Hardware`]. Facts: spec `load-and-dispatch.md`
//! §6-§9, §13; where it leaves a hole, the default of its §15 applies and is named where it is used.

mod assertion;
mod core;
mod dispatch;
mod hardware;
mod pool;
pub mod sequencer;
pub mod table;
mod window;

pub use self::core::{Config, Core, Outcome, Refusal};
pub use assertion::Assertion;
pub use dispatch::Dispatched;
pub use hardware::{CallError, DmaError, Entry, Hardware, Returned};
pub use pool::{CORES, Pool};
pub use window::{SLOTS, Window, WindowTable};
