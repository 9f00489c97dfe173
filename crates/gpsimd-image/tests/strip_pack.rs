//! Strip, pack and unpack on images made without a toolchain.

mod common;

use common::*;
use gpsimd_image::{ElfFile, FLAGS, ImageError, MACHINE, pack, strip, unpack, verify};
use miette::Diagnostic;
use proptest::prelude::*;

fn code(error: &ImageError) -> String {
    error.code().map(|code| code.to_string()).unwrap_or_default()
}

#[test]
fn stripping_keeps_what_loads_and_the_comment() {
    let bytes = linked(cpu(0)).to_bytes();
    let stripped = strip(&bytes).expect("strips");
    let (before, after) = (ElfFile::parse(&bytes).expect("reads"), ElfFile::parse(&stripped).expect("reads"));
    let names: Vec<&str> = after.sections.iter().map(|section| section.name).collect();
    assert_eq!(names, ["", ".text", ".ctors", ".rodata", ".data", ".bss", ".comment", ".shstrtab"]);
    assert!(after.is_stripped() && after.symbols.is_empty());
    assert_eq!(after.header, before.header);
    assert_eq!(after.segments[0].kind, 0, "an empty LOAD becomes NULL");
    assert_eq!(after.segments[1].offset, 0x94);
    for ((_, a), (_, b)) in before.loads().zip(after.loads()) {
        assert_eq!(
            (a.vaddr, a.paddr, a.filesz, a.memsz, a.flags, a.data),
            (b.vaddr, b.paddr, b.filesz, b.memsz, b.flags, b.data)
        );
    }
    for section in after.sections.iter().skip(1).filter(|section| section.is_alloc()) {
        let original = before.section(section.name).expect("was there");
        assert_eq!((section.addr, section.size, section.data), (original.addr, original.size, original.data));
    }
    assert_eq!(strip(&stripped).expect("strips again"), stripped);
}

#[test]
fn the_layout_is_the_reference_images() {
    // spec toolchain.md §8.4: sizes, addresses and offsets of a shipped image, its 12 headers, and 579,380 bytes in all.
    let base = 0x8400_0000;
    let rows = [
        (".text", X, 0, 0x737d8, 32),
        (".clib.rodata", 0, 0x73800, 0x2004, 64),
        (".clib.data", W, 0x75840, 0x458, 64),
        (".eh_frame", 0, 0x75c98, 4, 4),
        (".ctors", 0, 0x75c9c, 0x20, 4),
        (".dtors", 0, 0x75cbc, 8, 4),
        (".rodata", 0, 0x75d00, 0x5a48, 64),
        (".data", W, 0x7b780, 0x11cc8, 64),
    ];
    let mut sections: Vec<Sec> = rows
        .iter()
        .map(|&(name, flags, at, size, align)| Sec { align, ..Sec::loaded(name, flags, base + at, size) })
        .collect();
    sections.push(Sec { kind: NOBITS, align: 64, ..Sec::loaded(".bss", W, base + 0x8d480, 0x12f20) });
    sections
        .push(Sec { flags: 0x30, ..Sec::other(".comment", b"XtensaTools-14.09 clang version 10.0.1 \0") });
    let elf = Elf {
        entry: base + 0xcd94,
        segments: vec![
            Seg::load(0, 0, 0, Vec::new()),
            Seg::load(7, base, 0x8d448, vec![0x5a; 0x8d448]),
            Seg::load(6, base + 0x8d480, 0x12f20, Vec::new()),
        ],
        sections,
        ..linked(cpu(0))
    };
    let stripped = strip(&elf.to_bytes()).expect("strips");
    assert_eq!(stripped.len(), 579_380);
    let image = ElfFile::parse(&stripped).expect("reads");
    assert_eq!(image.sections.len(), 12);
    for (section, (name, _, at, ..)) in image.sections.iter().skip(1).zip(rows) {
        assert_eq!((section.name, section.offset), (name, 0x94 + at));
    }
    let place = |name| image.section(name).map(|section| (section.offset, section.size)).expect(name);
    assert_eq!(place(".bss"), (0x8d4dc, 0x12f20));
    assert_eq!(place(".comment"), (0x8d4dc, 0x28));
    assert_eq!(place(".shstrtab"), (0x8d504, 0x4f));

    let packed = pack(&stripped).expect("packs");
    assert_eq!(unpack(&packed).expect("unpacks"), stripped);
    let files = [("lib_cpu0.stripped.so", &stripped), ("lib_cpu0.packed.so", &packed)];
    let report = verify::verify(&files.map(|(name, bytes)| verify::FileEntry::new(name, bytes)));
    assert!(report.is_clean(), "{:?}", report.findings);
}

#[test]
fn a_packed_object_is_what_the_partial_link_makes() {
    let stripped = strip(&linked(cpu(3)).to_bytes()).expect("strips");
    let packed = pack(&stripped).expect("packs");
    let object = ElfFile::parse(&packed).expect("reads");
    assert_eq!((object.header.kind, object.header.machine, object.header.flags), (REL, MACHINE, FLAGS));
    assert!(object.segments.is_empty());
    let payload = object.section(".rodata").expect("has one");
    assert_eq!((payload.data, payload.align, payload.flags), (&stripped[..], 4, A));
    let symbol = object.symbol("lib_func").expect("has one");
    assert_eq!((symbol.value, symbol.size, symbol.binding, symbol.kind), (0, 0, 1, 0));
    assert_eq!(object.sections[usize::from(symbol.section)].name, ".rodata");
    assert_eq!(unpack(&packed).expect("unpacks"), stripped);
    assert_eq!(pack(&stripped).expect("packs"), packed);
}

#[test]
fn refusals() {
    type Damage = fn(&mut Elf);
    let rows: &[(&str, Damage)] = &[
        ("image::wrong_type", |elf| elf.kind = DYN),
        ("image::wrong_machine", |elf| elf.machine = 3),
        ("image::section_not_loaded", |elf| elf.section(".data").addr -= 0x0100_0000),
        ("image::segment_type", |elf| elf.segment(0).kind = 2),
        ("image::alignment", |elf| elf.section(".comment").align = 3),
        ("image::malformed", |elf| elf.segments.resize(300, Seg::load(0, 0, 0, Vec::new()))),
        ("image::truncated", |elf| elf.segment(1).filesz = Some(0x10000)),
        ("image::file_overlap", |elf| {
            let copies = vec![elf.segments[1].clone(); 40];
            elf.segments.extend(copies.into_iter().map(|s| Seg {
                data: Vec::new(),
                filesz: Some(0x80),
                ..s
            }));
        }),
    ];
    for (want, damage) in rows {
        let mut elf = linked(cpu(0));
        damage(&mut elf);
        let error = strip(&elf.to_bytes()).expect_err(want);
        assert_eq!(code(&error), *want, "{error}");
    }
    let whole = linked(cpu(0)).to_bytes();
    let rows: [(&str, Vec<u8>); 4] = [
        ("image::not_elf", b"MZ".to_vec()),
        ("image::not_elf", Vec::new()),
        ("image::truncated", whole[..40].to_vec()),
        ("image::wrong_class", [&whole[..4], &[2], &whole[5..]].concat()),
    ];
    for (want, bytes) in rows {
        assert_eq!(code(&strip(&bytes).expect_err(want)), want);
    }
    let object = |elf: Elf| Elf { kind: REL, segments: Vec::new(), ..elf }.to_bytes();
    let lib_func = |section, value| Sym { name: "lib_func".into(), value, size: 0, info: GLOBAL, section };
    let rodata = Sec { flags: A, ..Sec::other(".rodata", b"payload") };
    let packed =
        |symbols| Elf { sections: vec![rodata.clone(), Sec::other(".x", b"x")], symbols, ..linked(cpu(0)) };
    let rows = [
        ("image::wrong_type", whole.clone()),
        ("image::not_packed", object(linked(cpu(0)))),
        ("image::not_packed", object(Elf { sections: Vec::new(), ..packed(vec![lib_func(1, 0)]) })),
        ("image::lib_func_place", object(packed(vec![lib_func(1, 4)]))),
        ("image::lib_func_place", object(packed(vec![lib_func(2, 0)]))),
    ];
    for (want, bytes) in rows {
        assert_eq!(code(&unpack(&bytes).expect_err(want)), want);
    }
    assert_eq!(unpack(&object(packed(vec![lib_func(1, 0)]))).expect("unpacks"), b"payload");
}

#[test]
fn every_truncation_is_an_error_or_another_image() {
    let whole = linked(cpu(1)).to_bytes();
    for len in 0..whole.len() {
        assert!(strip(&whole[..len]).is_err(), "{len}");
    }
}

proptest! {
    #[test]
    fn what_is_packed_unpacks(payload in proptest::collection::vec(any::<u8>(), 0..300)) {
        let packed = pack(&payload).expect("packs");
        prop_assert_eq!(unpack(&packed).expect("unpacks"), payload);
    }

    #[test]
    fn damage_never_panics(changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..8)) {
        let mut bytes = linked(cpu(0)).to_bytes();
        for (at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        if let Ok(stripped) = strip(&bytes) {
            prop_assert!(stripped.len() <= bytes.len() + 4096);
            prop_assert_eq!(strip(&stripped).expect("strips again"), stripped.clone());
            let packed = pack(&stripped).expect("packs");
            prop_assert_eq!(unpack(&packed).expect("unpacks"), stripped);
        }
        let _ = unpack(&bytes);
    }
}
