//! Why a library cannot be loaded, whichever way.
//!
//! Unaware of calls.

use gpsimd_loader::device::sequencer::Fault;
use gpsimd_loader::device::table::TableError;
use gpsimd_loader::library::CreateError;
use gpsimd_loader::record::RecordError;
use gpsimd_loader::sequence::SequenceError;
use gpsimd_loader::ucpl::UcplError;
use gpsimd_loader::{NeverStaged, PrelinkError, ResultCode};

use crate::memory::image::ImageError;

/// A library that cannot be loaded.
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
pub enum LoadError {
    /// Neither one nor eight images.
    #[error("{found} images given; a library has 1 (single core) or 8 (all cores)")]
    #[diagnostic(
        code(device::image_count),
        help("give the images of all eight cores, in order, or the single-core image")
    )]
    ImageCount {
        /// Images given.
        found: usize,
    },
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
    /// An image that is damaged or not for its core.
    #[error("the image for core {core} cannot be loaded")]
    #[diagnostic(code(device::image), help("{}", miette::Diagnostic::help(.source).map(|help| help.to_string()).unwrap_or_default()))]
    Image {
        /// Core.
        core: u8,
        /// What is wrong with it.
        source: ImageError,
    },
    /// The library's entry reported a failure.
    #[error("the library refuses to start on core {core}: status {status}, {meaning}")]
    #[diagnostic(
        code(device::boot_status),
        help("link against this SDK's runtime; it may be another version")
    )]
    Status {
        /// Core.
        core: u8,
        /// Status code.
        status: u32,
        /// What it stands for.
        meaning: &'static str,
    },
    /// The library's entry did not return.
    #[error("the library does not start on core {core}: {why}{}", beside(why, text))]
    #[diagnostic(code(device::boot), help("static constructors run here; look for one that aborts or loops"))]
    Boot {
        /// Core.
        core: u8,
        /// How it ended.
        why: String,
        /// What it printed.
        text: String,
    },
    /// Cores with different functions.
    #[error("core {core} registers {names:?}, core 0 {first:?}")]
    #[diagnostic(code(device::different_libraries), help("all eight images must come from one build"))]
    Different {
        /// Core.
        core: u8,
        /// Its functions.
        names: Vec<String>,
        /// Core 0's functions.
        first: Vec<String>,
    },
    /// A packed object without a library in it.
    #[error("the packed library cannot be unpacked: {0}")]
    #[diagnostic(transparent)]
    Unpack(gpsimd_image::ImageError),
    /// The prelinker's reason.
    #[error("the library cannot be prelinked: {error}\n{verdict}", error = .0, verdict = .0.verdict())]
    #[diagnostic(transparent)]
    Prelink(#[from] PrelinkError),
    /// Bytes that begin like a prelinked image.
    #[error("the prelinked image cannot be staged: {0}")]
    #[diagnostic(transparent)]
    Ucpl(#[from] UcplError),
    /// A generation on which nothing is staged.
    #[error(transparent)]
    #[diagnostic(transparent)]
    NeverStaged(#[from] NeverStaged),
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
    /// Records that say nothing of loading.
    #[error("none of the {found} records loads a library")]
    #[diagnostic(code(device::lane_records), help("write one with `records load --image NAME.ucpl`"))]
    NoLoadRecord {
        /// Records there are.
        found: usize,
    },
    /// Rows that the firmware's table of functions does not take.
    #[error("the library's functions do not fit the device's table: {0}")]
    #[diagnostic(transparent)]
    Functions(#[from] TableError),
    /// The sequencer stopped.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Sequencer(#[from] Fault),
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
        help("the lines above are the device's log; `--trace` shows every stage up to this one")
    )]
    Refused {
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

impl From<ResultCode> for LoadError {
    fn from(code: ResultCode) -> LoadError {
        LoadError::Create(code.into())
    }
}

/// What a program printed, each line that `why` has not said already.
pub(super) fn beside(why: &str, text: &str) -> String {
    let said: Vec<&str> = why.lines().collect();
    let is_new = |line: &&str| !line.trim().is_empty() && !said.iter().any(|words| words.contains(line));
    text.lines().filter(is_new).map(|line| format!("\n{line}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_prints_is_said_once() {
        let rows = [
            ("boom", "boom", ""),
            ("boom", "first\nboom\n", "\nfirst"),
            ("a null manager (allocator.cpp:45 mgr)", "allocator.cpp:45 mgr\n", ""),
            ("still running", "", ""),
        ];
        for (why, text, want) in rows {
            assert_eq!(beside(why, text), want, "{why}");
        }
    }
}
