//! What is not loaded: debug information and Xtensa tables; and the address-free scripts of partial links.
//!
//! Facts: spec `lsp-and-memory.md` §6. DWARF 5 names are ours: without them the linker calls GCC's default `-g` output
//! orphans, and builds with `--fatal-warnings` stop.

use super::Text;

/// DWARF output sections, each taking the input of its own name.
pub const DEBUG_SECTIONS: [&str; 29] = [
    ".debug",
    ".line",
    ".debug_srcinfo",
    ".debug_sfnames",
    ".debug_aranges",
    ".debug_ranges",
    ".debug_pubnames",
    ".debug_info",
    ".debug_abbrev",
    ".debug_line",
    ".debug_frame",
    ".debug_str",
    ".debug_loc",
    ".debug_macinfo",
    ".debug_weaknames",
    ".debug_funcnames",
    ".debug_typenames",
    ".debug_varnames",
    // DWARF 4 type units and DWARF 5.
    ".debug_pubtypes",
    ".debug_types",
    ".debug_line_str",
    ".debug_str_offsets",
    ".debug_addr",
    ".debug_rnglists",
    ".debug_loclists",
    ".debug_macro",
    ".debug_names",
    ".debug_gnu_pubnames",
    ".debug_gnu_pubtypes",
];

/// Other output sections that occupy no address.
pub const NON_ALLOC_SECTIONS: [&str; 7] =
    [".xt.insn", ".xt.prop", ".xt.lit", ".xtensa.info", ".debug.xt.callgraph", ".comment", ".note.GNU-stack"];

/// Inputs of [`NON_ALLOC_SECTIONS`], in the same order.
const NON_ALLOC_INPUTS: [&str; 7] = [
    "KEEP (*(.xt.insn)) KEEP (*(.gnu.linkonce.x.*))",
    "*(.xt.prop) *(.xt.prop.*) *(.gnu.linkonce.prop.*)",
    "*(.xt.lit) *(.xt.lit.*) *(.gnu.linkonce.p.*)",
    "*(.xtensa.info)",
    "KEEP (*(.debug.xt.callgraph .debug.xt.callgraph.* .gnu.linkonce.xt.callgraph.*))",
    "KEEP (*(.comment))",
    "*(.note.GNU-stack)",
];

pub(super) fn render(out: &mut Text) {
    for name in DEBUG_SECTIONS {
        out.line(format!("{name} 0 : {{ *({name}) }}"));
    }
    for (name, inputs) in NON_ALLOC_SECTIONS.iter().zip(NON_ALLOC_INPUTS) {
        out.line(format!("{name} 0 : {{ {inputs} }}"));
    }
}

pub(super) fn render_relocatable(out: &mut Text) {
    out.line(".text 0 : { *(.literal .text) }");
    out.line(".bss 0 : { *(.dynsbss) *(.sbss) *(.scommon) *(.dynbss) *(.bss) *(COMMON) }");
    render(out);
}
