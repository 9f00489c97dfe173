//! Why a library does not travel the lane.

use gpsimd_loader::library::CreateError;
use gpsimd_loader::record::RecordError;
use gpsimd_loader::sequence::SequenceError;
use gpsimd_loader::{Generation, PrelinkError, ResultCode};

/// Why a library does not travel the lane.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum LaneError {
    /// A packed object without a library in it.
    #[error("the packed library cannot be unpacked: {0}")]
    #[diagnostic(transparent)]
    Unpack(gpsimd_image::ImageError),
    /// The prelinker's reason.
    #[error("the library cannot be prelinked: {0}")]
    #[diagnostic(transparent)]
    Prelink(#[from] PrelinkError),
    /// A generation on which nothing is staged.
    #[error("on {generation} the runtime stages no prelinked image, so there is nothing to load")]
    #[diagnostic(
        code(device::lane_generation),
        help("run it as cayman, mariana or mariana-plus; `prelink` makes images for {generation} as well")
    )]
    NothingStaged {
        /// The generation.
        generation: Generation,
    },
    /// The host side refused.
    #[error(transparent)]
    #[diagnostic(
        code(device::lane_create),
        help("{}", miette::Diagnostic::help(.0).map(|help| help.to_string()).unwrap_or_default())
    )]
    Create(#[from] CreateError),
    /// No load record.
    #[error(transparent)]
    #[diagnostic(
        code(device::lane_sequence),
        help("{}", miette::Diagnostic::help(.0).map(|help| help.to_string()).unwrap_or_default())
    )]
    Sequence(#[from] SequenceError),
    /// A load record that the device would not take.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Record(#[from] RecordError),
    /// Impossible memory sizes.
    #[error("{dataram} bytes of data RAM cannot hold the runtime's scratch and {stack} bytes of stack")]
    #[diagnostic(
        code(device::sizes),
        help("both sizes must be multiples of 64; 65536 and 8192 are the device's")
    )]
    Sizes {
        /// Bytes of data RAM.
        dataram: u32,
        /// Bytes of stack.
        stack: u32,
    },
    /// A library for neither one core nor eight.
    #[error("a library runs on 1 core or on 8, not on {found}")]
    #[diagnostic(code(device::lane_cores), help("the firmware asserts this and ends the core"))]
    Cores {
        /// Cores asked for.
        found: u8,
    },
    /// A core did not take the library.
    #[error("core {core} does not load the library: {why}{}", if log.is_empty() { String::new() } else { format!("\n{}", log.join("\n")) })]
    #[diagnostic(
        code(device::lane_load),
        help(
            "the lines above are the device's log; status 2 means the hand-off block is too small for the library's ABI"
        )
    )]
    Load {
        /// Core.
        core: u8,
        /// Why not.
        why: String,
        /// What the device logged.
        log: Vec<String>,
    },
    /// A core still has the library.
    #[error("core {core} does not unload the library: {why}")]
    #[diagnostic(code(device::lane_unload), help("load it first; a library can be unloaded once"))]
    Unload {
        /// Core.
        core: u8,
        /// Why not.
        why: String,
    },
    /// A kernel table that does not name the ops.
    #[error("the library's kernel table has {rows} rows, but it registers {functions} ops")]
    #[diagnostic(
        code(device::lane_table),
        help("build the library with `compile --image split`, which makes one row an op")
    )]
    Table {
        /// Rows bound.
        rows: usize,
        /// Ops registered.
        functions: usize,
    },
    /// Memory that did not come back.
    #[error("{allocations} allocations are left in device memory after the last library was destroyed")]
    #[diagnostic(code(device::lane_leak), help("this is a defect of the tool"))]
    Leak {
        /// Allocations.
        allocations: usize,
    },
}

impl From<ResultCode> for LaneError {
    fn from(code: ResultCode) -> LaneError {
        LaneError::Create(code.into())
    }
}
