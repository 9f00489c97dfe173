//! The prelinker against the documented vectors (spec `prelink.md` §18), with every status and its log text.
#![allow(clippy::unwrap_used)]

mod support;

use gpsimd_loader::kernel_table::{self, TableRef};
use gpsimd_loader::{Bounds, Mode, Region, Relocations};
use support::*;

use Mode::{Compat, Strict};

fn hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

const CAYMAN: Bounds = Bounds::CAYMAN;
const VALIDATE: &str = "Failed to validate ELF shared object file";
const DYNAMIC: &str = "Failed to extract dynamic relocation info from ELF shared object file";
const EXCEEDS: &str = "Segment exceeds the size of the split region on device";

#[test]
fn reference_library() {
    // T1, T3, T4
    let lib = reference();
    assert_eq!(lib.rela.len(), 240);
    for mode in [Strict, Compat] {
        let (prelinked, log) = run(&lib, &CAYMAN, mode);
        let prelinked = prelinked.unwrap();
        assert!(log.is_empty());
        let image = prelinked.image();
        assert_eq!(
            image[..0x20],
            hex(
                "55 43 50 4c 20 00 00 00 20 6f 00 00 40 6f 00 00 8c 04 00 00 00 80 01 00 10 ef 01 00 10 d6 01 00"
            )
        );
        assert_eq!(image.len(), 0x73cc);
        assert_eq!(prelinked.relocations, Relocations { none: 8, words: 30, low: 101, high: 101 });

        let code = &prelinked.code;
        assert_eq!(code[0x1b..0x1f], hex("24 0b 00 24"), "the byte behind is untouched");
        assert_eq!(code[0x1e..0x22], hex("24 5c e2 aa"));
        assert_eq!(code[0x43..0x47], hex("24 0b 00 aa"));
        assert_eq!(code[0x48..0x4c], hex("24 f8 e1 aa"));
        let tail = if mode == Strict { [0, 0] } else { [0xa5, 0xa5] };
        assert_eq!(code[0x6f1e..], tail, "rule R11");
        assert!(prelinked.data[0x450..].iter().all(|&byte| byte == 0), "bss");

        assert_eq!(prelinked.kernel_table, Some(TableRef { addr: 0xb_e380, rows: 17 }));
        let rows = kernel_table::parse(&prelinked.data[0x380..0x408]);
        assert_eq!((rows[0].func, rows[6].func), (0x1_8080, 0x1_b370));
    }
}

#[test]
fn sunda_geometry() {
    // T11: hypothetical, since the vendor never prelinks on this generation
    let mut lib = Lib::small();
    lib.entry = 0x0100_00c8;
    lib.code.bytes.resize(0xa9be, 0);
    lib.code.memsz = 0xa9be;
    lib.code.bytes[0x1b..0x21].copy_from_slice(&[0x54, 0, 0, 0x54, 0, 0]);
    lib.data = Seg::new(0x0200_000c, vec![0; 0x7e4], 7);
    lib.data.memsz = 0x848;
    lib.dynamic = vec![(12, 0x0100_00c0), (13, 0x0100_a9b0)];
    lib.rela = vec![(0x0100_001b, HIGH, 0x0200_009c), (0x0100_001e, LOW, 0x0200_009c)];
    lib.sections[1] = section(".data", 0x0200_000c, 0x7e4, 64);
    let (prelinked, _) = run(&lib, &Bounds::SUNDA, Compat);
    let prelinked = prelinked.unwrap();
    let image = prelinked.image();
    assert_eq!(
        image[..0x20],
        hex(
            "55 43 50 4c 20 00 00 00 c0 a9 00 00 e0 a9 00 00 48 08 00 00 c0 55 00 00 b0 fe 00 00 c8 55 00 00"
        )
    );
    assert_eq!(image.len(), 0xb228);
    assert_eq!(prelinked.code[0x1b..0x21], hex("54 08 00 54 9c e0"), "target 0x8e09c");
    assert_eq!(verdict(&lib, &Bounds::SUNDA, Strict), "6", "rule R5");
    assert_eq!(verdict(&lib, &CAYMAN, Compat), format!("13 | {EXCEEDS}"));
    // aligned to 8192, which the library's addresses are and the code region's is not
    let lib = Lib::small().with(|lib| lib.sections[0].align = 0x2000);
    assert_eq!(verdict(&lib, &CAYMAN, Strict), "0");
    assert_eq!(verdict(&lib, &Bounds::SUNDA, Strict), "6");
}

#[test]
fn lead_in_quirk() {
    // §6.2: staging starts at the buffer, not at the segment
    let mut lib = Lib::small();
    lib.data = Seg::new(0x0200_000c, (1..=0x20).collect(), 7);
    lib.sections[1].align = 16;
    let (prelinked, _) = run(&lib, &CAYMAN, Compat);
    let prelinked = prelinked.unwrap();
    assert_eq!(prelinked.data.len(), 0x20);
    assert_eq!(prelinked.data[..0xc], [0xa5; 0xc]);
    assert_eq!(prelinked.data[0xc..], (1..=0x14).collect::<Vec<u8>>());
}

#[test]
fn unaligned_words() {
    // T5. Regions at the link addresses make the map the identity, so the addend sets the new word.
    let identity =
        Bounds { code: Region { base: CODE, size: 0x1000 }, data: Region { base: DATA, size: 0x1000 } };
    let rows = [
        (0, 0x4433_2211u32, 0x0100_0080u32, 0x8877_6655u32),
        (1, 0x5544_3322, 0x0000_8011, 0x8877_6601),
        (2, 0x6655_4433, 0x0080_2211, 0x8877_0100),
        (3, 0x7766_5544, 0x8033_2211, 0x8801_0000),
    ];
    for (misalign, old, low, high) in rows {
        let mut lib = Lib::small();
        lib.data.bytes[..8].copy_from_slice(&hex("11 22 33 44 55 66 77 88"));
        lib.rela = vec![(DATA + misalign, WORD, 0x0100_0080u32.wrapping_sub(old))];
        let (prelinked, _) = run(&lib, &identity, Strict);
        let data = prelinked.unwrap().data;
        assert_eq!(data[..8], [low.to_le_bytes(), high.to_le_bytes()].concat(), "misalign {misalign}");
    }
}

#[test]
fn region_limits() {
    // T7
    let code = |memsz| Lib::small().with(|lib| lib.code.memsz = memsz);
    let data = |paddr, align, memsz| {
        Lib::small().with(|lib| {
            lib.data.paddr = paddr;
            lib.data.memsz = memsz;
            lib.sections[1].align = align;
        })
    };
    let exceeds = format!("13 | {EXCEEDS}");
    let rows = [
        (code(0x8000), "0"),
        (code(0x8001), &exceeds),
        (code(u32::MAX), &exceeds),
        (data(DATA, 8, 0x2000), "0"),
        (data(DATA, 8, 0x2001), &exceeds),
        (data(0x0200_000c, 64, 0x1ff4), "0"),
        (data(0x0200_000c, 64, 0x1ff5), &exceeds),
    ];
    for (row, (lib, want)) in rows.iter().enumerate() {
        assert_eq!(verdict(lib, &CAYMAN, Compat), *want, "row {row}");
    }
    let (result, _) = run(&code(0x8001), &CAYMAN, Strict);
    assert_eq!(
        result.unwrap_err().to_string(),
        "the code segment ends 0x8001 bytes into its region of 0x8000 bytes (0x18000..0x20000)"
    );
}

#[test]
fn program_header_flags() {
    // T8
    let invalid = format!("7 | {VALIDATE}");
    for flags in 0..16 {
        let want = |is_accepted: bool| if is_accepted { "0" } else { invalid.as_str() };
        let low = flags & 7;
        let code = Lib::small().with(|lib| lib.code.flags = flags);
        assert_eq!(verdict(&code, &CAYMAN, Strict), want(low == 5), "code {flags}");
        let data = Lib::small().with(|lib| lib.data.flags = flags);
        assert_eq!(verdict(&data, &CAYMAN, Strict), want(low == 6 || low == 7), "data {flags}");
        let scratch = Lib::small().with(|lib| lib.scratch = Some(flags));
        assert_eq!(verdict(&scratch, &CAYMAN, Strict), want(low == 2 || low == 3), "scratch {flags}");
        let dynamic = Lib::small().with(|lib| lib.dynamic_flags = flags);
        assert_eq!(verdict(&dynamic, &CAYMAN, Strict), want(low == 6), "dynamic {flags}");
    }
}

#[test]
fn relocation_kinds() {
    // T9: 5 for anything with a symbol, 8 for types no loader applies
    for r_info in 0..=0x1_00ff {
        let site = if r_info == WORD { DATA } else { CODE };
        let lib = Lib::small().rela(&[(site, r_info, CODE)]);
        let want = match r_info {
            0x100.. => "5".into(),
            0 | 5 | 20..=49 => "0".into(),
            _ => format!("8 | Unknown relocation type {r_info}"),
        };
        assert_eq!(verdict(&lib, &CAYMAN, Compat), want, "r_info {r_info:#x}");
        if r_info == 0x1ff {
            break;
        }
    }
    // even in an entry that says to do nothing
    let lib = Lib::small().rela(&[(0, 0x100, 0)]);
    assert_eq!(verdict(&lib, &CAYMAN, Compat), "5");
}

#[test]
fn statuses_in_both_modes() {
    // one row a check: library, strict verdict, compat verdict
    let small = Lib::small;
    let code_word = |word: u32| {
        let lib = small().rela(&[(CODE, LOW + 2, DATA)]);
        lib.with(|lib| lib.code.bytes[..4].copy_from_slice(&word.to_le_bytes()))
    };
    let rows: Vec<(&str, Lib, String, String)> = vec![
        ("correct", small(), "0".into(), "0".into()),
        (
            "magic",
            small().with(|lib| lib.ident[1] = b'e'),
            format!("1 | {VALIDATE}"),
            format!("1 | {VALIDATE}"),
        ),
        ("class", small().with(|lib| lib.ident[4] = 2), format!("1 | {VALIDATE}"), format!("1 | {VALIDATE}")),
        (
            "byte order 0",
            small().with(|lib| lib.ident[5] = 0),
            format!("1 | {VALIDATE}"),
            format!("1 | {VALIDATE}"),
        ),
        ("big-endian", big_endian(&[]), format!("1 | {VALIDATE}"), "0".into()),
        ("big-endian with relocations", big_endian(&[(0, 0, 0)]), format!("1 | {VALIDATE}"), "8".into()),
        ("machine", small().with(|lib| lib.machine = 62), format!("1 | {VALIDATE}"), "0".into()),
        ("shared object", small().with(|lib| lib.e_type = 3), "0".into(), "0".into()),
        ("relocatable", small().with(|lib| lib.e_type = 1), format!("1 | {VALIDATE}"), "0".into()),
        (
            "code is no LOAD",
            small().with(|lib| lib.code.p_type = 2),
            format!("7 | {VALIDATE}"),
            format!("7 | {VALIDATE}"),
        ),
        (
            "data is no LOAD",
            small().with(|lib| lib.data.p_type = 0),
            format!("7 | {VALIDATE}"),
            format!("7 | {VALIDATE}"),
        ),
        (
            "no dynamic among phnum",
            small().with(|lib| lib.phnum = Some(3)),
            format!("4 | {DYNAMIC}"),
            format!("4 | {DYNAMIC}"),
        ),
        ("no scratch, no relocations", small().with(|lib| lib.scratch = None), "0".into(), "0".into()),
        (
            "file beyond memory",
            small().with(|lib| lib.data.memsz = 0x3f),
            format!("7 | {VALIDATE}"),
            format!("7 | {VALIDATE}"),
        ),
        ("no sections", small().with(|lib| lib.sections.clear()), "6".into(), format!("13 | {EXCEEDS}")),
        ("alignment 24", small().with(|lib| lib.sections[0].align = 24), "6".into(), "0".into()),
        (
            "alignment of an empty section",
            small().with(|lib| lib.sections.push(section(".x", 0, 0, 24))),
            "0".into(),
            "0".into(),
        ),
        (
            "lead-in",
            small().with(|lib| {
                lib.data.paddr += 4;
                lib.sections[1].align = 16
            }),
            "6".into(),
            "0".into(),
        ),
        ("no table", small().rela(&[(0, 0, 0)]).with(|lib| lib.hide_rela = true), "0".into(), "0".into()),
        (
            "size without table",
            small().with(|lib| lib.dynamic.push((8, 24))).with(|lib| lib.hide_rela = true),
            "8".into(),
            "8".into(),
        ),
        ("symbol", small().rela(&[(DATA, 0x105, 0)]), "5".into(), "5".into()),
        (
            "type",
            small().rela(&[(DATA, 1, 0)]),
            "8 | Unknown relocation type 1".into(),
            "8 | Unknown relocation type 1".into(),
        ),
        (
            "site below the code",
            small().rela(&[(0, LOW, 0)]),
            "8 | Invalid relocation address 4278288384".into(),
            "8 | Invalid relocation address 4278288384".into(),
        ),
        (
            // 0xa5a5a5 counts as a 24-bit instruction
            "site behind the segment",
            small().rela(&[(CODE + 0x200, LOW, 0)]),
            "8 | Invalid relocation address 98816".into(),
            "0".into(),
        ),
        (
            "bundle, class A",
            code_word(0x0000_000f),
            "8 | Failed to set large immediate field in instruction slot 2".into(),
            "8 | Failed to set large immediate field in instruction slot 2".into(),
        ),
        (
            "bundle, class B",
            code_word(0x0000_000e),
            "8 | Failed to set large immediate field in instruction slot 2".into(),
            "8 | Failed to set large immediate field in instruction slot 2".into(),
        ),
        (
            "bundle, class C",
            code_word(0x0100_000f),
            "8 | Failed to set large immediate field in instruction slot 2".into(),
            "8 | Failed to set large immediate field in instruction slot 2".into(),
        ),
        (
            "density",
            code_word(8),
            "12 | Unknown instruction format [0x8]".into(),
            "12 | Unknown instruction format [0x8]".into(),
        ),
        (
            "reserved",
            code_word(0x0300_000f),
            "12 | Unknown instruction format [0x300000f]".into(),
            "12 | Unknown instruction format [0x300000f]".into(),
        ),
        (
            "word outside",
            small().rela(&[(DATA + 0x2000, WORD, 0)]),
            "8 | Invalid load @ 0xc0000".into(),
            // what is read there is 0xffffffff, which counts as code: the sum with 0x400 wraps
            "0 | Invalid load @ 0xc0000 | Invalid store (0xff017fff) @ 0xc0000".into(),
        ),
        (
            "word across the end of the region",
            small().rela(&[(DATA + 0x1ffe, WORD, 0)]),
            "8 | Invalid load @ 0xbfffe".into(),
            "0 | Invalid load @ 0xc0000 | Invalid store (0xfffffe0b) @ 0xc0000".into(),
        ),
        (
            "word in the region, behind the data",
            small().rela(&[(DATA + 0x40, WORD, 0)]),
            "8 | Invalid load @ 0xbe040".into(),
            "0".into(),
        ),
        ("start 0", small().with(|lib| lib.entry = CODE - 0x1_8000), "8".into(), "0".into()),
        ("start behind the code", small().with(|lib| lib.entry = CODE + 0x100), "8".into(), "0".into()),
        ("init outside", small().with(|lib| lib.dynamic.push((12, DATA))), "8".into(), "0".into()),
        ("fini outside", small().with(|lib| lib.dynamic.push((13, CODE - 1))), "8".into(), "0".into()),
        (
            "init and fini",
            small().with(|lib| lib.dynamic.extend([(12, CODE), (13, CODE + 0xff)])),
            "0".into(),
            "0".into(),
        ),
    ];
    for (what, lib, strict, compat) in rows {
        assert_eq!(verdict(&lib, &CAYMAN, Strict), strict, "{what}, strict");
        assert_eq!(verdict(&lib, &CAYMAN, Compat), compat, "{what}, compat");
    }
}

fn big_endian(rela: &[(u32, u32, u32)]) -> Lib {
    Lib::small().rela(rela).with(|lib| {
        lib.ident[5] = 2;
        lib.big_endian = true;
    })
}

#[test]
fn checks_come_in_the_documented_order() {
    // Everything is wrong; each row repairs the first thing that was reported.
    let mut lib = Lib::small().rela(&[(0, 1, 0)]);
    lib.ident[0] = 0;
    lib.code.flags = 7;
    lib.phnum = Some(3);
    lib.code.memsz = 0x8001;
    lib.data.memsz = 0x2001;
    type Repair = fn(&mut Lib);
    let repairs: [(String, Repair); 6] = [
        (format!("1 | {VALIDATE}"), |lib| lib.ident[0] = 0x7f),
        (format!("7 | {VALIDATE}"), |lib| lib.code.flags = 5),
        (format!("4 | {DYNAMIC}"), |lib| lib.phnum = None),
        (format!("13 | {EXCEEDS}"), |lib| lib.code.memsz = 0x100),
        (format!("13 | {EXCEEDS}"), |lib| lib.data.memsz = 0x40),
        ("8 | Unknown relocation type 1".into(), |lib| lib.rela.clear()),
    ];
    for (want, repair) in repairs {
        assert_eq!(verdict(&lib, &CAYMAN, Strict), want);
        assert_eq!(verdict(&lib, &CAYMAN, Compat), want);
        repair(&mut lib);
    }
    assert_eq!(verdict(&lib, &CAYMAN, Strict), "0");
}

#[test]
fn the_image_cap() {
    // Rule R12, with regions larger than any real ones
    let huge = Bounds { code: Region { base: 0x1_8000, size: 0x2_0000 }, data: CAYMAN.data };
    let lib = |memsz| Lib::small().with(|lib| lib.code.memsz = memsz);
    assert_eq!(verdict(&lib(0x1_0000 - 0x60), &huge, Strict), "0");
    let text = "7 | Prelinked library would be larger than the available buffer on device";
    assert_eq!(verdict(&lib(0x1_0000 - 0x5f), &huge, Strict), text);
    assert_eq!(verdict(&lib(0x1_0000 - 0x5f), &huge, Compat), "0", "there the caller judges, after staging");
}

#[test]
fn a_table_in_the_data_segment() {
    // Rule R7: without a scratch segment the table is found where DT_RELA says, in the data
    let mut lib = Lib::small();
    lib.scratch = None;
    lib.hide_rela = true;
    lib.data.bytes[..4].copy_from_slice(&(CODE + 4).to_le_bytes());
    for (at, word) in [DATA, WORD, 0].into_iter().enumerate() {
        lib.data.bytes[8 + 4 * at..][..4].copy_from_slice(&word.to_le_bytes());
    }
    lib.dynamic = vec![(7, DATA + 8), (8, 12)];
    let (prelinked, _) = run(&lib, &CAYMAN, Strict);
    assert_eq!(prelinked.unwrap().data[..4], 0x1_8004u32.to_le_bytes());
    for addr in [DATA + 0x35, DATA - 1, 0, u32::MAX] {
        lib.dynamic[0].1 = addr;
        assert_eq!(verdict(&lib, &CAYMAN, Strict), "8", "{addr:#x}");
    }
}

#[test]
fn every_truncation_is_refused_by_name() {
    let file = reference().build();
    let all = file.len();
    let cut = format!(
        "the section header table ends at byte {all}, but it may go no further than byte {}",
        all - 1
    );
    let rows = [
        (3, "the ELF header ends at byte 52, but it may go no further than byte 3"),
        (51, "the ELF header ends at byte 52, but it may go no further than byte 51"),
        (52, "the program header table ends at byte 84, but it may go no further than byte 52"),
        (179, "the program header table ends at byte 180, but it may go no further than byte 179"),
        (all - 1, &cut),
    ];
    for (len, want) in rows {
        let (result, _) = run_bytes(&file[..len], &CAYMAN, Compat);
        assert_eq!(result.unwrap_err().to_string(), want);
    }
    for len in (0..all).step_by(97) {
        assert!(run_bytes(&file[..len], &CAYMAN, Compat).0.is_err(), "{len} bytes");
    }
    // Without section headers the dynamic section, with its relocation table, is the last thing in the file.
    let identity =
        Bounds { code: Region { base: CODE, size: 0x8000 }, data: Region { base: DATA, size: 0x2000 } };
    let mut lib = Lib::small().rela(&[(0, 0, 0)]);
    lib.sections.clear();
    let file = lib.build();
    assert_eq!(verdict_bytes(&file, &identity, Compat), "0");
    assert_eq!(verdict_bytes(&file[..file.len() - 1], &identity, Compat), "8");
    assert_eq!(verdict_bytes(&file[..file.len() - 13], &identity, Compat), format!("4 | {DYNAMIC}"));
    assert_eq!(verdict_bytes(&file[..0x180], &identity, Compat), format!("4 | {DYNAMIC}"));
}
