//! What the differential tests share: an encoder, an ELF writer, a guest under the model, the same guest under qemu.

#![allow(dead_code, reason = "each test binary uses its part")]

pub mod compiler;
pub mod encode;
pub mod gcc;
pub mod generate;
pub mod guest;
pub mod image;
pub mod qemu;
pub mod rng;
