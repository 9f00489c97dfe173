//! Input-section order of `.text`, `.rodata`, `.data` and `.bss`; what the linker matches first, it places first.
//!
//! Facts: spec `lsp-and-memory.md` §5.2-§5.5. Two departures, both supersets: suffixed exception tables
//! (`.gcc_except_table.*`, which GCC makes with `-ffunction-sections`) go with the plain ones instead of becoming
//! orphans, and constructors with a priority go into the table that start-up code walks ([`table`]).

/// `.text`. The fifth statement is one interleaved group on purpose: within it the linker goes file by file, so a file's
/// literals stay within reach of its `l32r` instructions.
pub(super) const TEXT: &[&str] = &[
    "*(.entry.text)",
    "*(.init.literal)",
    "KEEP (*(.init))",
    "*(.literal.sort.* SORT(.text.sort.*))",
    "KEEP (*(.literal.keepsort.* SORT(.text.keepsort.*) .literal.keep.* .text.keep.* .literal.*personality* .text.*personality*))",
    "*(.literal .text .literal.* .text.* .stub .gnu.warning .gnu.linkonce.literal.* .gnu.linkonce.t.*.literal .gnu.linkonce.t.*)",
    "*(.fini.literal)",
    "KEEP (*(.fini))",
    "*(.gnu.version)",
];

/// `.ctors` or `.dtors`: the first object's mark, those without priority, those with one, the last object's mark.
///
/// Constructors run from the end of the table to its start, destructors the other way. The compiler numbers priorities
/// downwards (priority 101 is `.ctors.65434`), so those that must run first stand last.
pub(super) fn table(name: &str) -> [String; 4] {
    [
        format!("KEEP (*crtbegin.o({name}))"),
        format!("KEEP (*(EXCLUDE_FILE(*crtend.o) {name}))"),
        format!("KEEP (*(SORT({name}.*)))"),
        format!("KEEP (*({name}))"),
    ]
}

/// `.rodata`, up to the bss table. The constructor tables are taken by output sections before this one; a map without
/// those has them here.
pub(super) const RODATA: &[&str] = &[
    "*(.rodata)",
    "*(SORT(.rodata.sort.*))",
    "KEEP (*(SORT(.rodata.keepsort.*) .rodata.keep.*))",
    "*(.rodata.*)",
    "*(.gnu.linkonce.r.*)",
    "*(.rodata1)",
    "__XT_EXCEPTION_TABLE__ = ABSOLUTE(.);",
    "KEEP (*(.xt_except_table))",
    "KEEP (*(.gcc_except_table .gcc_except_table.*))",
    "*(.gnu.linkonce.e.*)",
    "*(.gnu.version_r)",
    "PROVIDE(__eh_frame_start = .);",
    "KEEP (*(.eh_frame))",
    "PROVIDE(__eh_frame_end = .);",
    "KEEP (*crtbegin.o(.ctors))",
    "KEEP (*(EXCLUDE_FILE(*crtend.o) .ctors))",
    "KEEP (*(SORT(.ctors.*)))",
    "KEEP (*(.ctors))",
    "KEEP (*crtbegin.o(.dtors))",
    "KEEP (*(EXCLUDE_FILE(*crtend.o) .dtors))",
    "KEEP (*(SORT(.dtors.*)))",
    "KEEP (*(.dtors))",
    "__XT_EXCEPTION_DESCS__ = ABSOLUTE(.);",
    "*(.xt_except_desc)",
    "*(.gnu.linkonce.h.*)",
    "__XT_EXCEPTION_DESCS_END__ = ABSOLUTE(.);",
    "*(.xt_except_desc_end)",
    "*(.dynamic)",
    "*(.gnu.version_d)",
];

/// `.data`.
pub(super) const DATA: &[&str] = &[
    "*(.data)",
    "*(SORT(.data.sort.*))",
    "KEEP (*(SORT(.data.keepsort.*) .data.keep.*))",
    "*(.data.*)",
    "*(.gnu.linkonce.d.*)",
    "KEEP (*(.gnu.linkonce.d.*personality*))",
    "*(.data1)",
    "*(.sdata)",
    "*(.sdata.*)",
    "*(.gnu.linkonce.s.*)",
    "*(.sdata2)",
    "*(.sdata2.*)",
    "*(.gnu.linkonce.s2.*)",
    "KEEP (*(.jcr))",
    "*(__llvm_prf_cnts)",
    "*(__llvm_prf_data)",
    "*(__llvm_prf_vnds)",
];

/// `.bss`, up to the families the map adds.
pub(super) const BSS: &[&str] = &[
    "*(.dynsbss)",
    "*(.sbss)",
    "*(.sbss.*)",
    "*(.gnu.linkonce.sb.*)",
    "*(.scommon)",
    "*(.sbss2)",
    "*(.sbss2.*)",
    "*(.gnu.linkonce.sb2.*)",
    "*(.dynbss)",
    "*(.bss)",
    "*(SORT(.bss.sort.*))",
    "KEEP (*(SORT(.bss.keepsort.*) .bss.keep.*))",
    "*(.bss.*)",
    "*(.gnu.linkonce.b.*)",
    "*(COMMON)",
];
