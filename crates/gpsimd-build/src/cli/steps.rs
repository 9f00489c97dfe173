//! Arguments of the hidden command that an exported plan calls.
//!
//! Unaware of the plan.

use clap::Args;

/// Arguments of the hidden `stage`, as `plan` writes them.
#[derive(Debug, Args)]
pub struct Stage {
    /// Which.
    pub name: String,
    /// The stage's own arguments, as JSON.
    pub arguments: String,
}
