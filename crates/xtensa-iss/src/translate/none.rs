//! The translator of hosts for which there is none.

use super::{Blocks, Declined, Entry, Exit};
use crate::bus::Bus;
use crate::core::Core;

#[derive(Debug, Default)]
pub(crate) struct Translator;

impl Translator {
    pub fn prepare<B: Bus>(&mut self, _: &B) -> bool {
        true
    }

    pub fn translate<B: Bus>(
        &mut self,
        _: &mut Core,
        _: &mut B,
        _: &impl Blocks,
        _: u32,
    ) -> Result<Entry, Declined> {
        Err(Declined::Impossible)
    }

    pub fn run<B: Bus>(&mut self, _: &mut Core, _: &mut B, _: Entry, _: &mut u64) -> Exit {
        Exit::Interpret
    }

    pub fn connect(&mut self, _: Option<u32>, _: u32, _: Entry) {}

    pub fn has_end(&self, _: u32) -> bool {
        false
    }

    pub fn clear(&mut self) {}

    pub fn tell_tallies<B: Bus>(&mut self, _: &mut B) {}
}
