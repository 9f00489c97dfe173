//! Verdicts: a sound library is clean, and one fault gives exactly its own code.

mod common;

use std::collections::BTreeSet;

use common::*;
use gpsimd_image::verify::{Code, FileEntry, Report, Severity, verify};
use gpsimd_image::{pack, strip};
use gpsimd_lsp::{CpuId, Variant};
use proptest::prelude::*;

/// Files of a library by name.
type Files = Vec<(String, Vec<u8>)>;

/// The three files of one core, as far as they can be made.
fn files_of(variant: Variant, elf: &Elf) -> Files {
    let linked = elf.to_bytes();
    let mut files = vec![(file_name(variant, ".so"), linked.clone())];
    if let Ok(stripped) = strip(&linked) {
        files.push((file_name(variant, ".packed.so"), pack(&stripped).expect("packs")));
        files.push((file_name(variant, ".stripped.so"), stripped));
    }
    files
}

/// All 24 files; every core's image damaged the same way.
fn library(damage: impl Fn(&mut Elf, u32)) -> Files {
    let core = |cpu: CpuId| {
        let variant = Variant::Cpu(cpu);
        let mut elf = linked(variant);
        damage(&mut elf, variant.window().base);
        files_of(variant, &elf)
    };
    CpuId::all().flat_map(core).collect()
}

fn report(files: &Files) -> Report {
    let entries: Vec<FileEntry<'_>> =
        files.iter().map(|(name, bytes)| FileEntry::new(name.as_str(), bytes)).collect();
    verify(&entries)
}

/// Codes of warnings and errors.
fn codes(files: &Files) -> BTreeSet<&'static str> {
    let findings = report(files).findings;
    findings.iter().filter(|f| f.severity > Severity::Note).map(|f| f.code.as_str()).collect()
}

fn file<'f>(files: &'f mut Files, name: &str) -> &'f mut Vec<u8> {
    &mut files.iter_mut().find(|(n, _)| n == name).expect(name).1
}

#[test]
fn a_sound_library_is_clean() {
    let eight = library(|_, _| {});
    let report = report(&eight);
    assert_eq!(report.findings, []);
    assert_eq!(report.images.len(), 24);
    assert!(report.is_clean() && report.worst().is_none());
    assert_eq!(codes(&files_of(Variant::Single, &linked(Variant::Single))), BTreeSet::new());
}

#[test]
fn a_file_alone_says_what_could_not_be_checked() {
    let files = files_of(cpu(3), &linked(cpu(3)));
    let stripped = files.into_iter().filter(|(name, _)| name.ends_with(".stripped.so")).collect();
    let findings = report(&stripped).findings;
    let said: Vec<_> = findings.iter().map(|finding| (finding.code, finding.severity)).collect();
    assert_eq!(said, [(Code::NotChecked, Severity::Note)]);
}

#[test]
fn one_damaged_property_one_code() {
    type Damage = fn(&mut Elf, u32);
    let rows: &[(&str, Damage)] = &[
        ("image::wrong_machine", |elf, _| elf.machine = 3),
        ("image::wrong_type", |elf, _| elf.kind = DYN),
        ("image::wrong_flags", |elf, _| elf.flags = 0x301),
        ("image::segment_type", |elf, base| {
            elf.segments.push(Seg { kind: 4, ..Seg::load(4, base, 0, Vec::new()) })
        }),
        ("image::dynamic_segment", |elf, base| {
            elf.segments.push(Seg { kind: 2, ..Seg::load(4, base + 0x40, 8, vec![0; 8]) });
        }),
        ("image::dynamic_segment", |elf, base| {
            elf.sections.push(Sec { kind: DYNAMIC, ..Sec::loaded(".dynamic", W, base + 0x70, 8) });
        }),
        ("image::interpreter_segment", |elf, _| elf.segment(0).kind = 3),
        ("image::tls_segment", |elf, _| elf.segment(0).kind = 7),
        ("image::relocations", |elf, base| {
            elf.sections.push(Sec { kind: RELA, ..Sec::loaded(".rela.dyn", 0, base + 0x70, 12) });
        }),
        ("image::offset_table", |elf, base| elf.sections.push(Sec::loaded(".got", W, base + 0x70, 4))),
        ("image::offset_table", |elf, base| elf.sections.push(Sec::loaded(".plt", X, base + 0x70, 4))),
        ("image::window_overflow", |elf, base| {
            let size = 0x20_0008 - 0x80;
            elf.section(".bss").size = size;
            elf.segment(2).memsz = size;
            elf.poke(base + 0x5c, base + 0x80 + size);
            for name in ["_bss_end", "_memmap_seg_sram0_0_end", "_memmap_mem_sram0_max"] {
                elf.symbol(name).value = base + 0x80 + size;
            }
        }),
        ("image::outside_window", |elf, _| {
            elf.segments.push(Seg::load(6, 0x9000_0000, 8, vec![0; 8]));
        }),
        ("image::segment_overlap", |elf, base| {
            elf.segments.push(Seg::load(6, base + 0x10, 8, vec![0; 8]));
        }),
        ("image::file_size", |elf, _| elf.segment(1).memsz = 0x70),
        ("image::physical_address", |elf, _| elf.segment(1).paddr = 0),
        ("image::vectors", |elf, _| {
            elf.segments[0] = Seg::load(5, 0, 0x10, vec![0; 0x10]);
            *elf.section(".DispatchVector.text") = Sec::loaded(".DispatchVector.text", X, 0, 0x10);
        }),
        ("image::checked_image", |elf, _| {
            let mark = b"gpsimd-build: checked image, for the simulator only";
            elf.sections.push(Sec::other(".comment", mark));
        }),
        ("image::wrong_entry", |elf, base| elf.entry = base + 0x14),
        ("image::wrong_entry", |elf, base| elf.entry = base + 0x90),
        ("image::wrong_entry", |elf, _| elf.segment(1).flags = 6),
        ("image::section_not_loaded", |elf, base| elf.section(".data").addr = base + 0x0100_0000),
        ("image::section_place", |elf, base| {
            *elf.section(".DispatchVector.text") = Sec::loaded(".DispatchVector.text", X, base + 0x38, 8);
        }),
        ("image::orphan_section", |elf, _| elf.section(".data").name = ".dram0.data"),
        ("image::never_run", |elf, _| elf.section(".ctors").name = ".init_array"),
        ("image::never_run", |elf, _| elf.section(".ctors").name = ".ctors.65434"),
        ("image::call0_abi", |elf, _| {
            let section = elf.section(".xtensa.info");
            let at = section.data.windows(4).position(|w| w == b"ABI=").expect("a note") + 4;
            section.data[at] = b'1';
        }),
        ("image::memory_map_symbol", |elf, _| elf.symbol("_memmap_seg_sram0_0_start").value += 8),
        ("image::memory_map_symbol", |elf, _| elf.symbol("_memmap_seg_sram0_0_max").value -= 8),
        ("image::memory_map_symbol", |elf, _| elf.symbol("_memmap_seg_sram0_0_end").value += 0x20_0000),
        ("image::memory_map_symbol", |elf, _| elf.symbol("_memmap_mem_sram0_max").value += 0x20_0000),
        ("image::memory_map_symbol", |elf, _| elf.symbol("_memmap_seg_iram0_0_end").value = 0x1004),
        ("image::bss_table", |elf, _| elf.symbol("_bss_table_end").value += 8),
        ("image::bss_table", |elf, base| elf.poke(base + 0x5c, base + 0x178)),
        ("image::bss_table", |elf, base| {
            elf.poke(base + 0x5c, base + 0x17c);
            elf.symbol("_bss_end").value = base + 0x17c;
            elf.segment(2).memsz = 0xfc;
            elf.section(".bss").size = 0xfc;
        }),
        ("image::bss_segment", |elf, _| elf.segment(2).memsz = 0x108),
        ("image::undefined_symbol", |elf, _| elf.symbol("_Z10customop_kRK6Tensor").section = 0),
        ("image::undefined_symbol", |elf, _| elf.symbol("switchBack").section = 0),
        ("image::missing_symbol", |elf, _| elf.symbol("_Z12get_func_cntv").name = "gone".into()),
        ("image::missing_symbol", |elf, _| elf.symbol("_Z13get_func_namei").name = "gone".into()),
        ("image::missing_symbol", |elf, _| elf.symbol("_Z12get_func_ptri").name = "gone".into()),
        ("image::missing_symbol", |elf, _| elf.symbol("switchBack").name = "gone".into()),
        ("image::missing_symbol", |elf, _| elf.symbol("_start").name = "gone".into()),
        // One core that is not the others moved: a word, an address moved too far, a section of another size.
        ("image::images_differ", |elf, base| {
            if base == 0x8460_0000 {
                elf.poke(base + 0x20, 0x1234);
            }
        }),
        ("image::images_differ", |elf, base| {
            if base == 0x8460_0000 {
                elf.poke(base, base + 0x20_0060);
            }
        }),
        ("image::images_differ", |elf, base| {
            if base == 0x84e0_0000 {
                elf.section(".ctors").size = 8;
            }
        }),
    ];
    for (i, (want, damage)) in rows.iter().enumerate() {
        let files = library(damage);
        assert_eq!(codes(&files), BTreeSet::from([*want]), "row {i}: {:#?}", report(&files).findings.first());
    }
}

#[test]
fn one_damaged_file_one_code() {
    type Damage = fn(&mut Files);
    let rows: &[(&str, Damage)] = &[
        ("image::not_elf", |files| file(files, "k_cpu2.so")[0] = 0),
        ("image::wrong_class", |files| file(files, "k_cpu2.so")[4] = 2),
        ("image::wrong_class", |files| file(files, "k_cpu2.so")[5] = 2),
        ("image::truncated", |files| {
            let file = file(files, "k_cpu2.stripped.so");
            file.truncate(file.len() / 2);
        }),
        ("image::truncated", |files| file(files, "k_cpu2.packed.so").truncate(600)),
        ("image::malformed", |files| file(files, "k_cpu2.so")[46] = 41),
        // Two symbol tables: one reader takes the first, the other the last.
        ("image::second_opinion", |files| {
            let file = file(files, "k_cpu2.so");
            let last_header = file.len() - 40;
            file[last_header + 4] = 2;
        }),
        ("image::wrong_bank", |files| {
            for kind in [".so", ".stripped.so", ".packed.so"] {
                let (a, b) = (format!("k_cpu2{kind}"), format!("k_cpu5{kind}"));
                let first = file(files, &a).clone();
                let second = std::mem::replace(file(files, &b), first);
                *file(files, &a) = second;
            }
        }),
        ("image::missing_core", |files| files.retain(|(name, _)| !name.starts_with("k_cpu6"))),
        ("image::missing_core", |files| files.retain(|(name, _)| name != "k_cpu7.packed.so")),
        ("image::not_stripped", |files| {
            *file(files, "k_cpu1.stripped.so") = file(files, "k_cpu1.so").clone()
        }),
        ("image::section_left", |files| {
            let mut elf = linked(cpu(1));
            elf.symbols.clear();
            *file(files, "k_cpu1.stripped.so") = elf.to_bytes();
        }),
        ("image::stripped_differs", |files| {
            let mut elf = linked(cpu(1));
            elf.poke(cpu(1).window().base + 0x24, 0);
            let stripped = strip(&elf.to_bytes()).expect("strips");
            *file(files, "k_cpu1.packed.so") = pack(&stripped).expect("packs");
            *file(files, "k_cpu1.stripped.so") = stripped;
        }),
        ("image::payload_differs", |files| {
            let mut other = file(files, "k_cpu1.stripped.so").clone();
            let comment = other.windows(3).position(|w| w == b"GCC").expect("a comment");
            other[comment] = b'g';
            *file(files, "k_cpu1.packed.so") = pack(&other).expect("packs");
        }),
        ("image::wrong_type", |files| {
            *file(files, "k_cpu1.packed.so") = file(files, "k_cpu1.stripped.so").clone()
        }),
        ("image::not_packed", |files| {
            let file = file(files, "k_cpu1.packed.so");
            let at = file.windows(8).position(|w| w == b"lib_func").expect("a symbol");
            file[at] = b'L';
        }),
        ("image::lib_func_place", |files| packed_with(files, 4, A, 4)),
        ("image::payload_section", |files| packed_with(files, 0, A | W, 4)),
        ("image::payload_section", |files| packed_with(files, 0, A, 1)),
    ];
    for (i, (want, damage)) in rows.iter().enumerate() {
        let mut files = library(|_, _| {});
        damage(&mut files);
        assert_eq!(codes(&files), BTreeSet::from([*want]), "row {i}: {:#?}", report(&files).findings);
    }
}

/// Replaces one packed file by one whose payload is right and whose container is as told.
fn packed_with(files: &mut Files, lib_func: u32, flags: u32, align: u32) {
    let payload = file(files, "k_cpu1.stripped.so").clone();
    let symbol = Sym { name: "lib_func".into(), value: lib_func, size: 0, info: GLOBAL, section: 1 };
    let rodata = Sec { flags, align, ..Sec::other(".rodata", &payload) };
    let packed = Elf {
        kind: REL,
        entry: 0,
        segments: Vec::new(),
        sections: vec![rodata],
        symbols: vec![symbol],
        ..linked(cpu(1))
    };
    *file(files, "k_cpu1.packed.so") = packed.to_bytes();
}

#[test]
fn objects_are_checked_for_what_a_link_would_hide() {
    let object = |section: Sec| {
        let elf = Elf {
            kind: REL,
            segments: Vec::new(),
            sections: vec![section],
            symbols: Vec::new(),
            ..linked(cpu(0))
        };
        vec![("k.o".to_owned(), elf.to_bytes())]
    };
    let table = |name| Sec { flags: A, ..Sec::other(name, &[0; 4]) };
    for (name, want) in [
        (".ctors", None),
        (".ctors.65435", None),
        (".dtors.100", None),
        (".init_array", Some("image::never_run")),
        (".fini_array.5", Some("image::never_run")),
        (".rodata.init_array", None),
    ] {
        assert_eq!(codes(&object(table(name))), want.into_iter().collect(), "{name}");
    }
    assert_eq!(
        codes(&vec![("k.o".into(), linked(cpu(0)).to_bytes())]),
        BTreeSet::from(["image::wrong_type"])
    );
}

#[test]
fn many_faults_are_all_reported_up_to_a_limit() {
    let mut elf = linked(cpu(0));
    for i in 0..150 {
        elf.symbols.push(Sym {
            name: format!("_ZN2op3f{i:02}Ev"),
            value: 0,
            size: 0,
            info: GLOBAL,
            section: 0,
        });
    }
    let report = report(&vec![("k.so".to_owned(), elf.to_bytes())]);
    assert_eq!(report.findings.len(), 101);
    assert_eq!(report.findings[100].code, Code::MoreFindings);
    assert!(!report.is_clean());
}

#[test]
fn findings_read_well() {
    let files = library(|elf, base| {
        elf.symbol("_Z10customop_kRK6Tensor").section = 0;
        elf.section(".bss").size = 0x30_0000;
        elf.segment(2).memsz = 0x30_0000;
        elf.entry = base + 2;
    });
    let one: Files = files.into_iter().filter(|(name, _)| name == "k_cpu0.so").collect();
    insta::assert_snapshot!(serde_json::to_string_pretty(&report(&one).findings).expect("serialises"));
}

#[test]
fn every_code_has_a_text_of_its_own() {
    let texts: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(texts.len(), Code::ALL.len());
    assert!(Code::ALL.iter().all(|code| code.about().ends_with('.') && !code.help().is_empty()));
}

proptest! {
    #[test]
    fn damage_never_panics(
        changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..12),
        cut in proptest::option::of(any::<u16>()),
        role in 0usize..3,
    ) {
        let mut files = files_of(cpu(0), &linked(cpu(0)));
        files.extend(files_of(cpu(1), &linked(cpu(1))));
        let bytes = &mut files[role].1;
        for (at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(usize::from(cut));
        }
        let report = report(&files);
        prop_assert!(report.findings.len() < 1000);
    }
}
