//! Entry points for fuzzers: bytes from outside in, nothing but a panic can go wrong.

use crate::generation::Generation;
use crate::mode::Mode;
use crate::prelink::prelink;
use crate::record::Record;
use crate::split::{strip, synthesize};
use crate::ucpl::Ucpl;

/// Prelinks the bytes for every generation in both modes; a strict image must pass the checker.
pub fn fuzz_prelink(data: &[u8]) {
    for generation in [Generation::Sunda, Generation::Cayman] {
        let bounds = generation.bounds();
        let _ = prelink(data, &bounds, Mode::Compat, &mut |_| {});
        if let Ok(prelinked) = prelink(data, &bounds, Mode::Strict, &mut |_| {}) {
            let image = prelinked.image();
            let findings = Ucpl::parse(&image).map(|ucpl| ucpl.check(&bounds));
            assert_eq!(findings, Ok(vec![]), "a strict image passes the checker");
        }
    }
}

/// Reads the bytes as an image, and checks what is one.
pub fn fuzz_ucpl(data: &[u8]) {
    if let Ok(ucpl) = Ucpl::parse(data) {
        for generation in Generation::ALL {
            for finding in ucpl.check(&generation.bounds()) {
                let _ = finding.to_string();
            }
        }
    }
}

/// Reads the bytes as records; what is read is written back the same.
pub fn fuzz_records(data: &[u8]) {
    if let Ok(records) = Record::parse_all(data) {
        let written: Vec<u8> = records.iter().flat_map(Record::encode).collect();
        assert_eq!(written, data, "records survive a round trip");
    }
}

/// Makes a split library of the bytes; what succeeds has passed the prelinker, and must do so again.
pub fn fuzz_split(data: &[u8]) {
    let bounds = Generation::Cayman.bounds();
    // The reader of links wants aligned bytes, which a Vec of words has and a fuzzer's slice may not have.
    if let Ok(split) = synthesize(data, &bounds) {
        assert!(prelink(&split.elf, &bounds, Mode::Strict, &mut |_| {}).is_ok(), "a split library prelinks");
        // stripping may refuse section headers that the prelinker does not look at
        if let Ok(stripped) = strip(&split.elf) {
            let again = prelink(&stripped, &bounds, Mode::Strict, &mut |_| {});
            assert!(again.is_ok(), "and so it does when stripped: {again:?}");
        }
    }
    let _ = strip(data);
}
