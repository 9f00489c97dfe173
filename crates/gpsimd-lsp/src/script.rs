//! Linker scripts: a memory map rendered for GNU ld, one script a link mode.
//!
//! Unaware of map text and of ELF. `header` writes what precedes SECTIONS, `sections` the loaded output sections,
//! `inputs` holds the input-section order of the four that have one, `tail` what is not loaded.
//! Facts: spec `lsp-and-memory.md` §4-§6.

mod header;
mod inputs;
mod sections;
mod tail;

use crate::package::{LinkMode, Lsp};

pub(crate) use sections::outputs;
pub use tail::{DEBUG_SECTIONS, NON_ALLOC_SECTIONS};

pub(crate) fn render(lsp: &Lsp, mode: LinkMode) -> String {
    let mut out = Text::default();
    out.line(format!("/* {}: linker script for a GPSIMD custom op. Written by gpsimd-build. */", lsp.name));
    out.line(format!("/* {}. */", mode.note()));
    match mode {
        LinkMode::Default | LinkMode::Nmagic | LinkMode::Omagic => {
            header::render(&lsp.map, &mut out);
            out.line("SECTIONS");
            out.block(|out| {
                sections::render(&lsp.map, out);
                tail::render(out);
            });
        }
        LinkMode::Relocatable | LinkMode::Constructors => {
            out.line("SECTIONS");
            out.block(tail::render_relocatable);
        }
    }
    out.0
}

/// Script text under construction; knows its indentation.
#[derive(Debug, Default)]
struct Text(String, usize);

impl Text {
    fn line(&mut self, text: impl AsRef<str>) {
        let text = text.as_ref();
        if !text.is_empty() {
            self.0.extend(std::iter::repeat_n("  ", self.1));
            self.0.push_str(text);
        }
        self.0.push('\n');
    }

    /// `{`, the body one level deeper, `}`.
    fn block(&mut self, body: impl FnOnce(&mut Text)) {
        self.block_then("", body);
    }

    /// A block whose closing brace carries more text.
    fn block_then(&mut self, after: &str, body: impl FnOnce(&mut Text)) {
        self.line("{");
        self.1 += 1;
        body(self);
        self.1 -= 1;
        self.line(format!("}}{after}"));
    }
}
