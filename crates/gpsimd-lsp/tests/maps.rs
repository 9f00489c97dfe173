//! Memory maps in, verdicts and attribute words out. No linker involved.

use gpsimd_lsp::{CacheAttributes, CpuId, LinkMode, Lsp, MapError, MemKind, MemoryMap, Variant};
use proptest::prelude::*;

fn parse(text: &str) -> MemoryMap {
    MemoryMap::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

fn word(map: &MemoryMap, name: &str) -> u32 {
    CacheAttributes::of(map).words().iter().find(|(word, _)| *word == name).expect("a known word").1
}

#[test]
fn attribute_words_of_every_custom_op_package() {
    // spec lsp-and-memory.md §4.3: identical in the nine.
    let want = [
        ("wb_base", 0x0001_0004),
        ("wt_base", 0x0003_0004),
        ("bp_base", 0x0004_0004),
        ("unused_mask", 0xfff0_fff0),
        ("wb_trapnull", 0x4441_4444),
        ("wba_trapnull", 0x4441_4444),
        ("wbna_trapnull", 0x4442_4444),
        ("wt_trapnull", 0x4443_4444),
        ("bp_trapnull", 0x4444_4444),
        ("wb_strict", 0x0001_0004),
        ("wt_strict", 0x0003_0004),
        ("bp_strict", 0x0004_0004),
        ("wb_allvalid", 0x4441_4444),
        ("wt_allvalid", 0x4443_4444),
        ("bp_allvalid", 0x4444_4444),
    ];
    for variant in Variant::all() {
        let attributes = CacheAttributes::of(&Lsp::custom_op(variant).map);
        assert_eq!(attributes.words(), want, "{variant}");
        assert_eq!(attributes.region_map(), 0x11, "{variant}");
    }
}

#[test]
fn attribute_words_of_the_reference_packages() {
    // spec lsp-and-memory.md §3.4
    for (text, trapnull, regions) in [
        (include_str!("maps/sim.xmm"), 0x4444_4111, 0x07),
        (include_str!("maps/min-rt.xmm"), 0x4444_4111, 0x07),
        (include_str!("maps/ldapp.xmm"), 0x4411_4111, 0x37),
    ] {
        let map = parse(text);
        assert_eq!(word(&map, "wb_trapnull"), trapnull);
        assert_eq!(CacheAttributes::of(&map).region_map(), regions);
    }
}

#[test]
fn an_unused_first_range_traps_null_pointers_unless_all_is_valid() {
    let map = parse("BEGIN r\n0x20000000 : sysram : r : 0x1000 : writable ;\nEND r\n");
    assert_eq!(word(&map, "wb_trapnull"), 0x4444_4410);
    assert_eq!(word(&map, "wb_allvalid"), 0x4444_4414);
    assert_eq!(word(&map, "wb_strict"), 0x0000_0010);
    assert_eq!(word(&map, "unused_mask"), 0xffff_ff0f);
}

#[test]
fn stack_and_heap_come_only_where_a_map_asks() {
    let sim = Lsp::from_map("sim", parse(include_str!("maps/sim.xmm"))).script(LinkMode::Default);
    assert!(sim.contains("PROVIDE(__stack = 0x40100000);"));
    assert!(sim.contains("_heap_sentry = 0x40100000;"));
    assert!(sim.contains("LONG(_dram0_bss_start)") && sim.contains("LONG(_bss_start)"));
    let ours = Lsp::custom_op(Variant::Single).script(LinkMode::Default);
    for absent in ["__stack", "_stack_sentry", "_heap_sentry", " _end ", "PROVIDE(end", "dram0"] {
        assert!(!ours.contains(absent), "{absent}");
    }
}

#[test]
fn grammar_in_full() {
    let map = parse(
        "NAME = \"two words\" // comment\n\
         BASE = 4096\n\
         BEGIN ram // comment\n\
         BASE,0x9000 : sysram : ram : 0x2000,0x1000 : executable,writable ;\n\
         ram_0:F:0x1000-0x17ff:STACK:HEAP:.literal .text;\n\
         ram_1 : C : 0x1800 - 0x2fff : .data ;\n\
         END ram\n\
         BEGIN regs\n0x10000 : device : regs : 0x100 : device , writable ;\nEND regs\n\
         PLACE SECTIONS(.mine .other STACK) WITH_SECTION(.literal)\n\
         PLACE SECTIONS(.more) IN_SEGMENT(ram_1) ;\n\
         NOLOAD .more\n",
    );
    assert_eq!(map.parameter("NAME"), Some("two words"));
    let [ram, regs] = &map.memories[..] else { panic!("two memories") };
    assert_eq!(
        (ram.base, ram.physical_base, ram.size, ram.physical_size),
        (0x1000, Some(0x9000), 0x2000, Some(0x1000))
    );
    assert!(ram.access.executable && ram.access.writable && !ram.access.device);
    assert_eq!((regs.kind, regs.access.device, regs.segments.len()), (MemKind::Device, true, 0));
    let [first, second] = &ram.segments[..] else { panic!("two segments") };
    assert_eq!((first.kind, first.first, first.last, first.size()), ('F', 0x1000, 0x17ff, 0x800));
    assert!(first.has_stack && first.has_heap);
    assert_eq!(first.sections, [".literal", ".mine", ".other", ".text"]);
    assert_eq!(second.sections, [".data", ".more"]);
    assert_eq!(map.noload, [".more"]);
    let script = Lsp::from_map("t", map).script(LinkMode::Default);
    assert!(script.contains(".more (NOLOAD) : ALIGN(4)"));
    assert!(script.contains("regs = 0x00010000;"));
}

/// A map with one memory and one segment, some pieces replaced.
fn map_with(memory: &str, segment: &str) -> String {
    format!("BEGIN m\n{memory}\n{segment}\nEND m\n")
}

#[test]
fn refusals() {
    let memory = "0x1000 : sysram : m : 0x1000 : writable ;";
    let rows = [
        ("lsp::syntax", "BEGIN m".to_owned()),
        ("lsp::syntax", "KEY value\n".to_owned()),
        ("lsp::syntax", "KEY =\nvalue\n".to_owned()),
        ("lsp::syntax", "KEY = \"open\n".to_owned()),
        ("lsp::syntax", "PLACE .a\n".to_owned()),
        ("lsp::syntax", format!("BEGIN m\n{memory}\nEND n\n")),
        ("lsp::syntax", map_with(memory, "s : C : 0x1000 0x1fff : .a ;")),
        ("lsp::syntax", map_with(memory, "s : C : 0x1000 - 0x10ff - 0x1fff : .a ;")),
        ("lsp::syntax", map_with(memory, "s : C : 0x1000 - 0x1fff : .a")),
        ("lsp::bad_number", map_with("nine : sysram : m : 1 : ;", "")),
        ("lsp::bad_number", map_with("0x100000000 : sysram : m : 1 : ;", "")),
        ("lsp::bad_number", map_with("+1 : sysram : m : 1 : ;", "")),
        ("lsp::bad_number", "VECBASE = \"0; INCLUDE /etc/passwd\"\n".to_owned()),
        ("lsp::bad_name", "BEGIN m{}\n".to_owned()),
        ("lsp::bad_name", map_with(memory, "s : C : 0x1000 - 0x1fff : .a*) ;")),
        ("lsp::unknown_keyword", map_with("0 : rom : m : 8 : ;", "")),
        ("lsp::unknown_keyword", map_with("0 : sysram : m : 8 : readable ;", "")),
        ("lsp::unknown_keyword", map_with(memory, "s : X : 0x1000 - 0x1fff : .a ;")),
        ("lsp::duplicate", "A = 1\nA = 2\n".to_owned()),
        ("lsp::duplicate", map_with(memory, "s : C : 0x1000 - 0x1fff : .a .a ;")),
        (
            "lsp::duplicate",
            map_with(memory, "s : C : 0x1000 - 0x10ff : .a ;\ns : C : 0x1100 - 0x1fff : .b ;"),
        ),
        ("lsp::duplicate", map_with(memory, "") + &map_with("0x8000 : sysram : m : 8 : ;", "")),
        ("lsp::unknown_target", "PLACE SECTIONS(.a) IN_SEGMENT(s)\n".to_owned()),
        ("lsp::misaligned", map_with("0x1004 : sysram : m : 8 : ;", "")),
        ("lsp::misaligned", map_with(memory, "s : C : 0x1004 - 0x1fff : .a ;")),
        ("lsp::too_long", map_with("0xfffff000 : sysram : m : 0x1001 : ;", "")),
        ("lsp::too_long", map_with(memory, "s : C : 0x1000 - 0x2000 : .a ;")),
        ("lsp::empty", map_with("0x1000 : sysram : m : 0 : ;", "")),
        ("lsp::empty", map_with(memory, "s : C : 0x1800 - 0x17ff : .a ;")),
        ("lsp::outside_memory", map_with(memory, "s : C : 0xff8 - 0x1fff : .a ;")),
        ("lsp::overlap", map_with(memory, "s : C : 0x1000 - 0x1fff : .a ;\nt : C : 0x1800 - 0x1fff : .b ;")),
        ("lsp::overlap", map_with(memory, "") + &map_with("0x1ff8 : sysram : n : 8 : ;", "")),
        (
            "lsp::too_many",
            map_with(
                memory,
                &(0..65)
                    .map(|i| format!("s{i} : C : {:#x} - {0:#x} : .a{i} ;\n", 0x1000 + 8 * i))
                    .collect::<String>(),
            ),
        ),
    ];
    for (code, text) in rows {
        let error = MemoryMap::parse(&text).expect_err(&text);
        let found = miette::Diagnostic::code(&error).map(|c| c.to_string()).unwrap_or_default();
        assert_eq!(found, code, "{text}\n{error}");
        let labels = miette::Diagnostic::labels(&error).into_iter().flatten();
        assert!(labels.into_iter().all(|l| l.offset() + l.len() <= text.len()), "{text}");
    }
}

#[test]
fn output_sections_in_script_order() {
    // spec lsp-and-memory.md §5.1: 4 for the vectors, 16 loaded and 1 zeroed in the bank.
    let sections = Lsp::custom_op(Variant::Single).output_sections();
    assert_eq!(sections.len(), 21);
    assert!(sections[..4].iter().all(|(_, range)| range.to_string() == "[0x00000000, 0x00001000)"));
    assert!(sections[4..].iter().all(|(_, range)| *range == Variant::Single.window()));
    let names: Vec<&str> = sections.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names[4..8], [".text", ".clib.rodata", ".rtos.rodata", ".clib.data"]);
    assert_eq!(names.last(), Some(&".bss"));
}

#[test]
fn replacing_a_parameter_the_map_does_not_set_is_an_error() {
    assert!(matches!(MemoryMap::parse_with("A = 1\n", &[("B", "2")]), Err(MapError::Target { .. })));
}

#[test]
fn an_error_shows_where() {
    let text = include_str!("../lsp/custom_op.xmm").replace("0x0 - 0xfff", "0x0 - 0x1ffff");
    let error = miette::Report::from(MemoryMap::parse(&text).expect_err("too long")).with_source_code(text);
    let mut shown = String::new();
    miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .render_report(&mut shown, error.as_ref())
        .expect("renders");
    insta::assert_snapshot!(shown);
}

#[test]
fn scripts_differ_in_the_bank_only() {
    // spec lsp-and-memory.md §4.3, per-core deltas: the region, two memory symbols, two segment symbols, one comment.
    let script = |i| Lsp::custom_op(Variant::Cpu(CpuId::new(i).expect("a core"))).script(LinkMode::Default);
    let (zero, one) = (script(0), script(1));
    assert_eq!(zero.lines().count(), one.lines().count());
    let differing: Vec<&str> =
        zero.lines().zip(one.lines()).filter(|(a, b)| a != b).map(|(a, _)| a.trim()).collect();
    insta::assert_debug_snapshot!(differing);
}

#[test]
fn the_package_of_core_3() {
    let files = Lsp::custom_op(Variant::Cpu(CpuId::new(3).expect("a core"))).render();
    let text: Vec<String> = files.iter().map(|(path, text)| format!("==== {path}\n{text}")).collect();
    insta::assert_snapshot!(text[..2].join("\n"));
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "specs",
            "ldscripts/elf32xtensa.x",
            "ldscripts/elf32xtensa.xn",
            "ldscripts/elf32xtensa.xbn",
            "ldscripts/elf32xtensa.xr",
            "ldscripts/elf32xtensa.xu",
        ]
    );
    let body = |i: usize| files[i].1.lines().skip(2).collect::<Vec<_>>();
    assert_eq!(body(1), body(2));
    assert_eq!(body(1), body(3));
    assert_eq!(body(4), body(5));
    for absent in ["MEMORY", "PHDRS", "ENTRY", "_memmap"] {
        assert!(!files[4].1.contains(absent), "{absent}");
    }
}

#[test]
fn seeds_are_valid_maps() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/xmm");
    for seed in std::fs::read_dir(corpus).expect("a corpus") {
        let text = std::fs::read_to_string(seed.expect("a file").path()).expect("a seed");
        parse(&text);
        gpsimd_lsp::fuzz::fuzz_xmm(text.as_bytes());
    }
}

proptest! {
    #[test]
    fn any_text_is_parsed_or_refused(text in "\\PC{0,200}") {
        let _ = MemoryMap::parse(&text);
    }

    #[test]
    fn damaged_maps_are_parsed_or_refused(at in 0usize..2000, with in "[-A-Z0-9:;,=()\" \n./x]{0,6}", cut in 0usize..12) {
        let mut text = include_str!("../lsp/custom_op.xmm").to_owned();
        let start = at.min(text.len());
        let end = (start + cut).min(text.len());
        text.replace_range(start..end, &with);
        gpsimd_lsp::fuzz::fuzz_xmm(text.as_bytes());
    }
}

#[test]
fn sections_that_an_image_has_a_place_for() {
    let lsp = Lsp::custom_op(Variant::Single);
    for name in
        [".text", ".text._Z3addv", ".literal.f", ".rodata.str1.4", ".ctors.65434", ".data.x", ".bss.y"]
    {
        assert!(lsp.takes(name), "{name}");
    }
    for name in [".tcm", ".noinit", ".init_array", ".tdata", ".texts", ".dram0.data", ""] {
        assert!(!lsp.takes(name), "{name}");
    }
}
