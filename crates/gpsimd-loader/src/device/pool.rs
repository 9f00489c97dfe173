//! All cores of a pool: who acts on a record, who runs an instruction.
//!
//! Facts: spec `load-and-dispatch.md` §5.2 (core mask), §8.3 (every core runs the same scan).

use std::collections::HashMap;

use crate::kernel_table::TableRef;
use crate::record::Record;

use super::core::{Config, Core, Outcome};
use super::dispatch::Dispatched;
use super::hardware::Hardware;

/// Cores of a pool, on every generation.
pub const CORES: usize = 8;

/// A pool of cores and what they logged.
#[derive(Debug, Clone)]
pub struct Pool {
    cores: [Core; CORES],
    tables: HashMap<u32, TableRef>,
    /// Log lines of all cores in the order of their writing.
    pub log: Vec<String>,
}

impl Pool {
    /// A pool after reset.
    pub fn new(config: &Config) -> Pool {
        let cores = std::array::from_fn(|prid| Core::new(prid as u8, config.clone()));
        Pool { cores, tables: HashMap::new(), log: Vec::new() }
    }

    /// The cores, in order.
    pub fn cores(&self) -> &[Core; CORES] {
        &self.cores
    }

    /// Tells where the kernel table of a library will lie once it is loaded: neither image nor record say so.
    pub fn announce_table(&mut self, library_index: u32, table: TableRef) {
        self.tables.insert(library_index, table);
    }

    /// Executes a record on the cores of its mask, in order. One outcome for each of them.
    pub fn execute(&mut self, record: &Record, hardware: &mut impl Hardware) -> Vec<(u8, Outcome)> {
        let table = self.tables.get(&record.library_index).copied();
        let masked = self.cores.iter_mut().filter(|core| record.core_mask >> core.prid & 1 == 1);
        masked.map(|core| (core.prid, core.execute(record, table, hardware, &mut self.log))).collect()
    }

    /// Hands an instruction to every core in order. One outcome for each of them.
    pub fn dispatch(&mut self, opcode: u8, spec: u8, hardware: &mut impl Hardware) -> [Dispatched; CORES] {
        let log = &mut self.log;
        std::array::from_fn(|prid| self.cores[prid].dispatch(opcode, spec, hardware, log))
    }
}
