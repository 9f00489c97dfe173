//! What a profiled bus is told: the same of translated code as of interpreted, and all of it.

mod common;

use std::collections::BTreeMap;

use common::generate::{Features, Kind, program};
use common::image::BASE;
use common::rng::Rng;
use xtensa_iss::{At, Bus, BusFault, Config, Cpu, FETCH_BYTES, Layout, Ram, Reach, Stop, Tally};

/// What happened, and how many instructions had passed then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Entered { pc: u32, site: u32, at: u64 },
    Left { at: u64 },
}

/// Memory that keeps a profile.
struct Profiled {
    ram: Ram,
    passed: u64,
    spots: BTreeMap<u32, Tally>,
    events: Vec<Event>,
}

impl Profiled {
    fn spot(&mut self, pc: u32) -> &mut Tally {
        self.spots.entry(pc).or_default()
    }

    fn load<T>(&mut self, at: At, loaded: Result<T, BusFault>) -> Result<T, BusFault> {
        self.spot(at.pc).loads += u64::from(loaded.is_ok());
        loaded
    }

    fn store(&mut self, at: At, stored: Result<(), BusFault>) -> Result<(), BusFault> {
        self.spot(at.pc).stores += u64::from(stored.is_ok());
        stored
    }
}

impl Bus for Profiled {
    fn load8(&mut self, at: At, addr: u32) -> Result<u8, BusFault> {
        let loaded = self.ram.load8(at, addr);
        self.load(at, loaded)
    }
    fn load16(&mut self, at: At, addr: u32) -> Result<u16, BusFault> {
        let loaded = self.ram.load16(at, addr);
        self.load(at, loaded)
    }
    fn load32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        let loaded = self.ram.load32(at, addr);
        self.load(at, loaded)
    }
    fn store8(&mut self, at: At, addr: u32, value: u8) -> Result<(), BusFault> {
        let stored = self.ram.store8(at, addr, value);
        self.store(at, stored)
    }
    fn store16(&mut self, at: At, addr: u32, value: u16) -> Result<(), BusFault> {
        let stored = self.ram.store16(at, addr, value);
        self.store(at, stored)
    }
    fn store32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault> {
        let stored = self.ram.store32(at, addr, value);
        self.store(at, stored)
    }
    fn literal32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.ram.load32(at, addr)
    }
    fn fetch(&mut self, addr: u32, into: &mut [u8; FETCH_BYTES]) -> Result<usize, BusFault> {
        self.ram.fetch(addr, into)
    }
    fn layout(&self) -> Layout {
        self.ram.layout()
    }
    fn reach(&mut self) -> Reach<'_> {
        self.ram.reach()
    }
    fn constant32(&mut self, addr: u32) -> Option<u32> {
        self.ram.constant32(addr)
    }
    fn is_profiled(&self) -> bool {
        true
    }
    fn entered(&mut self, pc: u32, site: u32) {
        self.events.push(Event::Entered { pc, site, at: self.passed });
    }
    fn executed(&mut self, pcs: impl Iterator<Item = u32>) {
        for pc in pcs {
            self.spot(pc).instructions += 1;
            self.passed += 1;
        }
    }
    fn passed(&mut self, instructions: u64) {
        self.passed += instructions;
    }
    fn tallied(&mut self, pc: u32, tally: Tally) {
        let spot = self.spot(pc);
        spot.instructions += tally.instructions;
        spot.loads += tally.loads;
        spot.stores += tally.stores;
    }
    fn left(&mut self) {
        self.events.push(Event::Left { at: self.passed });
    }
}

/// Runs a program in slices until it stops for good, and keeps its profile.
fn profile(
    translate_after: Option<u32>,
    slice: u64,
    program: &common::generate::Program,
) -> (Profiled, u64, Stop) {
    let mut ram = Ram::new(BASE, program.memory as usize);
    ram.write(BASE, &program.bytes).expect("it fits");
    let mut bus = Profiled { ram, passed: 0, spots: BTreeMap::new(), events: Vec::new() };
    let mut cpu = Cpu::new(Config { native: false, translate_after, ..Config::default() });
    cpu.set_pc(program.entry);
    let stop = loop {
        match cpu.run(&mut bus, slice) {
            Stop::Budget => {}
            // The first call ends a program as well as its last: what it would be answered is of no interest.
            stop => break stop,
        }
    };
    cpu.tell_tallies(&mut bus);
    bus.spots.retain(|_, spot| *spot != Tally::default());
    let instructions = cpu.instructions();
    (bus, instructions, stop)
}

#[test]
fn translated_code_tells_what_interpreted_code_tells() {
    let features = Features { booleans: true, multiply_high: true, float: true };
    let kinds = [Kind::Integer, Kind::Memory, Kind::Control, Kind::Loops, Kind::Windows];
    for (seed, slice) in [(1, 1 << 32), (2, 997), (3, 64)] {
        let mut rng = Rng::new(seed << 20 | 0x19);
        let chosen: Vec<Kind> = (0..80).map(|_| rng.pick(&kinds)).collect();
        let program = program(&mut rng, &chosen, features);
        let (want, instructions, stop) = profile(None, slice, &program);
        assert_eq!(want.spots.values().map(|spot| spot.instructions).sum::<u64>(), instructions);
        assert!(want.events.len() > 20, "{} events", want.events.len());
        for translate_after in [0, 2] {
            let (have, count, end) = profile(Some(translate_after), slice, &program);
            assert_eq!((have.passed, count, end), (instructions, instructions, stop), "seed {seed}");
            assert_eq!(have.events, want.events, "seed {seed}");
            assert_eq!(have.spots, want.spots, "seed {seed}");
        }
    }
}
