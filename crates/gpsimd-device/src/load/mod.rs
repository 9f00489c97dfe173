//! The ways a library gets onto the cores: images at fixed places, or one split image by load record.
//!
//! Unaware of files and terminals, and of what is called once it is there.

pub mod chip;
pub mod control;
pub mod error;
mod fetched;
pub mod fixed;
mod host;
pub mod program;
pub mod split;
mod steps;
pub mod trace;
pub mod way;
