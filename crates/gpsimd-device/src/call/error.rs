//! Why a library cannot be called.
//!
//! What goes wrong on the device during a call is a finding, not an error.

use gpsimd_loader::device::sequencer::Fault;

use crate::call::shared::PlaceError;
use crate::call::wire::ChainError;

/// A call that cannot be made.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum CallError {
    /// An operator the library does not have.
    #[error("the library has no operator `{op}`; it registers {known:?}")]
    #[diagnostic(code(device::no_such_op), help("name one of them"))]
    NoSuchOp {
        /// Name asked for.
        op: String,
        /// Names registered.
        known: Vec<String>,
    },
    /// Tensors that do not fit.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Place(#[from] PlaceError),
    /// Arguments without a wire form.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Chain(#[from] ChainError),
    /// The sequencer stopped at the call's instructions.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Sequencer(#[from] Fault),
}
