//! What one core can touch: its private memory with a state for every byte, the runtime's heaps in it, its view of the tensors.
//!
//! Unaware of instructions and of what an access means; [`crate::cores`] decides that.

pub mod arena;
pub mod heap;
pub mod image;
pub mod private;
pub mod ram;
mod redzones;
pub mod view;
pub mod watch;
