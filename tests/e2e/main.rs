//! End to end, as a user: the binary, real sources, the real cross compiler, real files.
//!
//! Everything needs the open toolchain; without it the tests fail and say how to install it.

mod answers;
mod bench;
mod build_time;
mod compat;
mod concurrent;
mod debug_adapter;
mod debug_typed;
mod debug_values;
mod debugging;
mod documents;
mod examples;
mod export;
mod failures;
mod front_half;
mod hostile_project;
mod incremental;
mod independent;
mod integrations;
mod interrupts;
mod output;
mod paths;
mod precompiled;
mod running;
mod stages;
mod stale;
mod storm;
mod strangers;
mod tampering;
mod tester;
mod ucpl;
mod vendor;
mod watched;
mod watching;
mod wrong_inputs;
