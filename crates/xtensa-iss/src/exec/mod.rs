//! Execution: what the operations of the instruction table need more than a line for, a module per class.
//!
//! Unaware of encodings: a function is given registers, values and addresses. The table has the rest.

pub(crate) mod alu;
mod control;
pub(crate) mod float;
pub(crate) mod memory;
pub(crate) mod registers;
pub(crate) mod window;

use crate::core::Done;

/// What an operation may evaluate to: nothing, if it always completes, or whether and how control left.
pub(crate) trait Operation {
    fn done(self) -> Done;
}

impl Operation for () {
    #[inline(always)]
    fn done(self) -> Done {
        Ok(())
    }
}

impl Operation for Done {
    #[inline(always)]
    fn done(self) -> Done {
        self
    }
}
