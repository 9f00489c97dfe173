//! Eight simulated cores around xtensa-iss: memory map, windows, SDMA, loading, dispatch, checks.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod bus;
pub mod chain;
pub mod core;
pub mod counters;
pub mod dma;
pub mod dtype;
pub mod firmware;
pub mod heap;
pub mod image;
pub mod incident;
pub mod map;
pub mod memory;
pub mod ram;
pub mod registers;
pub mod sdma;
pub mod shared;
pub mod tensor;
pub mod view;

pub use dtype::Dtype;
pub use tensor::{ShapeError, Tensor, TensorSpec};
