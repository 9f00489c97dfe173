//! What cannot be loaded by record, and that nothing of it stays behind. Libraries that do travel need a compiler; the end to
//! end tests build them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use gpsimd_device::{Config, CoreImage, LoadError, Machine};
use gpsimd_loader::selector::Environment;
use gpsimd_loader::{Bounds, Generation, split};
use miette::Diagnostic;

/// A file of the loader's corpus.
fn corpus(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../gpsimd-loader/corpus").join(name)).unwrap()
}

fn prepare(bytes: &[u8], cores: u8, generation: Generation) -> Result<Machine, LoadError> {
    let image = CoreImage::new(bytes.to_vec());
    Machine::prepare(image, cores, generation, Environment::default(), Config::default())
}

fn code(error: &dyn Diagnostic) -> String {
    error.code().unwrap().to_string()
}

#[test]
fn refusals_of_the_host() {
    let small = corpus("prelink/small.elf");
    let rows: &[(&[u8], u8, Generation, &str, &str)] = &[
        (b"no library", 1, Generation::Cayman, "loader::not_elf", "magic number"),
        (&small[..small.len() / 2], 1, Generation::Cayman, "loader::truncated", "ends at byte"),
        (
            &corpus("prelink/refused_lead_in.elf"),
            1,
            Generation::Cayman,
            "loader::lead_in",
            "not at a multiple",
        ),
        (&small, 1, Generation::Sunda, "device::lane_generation", "on sunda the runtime stages no"),
        (&small, 3, Generation::Cayman, "device::lane_cores", "runs on 1 core or on 8, not on 3"),
    ];
    for (bytes, cores, generation, want, says) in rows {
        let error = prepare(bytes, *cores, *generation).unwrap_err();
        assert_eq!(code(&error), *want, "{error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    let image = CoreImage::new(small);
    let config = Config { stack: 0x8000, dataram: 0x8000, ..Config::default() };
    let error = Machine::prepare(image, 1, Generation::Cayman, Environment::default(), config).unwrap_err();
    assert_eq!(
        error.to_string(),
        "32768 bytes of data RAM cannot hold the runtime's scratch and 32768 bytes of stack"
    );
}

/// The loader's own kernels have a table, but register nothing with the runtime: they belong to no op.
#[test]
fn a_library_without_ops_is_not_bound_and_leaves_nothing_behind() {
    let library = split::synthesize(&corpus("split/kernels.elf"), &Bounds::CAYMAN).unwrap().elf;
    for cores in [1, 8] {
        let mut machine = prepare(&library, cores, Generation::Mariana).unwrap();
        let prepared: Vec<&str> = machine.trace().unwrap().stages.iter().map(|stage| stage.name).collect();
        assert_eq!(prepared, ["pack", "unpack", "prelink", "stage", "record"]);
        let error = machine.load().unwrap_err();
        assert_eq!(error.to_string(), "the library's kernel table has 2 rows, but it registers 0 ops");
        assert!(machine.functions().is_empty());
        machine.unload().unwrap();
        assert!(matches!(machine.unload(), Err(LoadError::Unload { core: 0, .. })), "twice");
        let trace = machine.destroy().unwrap().unwrap();
        let last: Vec<&str> = trace.stages.iter().map(|stage| stage.name).rev().take(2).collect();
        assert_eq!(last, ["destroy", "unload"]);
    }
}
