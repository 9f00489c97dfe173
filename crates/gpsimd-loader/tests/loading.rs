//! From a library in a registry to records: handles, staging, sequences (spec `load-and-dispatch.md` §3, §5, §16).
#![allow(clippy::unwrap_used)]

mod support;

use gpsimd_loader::library::{Context, ContextId, Library};
use gpsimd_loader::memory::{HostMemory, Unattached};
use gpsimd_loader::record::{RECORD, Record};
use gpsimd_loader::registry::Registry;
use gpsimd_loader::selector::{Build, Environment};
use gpsimd_loader::sequence::{Core, get_load_sequence, get_unload_sequence};
use gpsimd_loader::ucpl::Ucpl;
use gpsimd_loader::{Bounds, Generation, Mode, ResultCode};
use support::*;

const HBM: u64 = 0x20_0000_0000;

fn context() -> Context<HostMemory> {
    Context::new(ContextId(1), HostMemory::new(HBM, 1 << 32), Environment::default())
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    for generation in Generation::ALL {
        registry.insert(generation, 0, reference().build());
        registry.insert(generation, 3, Lib::small().build());
    }
    registry
}

/// Calls `f` with a buffer of `records` records that starts `misalign` bytes behind a multiple of 8, and returns what
/// it holds then.
fn with_buffer<T>(records: usize, misalign: usize, f: impl FnOnce(&mut [u8]) -> T) -> (T, Vec<u8>) {
    let mut storage = vec![0x5a; records * RECORD + 16];
    let start = storage.as_ptr().align_offset(8) + misalign;
    let buffer = &mut storage[start..start + records * RECORD];
    let result = f(buffer);
    (result, buffer.to_vec())
}

fn texts(context: &Context<HostMemory>) -> Vec<&str> {
    context.log.iter().map(|line| line.text.as_str()).collect()
}

#[test]
fn a_handle_from_birth_to_death() {
    let registry = registry();
    for generation in [Generation::Cayman, Generation::Mariana, Generation::MarianaPlus] {
        let mut context = context();
        let mut library = context.create(&registry, generation.coretype(), 0, 0).unwrap();
        assert_eq!((library.size(), library.selector()), (0x73cc, 0));
        let addr = library.device_addr().unwrap();
        assert_eq!(addr % (16 << 20), 0);
        let staged = context.memory.at(addr, 0x73cc).unwrap();
        let ucpl = Ucpl::parse(staged).unwrap();
        assert_eq!(ucpl.check(&Bounds::CAYMAN), vec![]);
        let image = run(&reference(), &Bounds::CAYMAN, Mode::Strict).0.unwrap().image();
        assert_eq!(staged, image, "staging in three parts gives the image the prelinker would write");

        context.rename(&mut library, "mine");
        let second = context.create(&registry, generation.coretype(), 0, 0).unwrap();
        assert_ne!(second.device_addr(), Some(addr));
        assert_eq!(context.live_libraries(), 2);
        context.destroy(library).unwrap();
        context.destroy(second).unwrap();
        assert_eq!((context.live_libraries(), context.memory.allocations()), (0, 0));
        assert_eq!(
            texts(&context),
            [
                "Initialized nrtucode_ll_t@0x1",
                "nrtucode_ll_t@0x1 renamed mine",
                "Initialized nrtucode_ll_t@0x2",
                "Destroyed mine",
                "Destroyed nrtucode_ll_t@0x2"
            ]
        );
    }
}

#[test]
fn the_environment_selects_library_3() {
    let registry = registry();
    let mut context = context();
    context.environment.has_cptc_decode = true;
    assert_eq!(context.create(&registry, 13, 0, 0).unwrap().selector(), 3);
    assert_eq!(context.create(&registry, 13, 0, 1).unwrap_err().code(), ResultCode::MissingImage);
    let sunda = context.create(&registry, 6, 0, 0).unwrap();
    assert_eq!((sunda.selector(), sunda.size()), (3, 0), "not suppressed on coretype 6");
}

#[test]
fn the_internal_build_knows_one_generation_more() {
    let registry = registry();
    let mut context = context();
    assert_eq!(context.create(&registry, 37, 0, 0).unwrap_err().code(), ResultCode::UnknownCore);
    context.build = Build::Internal;
    assert_eq!(context.create(&registry, 37, 0, 0).unwrap().size(), 0x73cc);
}

#[test]
fn without_a_platform_nothing_is_staged() {
    let mut context = Context::new(ContextId(1), Unattached, Environment::default());
    let error = context.create(&registry(), 13, 0, 0).unwrap_err();
    assert_eq!(error.code(), ResultCode::Invalid);
    let sunda = context.create(&registry(), 6, 0, 0);
    assert!(sunda.is_ok(), "an empty handle needs no memory");
}

#[test]
fn a_library_that_the_modes_judge_differently() {
    let mut registry = Registry::new();
    registry.insert(Generation::Cayman, 0, Lib::small().with(|lib| lib.entry = DATA).build());
    let mut context = context();
    let error = context.create(&registry, 13, 0, 0).unwrap_err();
    assert_eq!(error.code(), ResultCode::Relocation);
    assert_eq!(error.to_string(), "the library was not created, prelinking failed with status 8");
    assert_eq!(texts(&context), ["Failed prelink with status = 8"]);
    context.mode = Mode::Compat;
    assert!(context.create(&registry, 13, 0, 0).is_ok());
}

struct Bench {
    library: Library,
    own: Core,
    foreign: Core,
    load: Vec<u8>,
    unload: Vec<u8>,
}

fn bench() -> Bench {
    let mut context = context();
    context.environment.has_cptc_decode = true;
    let library = context.create(&registry(), 13, 0, 0).unwrap();
    let (addr, size) = (library.device_addr().unwrap(), library.size() as u32);
    Bench {
        own: Core { context: library.context() },
        foreign: Core { context: ContextId(2) },
        load: Record::load(addr, 3, size).encode().to_vec(),
        unload: Record::unload(3).encode().to_vec(),
        library,
    }
}

#[test]
fn one_record_on_an_own_core() {
    let bench = bench();
    let mut log = Vec::new();
    for records in [1, 3] {
        let (count, bytes) = with_buffer(records, 0, |buffer| {
            get_load_sequence(Some(&bench.library), Some(&bench.own), Some(buffer), &mut log)
        });
        assert_eq!(count, Ok(1));
        assert_eq!(bytes[..RECORD], bench.load);
        assert!(bytes[RECORD..].iter().all(|&byte| byte == 0x5a));
    }
    let (count, bytes) = with_buffer(1, 0, |buffer| {
        get_unload_sequence(Some(&bench.library), Some(&bench.own), Some(buffer), &mut log)
    });
    assert_eq!((count, bytes), (Ok(1), bench.unload));
    assert!(log.is_empty());
}

#[test]
fn eight_records_on_a_foreign_core() {
    let bench = bench();
    let mut log = Vec::new();
    let (count, bytes) = with_buffer(8, 0, |buffer| {
        get_load_sequence(Some(&bench.library), Some(&bench.foreign), Some(buffer), &mut log)
    });
    assert_eq!((count, bytes), (Ok(8), bench.load.repeat(8)), "live address and size, eight times (C2)");
    let (count, bytes) = with_buffer(8, 0, |buffer| {
        get_unload_sequence(Some(&bench.library), Some(&bench.foreign), Some(buffer), &mut log)
    });
    assert_eq!((count, bytes), (Ok(8), bench.unload.repeat(8)));
    let texts: Vec<&str> = log.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "nrtucode_ll_get_load_sequence_num_instrs: check `ll->context == nrtucode_core_get_context(core)` failed",
            "nrtucode_ll_get_unload_sequence_num_instrs: check `ll->context == nrtucode_core_get_context(core)` failed",
        ]
    );
}

#[test]
fn refused_sequences_leave_the_buffer_alone() {
    let bench = bench();
    // records, misalignment, core; code, words, log lines
    let rows = [
        (0, 0, bench.own, ResultCode::NoSpace, "the buffer holds 0 records; 1 are needed", 0),
        (7, 0, bench.foreign, ResultCode::NoSpace, "the buffer holds 7 records; 8 are needed", 1),
        (1, 4, bench.own, ResultCode::Invalid, "the record buffer starts 4 bytes behind a multiple of 8", 1),
        (
            0,
            1,
            bench.foreign,
            ResultCode::Invalid,
            "the record buffer starts 1 bytes behind a multiple of 8",
            1,
        ),
    ];
    for (records, misalign, core, code, words, lines) in rows {
        let mut log = Vec::new();
        let (result, bytes) = with_buffer(records, misalign, |buffer| {
            get_load_sequence(Some(&bench.library), Some(&core), Some(buffer), &mut log)
        });
        let error = result.unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (Some(code), words));
        assert!(bytes.iter().all(|&byte| byte == 0x5a));
        assert_eq!(log.len(), lines, "{log:?}");
    }
}

#[test]
fn null_arguments() {
    let bench = bench();
    let (library, core) = (Some(&bench.library), Some(&bench.own));
    let rows = [(None, None, "ll"), (library, None, "core"), (library, core, "instr_buf")];
    for (library, core, argument) in rows {
        let error = get_unload_sequence(library, core, None, &mut Vec::new()).unwrap_err();
        assert_eq!(error.code(), None, "the vendor does not return");
        assert_eq!(
            error.to_string(),
            format!("nrtucode: invalid API usage in `nrtucode_ll_get_sequence_common`: `{argument}` is null")
        );
    }
}

#[test]
fn an_empty_handle_loads_nothing() {
    let sunda = context().create(&registry(), 6, 0, 0).unwrap();
    let core = Core { context: sunda.context() };
    let (count, bytes) = with_buffer(1, 0, |buffer| {
        get_load_sequence(Some(&sunda), Some(&core), Some(buffer), &mut Vec::new())
    });
    assert_eq!((count, bytes), (Ok(1), Record::load(0, 0, 0).encode().to_vec()));
}

#[test]
fn only_32_bits_of_a_selector_travel() {
    let mut registry = Registry::new();
    registry.insert(Generation::Cayman, 0x1_0000_0005, Lib::small().build());
    let library = context().create(&registry, 13, 0, 0x1_0000_0005).unwrap();
    assert_eq!(library.selector(), 0x1_0000_0005);
    let record = gpsimd_loader::sequence::record(&library, gpsimd_loader::record::Direction::Load);
    assert_eq!(record.library_index, 5);
}
