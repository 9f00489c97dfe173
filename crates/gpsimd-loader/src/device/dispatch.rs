//! From an instruction to its kernel: a linear scan, one indirect call.
//!
//! Facts: spec `load-and-dispatch.md` §8.2, O2: a miss is reported, and the core goes on.

use crate::kernel_table::{EXTENDED, key};

use super::hardware::{CallError, Entry, Hardware};
use super::{Assertion, Core};

/// What became of an instruction on a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dispatched {
    /// Its kernel ran.
    Ran {
        /// The library it belongs to; none for built-in kernels.
        library: Option<u32>,
        /// Address of the kernel.
        func: u32,
        /// What it returned.
        status: u32,
    },
    /// Its kernel did not return.
    Failed {
        /// The library it belongs to.
        library: Option<u32>,
        /// Address of the kernel.
        func: u32,
        /// Why.
        why: CallError,
    },
    /// No row has its key.
    Unknown,
    /// The core had died before.
    Dead(Assertion),
}

impl Core {
    /// Finds and calls the kernel for an opcode and, if that is [`EXTENDED`], a spec; other opcodes have spec 0.
    pub fn dispatch(
        &self,
        opcode: u8,
        spec: u8,
        hardware: &mut impl Hardware,
        log: &mut Vec<String>,
    ) -> Dispatched {
        if let Some(assertion) = self.dead {
            return Dispatched::Dead(assertion);
        }
        let spec = if opcode == EXTENDED { spec } else { 0 };
        self.say(log, "Entering Dispatch");
        self.say(log, &format!("In dispatch, CPU ID: {}, got opcode {opcode:#x}.", self.prid));
        let key = key(opcode, spec);
        let Some((library, row)) = self.rows().find(|(_, row)| row.key() == key) else {
            self.say(
                log,
                &match opcode {
                    EXTENDED => format!("UNKNOWN EXTENDED OPCODE={spec}"),
                    _ => format!("UNKNOWN OPCODE={opcode:#x}"),
                },
            );
            return Dispatched::Unknown;
        };
        let func = row.func;
        let returned = hardware.call(self.prid, Entry::Kernel, func);
        self.say(log, "Exiting Dispatch");
        match returned {
            Ok(returned) => Dispatched::Ran { library, func, status: returned.value },
            Err(why) => Dispatched::Failed { library, func, why },
        }
    }
}
