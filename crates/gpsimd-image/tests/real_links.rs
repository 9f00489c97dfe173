//! Strip, pack, verify and rebase on what the real linker makes, against the GNU tools as referee.

mod common;
#[path = "common/links.rs"]
mod links;

use std::path::PathBuf;

use common::cpu;
use gpsimd_image::verify::{FileEntry, Severity, verify};
use gpsimd_image::{ElfFile, Rebase, pack, strip, unpack};
use gpsimd_lsp::{CpuId, Variant};
use gpsimd_toolchain::Relocations;
use links::Links;

const KERNEL: &str = include_str!("kernels/kernel.cpp");

fn kernel(links: &Links, flags: &[&str]) -> Vec<PathBuf> {
    vec![links.compile("kernel.cpp", KERNEL, flags)]
}

#[test]
fn eight_links_verify_clean() {
    let links = Links::new();
    let objects = kernel(&links, &[]);
    let mut files = Vec::new();
    for variant in Variant::all() {
        let linked = links.link(variant, &objects, Relocations::Drop, &[]);
        let stripped = strip(&linked).expect("strips");
        let packed = pack(&stripped).expect("packs");
        for (kind, bytes) in [(".so", linked), (".stripped.so", stripped), (".packed.so", packed)] {
            files.push((common::file_name(variant, kind), bytes));
        }
    }
    let entries: Vec<FileEntry<'_>> =
        files.iter().map(|(name, bytes)| FileEntry::new(name.as_str(), bytes)).collect();
    let report = verify(&entries);
    let findings: Vec<_> = report.findings.iter().filter(|f| f.severity > Severity::Note).collect();
    assert!(findings.is_empty(), "{findings:#?}");
    assert_eq!(report.images.len(), 27);
}

#[test]
fn readelf_agrees() {
    let links = Links::new();
    let linked = links.link(cpu(5), &kernel(&links, &[]), Relocations::Drop, &[]);
    let stripped = strip(&linked).expect("strips");
    std::fs::write(links.path("ours.so"), &stripped).expect("written");
    let said = links.tool("readelf", &["-hlSW", "ours.so"]);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let image = ElfFile::parse(&stripped).expect("reads");
    let mut expected = vec![
        "Type: EXEC (Executable file)".to_owned(),
        "Machine: Tensilica Xtensa Processor".to_owned(),
        format!("Entry point address: {:#x}", image.header.entry),
        "Flags: 0x300".to_owned(),
    ];
    let loads = image.loads().map(|(_, s)| {
        let (offset, vaddr, paddr, filesz, memsz) = (s.offset, s.vaddr, s.paddr, s.filesz, s.memsz);
        format!("LOAD {offset:#08x} {vaddr:#010x} {paddr:#010x} {filesz:#07x} {memsz:#07x}")
    });
    expected.extend(loads);
    let kind = |kind| {
        ["NULL", "PROGBITS", "SYMTAB", "STRTAB", "RELA", "HASH", "DYNAMIC", "NOTE", "NOBITS"][kind as usize]
    };
    let sections = image.sections.iter().skip(1);
    expected.extend(
        sections
            .map(|s| format!("{} {} {:08x} {:06x} {:06x}", s.name, kind(s.kind), s.addr, s.offset, s.size)),
    );
    assert!(expected.len() > 10);
    for line in expected {
        assert!(said.contains(&line), "{line}\n{said}");
    }
}

#[test]
fn the_reference_sequence_with_gnu_tools_gives_the_same() {
    // spec toolchain.md §7.2, step by step.
    let links = Links::new();
    let linked = links.link(cpu(2), &kernel(&links, &[]), Relocations::Drop, &[]);
    let tool = |name: &str, args: &[&str]| links.tool(name, args);
    tool("strip", &["-o", "a", "image_cpu2.so"]);
    let headers = tool("objdump", &["-h", "a"]);
    let empty = headers.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words.len() > 3 && words[2] == "00000000").then(|| words[1].to_owned())
    });
    let listed = [
        ".xtensa.info",
        ".xt.lit",
        ".xt.prop",
        ".interp",
        ".got.loc",
        ".got",
        ".hash",
        ".dynstr",
        ".dynsym",
        ".rela.plt",
    ];
    let removals: Vec<String> = listed
        .iter()
        .map(|s| (*s).to_owned())
        .chain(empty)
        .map(|name| format!("--remove-section={name}"))
        .collect();
    let removals: Vec<&str> = removals.iter().map(String::as_str).collect();
    tool("objcopy", &[&removals[..], &["a", "b"]].concat());
    tool("objcopy", &["b", "stripped.so"]);
    std::fs::write(links.path("empty.s"), "").expect("written");
    tool("as", &["-o", "c", "empty.s"]);
    tool(
        "objcopy",
        &["--add-section", "libdata=b", "--set-section-flags", "libdata=readonly,alloc", "c", "d"],
    );
    std::fs::write(links.path("pack.ld"), "SECTIONS { .rodata : { lib_func = .; *(libdata) } }\n")
        .expect("written");
    std::fs::write(links.path("shim.s"), ".section libdata, \"a\"\n.align 4\n").expect("written");
    tool("as", &["-o", "e", "shim.s"]);
    tool("ld", &["-r", "-T", "pack.ld", "-o", "packed.so", "e", "d"]);

    let theirs = std::fs::read(links.path("stripped.so")).expect("made");
    let ours = strip(&linked).expect("strips");
    let (a, b) = (ElfFile::parse(&theirs).expect("reads"), ElfFile::parse(&ours).expect("reads"));
    assert_eq!(a.header, b.header);
    let sections = |image: &ElfFile<'_>| -> Vec<_> {
        let fields = image.sections.iter().filter(|s| s.name != ".shstrtab");
        fields
            .map(|s| {
                (s.name.to_owned(), s.kind, s.flags, s.addr, s.size, s.align, s.entsize, s.data.to_vec())
            })
            .collect()
    };
    assert_eq!(sections(&a), sections(&b));
    let loads = |image: &ElfFile<'_>| -> Vec<_> {
        image.loads().map(|(_, s)| (s.vaddr, s.paddr, s.filesz, s.memsz, s.flags, s.data.to_vec())).collect()
    };
    assert_eq!(loads(&a), loads(&b));

    let their_pack = std::fs::read(links.path("packed.so")).expect("made");
    assert_eq!(unpack(&their_pack).expect("unpacks"), theirs);
    // Around the same payload, the containers agree in every section but for file offsets.
    let our_pack = pack(&theirs).expect("packs");
    let (a, b) = (ElfFile::parse(&their_pack).expect("reads"), ElfFile::parse(&our_pack).expect("reads"));
    assert_eq!(a.header, b.header);
    let names =
        |image: &ElfFile<'_>| -> Vec<_> { image.sections.iter().map(|s| s.name.to_owned()).collect() };
    assert_eq!(names(&a), names(&b));
    assert_eq!(a.symbols, b.symbols);
    assert_eq!(a.relocations().expect("reads"), b.relocations().expect("reads"));
    let contents = |image: &ElfFile<'_>| -> Vec<_> {
        let loaded = image.sections.iter().filter(|s| s.kind == 1 || s.kind == 7 || s.kind == 8);
        loaded.map(|s| (s.name.to_owned(), s.kind, s.flags, s.size, s.align, s.data.to_vec())).collect()
    };
    assert_eq!(contents(&a), contents(&b));
    // The linker takes ours as it takes any object.
    std::fs::write(links.path("ours.packed.so"), pack(&ours).expect("packs")).expect("written");
    tool("ld", &["-r", "-o", "host.o", "ours.packed.so"]);
}

#[test]
fn one_link_rebased_is_eight_links() {
    let links = Links::new();
    let rows: &[(&[&str], &[&str])] = &[
        (&[], &[]),
        (&["-O2"], &[]),
        (&["-O0", "-fjump-tables"], &[]),
        (&["-fno-pic", "-fjump-tables"], &["-Wl,--no-relax"]),
        (&["-mtext-section-literals", "-gdwarf-5"], &["-Wl,--no-gc-sections"]),
        (&["-fexceptions", "-frtti", "-fasynchronous-unwind-tables"], &[]),
    ];
    for (cflags, ldflags) in rows {
        let objects = kernel(&links, cflags);
        let plain = links.link(cpu(0), &objects, Relocations::Drop, ldflags);
        let kept = links.link(cpu(0), &objects, Relocations::Keep, ldflags);
        let stripped = strip(&kept).expect("strips");
        assert_eq!(
            stripped,
            strip(&plain).expect("strips"),
            "{cflags:?}: keeping relocations changes nothing loaded"
        );
        let rebase = Rebase::of(&kept).unwrap_or_else(|error| panic!("{cflags:?} {ldflags:?}: {error}"));
        assert!(rebase.loaded_words() > 100);
        assert_eq!(rebase.image_for(CpuId::new(0).expect("a core")), kept);
        let rebased: Vec<_> = CpuId::all().map(|core| (Variant::Cpu(core), rebase.image_for(core))).collect();
        let named =
            rebased.iter().map(|(variant, bytes)| FileEntry::new(common::file_name(*variant, ".so"), bytes));
        let report = verify(&named.collect::<Vec<_>>());
        assert!(report.worst() <= Some(Severity::Note), "{:#?}", report.findings);
        // The last core has the largest offset, and the bank's end carries there; one row looks between.
        let cores: &[u8] = if cflags.is_empty() { &[1, 4, 7] } else { &[7] };
        for &core in cores {
            let real = links.link(cpu(core), &objects, Relocations::Keep, ldflags);
            let rebased = rebase.image_for(CpuId::new(core).expect("a core"));
            assert_eq!(rebased.len(), real.len());
            let differs = rebased.iter().zip(&real).position(|(a, b)| a != b);
            let image = ElfFile::parse(&real).expect("reads");
            let place = differs.and_then(|at| {
                image.sections.iter().find(|s| (at as u32).wrapping_sub(s.offset) < s.size && s.kind != 8)
            });
            assert_eq!(differs, None, "{cflags:?} {ldflags:?} cpu{core}: {place:?}");
        }
    }
}
