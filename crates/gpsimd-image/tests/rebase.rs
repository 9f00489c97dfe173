//! Rebasing on images made without a toolchain: what moves, and what is refused.

mod common;

use common::*;
use gpsimd_image::{Rebase, strip};
use gpsimd_lsp::{CpuId, Variant};
use miette::Diagnostic;
use proptest::prelude::*;

const R_32: u32 = 1;
const R_PLT: u32 = 6;
const R_SLOT0_OP: u32 = 20;
const R_SLOT0_ALT: u32 = 35;

/// An image with its relocations kept.
fn kept(variant: Variant) -> Elf {
    let base = variant.window().base;
    let mut elf = linked(variant);
    elf.symbols.push(Sym { name: "weak".into(), value: 0, size: 0, info: 0x20, section: 0 });
    elf.symbols.push(Sym { name: String::new(), value: base, size: 0, info: 3, section: 2 });
    relocate(
        &mut elf,
        ".rela.text",
        ".text",
        &[
            (base, R_32, "helper", 0x30),
            (base + 4, R_PLT, "_memmap_seg_sram0_0_max", 0),
            (base + 8, R_32, "weak", 0),
            (base + 0x20, R_SLOT0_OP, "", 0x10),
            (base + 0x24, 12, "weak", 0),
        ],
    );
    relocate(&mut elf, ".rela.ctors", ".ctors", &[(base + 0x44, R_32, "", 0)]);
    relocate(&mut elf, ".rela.data", ".data", &[(base + 0x64, R_32, "_bss_start", 0x80)]);
    elf.section(".debug_info").data = [&(base + 0x30).to_le_bytes()[..], &[0; 4]].concat();
    elf.section(".debug_info").size = 8;
    relocate(&mut elf, ".rela.debug_info", ".debug_info", &[(0, R_32, "helper", 0), (4, R_32, "", 0)]);
    elf
}

/// Adds a relocation section: (place, type, symbol, addend).
fn relocate(elf: &mut Elf, name: &'static str, target: &str, entries: &[(u32, u32, &str, i32)]) {
    let mut data = Vec::new();
    for (offset, kind, symbol, addend) in entries {
        let symbol = elf.symbols.iter().position(|s| s.name == *symbol).expect("a symbol") as u32 + 1;
        data.extend(offset.to_le_bytes());
        data.extend((symbol << 8 | kind).to_le_bytes());
        data.extend(addend.to_le_bytes());
    }
    let info = elf.sections.iter().position(|s| s.name == target).expect("a section") as u32 + 1;
    elf.sections.retain(|section| section.name != name);
    elf.sections.push(Sec { kind: RELA, info, align: 4, ..Sec::other(name, &data) });
}

#[test]
fn the_image_for_another_core_is_its_link() {
    let linked = kept(cpu(0)).to_bytes();
    let rebase = Rebase::of(&linked).expect("can be rebased");
    assert_eq!(rebase.loaded_words(), 6);
    for core in CpuId::all() {
        let own = kept(Variant::Cpu(core)).to_bytes();
        assert_eq!(rebase.image_for(core), own, "{core}");
        assert_eq!(strip(&rebase.image_for(core)), strip(&own));
    }
}

#[test]
fn what_cannot_be_proven_is_refused() {
    type Damage = fn(&mut Elf, u32);
    let rows: &[(&str, Damage)] = &[
        ("image::wrong_type", |elf, _| elf.kind = DYN),
        ("image::rebase_input", |elf, _| elf.symbols.clear()),
        ("image::rebase_input", |elf, _| elf.segment(1).vaddr += 0x20_0000),
        ("image::rebase_input", |elf, _| elf.segments[0] = Seg::load(5, 0, 0x10, vec![0; 0x10])),
        ("image::rebase_input", |elf, _| elf.sections.retain(|section| section.name != ".rela.text")),
        ("image::rebase_input", |elf, _| elf.symbol("_bss_table_start").name = "gone".into()),
        ("image::rebase_input", |elf, base| {
            relocate(elf, ".rela.data", ".data", &[(base + 0x64, R_32, "", 0), (base + 0x64, R_32, "", 0)]);
        }),
        ("image::rebase_relocation", |elf, base| {
            relocate(elf, ".rela.data", ".data", &[(base + 0x60, R_SLOT0_ALT, "", 0)]);
        }),
        ("image::rebase_relocation", |elf, base| {
            relocate(elf, ".rela.data", ".data", &[(base + 0x60, 50, "", 0)]);
        }),
        // A distance to something that stays.
        ("image::rebase_relocation", |elf, base| {
            relocate(elf, ".rela.text", ".text", &[(base + 0x20, R_SLOT0_OP, "_memmap_seg_iram0_0_end", 0)]);
        }),
        ("image::rebase_relocation", |elf, base| {
            relocate(elf, ".rela.text", ".text", &[(base + 0x20, R_SLOT0_OP, "weak", 0)]);
        }),
        ("image::rebase_site", |elf, base| elf.poke(base, base)),
        ("image::rebase_site", |elf, base| elf.poke(base + 0x44, 5)),
        ("image::rebase_site", |elf, base| elf.poke(base + 0x5c, base)),
        ("image::rebase_site", |elf, _| elf.symbol("_bss_table_end").value += 4),
        ("image::rebase_site", |elf, _| elf.symbol("weak").info = GLOBAL),
        // A constant that looks like an address: does it move? Nobody can tell.
        ("image::rebase_site", |elf, base| {
            let constant =
                Sym { name: "constant".into(), value: base + 0x60, size: 0, info: GLOBAL, section: ABS };
            elf.symbols.push(constant);
            relocate(elf, ".rela.data", ".data", &[(base + 0x64, R_32, "constant", 0xa0)]);
        }),
        ("image::malformed", |elf, _| {
            elf.section(".rela.data").data.push(0);
            elf.section(".rela.data").size += 1;
        }),
    ];
    let base = cpu(0).window().base;
    for (i, (want, damage)) in rows.iter().enumerate() {
        let mut elf = kept(cpu(0));
        damage(&mut elf, base);
        let error = Rebase::of(&elf.to_bytes()).expect_err(want);
        assert_eq!(error.code().map(|c| c.to_string()).as_deref(), Some(*want), "row {i}: {error}");
    }
}

proptest! {
    #[test]
    fn damage_never_panics(changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..8)) {
        let mut bytes = kept(cpu(0)).to_bytes();
        for (at, value) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = value;
        }
        if let Ok(rebase) = Rebase::of(&bytes) {
            prop_assert_eq!(rebase.image_for(CpuId::new(7).expect("a core")).len(), bytes.len());
        }
    }
}
