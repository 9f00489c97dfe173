//! Symbols of an unstripped image: the map, the bss table, what is undefined and what must be there.
//!
//! Facts: spec `lsp-and-memory.md` §9 checks 11-14, `toolchain.md` §15 item 5.

use std::fmt::Write;

use cpp_demangle::DemangleOptions;
use gpsimd_lsp::{Variant, Window};
use object::elf;

use super::finding::{Code, Findings, Place};
use crate::elf_file::ElfFile;

/// What the loader and the runtime look for: (mangled, as written).
const REQUIRED: [(&str, &str); 5] = [
    ("_start", "_start"),
    ("_Z12get_func_cntv", "get_func_cnt()"),
    ("_Z13get_func_namei", "get_func_name(int)"),
    ("_Z12get_func_ptri", "get_func_ptr(int)"),
    ("switchBack", "switchBack"),
];

pub(super) fn check(image: &ElfFile<'_>, variant: Variant, findings: &mut Findings) {
    if image.is_stripped() {
        return;
    }
    undefined(image, findings);
    for (mangled, written) in REQUIRED {
        // A reference without definition is already reported as undefined.
        if !image.symbols.iter().any(|symbol| symbol.name == mangled) {
            findings.add(Code::MissingSymbol, Place::symbol(mangled), format!("`{written}` is not defined"));
        }
    }
    // Follow from a misplaced or overlong image, which is reported by segment.
    if !findings.has(&[Code::WindowOverflow, Code::OutsideWindow, Code::WrongBank]) {
        memory_map(image, variant.window(), findings);
        bss(image, findings);
    }
}

fn undefined(image: &ElfFile<'_>, findings: &mut Findings) {
    for symbol in &image.symbols {
        if symbol.is_defined() || symbol.name.is_empty() || symbol.binding == elf::STB_WEAK.0 {
            continue;
        }
        let written = demangle(symbol.name);
        findings.add(
            Code::UndefinedSymbol,
            Place::symbol(symbol.name),
            format!("`{written}` is not defined"),
        );
    }
}

fn memory_map(image: &ElfFile<'_>, window: Window, findings: &mut Findings) {
    let mut expect = |name: &str, allowed: &str, is_right: &dyn Fn(u64) -> bool| {
        if let Some(symbol) = image.symbol(name).filter(|symbol| !is_right(symbol.value.into())) {
            let message = format!("{name} is {:#010x}, where {allowed} is allowed", symbol.value);
            findings.add(Code::MemoryMapSymbol, Place::symbol(name), message);
        }
    };
    let base = u64::from(window.base);
    let (exactly, up_to) = (format!("{base:#010x}"), format!("at most {:#010x}", window.end()));
    expect("_memmap_seg_sram0_0_start", &exactly, &|value| value == base);
    expect("_memmap_seg_sram0_0_max", &format!("{:#010x}", window.end()), &|value| value == window.end());
    expect("_memmap_seg_sram0_0_end", &up_to, &|value| value <= window.end());
    expect("_memmap_mem_sram0_max", &up_to, &|value| value <= window.end());
    expect("_memmap_seg_iram0_0_end", "at most 0x1000", &|value| value <= Window::IRAM.end());
}

fn bss(image: &ElfFile<'_>, findings: &mut Findings) {
    let value = |name| image.symbol(name).map(|symbol| symbol.value);
    let (Some(start), Some(end)) = (value("_bss_start"), value("_bss_end")) else { return };
    if let (Some(table), Some(table_end)) = (value("_bss_table_start"), value("_bss_table_end")) {
        let at = Place { address: Some(table), ..Place::symbol("_bss_table_start") };
        let words = [image.word_at(table), image.word_at(table.wrapping_add(4))];
        if table_end.wrapping_sub(table) != 8 || !table.is_multiple_of(4) {
            let message = format!(
                "the bss table is [{table:#010x}, {table_end:#010x}), where 8 bytes aligned to 4 are allowed"
            );
            findings.add(Code::BssTable, at, message);
        } else if words != [Some(start), Some(end)] {
            let word = |word: Option<u32>| word.map_or("nothing".to_owned(), |word| format!("{word:#010x}"));
            let [first, last] = words.map(word);
            let message =
                format!("the bss table holds {first} and {last}; bss is [{start:#010x}, {end:#010x})");
            findings.add(Code::BssTable, at, message);
        } else if !start.is_multiple_of(8) || !end.is_multiple_of(8) {
            let message = format!("bss is [{start:#010x}, {end:#010x}), where multiples of 8 are allowed");
            findings.add(Code::BssTable, at, message);
        }
    }
    let zeroed = image.loads().filter(|(_, segment)| segment.filesz == 0).last();
    let found = zeroed
        .map_or((start, start), |(_, segment)| (segment.vaddr, segment.vaddr.wrapping_add(segment.memsz)));
    if found != (start, end) && (start != end || zeroed.is_some()) {
        let message = format!(
            "the bss segment is [{:#010x}, {:#010x}); bss is [{start:#010x}, {end:#010x})",
            found.0, found.1
        );
        findings.add(Code::BssSegment, Place::address(found.0), message);
    }
}

/// A C++ name as written, or the mangled one. Damaged names can expand without bound, so both ends are limited.
pub(crate) fn demangle(name: &str) -> String {
    const LONGEST: usize = 1024;
    struct Limited(String);
    impl Write for Limited {
        fn write_str(&mut self, text: &str) -> std::fmt::Result {
            if self.0.len() + text.len() > LONGEST {
                return Err(std::fmt::Error);
            }
            self.0.push_str(text);
            Ok(())
        }
    }
    let mut written = Limited(String::new());
    if name.starts_with("_Z")
        && name.len() <= LONGEST
        && let Ok(symbol) = cpp_demangle::Symbol::new(name)
        && symbol.structured_demangle(&mut written, &DemangleOptions::new()).is_ok()
    {
        return written.0;
    }
    let short: String = name.chars().take(LONGEST).collect();
    if short.len() < name.len() { short + "…" } else { short }
}
