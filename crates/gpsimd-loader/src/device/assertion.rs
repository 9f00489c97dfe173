//! The firmware's assertions. One that fails ends its core with an illegal instruction.
//!
//! Facts: spec `load-and-dispatch.md` §6.3, §6.6, §6.8.

use std::fmt;

/// An assertion of the firmware.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Assertion {
    /// Source file.
    pub file: &'static str,
    /// Line in it.
    pub line: u32,
    /// Function.
    pub function: &'static str,
    /// The condition that did not hold.
    pub condition: &'static str,
}

/// An immediate in the firmware's comparisons.
const NUM_POOL_CORES: u32 = super::CORES as u32;
const LOADER: &str = "/opt/workspace/NeuronUcode/src/external_lib/external_lib_loader.hpp";

impl Assertion {
    /// A library runs on one core or on all.
    pub const CORE_COUNT: Assertion = Assertion {
        file: LOADER,
        line: 283,
        function: "load_external_libraries_impl",
        condition: "entry.total_cpus == 1 || entry.total_cpus == NUM_POOL_CORES",
    };
    /// The same, or the entry is free.
    pub const CORE_COUNT_AFTER: Assertion = Assertion {
        file: LOADER,
        line: 318,
        function: "load_external_libraries_impl",
        condition: "entry.total_cpus == 0 || entry.total_cpus == 1 || entry.total_cpus == NUM_POOL_CORES",
    };
    /// The list of free windows never holds all of them. The condition's wording is not known.
    pub const WINDOW_LIST: Assertion = Assertion {
        file: "soc_window_manager.hpp",
        line: 374,
        function: "push_unallocated_window",
        condition: "num_unallocated < 15",
    };
    /// An address must lie in a window. The condition's wording is not known.
    pub const NO_WINDOW: Assertion = Assertion {
        file: "translate_cayman+.hpp",
        line: 643,
        function: "translate_soc_to_xt_address",
        condition: "window matches",
    };

    /// The check after loading or unloading.
    pub(super) fn check_core_count_after(total_cpus: u32) -> Result<(), Assertion> {
        match total_cpus {
            0 | 1 | NUM_POOL_CORES => Ok(()),
            _ => Err(Assertion::CORE_COUNT_AFTER),
        }
    }
}

impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Assertion { file, line, function, condition } = self;
        write!(f, "{file}:{line} In function {function} -- {condition} -- assertion failed")
    }
}
