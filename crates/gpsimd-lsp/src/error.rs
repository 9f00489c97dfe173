//! What can be wrong with a memory map. Offsets are byte offsets into the text that was parsed.

use miette::SourceSpan;

/// A memory map that cannot be used. Attach the text with `miette::Report::with_source_code` to see carets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs)] // the messages say what each field is
pub enum MapError {
    #[error("expected {expected}, found {found}")]
    #[diagnostic(
        code(lsp::syntax),
        help("a memory is `BEGIN name`, `addr : type : name : size : attrs ;`, its segments, `END name`")
    )]
    Syntax {
        expected: &'static str,
        found: String,
        #[label("here")]
        at: SourceSpan,
    },

    #[error("`{text}` is neither a number up to {max:#x} nor a parameter set above")]
    #[diagnostic(
        code(lsp::bad_number),
        help("write 0x84000000 or 4096, or set `KEY = value` before using KEY")
    )]
    Number {
        text: String,
        max: u64,
        #[label("not a number")]
        at: SourceSpan,
    },

    #[error("`{text}` is not a name a linker script can hold")]
    #[diagnostic(code(lsp::bad_name), help("use letters, digits, `_`, `.`, `-` and `$`"))]
    Name {
        text: String,
        #[label("this name")]
        at: SourceSpan,
    },

    #[error("`{found}` is no {what}; known: {known}")]
    #[diagnostic(code(lsp::unknown_keyword), help("replace it by one of: {known}"))]
    Keyword {
        what: &'static str,
        found: String,
        known: &'static str,
        #[label("unknown")]
        at: SourceSpan,
    },

    #[error("{what} `{name}` is given twice")]
    #[diagnostic(code(lsp::duplicate), help("keep one of the two, or rename one"))]
    Duplicate {
        what: &'static str,
        name: String,
        #[label("second time")]
        at: SourceSpan,
    },

    #[error("no {what} is called `{name}`")]
    #[diagnostic(
        code(lsp::unknown_target),
        help("PLACE can only refer to sections and segments of this map")
    )]
    Target {
        what: &'static str,
        name: String,
        #[label("not found")]
        at: SourceSpan,
    },

    #[error("{what} starts at {base:#010x}, which is not a multiple of 8")]
    #[diagnostic(code(lsp::misaligned), help("round the address up to {:#010x}", (u64::from(*base) + 7) & !7))]
    Misaligned {
        what: String,
        base: u32,
        #[label("this address")]
        at: SourceSpan,
    },

    #[error("{what} ends at {end:#x}, {} bytes past {limit:#x}", end - limit)]
    #[diagnostic(
        code(lsp::too_long),
        help("the end of a memory is at most 0x100000000, that of a segment its memory's")
    )]
    TooLong {
        what: String,
        end: u64,
        limit: u64,
        #[label("ends too late")]
        at: SourceSpan,
    },

    #[error("{what} is empty: {first:#x} to {last:#x}")]
    #[diagnostic(
        code(lsp::empty),
        help("give it a size above zero; the last address of a segment is inclusive")
    )]
    Empty {
        what: String,
        first: u64,
        last: u64,
        #[label("nothing fits here")]
        at: SourceSpan,
    },

    #[error("segment {segment} starts at {first:#x}, before its memory at {base:#x}")]
    #[diagnostic(code(lsp::outside_memory), help("move the segment or the memory"))]
    Outside {
        segment: String,
        first: u32,
        base: u32,
        #[label("starts too early")]
        at: SourceSpan,
    },

    #[error("{first} and {second} overlap: {second} starts at {start:#x}, {first} ends at {end:#x}")]
    #[diagnostic(code(lsp::overlap), help("memories must be disjoint, and so must the segments of a memory"))]
    Overlap {
        first: String,
        second: String,
        start: u64,
        end: u64,
        #[label("overlaps")]
        at: SourceSpan,
    },

    #[error("the map has {count} {what}, more than {max}")]
    #[diagnostic(
        code(lsp::too_many),
        help("join neighbours: each costs a linker region and a program header")
    )]
    TooMany {
        what: &'static str,
        count: usize,
        max: usize,
        #[label("one too many")]
        at: SourceSpan,
    },
}
