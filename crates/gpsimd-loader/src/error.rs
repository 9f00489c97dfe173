//! Why a library was not prelinked: one variant a reason, each with the vendor's status number and log text.
//!
//! Unaware of how the checks are made. Numbers and texts: spec `prelink.md` §14.1, §16; which of our own checks report
//! as which number: its §17.

use std::fmt;

use crate::generation::Region;

/// One of the two segments that reach the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub enum Segment {
    /// The first program header.
    Code,
    /// The second program header.
    Data,
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Segment::Code => "code",
            Segment::Data => "data",
        })
    }
}

/// A part of the file that has to be there completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The 52-byte ELF header.
    Header,
    /// The section header table.
    SectionHeaders,
    /// The program header table.
    ProgramHeaders,
    /// The bytes of a loaded segment.
    Contents(Segment),
    /// The dynamic section.
    Dynamic,
    /// The relocation table.
    Relocations,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Header => f.write_str("ELF header"),
            Part::SectionHeaders => f.write_str("section header table"),
            Part::ProgramHeaders => f.write_str("program header table"),
            Part::Contents(segment) => write!(f, "{segment} segment"),
            Part::Dynamic => f.write_str("dynamic section"),
            Part::Relocations => f.write_str("relocation table"),
        }
    }
}

/// Why a library was not prelinked. [`PrelinkError::status`] is the vendor's number for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, miette::Diagnostic)]
pub enum PrelinkError {
    /// The first bytes are not those of a 32-bit ELF file.
    #[error("{field} is {found:#04x}, not {want}")]
    #[diagnostic(
        code(loader::not_elf),
        help("the prelinker takes a little-endian ELF32 split-load library; unpack a .packed.so first")
    )]
    NotElf {
        /// Name of the `e_ident` byte.
        field: &'static str,
        /// Its value.
        found: u8,
        /// What is accepted.
        want: &'static str,
    },
    /// A part of the file lies behind its end.
    #[error("the {part} ends at byte {end}, but it may go no further than byte {limit}")]
    #[diagnostic(code(loader::truncated), help("the file is cut short or damaged; link it again"))]
    Truncated {
        /// Which part.
        part: Part,
        /// Where it would end.
        end: u64,
        /// Where the file, or the part of it that may hold this one, ends.
        limit: u64,
    },
    /// Strict: another machine.
    #[error("the file is for machine {found}, not for Xtensa (94)")]
    #[diagnostic(code(loader::machine), help("build the library with the Xtensa toolchain"))]
    Machine {
        /// `e_machine`.
        found: u16,
    },
    /// Strict: neither linked form.
    #[error("the ELF type is {found}, not 2 (executable) or 3 (shared)")]
    #[diagnostic(code(loader::elf_type), help("link the objects into a split-load library first"))]
    ElfType {
        /// `e_type`.
        found: u16,
    },
    /// A program header is not what stands there in a split-load library.
    #[error("program header {index} (type {p_type:#x}, flags {flags:#x}) is not {want}")]
    #[diagnostic(
        code(loader::not_split_load),
        help(
            "a split-load library has LOAD R-X, LOAD RW-, optionally LOAD -W-, then DYNAMIC RW-; a fixed-location custom-op image has not: build it with `compile --image split`"
        )
    )]
    NotSplitLoad {
        /// Position in the program header table.
        index: usize,
        /// `p_type`.
        p_type: u32,
        /// `p_flags`.
        flags: u32,
        /// What should stand there.
        want: &'static str,
    },
    /// More file bytes than memory bytes.
    #[error("the {segment} segment has {filesz:#x} bytes in the file and {memsz:#x} in memory")]
    #[diagnostic(
        code(loader::file_beyond_memory),
        help("the program header is damaged; link the library again")
    )]
    FileBeyondMemory {
        /// Which segment.
        segment: Segment,
        /// `p_filesz`.
        filesz: u32,
        /// `p_memsz`.
        memsz: u32,
    },
    /// Strict: the largest section alignment is no power of two.
    #[error("the largest section alignment is {align}, not a power of two")]
    #[diagnostic(
        code(loader::bad_alignment),
        help("keep the section headers when stripping: the alignment is read from them")
    )]
    BadAlignment {
        /// The alignment; 0 if no section has a size.
        align: u32,
    },
    /// Strict: a segment would not be staged from its first byte.
    #[error(
        "the {segment} segment starts at {paddr:#x}, not at a multiple of the largest section alignment {align}"
    )]
    #[diagnostic(
        code(loader::lead_in),
        help("staging starts at the region's first byte, so the segment's last {} bytes would not reach the device; align the segment in the linker script", .paddr % .align)
    )]
    LeadIn {
        /// Which segment.
        segment: Segment,
        /// `p_paddr`.
        paddr: u32,
        /// Largest section alignment, a power of two.
        align: u32,
    },
    /// Strict: as [`PrelinkError::LeadIn`], but the region is what is not aligned.
    #[error("sections are aligned to {align}, but the {segment} region {region} is not")]
    #[diagnostic(code(loader::region_alignment), help("lower the alignment of the section that has {align}"))]
    RegionAlignment {
        /// Which segment.
        segment: Segment,
        /// Where it goes.
        region: Region,
        /// Largest section alignment, a power of two.
        align: u32,
    },
    /// No dynamic segment among the program headers that the file says it has.
    #[error("none of the {phnum} program headers is a dynamic segment")]
    #[diagnostic(code(loader::no_dynamic), help("e_phnum must count the PT_DYNAMIC entry"))]
    NoDynamic {
        /// `e_phnum`.
        phnum: u16,
    },
    /// A segment does not fit its region.
    #[error("the {segment} segment ends {need:#x} bytes into its region of {:#x} bytes ({region})", .region.size)]
    #[diagnostic(
        code(loader::segment_too_large),
        help("{} bytes too many; make the kernel smaller, or use the fixed-location image, which has 2 MiB a core", .need - u64::from(.region.size))
    )]
    SegmentTooLarge {
        /// Which segment.
        segment: Segment,
        /// Offset in the region plus size in memory.
        need: u64,
        /// The region.
        region: Region,
    },
    /// A relocation table that is not little-endian, or missing.
    #[error("the library has {count} relocations, but {why}")]
    #[diagnostic(
        code(loader::relocation_table),
        help("link the library with relocations in a -W- segment, little-endian")
    )]
    RelocationTable {
        /// Entries.
        count: u32,
        /// What is wrong.
        why: &'static str,
    },
    /// A relocation refers to a symbol.
    #[error("relocation {index} has r_info {r_info:#x}: it names symbol {}", .r_info >> 8)]
    #[diagnostic(
        code(loader::relocation_symbol),
        help("only symbol-free relocations can be applied; resolve the symbol when linking")
    )]
    RelocationSymbol {
        /// Position in the table.
        index: u32,
        /// `r_info`.
        r_info: u32,
    },
    /// A relocation type the loader does not know.
    #[error("relocation {index} has type {r_info}, which no loader applies")]
    #[diagnostic(
        code(loader::relocation_type),
        help("allowed are 0 (none), 5 (relative), 20-34 (slot) and 35-49 (slot, high half)")
    )]
    RelocationType {
        /// Position in the table.
        index: u32,
        /// `r_info`.
        r_info: u32,
    },
    /// An instruction to patch lies in neither region.
    #[error("relocation {index} patches an instruction at {site:#x}, outside both device regions")]
    #[diagnostic(code(loader::relocation_site), help("r_offset must be the link address of the instruction"))]
    RelocationSite {
        /// Position in the table.
        index: u32,
        /// Mapped address.
        site: u32,
    },
    /// Strict: what a relocation patches is not completely inside a segment.
    #[error("relocation {index} patches {width} bytes at {site:#x}, not all of them in a loaded segment")]
    #[diagnostic(
        code(loader::relocation_extent),
        help("r_offset must be the link address of bytes in the code or data segment")
    )]
    RelocationExtent {
        /// Position in the table.
        index: u32,
        /// Mapped address.
        site: u32,
        /// Bytes from there on.
        width: u32,
        /// Whether the bytes are a word (type 5) or an instruction.
        word: bool,
    },
    /// An instruction bundle whose immediate cannot be set.
    #[error(
        "relocation {index} patches slot {slot} of the instruction bundle {word:#010x}, whose immediate field is not known"
    )]
    #[diagnostic(
        code(loader::large_immediate),
        help("load addresses with un-bundled 24-bit CONST16 instructions")
    )]
    LargeImmediate {
        /// Position in the table.
        index: u32,
        /// Slot of the bundle.
        slot: u32,
        /// First word of the bundle.
        word: u32,
    },
    /// Bytes that are no instruction with an immediate.
    #[error("relocation {index} patches {word:#010x}, which is no instruction with a 16-bit immediate")]
    #[diagnostic(
        code(loader::instruction_format),
        help("r_offset must be the address of a CONST16 instruction")
    )]
    InstructionFormat {
        /// Position in the table.
        index: u32,
        /// First word at the site.
        word: u32,
    },
    /// Strict: an entry point outside the code.
    #[error("{what} is {addr:#x}, outside the loaded code {code}")]
    #[diagnostic(
        code(loader::entry_outside),
        help(
            "the device refuses a zero start symbol and would run wild at any other; check ENTRY, DT_INIT and DT_FINI"
        )
    )]
    EntryOutside {
        /// Which entry.
        what: &'static str,
        /// Its device address.
        addr: u32,
        /// The code segment on the device.
        code: Region,
    },
    /// The image is larger than the device buffer.
    #[error("the image has {total:#x} bytes; the device takes {allowed:#x}")]
    #[diagnostic(
        code(loader::image_too_large),
        help("make the kernel smaller, or use the fixed-location image")
    )]
    ImageTooLarge {
        /// Bytes of header, code and data.
        total: u64,
        /// Most bytes of an image.
        allowed: u64,
    },
}

impl PrelinkError {
    /// What the vendor's `prelink` returns for it; our own checks report under the numbers of §17, and alignment under
    /// xtlib's NOT_ALIGNED (6), which the vendor path leaves unused. 7 for an image over the cap is the number of the
    /// calling layer, which makes that check there.
    pub fn status(&self) -> u32 {
        use PrelinkError::*;
        match self {
            NotElf { .. } | Machine { .. } | ElfType { .. } => 1,
            Truncated { part: Part::Header | Part::SectionHeaders, .. } => 1,
            Truncated { part: Part::Dynamic, .. } | NoDynamic { .. } => 4,
            RelocationSymbol { .. } => 5,
            BadAlignment { .. } | LeadIn { .. } | RegionAlignment { .. } => 6,
            Truncated { part: Part::ProgramHeaders | Part::Contents(_), .. } => 7,
            NotSplitLoad { .. } | FileBeyondMemory { .. } | ImageTooLarge { .. } => 7,
            Truncated { part: Part::Relocations, .. } | RelocationTable { .. } | RelocationType { .. } => 8,
            RelocationSite { .. } | RelocationExtent { .. } | LargeImmediate { .. } | EntryOutside { .. } => {
                8
            }
            InstructionFormat { .. } => 12,
            SegmentTooLarge { .. } => 13,
        }
    }

    /// The name of its status in the public numbering of the library loader (§14.1).
    pub fn status_name(&self) -> &'static str {
        match self.status() {
            1 => "NOT_ELF",
            4 => "NO_DYNAMIC_SEGMENT",
            5 => "UNKNOWN_SYMBOL",
            6 => "NOT_ALIGNED",
            7 => "NOT_SPLITLOAD",
            8 => "RELOCATION_ERR",
            12 => "INSN_FMT_ERR",
            13 => "INTERNAL_ERR",
            _ => "UNKNOWN",
        }
    }

    /// The status with its name and the vendor's log line, as whoever knows the vendor's library looks for them:
    /// `status 7, NOT_SPLITLOAD; log: Failed to validate ELF shared object file`.
    pub fn verdict(&self) -> String {
        let log = self.vendor_text().map_or_else(|| "nothing".to_owned(), |text| format!("`{text}`"));
        format!("status {}, {}; the vendor logs {log}", self.status(), self.status_name())
    }

    /// The vendor's log line for it, if the vendor has one.
    pub fn vendor_text(&self) -> Option<String> {
        use PrelinkError::*;
        Some(match self {
            RelocationSymbol { .. } | RelocationTable { .. } | EntryOutside { .. } => return None,
            BadAlignment { .. } | LeadIn { .. } | RegionAlignment { .. } => return None,
            Truncated { part: Part::Relocations, .. } => return None,
            NotElf { .. }
            | Machine { .. }
            | ElfType { .. }
            | NotSplitLoad { .. }
            | FileBeyondMemory { .. } => VALIDATE.into(),
            Truncated { part: Part::Dynamic, .. } | NoDynamic { .. } => DYNAMIC.into(),
            Truncated { .. } => VALIDATE.into(),
            SegmentTooLarge { .. } => "Segment exceeds the size of the split region on device".into(),
            RelocationType { r_info, .. } => format!("Unknown relocation type {r_info}"),
            RelocationExtent { site, word: true, .. } => format!("Invalid load @ {site:#x}"),
            RelocationSite { site, .. } | RelocationExtent { site, .. } => {
                format!("Invalid relocation address {site}")
            }
            LargeImmediate { slot, .. } => {
                format!("Failed to set large immediate field in instruction slot {slot}")
            }
            InstructionFormat { word, .. } => format!("Unknown instruction format [{word:#x}]"),
            ImageTooLarge { .. } => {
                "Prelinked library would be larger than the available buffer on device".into()
            }
        })
    }
}

const VALIDATE: &str = "Failed to validate ELF shared object file";
const DYNAMIC: &str = "Failed to extract dynamic relocation info from ELF shared object file";

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use miette::Diagnostic as _;

    use super::*;

    /// One of each kind, with the numbers of a plausible case.
    fn all() -> Vec<PrelinkError> {
        use PrelinkError::*;
        let (segment, region) = (Segment::Data, crate::Bounds::CAYMAN.data);
        let truncated = |part| Truncated { part, end: 0x120, limit: 0x100 };
        vec![
            NotElf { field: "EI_CLASS", found: 2, want: "1 (32 bits)" },
            truncated(Part::Header),
            truncated(Part::SectionHeaders),
            truncated(Part::ProgramHeaders),
            truncated(Part::Contents(Segment::Code)),
            truncated(Part::Dynamic),
            truncated(Part::Relocations),
            Machine { found: 62 },
            ElfType { found: 1 },
            NotSplitLoad { index: 1, p_type: 1, flags: 4, want: "the data, a LOAD with flags RW- or RWX" },
            FileBeyondMemory { segment, filesz: 0x40, memsz: 0x3f },
            BadAlignment { align: 24 },
            LeadIn { segment, paddr: 0x0200_000c, align: 64 },
            RegionAlignment { segment: Segment::Code, region: crate::Bounds::SUNDA.code, align: 0x2000 },
            NoDynamic { phnum: 3 },
            SegmentTooLarge { segment, need: 0x2001, region },
            RelocationTable { count: 2, why: "no DT_RELA says where they are" },
            RelocationSymbol { index: 3, r_info: 0x105 },
            RelocationType { index: 3, r_info: 6 },
            RelocationSite { index: 3, site: 0x1000 },
            RelocationExtent { index: 3, site: 0xb_ffff, width: 4, word: true },
            RelocationExtent { index: 3, site: 0x1_fffe, width: 3, word: false },
            LargeImmediate { index: 3, slot: 1, word: 0xf },
            InstructionFormat { index: 3, word: 8 },
            EntryOutside { what: "the start symbol", addr: 0, code: Region { base: 0x1_8000, size: 0x100 } },
            ImageTooLarge { total: 0x1_0001, allowed: 0x1_0000 },
        ]
    }

    #[test]
    fn what_people_and_logs_read() {
        let mut text = String::new();
        for error in all() {
            let code = error.code().map(|code| code.to_string()).unwrap_or_default();
            let help = error.help().map(|help| help.to_string()).unwrap_or_default();
            let vendor = error.vendor_text().unwrap_or_else(|| "-".into());
            let _ = writeln!(text, "{} {code}: {error}\n   help: {help}\n   log: {vendor}", error.status());
            assert_ne!(error.status_name(), "UNKNOWN", "{error}");
        }
        insta::assert_snapshot!(text);
    }
}
