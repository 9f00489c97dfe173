//! What cannot be loaded by record, and that nothing of it stays behind. Libraries that do travel need a compiler; the end to
//! end tests build them.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use gpsimd_device::{Config, CoreImage, LoadError, Machine, Shipment, Trace};
use gpsimd_loader::record::Record;
use gpsimd_loader::selector::Environment;
use gpsimd_loader::{Bounds, Generation, Mode, prelink, split};
use miette::Diagnostic;

/// A file of the loader's corpus.
fn corpus(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/split").join(name)).unwrap()
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
    let small = corpus("small.elf");
    let rows: &[(&[u8], u8, Generation, &str, &str)] = &[
        (b"no library", 1, Generation::Cayman, "loader::not_elf", "magic number"),
        (&small[..small.len() / 2], 1, Generation::Cayman, "loader::truncated", "ends at byte"),
        (&corpus("refused_lead_in.elf"), 1, Generation::Cayman, "loader::lead_in", "not at a multiple"),
        (
            &small,
            1,
            Generation::Sunda,
            "loader::never_staged",
            "on sunda no runtime stages a prelinked image",
        ),
        (&small, 1, Generation::Maverick, "loader::never_staged", "on maverick no runtime stages"),
        (b"UCPL cut short", 1, Generation::Cayman, "loader::ucpl_truncated", "its header alone has 32"),
        (&small, 3, Generation::Cayman, "device::lane_cores", "runs on 1 core or on 8, not on 3"),
    ];
    for (bytes, cores, generation, want, says) in rows {
        let error = prepare(bytes, *cores, *generation).unwrap_err();
        assert_eq!(code(&error), *want, "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!error.to_string().contains('{'), "words, no Debug form: {error}");
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
    let library = split::synthesize(&corpus("kernels.elf"), &Bounds::CAYMAN).unwrap().elf;
    for cores in [1, 8] {
        let mut machine = prepare(&library, cores, Generation::Mariana).unwrap();
        let prepared: Vec<&str> = machine.trace().stages.iter().map(|stage| stage.name).collect();
        assert_eq!(prepared, ["pack", "unpack", "create", "prelink", "stage", "resolve", "record"]);
        let error = machine.load().unwrap_err();
        assert_eq!(error.to_string(), "the library's kernel table has 2 rows, but it registers 0 ops");
        assert!(machine.functions().is_empty());
        machine.unload().unwrap();
        assert!(matches!(machine.unload(), Err(LoadError::Unload { core: 0, .. })), "twice");
        let trace = machine.destroy().unwrap();
        let last: Vec<&str> = trace.stages.iter().map(|stage| stage.name).rev().take(2).collect();
        assert_eq!(last, ["destroy", "unload"]);
    }
}

/// A prelink that is refused tells the vendor's status, its name and log line; the trace ends with the stage that failed.
#[test]
fn a_failure_is_told_in_words_and_by_the_stages_up_to_it() {
    let shipment = |bytes: &[u8], records: Vec<u8>| Shipment {
        image: CoreImage::new(bytes.to_vec()),
        cores: 1,
        generation: Generation::Cayman,
        environment: Environment::default(),
        table: None,
        records,
    };
    let library = split::synthesize(&corpus("kernels.elf"), &Bounds::CAYMAN).unwrap().elf;
    let image = prelink(&library, &Bounds::CAYMAN, Mode::Strict, &mut |_| {}).unwrap().image();
    let changed = |at: usize, value: u32| {
        let mut bytes = image.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    let load = |record: Record| record.on_cores(1).encode().to_vec();
    let size = image.len() as u32;
    let rows: [(Shipment, &str, &str); 6] = [
        (
            shipment(b"no library", Vec::new()),
            "prelink",
            "status 1, NOT_ELF; the vendor logs `Failed to validate",
        ),
        (shipment(&changed(0x1c, 0), Vec::new()), "load", "the image has no start symbol"),
        (shipment(&changed(0x1c, 0x9_0000), Vec::new()), "load", "the start symbol lies in no region"),
        (
            shipment(&image, load(Record::load(0x10_0000_0000, 0, size / 2))),
            "load",
            "longer than its region or the image",
        ),
        (shipment(&image, load(Record::load(0x10_0000_1000, 0, size))), "record", "no multiple of 16 MiB"),
        (
            shipment(&image, Record::unload(0).encode().to_vec()),
            "record",
            "none of the 1 records loads a library",
        ),
    ];
    for (shipment, stage, words) in rows {
        let mut trace = Trace::default();
        let error = match Machine::ship(&shipment, Config::default(), &mut trace) {
            Ok(mut machine) => {
                let error = machine.load().unwrap_err();
                trace = machine.trace();
                error
            }
            Err(error) => error,
        };
        let last = trace.stages.last().unwrap();
        assert_eq!(last.name, stage, "{trace}");
        let told = last.facts.iter().map(|fact| fact.value.as_str()).collect::<Vec<_>>().join(" ");
        assert!(told.contains(words) && error.to_string().contains(words), "{error}\n{trace}");
    }
}

/// The very bytes of a prelinked image run; records bring it where they say.
#[test]
fn a_prelinked_image_is_staged_as_it_is() {
    let library = split::synthesize(&corpus("kernels.elf"), &Bounds::CAYMAN).unwrap().elf;
    let prelinked = prelink(&library, &Bounds::CAYMAN, Mode::Strict, &mut |_| {}).unwrap();
    let image = prelinked.image();
    let addr = 0x20_0300_0000;
    let records =
        [Record::load(addr, 2, image.len() as u32), Record::unload(2)].map(|record| record.encode());
    let shipment = Shipment {
        image: CoreImage::new(image),
        cores: 8,
        generation: Generation::Mariana,
        environment: Environment::default(),
        table: None,
        records: records.concat(),
    };
    let mut machine = Machine::ship(&shipment, Config::default(), &mut Trace::default()).unwrap();
    // its table has rows, but it registers nothing with the runtime: see above
    assert!(matches!(machine.load(), Err(LoadError::Table { rows: 2, functions: 0 })));
    machine.unload().unwrap();
    let trace = machine.destroy().unwrap();
    let told = |stage: &str, name: &str| {
        let found = trace.stages.iter().find(|found| found.name == stage).unwrap();
        found.facts.iter().find(|fact| fact.name == name).unwrap().value.clone()
    };
    assert_eq!(
        told("adopt", "table"),
        format!("kernel_info_table at {:#x}, rows: 2", prelinked.kernel_table.unwrap().addr)
    );
    assert!(told("stage", "soc address").starts_with("0x2003000000, "));
    assert!(told("fetch", "instruction").starts_with("0x95, load library 2"));
    assert!(told("destroy", "freed").starts_with("0x2003000000"));
}
