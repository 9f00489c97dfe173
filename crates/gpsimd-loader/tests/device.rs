//! The device's side: records and instructions on eight cores whose memory is a map and whose functions are a list
//! (spec `load-and-dispatch.md` §6-§9, §16).
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use gpsimd_loader::device::{
    Assertion, CORES, CallError, Config, Dispatched, DmaError, Entry, Hardware, Outcome, Pool, Refusal,
    Returned, Window,
};
use gpsimd_loader::kernel_table::{Row, TableRef};
use gpsimd_loader::memory::{DeviceMemory, Handle, HostMemory};
use gpsimd_loader::record::Record;
use gpsimd_loader::{Bounds, Mode, Region};
use support::*;

/// Memory of the SoC and of each core, and what was called on them.
struct Machine {
    hbm: HostMemory,
    /// Bytes of each core by address of their first.
    local: Vec<BTreeMap<u32, Vec<u8>>>,
    windows: BTreeSet<(u8, u8)>,
    calls: Vec<(u8, Entry, u32)>,
    /// What `call` gives for a function.
    results: BTreeMap<u32, Result<Returned, CallError>>,
    fails_init: bool,
    /// Transfers until one fails.
    transfers: Option<u32>,
}

impl Machine {
    fn new() -> Machine {
        Machine {
            hbm: HostMemory::new(0x10_0000_0000, 1 << 34),
            local: vec![BTreeMap::new(); CORES],
            windows: BTreeSet::new(),
            calls: Vec::new(),
            results: BTreeMap::new(),
            fails_init: false,
            transfers: None,
        }
    }

    /// Puts an image into SoC memory.
    fn stage(&mut self, image: &[u8]) -> Handle {
        let handle = self.hbm.malloc(image.len() as u64, 0x100_0000).unwrap();
        self.hbm.write(handle, 0, image).unwrap();
        handle
    }

    fn record(&mut self, index: u32, image: &[u8]) -> Record {
        let handle = self.stage(image);
        Record::load(self.hbm.device_addr(handle), index, image.len() as u32)
    }
}

impl Hardware for Machine {
    fn program_window(&mut self, core: u8, slot: u8, window: Option<&Window>) {
        let changed = match window {
            Some(_) => self.windows.insert((core, slot)),
            None => self.windows.remove(&(core, slot)),
        };
        assert!(
            changed,
            "window {slot} of core {core} was {}",
            if window.is_some() { "in use" } else { "free" }
        );
    }

    fn init_dma(&mut self, _core: u8) -> Result<(), DmaError> {
        if self.fails_init { Err(DmaError(1)) } else { Ok(()) }
    }

    fn dma(&mut self, _core: u8, soc_addr: u64, into: &mut [u8]) -> Result<(), DmaError> {
        if let Some(left) = &mut self.transfers {
            *left = left.checked_sub(1).ok_or(DmaError(7))?;
        }
        into.copy_from_slice(self.hbm.at(soc_addr, into.len()).ok_or(DmaError(2))?);
        Ok(())
    }

    fn store(&mut self, core: u8, addr: u32, bytes: &[u8]) -> Result<(), DmaError> {
        self.local[usize::from(core)].insert(addr, bytes.to_vec());
        Ok(())
    }

    fn load(&mut self, core: u8, addr: u32, into: &mut [u8]) -> Result<(), DmaError> {
        let (start, bytes) = self.local[usize::from(core)].range(..=addr).next_back().ok_or(DmaError(3))?;
        let at = (addr - start) as usize;
        into.copy_from_slice(bytes.get(at..at + into.len()).ok_or(DmaError(3))?);
        Ok(())
    }

    fn call(&mut self, core: u8, entry: Entry, addr: u32) -> Result<Returned, CallError> {
        self.calls.push((core, entry, addr));
        self.results.get(&addr).cloned().unwrap_or(Ok(Returned::default()))
    }
}

/// A library with rows for (0xf0, spec) and its table's place.
fn library(bounds: &Bounds, specs: &[u8], change: impl FnOnce(&mut Lib)) -> (Vec<u8>, Option<TableRef>) {
    let mut lib = Lib::small();
    let rows: Vec<Row> =
        (0..).zip(specs).map(|(i, &spec)| Row { opcode: 0xf0, spec, func: CODE + 0x10 + 4 * i }).collect();
    lib.data.bytes = rows.iter().flat_map(|row| row.encode()).chain([0; 8]).collect();
    lib.data.memsz = lib.data.bytes.len() as u32;
    lib.sections[1] = section("kernel_info_table", DATA, 8 * rows.len() as u32, 8);
    lib.rela = (0..rows.len() as u32).map(|i| (DATA + 8 * i + 4, WORD, 0)).collect();
    change(&mut lib);
    let prelinked = run(&lib, bounds, Mode::Compat).0.unwrap();
    (prelinked.image(), prelinked.kernel_table)
}

const CAYMAN: Bounds = Bounds::CAYMAN;

/// A pool, a machine, and a library of specs 10 and 11 under index 3.
fn loaded() -> (Pool, Machine, Record) {
    let (image, table) = library(&CAYMAN, &[10, 11], |_| {});
    let mut pool = Pool::new(&Config::new(CAYMAN));
    let mut machine = Machine::new();
    let record = machine.record(3, &image);
    pool.announce_table(3, table.unwrap());
    assert_eq!(
        pool.execute(&record, &mut machine),
        (0..8).map(|core| (core, Outcome::Loaded)).collect::<Vec<_>>()
    );
    (pool, machine, record)
}

/// The log lines of one core, without its prefix.
fn lines(pool: &Pool, core: u8) -> Vec<&str> {
    pool.log.iter().filter_map(|line| line.strip_prefix(&format!("P{core}: "))).collect()
}

#[test]
fn load_dispatch_unload() {
    let (mut pool, mut machine, record) = loaded();
    let addr = record.soc_addr;
    assert_eq!(
        lines(&pool, 5),
        [
            "dispatch : modify_pool_config".to_owned(),
            format!("update_window: num=1, xt_addr=0x11000000, soc_addr={addr:#x}, l_mask=0xffffff"),
            format!("WIN[1]: @{addr:x} -> 11000000"),
            "LIB: codesize=256@0x18000 datasize=24@0xbe000".to_owned(),
            "Library loaded".to_owned(),
        ]
    );
    assert_eq!(pool.log.len(), 8 * 5);
    assert_eq!(machine.calls, (0..8).map(|core| (core, Entry::Start, 0x1_8000)).collect::<Vec<_>>());
    assert_eq!(machine.windows.len(), 8);
    assert!(
        machine.local.iter().all(|local| local.keys().copied().collect::<Vec<_>>() == [0x1_8000, 0xb_e000])
    );

    machine.calls.clear();
    pool.log.clear();
    machine.results.insert(0x1_8014, Ok(Returned { value: 0, table: None }));
    let ran = pool.dispatch(0xf0, 11, &mut machine);
    assert!(ran.iter().all(|ran| *ran == Dispatched::Ran { library: Some(3), func: 0x1_8014, status: 0 }));
    assert_eq!(machine.calls, (0..8).map(|core| (core, Entry::Kernel, 0x1_8014)).collect::<Vec<_>>());
    assert_eq!(
        lines(&pool, 2),
        ["Entering Dispatch", "In dispatch, CPU ID: 2, got opcode 0xf0.", "Exiting Dispatch"]
    );

    pool.log.clear();
    let unloaded = pool.execute(&Record::unload(3), &mut machine);
    assert!(unloaded.iter().all(|(_, outcome)| *outcome == Outcome::Unloaded));
    assert_eq!(lines(&pool, 7), ["dispatch : modify_pool_config", "Library unloaded"]);
    assert!(machine.windows.is_empty());
    for core in pool.cores() {
        assert_eq!((core.total_cpus(3), core.windows().free(), core.rows().count()), (0, 15, 0));
    }
    assert_eq!(pool.dispatch(0xf0, 11, &mut machine)[0], Dispatched::Unknown);
}

#[test]
fn misses() {
    // §16: scans that find nothing
    let (mut pool, mut machine, _) = loaded();
    pool.log.clear();
    assert!(pool.dispatch(0xf0, 5, &mut machine).iter().all(|ran| *ran == Dispatched::Unknown));
    assert_eq!(
        lines(&pool, 0),
        ["Entering Dispatch", "In dispatch, CPU ID: 0, got opcode 0xf0.", "UNKNOWN EXTENDED OPCODE=5"]
    );
    pool.log.clear();
    assert!(pool.dispatch(0x33, 11, &mut machine).iter().all(|ran| *ran == Dispatched::Unknown));
    assert_eq!(lines(&pool, 0)[2], "UNKNOWN OPCODE=0x33");
}

#[test]
fn the_start_symbol_may_register_the_table() {
    let (image, table) = library(&CAYMAN, &[20], |_| {});
    let mut pool = Pool::new(&Config {
        builtin: vec![Row { opcode: 0x7e, spec: 0, func: 0x100 }],
        ..Config::new(CAYMAN)
    });
    let mut machine = Machine::new();
    machine.results.insert(0x1_8000, Ok(Returned { value: 0, table }));
    let record = machine.record(0, &image);
    pool.execute(&record, &mut machine);
    assert!(matches!(pool.dispatch(0xf0, 20, &mut machine)[4], Dispatched::Ran { library: Some(0), .. }));
    assert_eq!(
        pool.dispatch(0x7e, 9, &mut machine)[4],
        Dispatched::Ran { library: None, func: 0x100, status: 0 },
        "only extended instructions have a spec"
    );
}

#[test]
fn refused_libraries_leave_nothing() {
    type Prepare = fn(&mut Machine, &mut Record, &mut Lib);
    // what is wrong; the outcome; the last log line
    let rows: &[(Prepare, Refusal, &str)] = &[
        (
            |_, record, _| record.library_size = 0x1_0001,
            Refusal::Size { found: 0x1_0001, allowed: 0x1_0000 },
            "Invalid library_size: 65537 (max: 65536)",
        ),
        (
            |_, _, lib| lib.entry = CODE - 0x1_8000,
            Refusal::NullStart,
            "Corrupted prelink library; NULL start symbol",
        ),
        (|machine, _, _| machine.fails_init = true, Refusal::DmaInit, "iDMA channel 0 failed to initialize!"),
        (|machine, _, _| machine.transfers = Some(0), Refusal::Dma(DmaError(7)), "iDMA error: 7"),
        (|machine, _, _| machine.transfers = Some(1), Refusal::Dma(DmaError(7)), "iDMA error: 7"),
        (|machine, _, _| machine.transfers = Some(2), Refusal::Dma(DmaError(7)), "iDMA error: 7"),
        (|_, record, _| record.soc_addr += 0x100_0000, Refusal::Dma(DmaError(2)), "iDMA error: 2"),
        (|_, _, lib| lib.entry = DATA, Refusal::Misplaced, "WIN[1]"),
        (|_, record, _| record.library_size = 0x60, Refusal::Misplaced, "WIN[1]"),
        (
            |machine, _, _| {
                machine.results.insert(0x1_8000, Ok(Returned { value: 2, table: None }));
            },
            Refusal::Start { status: 2 },
            "LIB: ",
        ),
        (
            |machine, _, _| {
                machine.results.insert(0x1_8000, Err(CallError("trap".into())));
            },
            Refusal::Call(CallError("trap".into())),
            "LIB: ",
        ),
        (
            |machine, _, _| {
                machine
                    .results
                    .insert(0x1_8000, Ok(Returned { value: 0, table: Some(TableRef { addr: 4, rows: 1 }) }));
            },
            Refusal::Dma(DmaError(3)),
            "iDMA error: 3",
        ),
    ];
    for (row, (prepare, refusal, line)) in rows.iter().enumerate() {
        let mut machine = Machine::new();
        let mut record = Record::load(0, 0, 0);
        let (image, table) = library(&CAYMAN, &[10], |lib| prepare(&mut machine, &mut record, lib));
        let sound = machine.record(1, &image);
        let size = if record.library_size == 0 { sound.library_size } else { record.library_size };
        let record = Record::load(sound.soc_addr + record.soc_addr, 1, size).on_cores(0x20);
        let mut pool = Pool::new(&Config::new(CAYMAN));
        pool.announce_table(1, table.unwrap());
        assert_eq!(
            pool.execute(&record, &mut machine),
            [(5, Outcome::Refused(refusal.clone()))],
            "row {row}"
        );
        let last = lines(&pool, 5).last().copied().unwrap_or_default().to_owned();
        assert!(last.starts_with(line), "row {row}: {last}");
        let core = &pool.cores()[5];
        assert_eq!(
            (core.resident().count(), core.windows().free(), core.rows().count()),
            (0, 15, 0),
            "row {row}"
        );
        assert!(machine.windows.is_empty(), "row {row}");
    }
}

#[test]
fn an_unset_size_gets_a_default() {
    let (image, _) = library(&CAYMAN, &[10], |_| {});
    let mut machine = Machine::new();
    let record = Record { library_size: 0, ..machine.record(1, &image) };
    let mut pool = Pool::new(&Config::new(CAYMAN));
    assert_eq!(pool.execute(&record.on_cores(1), &mut machine), [(0, Outcome::Loaded)]);
    assert_eq!(
        lines(&pool, 0)[1],
        "library_size not set, defaulting to data_scratch_size for backward compatibility"
    );
    pool.execute(&Record::unload(1), &mut machine);
    let mut pool = Pool::new(&Config { data_scratch_size: 0x100, ..Config::new(CAYMAN) });
    assert_eq!(
        pool.execute(&record.on_cores(1), &mut machine),
        [(0, Outcome::Refused(Refusal::Misplaced))],
        "the default may be too small"
    );
}

#[test]
fn core_counts() {
    let (_, mut machine, record) = loaded();
    // one core, all cores; anything else kills the cores it names
    for core in 0..8 {
        let mut pool = Pool::new(&Config::new(CAYMAN));
        assert_eq!(
            pool.execute(
                &record.on_cores(1 << core),
                &mut Machine { hbm: machine.hbm.clone(), ..Machine::new() }
            ),
            [(core, Outcome::Loaded)]
        );
        assert_eq!(pool.cores()[usize::from(core)].total_cpus(3), 1);
    }
    let mut pool = Pool::new(&Config::new(CAYMAN));
    assert_eq!(pool.execute(&record.on_cores(0), &mut machine), []);
    let died = Outcome::Died(Assertion::CORE_COUNT);
    assert_eq!(pool.execute(&record.on_cores(0x0a), &mut machine), [(1, died.clone()), (3, died)]);
    assert_eq!(
        lines(&pool, 3)[1],
        "/opt/workspace/NeuronUcode/src/external_lib/external_lib_loader.hpp:283 In function \
         load_external_libraries_impl -- entry.total_cpus == 1 || entry.total_cpus == NUM_POOL_CORES -- assertion failed"
    );
    assert_eq!(pool.execute(&record.on_cores(0x02), &mut machine), [(1, Outcome::Dead)]);
    assert_eq!(pool.dispatch(0xf0, 10, &mut machine)[1], Dispatched::Dead(Assertion::CORE_COUNT));
    assert_eq!(pool.dispatch(0xf0, 10, &mut machine)[2], Dispatched::Unknown);
}

#[test]
fn again_other_and_unknown() {
    let (mut pool, mut machine, record) = loaded();
    // O16: the same record again
    let again = pool.execute(&record, &mut machine);
    assert!(again.iter().all(|(_, outcome)| *outcome == Outcome::AlreadyLoaded));
    assert_eq!(machine.calls.len(), 8, "start ran once a core");
    // another library for the same memory
    let (image, _) = library(&CAYMAN, &[12], |_| {});
    let other = machine.record(4, &image);
    let outcome = pool.execute(&other.on_cores(1), &mut machine);
    assert_eq!(outcome, [(0, Outcome::Refused(Refusal::Occupied { by: 3 }))]);
    assert_eq!(lines(&pool, 0).last(), Some(&"Failed to allocate memory for library"));
    assert_eq!(pool.cores()[0].windows().free(), 14);
    // O3: another image under the same index
    let newer = Record { library_index: 3, ..other };
    assert_eq!(pool.execute(&newer.on_cores(1), &mut machine), [(0, Outcome::Loaded)]);
    assert!(lines(&pool, 0).contains(&"Library unloaded"));
    // O4: unknown and double unload
    let unload = Record::unload(3).on_cores(1);
    assert_eq!(pool.execute(&Record::unload(9).on_cores(1), &mut machine), [(0, Outcome::NotLoaded)]);
    assert_eq!(lines(&pool, 0).last(), Some(&"library 9 is not loaded"));
    assert_eq!(pool.execute(&unload, &mut machine), [(0, Outcome::Unloaded)]);
    assert_eq!(pool.execute(&unload, &mut machine), [(0, Outcome::NotLoaded)]);
}

#[test]
fn init_start_and_fini() {
    let hooks = |lib: &mut Lib| lib.dynamic = vec![(12, CODE + 0x20), (13, CODE + 0x30)];
    for calls_fini in [true, false] {
        let (image, _) = library(&CAYMAN, &[10], hooks);
        let mut machine = Machine::new();
        machine.results.insert(0x1_8030, Err(CallError("trap".into())));
        let record = machine.record(0, &image).on_cores(1);
        let mut pool = Pool::new(&Config { calls_fini, ..Config::new(CAYMAN) });
        pool.execute(&record, &mut machine);
        let unloaded = pool.execute(&Record::unload(0).on_cores(1), &mut machine);
        assert_eq!(unloaded, [(0, Outcome::Unloaded)], "whatever fini does");
        let mut calls = vec![(0, Entry::Init, 0x1_8020), (0, Entry::Start, 0x1_8000)];
        calls.extend(calls_fini.then_some((0, Entry::Fini, 0x1_8030)));
        assert_eq!(machine.calls, calls);
    }
}

/// Small regions beside each other, so that several libraries can be resident.
fn regions(count: u32) -> Vec<Bounds> {
    let region = |base: u32, i: u32, size| Region { base: base + i * size, size };
    (0..count)
        .map(|i| Bounds { code: region(0x1_0000, i, 0x800), data: region(0xb_0000, i, 0x400) })
        .collect()
}

#[test]
fn the_newest_library_is_asked_first() {
    let regions = regions(2);
    let mut machine = Machine::new();
    let mut pool = Pool::new(&Config { regions: regions.clone(), ..Config::new(CAYMAN) });
    for (index, (bounds, specs)) in (0..).zip([(regions[0], [10, 11]), (regions[1], [11, 12])]) {
        let (image, table) = library(&bounds, &specs, |_| {});
        pool.announce_table(index, table.unwrap());
        let record = machine.record(index, &image);
        pool.execute(&record, &mut machine);
    }
    let owner = |pool: &mut Pool, machine: &mut Machine, spec| match pool.dispatch(0xf0, spec, machine)[0] {
        Dispatched::Ran { library, .. } => library,
        _ => None,
    };
    let owners = [10, 11, 12].map(|spec| owner(&mut pool, &mut machine, spec));
    assert_eq!(owners, [Some(0), Some(1), Some(1)]);
    pool.execute(&Record::unload(1), &mut machine);
    let owners = [10, 11, 12].map(|spec| owner(&mut pool, &mut machine, spec));
    assert_eq!(owners, [Some(0), Some(0), None]);
}

#[test]
fn windows_run_out_after_fifteen() {
    let regions = regions(16);
    let mut machine = Machine::new();
    let mut pool = Pool::new(&Config { regions: regions.clone(), ..Config::new(CAYMAN) });
    for (index, bounds) in (0..).zip(&regions) {
        let (image, _) = library(bounds, &[10], |_| {});
        let record = machine.record(index, &image).on_cores(2);
        let want = if index < 15 { Outcome::Loaded } else { Outcome::Refused(Refusal::NoWindow) };
        assert_eq!(pool.execute(&record, &mut machine), [(1, want)], "library {index}");
    }
    assert_eq!(lines(&pool, 1).last(), Some(&"Failed to allocate memory for library"));
}

#[test]
fn ten_thousand_loads_and_unloads() {
    // Random libraries, cores and order, against a model that only knows which library is on which core.
    let regions = regions(20);
    let mut machine = Machine::new();
    let mut pool = Pool::new(&Config { regions: regions.clone(), ..Config::new(CAYMAN) });
    let mut records = Vec::new();
    for index in 0..30u32 {
        let home = index as usize % regions.len();
        let (image, table) = library(&regions[home], &[10 + index as u8], |_| {});
        pool.announce_table(index, table.unwrap());
        records.push((home, machine.record(index, &image)));
    }
    let mut state = 0x5eed_u64;
    let mut random = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut model: Vec<Vec<u32>> = vec![Vec::new(); CORES];
    let mut seen = std::collections::HashMap::new();
    for _ in 0..10_000 {
        let (home, load) = records[random(records.len())];
        let index = load.library_index;
        let mask = if random(4) == 0 { 0xff } else { 1u8 << random(8) };
        let is_load = random(5) < 3;
        let record = if is_load { load } else { Record::unload(index) };
        for (core, outcome) in pool.execute(&record.on_cores(mask), &mut machine) {
            let on_core = &mut model[usize::from(core)];
            let is_here = on_core.contains(&index);
            let rival = on_core.iter().find(|&&other| other as usize % regions.len() == home).copied();
            let want = match (is_load, is_here) {
                (false, false) => Outcome::NotLoaded,
                (false, true) => Outcome::Unloaded,
                (true, true) => Outcome::AlreadyLoaded,
                (true, false) if on_core.len() == 15 => Outcome::Refused(Refusal::NoWindow),
                (true, false) => match rival {
                    Some(by) => Outcome::Refused(Refusal::Occupied { by }),
                    None => Outcome::Loaded,
                },
            };
            assert_eq!(outcome, want, "library {index} on core {core}");
            match outcome {
                Outcome::Loaded => on_core.push(index),
                Outcome::Unloaded => on_core.retain(|&other| other != index),
                _ => {}
            }
            *seen.entry(std::mem::discriminant(&outcome)).or_insert(0) += 1;
        }
        for (core, on_core) in pool.cores().iter().zip(&model) {
            assert_eq!(core.resident().collect::<Vec<_>>(), *on_core);
            assert_eq!(core.windows().free(), 15 - on_core.len());
            let newest_first: Vec<Option<u32>> = on_core.iter().rev().map(|&index| Some(index)).collect();
            assert_eq!(core.rows().map(|(library, _)| library).collect::<Vec<_>>(), newest_first);
        }
        assert_eq!(machine.windows.len(), model.iter().map(Vec::len).sum::<usize>());
        pool.log.clear();
    }
    assert_eq!(seen.len(), 5, "every outcome but death: {seen:?}");
    for index in 0..30 {
        pool.execute(&Record::unload(index), &mut machine);
    }
    assert!(machine.windows.is_empty());
    for core in pool.cores() {
        assert_eq!((core.windows().free(), core.windows().used().count(), core.rows().count()), (15, 0, 0));
    }
    // Everything came back: all of it can be had again.
    for &(_, record) in &records[..15] {
        let outcomes = pool.execute(&record, &mut machine);
        assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Loaded));
    }
}
