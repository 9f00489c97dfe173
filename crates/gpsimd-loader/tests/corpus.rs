//! The seeds of the fuzzers are inputs of their own: each is what it is called.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use gpsimd_loader::fuzz;
use gpsimd_loader::record::Record;
use gpsimd_loader::split::synthesize;
use gpsimd_loader::ucpl::Ucpl;
use gpsimd_loader::{Bounds, Mode, prelink};

/// Name and bytes of every seed of a fuzzer.
fn seeds(name: &str) -> Vec<(String, Vec<u8>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let files = std::fs::read_dir(&dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut seeds: Vec<_> = files
        .map(|file| file.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{} has no seeds", dir.display());
    seeds
}

#[test]
fn libraries() {
    for (name, bytes) in seeds("prelink") {
        fuzz::fuzz_prelink(&bytes);
        let status =
            prelink(&bytes, &Bounds::CAYMAN, Mode::Strict, &mut |_| {}).map_or_else(|e| e.status(), |_| 0);
        assert_eq!(status == 0, !name.starts_with("refused"), "{name}: status {status}");
    }
}

#[test]
fn images() {
    for (name, bytes) in seeds("ucpl") {
        fuzz::fuzz_ucpl(&bytes);
        assert_eq!(Ucpl::parse(&bytes).unwrap().check(&Bounds::CAYMAN), vec![], "{name}");
    }
}

#[test]
fn records() {
    for (name, bytes) in seeds("records") {
        fuzz::fuzz_records(&bytes);
        assert!(!Record::parse_all(&bytes).unwrap().is_empty(), "{name}");
    }
}

#[test]
fn links() {
    for (name, bytes) in seeds("split") {
        fuzz::fuzz_split(&bytes);
        assert!(synthesize(&bytes, &Bounds::CAYMAN).is_ok(), "{name}");
    }
}
