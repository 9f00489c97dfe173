//! From what the cores noted to findings in the author's terms: names, source lines, elements, words.
//!
//! Works on finished runs. Unaware of how cores execute and of how libraries are loaded.

pub mod coverage;
pub mod describe;
pub mod diagnose;
pub mod evidence;
mod folder;
mod lines;
mod origin;
mod parts;
mod profile;
pub mod sources;
mod spans;
pub mod summary;
pub mod symbols;
pub mod types;
