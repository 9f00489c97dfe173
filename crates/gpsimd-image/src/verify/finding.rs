//! Findings: what a check has to say, with a stable code for each kind.
//!
//! Unaware of the checks themselves; the table below is their catalogue.

use std::fmt;

use serde::Serialize;

use crate::error::ImageError;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "ImageSeverity")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Loads, but is probably not what was meant.
    Warning,
    /// Must not be shipped.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

macro_rules! codes {
    ($($code:ident $text:literal $severity:ident $about:literal $help:literal;)*) => {
        /// Kinds of finding. The text of a code never changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $(#[doc = $about] $code,)*
        }

        impl Code {
            /// Every code, in catalogue order.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// The stable text: `image::window_overflow`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Code::$code => concat!("image::", $text),)* }
            }

            /// How bad findings of this kind are.
            pub const fn severity(self) -> Severity {
                match self { $(Code::$code => Severity::$severity,)* }
            }

            /// What is checked, in one sentence.
            pub const fn about(self) -> &'static str {
                match self { $(Code::$code => $about,)* }
            }

            /// What to do about it.
            pub const fn help(self) -> &'static str {
                match self { $(Code::$code => $help,)* }
            }
        }
    };
}

codes! {
    NotElf "not_elf" Error "The file starts with the ELF magic."
        "give a `.so`, `.stripped.so` or `.packed.so` made by a build";
    WrongClass "wrong_class" Error "The file is 32-bit and little-endian."
        "link it with the Xtensa toolchain; a native twin (`.native.so`) is for this machine and never ships";
    Truncated "truncated" Error "Everything that the headers name lies inside the file."
        "the file was cut or overwritten; build or copy it again";
    Malformed "malformed" Error "The headers make sense."
        "the file is damaged, or no linker made it; build it again";
    WrongMachine "wrong_machine" Error "`e_machine` is 94, Xtensa."
        "link it with the Xtensa toolchain";
    WrongType "wrong_type" Error "Images are ET_EXEC, packed objects ET_REL."
        "link statically at a fixed address: no -shared, -pie or -r";
    WrongFlags "wrong_flags" Error "`e_flags` is 0x300, as every Xtensa assembler sets it."
        "assemble and link with an Xtensa GNU or vendor toolchain";
    SegmentType "segment_type" Error "All program headers are LOAD or NULL."
        "link with the linker scripts of `gpsimd-build lsp`";
    DynamicSegment "dynamic_segment" Error "There is no dynamic segment or section."
        "link without -shared and -pie";
    InterpreterSegment "interpreter_segment" Error "There is no program interpreter."
        "link without -shared and -pie";
    TlsSegment "tls_segment" Error "There is no thread-local storage: a core runs one thread."
        "drop thread_local, or build with -fno-threadsafe-statics";
    Relocations "relocations" Error "No relocations are left for a loader to apply."
        "link without -shared and -pie; -q is only for images that are rebased";
    OffsetTable "offset_table" Error "There is no global offset or procedure linkage table."
        "link without -shared and -pie";
    WindowOverflow "window_overflow" Error "Code, data and bss end inside the core's window."
        "shrink the largest section; big buffers belong into TCM or device memory, not into globals";
    OutsideWindow "outside_window" Error "Every segment lies in the core's window or in the vectors."
        "link with the linker script of this core";
    WrongBank "wrong_bank" Error "An image is linked for the core that its file name says."
        "rename the file, or link it again with the linker script of its core";
    SegmentOverlap "segment_overlap" Error "Segments do not overlap."
        "link with the linker scripts of `gpsimd-build lsp`";
    FileSize "file_size" Error "No segment has more bytes in the file than in memory."
        "the file is damaged; build it again";
    CheckedImage "checked_image" Error "An image that ships has no checks of the simulator in it."
        "build the library without --sanitize";
    Vectors "vectors" Warning "Nothing is loaded over the firmware's vectors at address 0."
        "remove the vector sections from the link; the core keeps the firmware's";
    PhysicalAddress "physical_address" Error "Physical and virtual addresses agree."
        "remove AT() from the linker script";
    WrongEntry "wrong_entry" Error "The entry is `_start`, inside executable memory of the window."
        "link with ENTRY(_start) and the runtime archive";
    SectionNotLoaded "section_not_loaded" Error "Every loaded section lies in a segment."
        "link with the linker scripts of `gpsimd-build lsp`";
    SectionPlace "section_place" Error "Every section lies in the region its name belongs to."
        "link with the linker script of this core";
    OrphanSection "orphan_section" Warning "The linker script places every loaded section by name."
        "data meant for local memory cannot be linked there; allocate it at run time, or name the section .data.*, .rodata.* or .bss.*";
    NeverRun "never_run" Warning "Constructors are in `.ctors`, the table that start-up code walks."
        "compile constructors for .ctors, not .init_array";
    Call0 "call0_abi" Error "Code is compiled for the windowed ABI."
        "compile with -mabi=windowed and link the windowed libgcc and start objects";
    MemoryMapSymbol "memory_map_symbol" Error "The memory-map symbols agree with the core's window."
        "link with the linker script of this core";
    BssTable "bss_table" Error "The bss table holds the bounds of bss, aligned to 8."
        "link with the linker scripts of `gpsimd-build lsp`";
    BssSegment "bss_segment" Error "The last segment is exactly bss."
        "link with the linker scripts of `gpsimd-build lsp`";
    UndefinedSymbol "undefined_symbol" Error "Every symbol is defined."
        "add the source or archive that defines it";
    MissingSymbol "missing_symbol" Error "Entry, registration functions and `switchBack` are defined."
        "link the generated wrapper and the runtime archive";
    NotStripped "not_stripped" Error "Stripped images have no symbol table."
        "strip again with `gpsimd-build pack`";
    SectionLeft "section_left" Error "Stripped images have no tool, dynamic-linking or empty sections."
        "strip again with `gpsimd-build pack`";
    StrippedDiffers "stripped_differs" Error "Stripping changed nothing that is loaded."
        "the two files are from different builds; build again";
    NotPacked "not_packed" Error "A packed object has `.rodata` and `lib_func`."
        "pack again with `gpsimd-build pack`";
    LibFuncPlace "lib_func_place" Error "`lib_func` is the first byte of `.rodata`."
        "pack again with `gpsimd-build pack`";
    PayloadSection "payload_section" Error "The payload is read-only data aligned to 4."
        "pack again with `gpsimd-build pack`";
    PayloadDiffers "payload_differs" Error "The packed payload is the stripped image, byte for byte."
        "the two files are from different builds; pack again";
    MissingCore "missing_core" Error "A multicore library has one image for each of the eight cores."
        "verify all eight files together, or build again";
    ImagesDiffer "images_differ" Error "The eight images are one program at eight addresses."
        "link the same objects in the same order for every core";
    SecondOpinion "second_opinion" Error "A second ELF reader sees the same file."
        "this is a bug in one of the two readers; please report it with the file";
    Staging "staging" Note "Libraries that are staged by the host prelinker may have 64 KiB."
        "nothing to do: fixed-location images are not staged";
    NotChecked "not_checked" Note "Checks that need a file which was not given."
        "verify the unstripped, stripped and packed files together";
    MoreFindings "more_findings" Note "Findings beyond the first hundred of a file."
        "repair the first ones and verify again";
    Alignment "alignment" Error "Sections are aligned to powers of two up to 4096."
        "lower the alignment in the source";
    TooLarge "too_large" Error "Files fit 32-bit offsets."
        "the file is no custom-op image; those fit 32 MiB";
}

impl Code {
    /// The code of a file that cannot be read or unpacked. An error without one here does not compile.
    fn of(error: &ImageError) -> Code {
        match error {
            ImageError::NotElf { .. } => Code::NotElf,
            ImageError::WrongClass { .. } => Code::WrongClass,
            ImageError::Truncated { .. } => Code::Truncated,
            ImageError::WrongMachine { .. } => Code::WrongMachine,
            ImageError::WrongType { .. } => Code::WrongType,
            ImageError::SegmentType { .. } => Code::SegmentType,
            ImageError::SectionNotLoaded { .. } => Code::SectionNotLoaded,
            ImageError::Alignment { .. } => Code::Alignment,
            ImageError::TooLarge { .. } => Code::TooLarge,
            ImageError::NotPacked { .. } => Code::NotPacked,
            ImageError::LibFuncPlace { .. } => Code::LibFuncPlace,
            // parts that overlap make no sense; nothing is moved between cores while files are verified
            ImageError::Malformed { .. }
            | ImageError::FileOverlap { .. }
            | ImageError::RebaseRelocation { .. }
            | ImageError::RebaseSite { .. }
            | ImageError::RebaseInput { .. } => Code::Malformed,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl schemars::JsonSchema for Code {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ImageCheck".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<String> = Code::ALL.iter().map(ToString::to_string).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

/// Where in a file something was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Place {
    /// Section name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// NX address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<u32>,
    /// Symbol, mangled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
}

impl Place {
    /// A section.
    pub fn section(name: &str) -> Place {
        Place { section: Some(name.to_owned()), ..Place::default() }
    }

    /// An address.
    pub fn address(address: u32) -> Place {
        Place { address: Some(address), ..Place::default() }
    }

    /// A symbol.
    pub fn symbol(name: &str) -> Place {
        Place { symbol: Some(name.to_owned()), ..Place::default() }
    }

    /// Nothing narrower than the file.
    pub fn file() -> Place {
        Place::default()
    }
}

/// One thing a check has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(rename = "ImageFinding")]
pub struct Finding {
    /// What kind.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// Name of the file, as given.
    pub file: String,
    /// What was found and what is allowed.
    pub message: String,
    /// Where.
    pub at: Place,
    /// What to do.
    pub help: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}] {}: {}", self.severity, self.code, self.file, self.message)
    }
}

/// Collects the findings of one file, so many and no more: a damaged file may have one for every header.
#[derive(Debug)]
pub(crate) struct Findings {
    file: String,
    list: Vec<Finding>,
    dropped: usize,
}

impl Findings {
    const MOST: usize = 100;

    pub fn new(file: &str) -> Findings {
        Findings { file: file.to_owned(), list: Vec::new(), dropped: 0 }
    }

    pub fn file(&self) -> &str {
        &self.file
    }

    pub fn add(&mut self, code: Code, at: Place, message: impl Into<String>) {
        self.add_with_help(code, at, message, code.help());
    }

    pub fn add_with_help(
        &mut self,
        code: Code,
        at: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        if self.list.len() >= Self::MOST {
            self.dropped += 1;
            return;
        }
        let (severity, file, message, help) =
            (code.severity(), self.file.clone(), message.into(), help.into());
        self.list.push(Finding { code, severity, file, message, at, help });
    }

    pub fn error(&mut self, error: &ImageError) {
        self.add(Code::of(error), Place::file(), error.to_string());
    }

    pub fn has(&self, codes: &[Code]) -> bool {
        self.list.iter().any(|finding| codes.contains(&finding.code))
    }

    pub fn has_errors(&self) -> bool {
        self.dropped > 0 || self.list.iter().any(|finding| finding.severity == Severity::Error)
    }

    pub fn finish(mut self) -> Vec<Finding> {
        if self.dropped > 0 {
            let (code, file) = (Code::MoreFindings, self.file);
            let message = format!("{} more findings in this file", self.dropped);
            let (severity, at, help) = (code.severity(), Place::file(), code.help().to_owned());
            self.list.push(Finding { code, severity, file, message, at, help });
        }
        self.list
    }
}
