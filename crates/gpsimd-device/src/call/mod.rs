//! What an operator is called with: element types, tensors, arguments, their wire form and their place in shared memory.
//!
//! Unaware of cores, of libraries, and of what a kernel makes of its arguments.

pub mod arg;
pub mod dtype;
pub mod error;
pub mod placed;
pub mod shared;
pub mod tensor;
pub mod wire;
