//! Sizes and limits of the model, and the handle that stops a run from another thread.
//!
//! Unaware of what runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::cores::run::Limits;
use crate::parts::map;
use crate::report::costs::Costs;

/// Most instructions for static constructors and registration.
const BOOT_BUDGET: u64 = 200_000_000;

/// Sizes and limits of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Bytes of data RAM per core.
    pub dataram: u32,
    /// Bytes of local stack per core.
    pub stack: u32,
    /// Most bytes of device memory for the tensors of one call.
    pub hbm: u64,
    /// Most instructions per core and call.
    pub budget: u64,
    /// Most instructions in which nothing leaves the core: no element is read or written, nothing is copied or printed.
    pub idle: u64,
    /// Whether library functions that are recognised are computed by the host.
    pub native: bool,
    /// Whether blocks that run often are translated to host code, where there is a translator for the host.
    pub translate: bool,
    /// Whether every instruction answers for what it costs.
    pub profile: bool,
    /// What the estimates charge.
    pub costs: Costs,
}

impl Default for Config {
    /// 64 KiB of data RAM, 8 KiB of stack, 4 GiB of tensors, 20 billion instructions, half a billion without anything to
    /// show for them.
    fn default() -> Config {
        Config {
            dataram: 0x1_0000,
            stack: 0x2000,
            hbm: 4 << 30,
            budget: 20_000_000_000,
            idle: 500_000_000,
            native: true,
            translate: true,
            profile: false,
            costs: Costs::default(),
        }
    }
}

impl Config {
    /// As it is, with a budget that somebody chose: then the count alone ends a run.
    pub fn with_budget(self, budget: u64) -> Config {
        Config { budget, idle: budget, ..self }
    }

    /// What of it concerns how a core executes.
    pub(super) fn core(self) -> xtensa_iss::Config {
        let default = xtensa_iss::Config::default();
        xtensa_iss::Config {
            native: self.native,
            translate_after: default.translate_after.filter(|_| self.translate),
            ..default
        }
    }

    /// As it is, but with a budget for what runs before the first call.
    pub(super) fn for_boot(self) -> Config {
        Config { budget: self.budget.min(BOOT_BUDGET), profile: false, ..self }
    }
}

/// Lets another thread stop a run and see how far it is.
#[derive(Debug, Default)]
pub struct Control {
    /// Instructions per core of this call, if they are not the machine's.
    budget: Option<u64>,
    stop: AtomicBool,
    executed: [AtomicU64; map::CORES],
}

impl Control {
    /// For a call that may take so many instructions per core; the machine's own number without.
    pub fn within(budget: Option<u64>) -> Control {
        Control { budget, ..Control::default() }
    }

    /// Makes every core stop at its next slice, within a few milliseconds.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Instructions executed so far, over all cores.
    pub fn executed(&self) -> u64 {
        self.executed.iter().map(|core| core.load(Ordering::Relaxed)).sum()
    }

    /// The limits of a run on one of the eight cores.
    pub(super) fn limits(&self, core: u8, config: Config) -> Limits<'_> {
        let executed = &self.executed[usize::from(core) % map::CORES];
        let budget = self.budget.unwrap_or(config.budget);
        let (stop, profile) = (&self.stop, config.profile);
        Limits { budget, idle: config.idle, stop, executed, profile, beat: &|| {} }
    }
}
