//! What is not given is found: the ops that shape sources register, the schemas that kernels mean, how kernels are
//! declared.
//!
//! Unaware of plans and of how anything is compiled.

pub(crate) mod check;
pub(crate) mod defaults;
pub(crate) mod functions;
pub(crate) mod infer;
pub(crate) mod kernel_error;
pub(crate) mod kernels;
pub(crate) mod multicore;
pub(crate) mod not_a_kernel;
pub(crate) mod placement;
pub(crate) mod registrations;
pub(crate) mod undocumented;
