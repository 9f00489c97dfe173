//! MEMORY, PHDRS, ENTRY and the `_memmap_*` symbols that need no section.
//!
//! Facts: spec `lsp-and-memory.md` §3.2, §4.2-§4.4.

use super::Text;
use super::sections::Plan;
use crate::attributes::CacheAttributes;
use crate::map::MemoryMap;

pub(super) fn render(map: &MemoryMap, out: &mut Text) {
    out.line("MEMORY");
    out.block(|out| {
        for segment in map.segments() {
            out.line(format!(
                "{}_seg : org = {:#010x}, len = {:#x}",
                segment.name,
                segment.first,
                segment.size()
            ));
        }
    });
    out.line("");
    // No FLAGS: ld derives them from the sections, and an image without vectors keeps an empty first header.
    out.line("PHDRS");
    out.block(|out| {
        for segment in map.segments() {
            out.line(format!("{}_phdr PT_LOAD;", segment.name));
            if Plan::of(map, segment).has_noload() {
                out.line(format!("{}_bss_phdr PT_LOAD;", segment.name));
            }
        }
    });
    out.line("");
    out.line("ENTRY(_start)");
    out.line("");

    for memory in &map.memories {
        out.line(format!("_memmap_mem_{}_start = {:#010x};", memory.name, memory.base));
        out.line(format!("_memmap_mem_{}_end = {:#010x};", memory.name, memory.end()));
        if memory.segments.is_empty() {
            out.line(format!("{} = {:#010x};", memory.name, memory.base));
        }
    }
    for segment in map.segments() {
        out.line(format!("_memmap_seg_{}_start = {:#010x};", segment.name, segment.first));
        out.line(format!("_memmap_seg_{}_max = {:#010x};", segment.name, segment.end()));
    }
    out.line("");
    out.line("_rom_store_table = 0;");
    for (symbol, parameter) in [("reset_vector", "VECRESET"), ("vecbase_reset", "VECBASE")] {
        if let Some(address) = map.address(parameter) {
            out.line(format!("PROVIDE(_memmap_{symbol} = {address:#010x});"));
        }
    }
    out.line("");
    let attributes = CacheAttributes::of(map);
    for (word, value) in attributes.words() {
        out.line(format!("_memmap_cacheattr_{word} = {value:#010x};"));
    }
    out.line(format!("_memmap_region_map = {:#010x};", attributes.region_map()));
    out.line("PROVIDE(_memmap_cacheattr_reset = _memmap_cacheattr_wb_trapnull);");
    out.line("");
}
