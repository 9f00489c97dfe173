//! What `inspect` shows: numbers and the picture.

mod common;

use common::*;
use gpsimd_image::{Class, ElfFile, map_svg, strip, summary};

#[test]
fn numbers_of_an_image() {
    let summary = summary(&linked(cpu(2)).to_bytes(), cpu(2)).expect("reads");
    assert_eq!((summary.code, summary.rodata, summary.data, summary.bss), (0x40, 0x14, 0x2c, 0x100));
    assert_eq!((summary.window_used, summary.window), (0x180, cpu(2).window()));
    assert_eq!((summary.kind.as_str(), summary.entry, summary.is_stripped), ("EXEC (2)", 0x8440_0010, false));
    let access: Vec<&str> = summary.segments.iter().map(|segment| segment.access.as_str()).collect();
    assert_eq!(access, ["   ", "RWE", "RW "]);
    assert_eq!(summary.sections.iter().filter(|section| section.class == Class::Other).count(), 7);
}

#[test]
fn the_json_of_a_stripped_image() {
    let stripped = strip(&linked(cpu(2)).to_bytes()).expect("strips");
    let summary = summary(&stripped, cpu(2)).expect("reads");
    insta::assert_snapshot!(serde_json::to_string_pretty(&summary).expect("serialises"));
}

#[test]
fn the_picture_escapes_what_it_shows() {
    let summary = summary(&linked(cpu(2)).to_bytes(), cpu(2)).expect("reads");
    let svg = map_svg(&summary, "a<b>&\"c\"\u{1}");
    assert!(svg.contains("a&lt;b&gt;&amp;&quot;c&quot;\u{fffd}"));
    insta::assert_snapshot!(svg);
}

#[test]
fn functions_are_found_by_their_whole_names() {
    let mut elf = linked(cpu(0));
    let symbol = |name: &str, value, info| Sym { name: name.into(), value, size: 4, info, section: 2 };
    elf.symbols.extend([
        symbol("_Z19neuron_hbm_allocatejPyj", 0x8400_0040, 0x12),
        symbol("_Z19neuron_hbm_allocatejPyjx", 0x8400_0044, 0x12),
        // an object, not a function
        symbol("_ZdlPvj", 0x8400_0048, 0x11),
        symbol("f", 0x8400_0030, 2),
    ]);
    let bytes = elf.to_bytes();
    let names = ["_ZdlPvj", "f", "_Z19neuron_hbm_allocatejPyj", "g"];
    let file = ElfFile::without_symbols(&bytes).expect("reads");
    assert_eq!(file.find_functions(&names), [(0x8400_0030, 1), (0x8400_0040, 2)]);
    let stripped = strip(&bytes).expect("strips");
    assert_eq!(ElfFile::without_symbols(&stripped).expect("reads").find_functions(&names), []);
}

#[test]
fn an_image_of_nothing_has_a_picture() {
    let mut elf = linked(cpu(0));
    elf.sections.clear();
    elf.symbols.clear();
    elf.segments.clear();
    let summary = summary(&elf.to_bytes(), cpu(0)).expect("reads");
    assert_eq!(summary.window_used, 0);
    assert!(map_svg(&summary, "empty").ends_with("</svg>\n"));
}
