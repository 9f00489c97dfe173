//! Independent tools read our images: GNU readelf, objdump and ld agree with what we say of them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::bench::{Bench, cross, good, outputs};
use crate::examples;

/// `readelf -hlW` of a file, as lines of trimmed words.
fn readelf(path: &Path) -> Vec<String> {
    let text = good(cross("readelf").arg("-hlW").arg(path));
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn hex(word: &str) -> u64 {
    u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("a hexadecimal number")
}

#[test]
fn readelf_agrees_on_type_machine_entry_segments_and_window() {
    for example in examples::all() {
        let bench = Bench::new();
        examples::build(&bench, &example, true);
        for cpu in 0..8_u64 {
            let base = 0x8400_0000 + cpu * 0x20_0000;
            let window = base..base + 0x20_0000;
            for kind in ["so", "stripped.so"] {
                let name = format!("build/{}_cpu{cpu}.{kind}", example.name);
                let lines = readelf(&bench.path(&name));
                let field = |label: &str| {
                    let line = lines.iter().find_map(|line| line.strip_prefix(label));
                    line.unwrap_or_else(|| panic!("{name}: no {label}")).trim().to_owned()
                };
                assert!(field("Type:").starts_with("EXEC"), "{name}");
                assert_eq!(field("Machine:"), "Tensilica Xtensa Processor", "{name}");
                assert_eq!(field("Class:"), "ELF32", "{name}");
                assert_eq!(field("Flags:"), "0x300", "{name}");
                assert!(window.contains(&hex(&field("Entry point address:"))), "{name}");
                let loads: Vec<Vec<&str>> = lines
                    .iter()
                    .filter(|line| line.starts_with("LOAD "))
                    .map(|line| line.split(' ').collect())
                    .collect();
                assert!(!loads.is_empty(), "{name}");
                for load in loads {
                    let (address, length) = (hex(load[2]), hex(load[5]));
                    assert_eq!(load[2], load[3], "{name}: physical and virtual address");
                    if length > 0 {
                        assert!(
                            window.contains(&address) && address + length <= window.end,
                            "{name}: {load:?}"
                        );
                    }
                }
                assert!(
                    !lines.iter().any(|line| line.starts_with("DYNAMIC") || line.starts_with("INTERP")),
                    "{name}"
                );
            }
        }
    }
}

/// Sections of a file by objdump: name to (size, bytes of the section).
fn sections(path: &Path, scratch: &Path) -> BTreeMap<String, Vec<u8>> {
    let text = good(cross("objdump").arg("-h").arg(path));
    text.lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            words.next()?.parse::<u32>().ok()?;
            words.next().map(str::to_owned)
        })
        .map(|name| {
            let dump = scratch.join("section");
            let _ = std::fs::remove_file(&dump);
            good(
                cross("objcopy")
                    .arg("-O")
                    .arg("binary")
                    .arg(format!("--only-section={name}"))
                    .arg("--set-section-flags")
                    .arg(format!("{name}=alloc,load,contents"))
                    .arg(path)
                    .arg(&dump),
            );
            let bytes = std::fs::read(&dump).unwrap_or_default();
            (name, bytes)
        })
        .collect()
}

/// The steps of toolchain.md §7.2, done with GNU tools, give the payload, sections and symbol of our pack.
#[test]
fn a_pack_made_with_gnu_tools_is_ours() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let scratch = bench.path("reference");
    std::fs::create_dir(&scratch).expect("a directory");
    let at = |name: &str| scratch.join(name);
    let stripped = bench.path("build/vector_add_cpu0.stripped.so");
    std::fs::write(at("empty.s"), "").expect("written");
    std::fs::write(at("shim.s"), ".section libdata,\"a\"\n.align 4\n").expect("written");
    std::fs::write(at("pack.x"), "SECTIONS { .rodata : { lib_func = .; *(libdata) } }\n").expect("written");
    good(cross("as").arg(at("empty.s")).arg("-o").arg(at("c.o")));
    good(cross("as").arg(at("shim.s")).arg("-o").arg(at("e.o")));
    let mut add = std::ffi::OsString::from("libdata=");
    add.push(&stripped);
    good(
        cross("objcopy")
            .arg("--add-section")
            .arg(add)
            .args(["--set-section-flags", "libdata=readonly,alloc"])
            .arg(at("c.o"))
            .arg(at("d.o")),
    );
    good(
        cross("ld")
            .arg("-r")
            .arg("-T")
            .arg(at("pack.x"))
            .arg(at("e.o"))
            .arg(at("d.o"))
            .arg("-o")
            .arg(at("reference.packed.so")),
    );

    let ours = bench.path("build/vector_add_cpu0.packed.so");
    let [reference, packed] = [at("reference.packed.so"), ours].map(|path| {
        let symbols = good(cross("nm").arg(&path));
        let lib_func = symbols.lines().find(|line| line.ends_with(" lib_func")).map(str::to_owned);
        (sections(&path, &scratch), lib_func)
    });
    let payload = std::fs::read(&stripped).expect("read");
    assert!(packed.0[".rodata"].starts_with(&payload), "our payload is the stripped image");
    assert_eq!(packed.0[".rodata"], reference.0[".rodata"]);
    assert_eq!(packed.1, reference.1);
    assert_eq!(packed.1.as_deref(), Some("00000000 R lib_func"));
    let kept = |sections: &BTreeMap<String, Vec<u8>>| -> Vec<String> {
        sections
            .iter()
            .filter(|(name, bytes)| !bytes.is_empty() && *name != ".xtensa.info")
            .map(|(name, _)| name.clone())
            .collect()
    };
    assert_eq!(kept(&packed.0), kept(&reference.0));
}

/// `strip` and `objcopy` make the same loadable bytes as we do.
#[test]
fn a_strip_made_with_gnu_tools_loads_the_same_bytes() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    for cpu in [0, 7] {
        let linked = bench.path(format!("build/vector_add_cpu{cpu}.so"));
        let reference = bench.path("reference.so");
        good(cross("strip").arg(&linked).arg("-o").arg(&reference));
        let flat = |path: &Path, to: &str| {
            let to = bench.path(to);
            good(cross("objcopy").args(["-O", "binary"]).arg(path).arg(&to));
            std::fs::read(to).expect("read")
        };
        let ours = flat(&bench.path(format!("build/vector_add_cpu{cpu}.stripped.so")), "ours.bin");
        assert_eq!(ours, flat(&reference, "reference.bin"), "cpu{cpu}");
    }
}

/// Nothing but the visible outputs and one hidden directory appears beside them.
#[test]
fn the_output_directory_holds_outputs_only() {
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    let mut names: Vec<String> = std::fs::read_dir(bench.path("build"))
        .expect("read")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .collect();
    names.sort();
    let mut want: Vec<String> = outputs(&bench.path("build")).into_keys().collect();
    want.insert(0, ".gpsimd-build".to_owned());
    assert_eq!(names, want);
}
