//! Signatures as the real compiler describes them, and what damage does to their reader.

#[path = "common/links.rs"]
mod links;

use gpsimd_image::{FunctionSignature, Linkage, signatures};
use links::Links;

const KERNEL: &str = include_str!("kernels/signatures.cpp");

fn object(flags: &[&str]) -> Vec<u8> {
    let links = Links::new();
    std::fs::read(links.compile("signatures.cpp", KERNEL, flags)).expect("an object")
}

fn read(flags: &[&str]) -> Vec<FunctionSignature> {
    signatures(&object(flags)).expect("readable debug information")
}

fn lines(found: &[FunctionSignature]) -> String {
    let mut lines: Vec<(u32, String)> = found
        .iter()
        .map(|f| (f.place.line, format!("{:9} {:3} {f}", format!("{:?}", f.linkage), f.place.line)))
        .collect();
    lines.sort();
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

#[test]
fn every_kind_of_function() {
    insta::assert_snapshot!(lines(&read(&["-gdwarf-4"])));
}

#[test]
fn dwarf_5_and_optimisation_say_the_same() {
    let want = lines(&read(&["-gdwarf-4"]));
    assert_eq!(lines(&read(&["-gdwarf-5"])), want);
    assert_eq!(lines(&read(&["-O2"])), want);
}

#[test]
fn typedefs_are_kept_and_resolved() {
    let found = read(&[]);
    let scale = found.iter().find(|f| f.symbol == "_Z5scaleRKN2at6TensorEdx").expect("found by its symbol");
    let n = &scale.params[2];
    assert_eq!(n.name.as_deref(), Some("n"));
    assert_eq!((n.ty.written.as_str(), n.ty.canonical.as_str()), ("int64_t", "long long int"));
    assert!(scale.place.file.ends_with("signatures.cpp"), "{}", scale.place);
    assert_eq!(scale.linkage, Linkage::Global);
}

#[test]
fn no_debug_information_is_no_error() {
    assert_eq!(read(&["-g0"]), []);
}

#[test]
fn compressed_debug_information_is_refused() {
    let error = signatures(&object(&["-gz"])).expect_err("refused");
    assert!(error.to_string().contains("compressed"), "{error}");
}

/// Every byte of the debug information in turn; the reader may say anything, but must say it.
#[test]
fn damage_is_survived() {
    let bytes = object(&[]);
    let step = bytes.len() / 400;
    for at in (0..bytes.len()).step_by(step.max(1)) {
        for value in [0x00, 0xff, bytes[at] ^ 0x40] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            gpsimd_image::fuzz::fuzz_signatures(&damaged);
        }
        gpsimd_image::fuzz::fuzz_signatures(&bytes[..at]);
    }
}
