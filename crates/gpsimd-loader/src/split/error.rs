//! Why a static link does not become a split-load library.

use crate::error::{PrelinkError, Segment};

/// Why a static link does not become a split-load library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum SplitError {
    /// No such file, or a damaged one.
    #[error("this is no static Xtensa link: {why}")]
    #[diagnostic(
        code(loader::split_input),
        help("link with the split script, statically and with --emit-relocs")
    )]
    Input {
        /// What is wrong.
        why: String,
    },
    /// Other program headers than the script makes.
    #[error("program header {index} (type {p_type:#x}, flags {flags:#x}) is not {want}")]
    #[diagnostic(
        code(loader::split_segments),
        help("link with the split script: it makes one segment for code and one for data")
    )]
    Segments {
        /// Position in the program header table.
        index: usize,
        /// `p_type`.
        p_type: u32,
        /// `p_flags`.
        flags: u32,
        /// What should stand there.
        want: &'static str,
    },
    /// No relocations were kept.
    #[error("the link has no relocations for its loaded sections")]
    #[diagnostic(
        code(loader::split_no_relocations),
        help("link with --emit-relocs: without them nobody knows which words are addresses")
    )]
    NoRelocations,
    /// A loaded section outside both segments.
    #[error("section `{section}` at {addr:#x} is loaded, but lies in neither segment")]
    #[diagnostic(
        code(loader::split_orphan),
        help(
            "the split script has no place for this section; rename it, or link with --orphan-handling=error to see who brings it"
        )
    )]
    Orphan {
        /// The section.
        section: String,
        /// Its address.
        addr: u32,
    },
    /// Tables of a dynamic link.
    #[error("section `{section}` has {size} bytes: the link is not static")]
    #[diagnostic(
        code(loader::split_linkage),
        help("link without -shared and -pie, and only with static archives")
    )]
    Linkage {
        /// The section.
        section: String,
        /// Its size.
        size: u32,
    },
    /// A relocation that a loader would need symbols for.
    #[error("{kind} at {site:#x} needs the symbol `{symbol}` when loading")]
    #[diagnostic(
        code(loader::split_symbolic),
        help("link statically: only addresses that are known at link time can be moved")
    )]
    Symbolic {
        /// Name of the relocation type, or its number.
        kind: String,
        /// What it patches.
        site: u32,
        /// The symbol.
        symbol: String,
    },
    /// A symbol nobody defines.
    #[error("{kind} at {site:#x} uses `{symbol}`, which nothing defines")]
    #[diagnostic(
        code(loader::split_undefined),
        help(
            "a weak function may only be called through a pointer that is tested first: compile with -mlongcalls or -fpic"
        )
    )]
    Undefined {
        /// Name of the relocation type.
        kind: String,
        /// What it patches.
        site: u32,
        /// The symbol.
        symbol: String,
    },
    /// A constant that looks like an address.
    #[error("the word {word:#x} at {site:#x} is the constant `{symbol}`, but lies in the {segment} segment")]
    #[diagnostic(
        code(loader::split_absolute),
        help("define the symbol inside a section of the linker script if it is an address")
    )]
    Absolute {
        /// Where the word is.
        site: u32,
        /// Its value.
        word: u32,
        /// The symbol.
        symbol: String,
        /// The segment it points into.
        segment: Segment,
    },
    /// A distance between code and data.
    #[error(
        "{kind} at {site:#x} in the {from} segment depends on its distance from `{symbol}`, which is not there"
    )]
    #[diagnostic(
        code(loader::split_across),
        help("code and data are moved by different distances; use an address instead of a distance")
    )]
    Across {
        /// Name of the relocation type.
        kind: String,
        /// What it patches.
        site: u32,
        /// Where that is.
        from: Segment,
        /// The symbol.
        symbol: String,
    },
    /// A pointer that the loader would take for one into the other segment.
    #[error(
        "the word {word:#x} at {site:#x} is derived from `{symbol}` in the {segment} segment, but would be moved with the other one"
    )]
    #[diagnostic(
        code(loader::split_biased),
        help("pointers may lie up to 0x400 bytes below the data, and not below the code")
    )]
    Biased {
        /// Where the word is.
        site: u32,
        /// Its value.
        word: u32,
        /// The symbol.
        symbol: String,
        /// The symbol's segment.
        segment: Segment,
    },
    /// A relocation of bytes that are not in the file.
    #[error("{kind} at {site:#x} patches bytes that no segment has in the file")]
    #[diagnostic(code(loader::split_site), help("the link is damaged; link again"))]
    Site {
        /// Name of the relocation type.
        kind: String,
        /// What it patches.
        site: u32,
    },
    /// Two relocations of one word.
    #[error("the words at {first:#x} and {second:#x} are relocated both, and overlap")]
    #[diagnostic(
        code(loader::split_overlap),
        help("the second relocation would see the first one's result; place the words apart")
    )]
    Overlap {
        /// The lower one.
        first: u32,
        /// The higher one.
        second: u32,
    },
    /// A CONST16 whose value is not the symbol's.
    #[error("the CONST16 at {site:#x} holds {found:#06x}, but `{symbol}` would give {expected:#06x}")]
    #[diagnostic(code(loader::split_const16), help("link again without relaxation (--no-relax)"))]
    Const16 {
        /// The instruction.
        site: u32,
        /// Its immediate.
        found: u16,
        /// The half of the symbol's address.
        expected: u16,
        /// The symbol.
        symbol: String,
    },
    /// More than the device region holds.
    #[error("the {segment} segment has {size} bytes; its region on the device has {allowed}")]
    #[diagnostic(
        code(loader::split_too_large),
        help(
            "{over} bytes too many. {largest}Make the kernel smaller, or build the fixed-location image, which has 2 MiB a core"
        )
    )]
    TooLarge {
        /// Which segment.
        segment: Segment,
        /// Bytes in memory.
        size: u32,
        /// Bytes of the region.
        allowed: u32,
        /// Their difference.
        over: u32,
        /// A sentence on who takes the most.
        largest: String,
    },
    /// Code too near to the data.
    #[error("the code ends at {code_end:#x}, less than 0x400 bytes before the data at {data_start:#x}")]
    #[diagnostic(code(loader::split_too_close), help("link with the split script, which keeps them apart"))]
    TooClose {
        /// First address behind the code.
        code_end: u64,
        /// First address of the data.
        data_start: u32,
    },
    /// A kernel table row that the device could not use.
    #[error("row {index} of the kernel_info_table {why}")]
    #[diagnostic(code(loader::split_kernel_row), help("generate the rows with `kernel_table::source`"))]
    BadRow {
        /// Which row.
        index: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The result did not pass the prelinker.
    #[error("the library does not prelink: {0}")]
    #[diagnostic(transparent)]
    Prelink(#[from] PrelinkError),
}
