//! One core at work: its bus with the checks of every access, the run of an entry or a launcher, and what was noted meanwhile.
//!
//! Unaware of other cores, of how a library got there, and of symbols: all it knows of a program are addresses.

pub mod access;
pub mod aside;
pub mod blocks;
mod bulk;
pub mod bus;
pub mod core;
pub mod definedness;
pub mod dma;
pub mod incident;
pub mod near;
pub mod notes;
pub mod observed;
pub mod paused;
pub mod pending;
pub mod profile;
mod requests;
pub mod run;
pub mod streams;
pub mod touches;
mod translated;
pub mod undefined;
