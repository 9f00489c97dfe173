//! One property spoilt at a time: `verify` names that property.

use crate::bench::{Bench, bad, good, result};

/// Field offsets of an ELF32 header (gABI).
const E_TYPE: usize = 16;
const E_MACHINE: usize = 18;
const E_ENTRY: usize = 24;

type Spoil = fn(&Bench);

fn edit(bench: &Bench, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
    let path = bench.path("files").join(name);
    let mut bytes = std::fs::read(&path).expect("read");
    change(&mut bytes);
    std::fs::write(&path, bytes).expect("written");
}

#[test]
fn each_spoilt_property_has_its_own_code() {
    let rows: &[(&str, Spoil)] = &[
        ("image::wrong_type", |bench| edit(bench, "vector_add_cpu0.stripped.so", |bytes| bytes[E_TYPE] = 3)),
        ("image::wrong_machine", |bench| {
            edit(bench, "vector_add_cpu0.stripped.so", |bytes| bytes[E_MACHINE] = 3)
        }),
        ("image::wrong_entry", |bench| {
            edit(bench, "vector_add_cpu0.stripped.so", |bytes| bytes[E_ENTRY + 3] = 0x10)
        }),
        ("image::truncated", |bench| {
            edit(bench, "vector_add_cpu0.stripped.so", |bytes| bytes.truncate(bytes.len() / 2))
        }),
        ("image::wrong_bank", |bench| {
            let files = bench.path("files");
            let other = std::fs::read(files.join("vector_add_cpu4.stripped.so")).expect("read");
            std::fs::write(files.join("vector_add_cpu3.stripped.so"), other).expect("written");
        }),
        ("image::payload_differs", |bench| {
            // far behind the object's own headers, well inside the image it carries
            edit(bench, "vector_add_cpu3.packed.so", |bytes| bytes[0x400] ^= 1);
        }),
        ("image::stripped_differs", |bench| {
            edit(bench, "vector_add_cpu6.stripped.so", |bytes| bytes[0x200] ^= 1);
        }),
    ];
    let bench = Bench::with_vector_add();
    bench.build_vector_add();
    for (code, spoil) in rows {
        let files = bench.path("files");
        let _ = std::fs::remove_dir_all(&files);
        std::fs::create_dir(&files).expect("a directory");
        for (name, bytes) in bench.outputs() {
            std::fs::write(files.join(name), bytes).expect("written");
        }
        good(bench.tool().args(["verify", "files/vector_add"]));
        spoil(&bench);
        bad(bench.tool().args(["verify", "files/vector_add"]), 1);
        let report = result(bench.tool().args(["verify", "files/vector_add"]));
        let codes: Vec<&str> = report["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .filter_map(|f| f["code"].as_str())
            .collect();
        assert!(codes.contains(code), "{code} is not among {codes:?}");
    }
}
