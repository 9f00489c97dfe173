//! The `specs` file: which start and end objects a driver adds to a link. Unaware of the map; all variants share it.
//!
//! Facts: spec `lsp-and-memory.md` §7.

/// Text of the file: only `crti crtbegin … crtend crtn`, no start-up object, no implicit library. `_start` comes from
/// the runtime archive, and the link line lists every library it wants.
pub(crate) fn render() -> String {
    let specs = [("startfile", "crti%O%s crtbegin%O%s"), ("endfile", "crtend%O%s crtn%O%s"), ("lib", "")];
    let mut text = "# Start and end objects of a GPSIMD custom op. Written by gpsimd-build.\n\n".to_owned();
    for (name, value) in specs {
        text += &format!("*{name}:\n{value}\n\n");
    }
    text
}
