//! Why an ELF file cannot be read or transformed.

/// Failure of reading, stripping, packing, unpacking or rebasing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
#[allow(missing_docs)] // the messages say what each field is
pub enum ImageError {
    #[error("this is not an ELF file: it starts with {found:02x?}, not [7f, 45, 4c, 46]")]
    #[diagnostic(code(image::not_elf), help("give a `.so`, `.stripped.so` or `.packed.so` made by a build"))]
    NotElf { found: Vec<u8> },

    #[error("class {class} and byte order {data}, where 1 and 1 (32-bit, little-endian) are allowed")]
    #[diagnostic(
        code(image::wrong_class),
        help("the file is for another processor; link it with the Xtensa toolchain")
    )]
    WrongClass { class: u8, data: u8 },

    #[error("{what} ends at byte {needs}, but the file has {has}")]
    #[diagnostic(code(image::truncated), help("the file was cut or overwritten; build or copy it again"))]
    Truncated { what: String, needs: u64, has: usize },

    #[error("{what} cannot be read: {detail}")]
    #[diagnostic(code(image::malformed), help("the file is damaged, or no linker made it; build it again"))]
    Malformed { what: &'static str, detail: String },

    #[error("e_machine is {found}, where 94 (Xtensa) is allowed")]
    #[diagnostic(
        code(image::wrong_machine),
        help("the file is for another processor; link it with the Xtensa toolchain")
    )]
    WrongMachine { found: u16 },

    #[error("e_type is {found}, where {allowed} is allowed")]
    #[diagnostic(code(image::wrong_type), help("{help}"))]
    WrongType { found: String, allowed: &'static str, help: &'static str },

    #[error("segment {index} has type {kind:#x}, where PT_LOAD (1) is allowed")]
    #[diagnostic(
        code(image::segment_type),
        help("link with the linker scripts of `gpsimd-build lsp`, without -shared")
    )]
    SegmentType { index: usize, kind: u32 },

    #[error("segments and sections claim {claimed} file bytes, but the file has {has}")]
    #[diagnostic(code(image::file_overlap), help("the file is damaged: parts of it overlap; build it again"))]
    FileOverlap { claimed: u64, has: usize },

    #[error("section {section} [{start:#010x}, {end:#010x}) lies in no LOAD segment")]
    #[diagnostic(
        code(image::section_not_loaded),
        help("link with the linker scripts of `gpsimd-build lsp`, which put every section into a segment")
    )]
    SectionNotLoaded { section: String, start: u32, end: u64 },

    #[error("{what} is aligned to {found}, where powers of two up to {allowed} are allowed")]
    #[diagnostic(
        code(image::alignment),
        help("lower the alignment in the source; core memory is banked by 64 bytes")
    )]
    Alignment { what: String, found: u32, allowed: u32 },

    #[error("the file has or would have {found} bytes, more than the {allowed} an ELF32 file can address")]
    #[diagnostic(code(image::too_large), help("the input is no custom-op image; those fit 32 MiB"))]
    TooLarge { found: u64, allowed: u64 },

    #[error("the packed object has no {what}")]
    #[diagnostic(
        code(image::not_packed),
        help("pack with `gpsimd-build pack`: section .rodata, symbol lib_func at its start")
    )]
    NotPacked { what: &'static str },

    #[error("lib_func is at offset {found:#x} of {section}, where offset 0 of .rodata is allowed")]
    #[diagnostic(code(image::lib_func_place), help("pack the image again"))]
    LibFuncPlace { found: u32, section: String },

    #[error("relocation {kind} at {address:#010x} in {section} cannot be rebased")]
    #[diagnostic(
        code(image::rebase_relocation),
        help("only R_XTENSA_32 and R_XTENSA_PLT words move with the bank; link every core instead")
    )]
    RebaseRelocation { kind: u32, address: u32, section: String },

    #[error("the word at {address:#010x} cannot be rebased: {why}")]
    #[diagnostic(code(image::rebase_site), help("link every core instead"))]
    RebaseSite { address: u32, why: String },

    #[error("the image cannot be rebased: {why}")]
    #[diagnostic(
        code(image::rebase_input),
        help("link for cpu0 with relocations kept (`ld --emit-relocs`), or link every core")
    )]
    RebaseInput { why: String },
}
