//! The whole lane, with a core to run what comes out: link, synthesize, prelink, stage, record, load, bind, dispatch,
//! unload, destroy.
#![allow(clippy::unwrap_used)]

#[path = "support/links.rs"]
mod links;

use gpsimd_loader::device::{
    CORES, CallError, Config, Dispatched, DmaError, Entry, Hardware, Outcome, Pool, Refusal, Returned, Window,
};
use gpsimd_loader::library::{Context, ContextId};
use gpsimd_loader::memory::HostMemory;
use gpsimd_loader::record::{RECORD, Record};
use gpsimd_loader::registry::Registry;
use gpsimd_loader::selector::Environment;
use gpsimd_loader::sequence::{Core, get_load_sequence, get_unload_sequence};
use gpsimd_loader::split::synthesize;
use gpsimd_loader::{Bounds, Generation, Mode, kernel_table, prelink};
use links::Links;
use xtensa_iss::{Cpu, Ram, State, Stop};

/// Two kernels that write a row of numbers into a mailbox, through everything that the loader has to relocate.
const KERNELS: &str = r#"
extern "C" void _init();
extern "C" int weak_fn() __attribute__((weak));
struct Shape {
  int side;
  explicit Shape(int s) : side(s) {}
  virtual int area() { return side; }
};
struct Square : Shape {
  explicit Square(int s) : Shape(s * 2) {}
  int area() override { return side * side; }
};
Square square(7);
static int primes[4] = {2, 3, 5, 7};
int* second = &primes[1];
const char* words[] = {"one", "two", "three"};
int counter;
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
int (*functions[])(int) = {twice, thrice};
static volatile unsigned* mailbox;

__attribute__((noinline)) static int depth(int n) { return n == 0 ? primes[3] : 1 + depth(n - 1); }

int first_k_stack_switch() {
  mailbox[0] = static_cast<Shape&>(square).area();
  mailbox[1] = *second;
  mailbox[2] = words[2][1];
  mailbox[3] = functions[1](primes[2]);
  mailbox[4] = ++counter;
  mailbox[5] = depth(40);
  mailbox[6] = weak_fn ? weak_fn() : 99;
  return 5;
}
int second_k_stack_switch() {
  mailbox[0] = 1000 + ++counter;
  return 0;
}
extern "C" int _start(unsigned* host) {
  if (host[0] < 36) return 2;
  mailbox = reinterpret_cast<unsigned*>(host[1]);
  _init();
  return 0;
}
extern "C" void __split_fini() { mailbox[7] = 0xf1; }
"#;

const HOST: u32 = 0x8_0000;
const MAILBOX: u32 = 0x8_0100;
const STACK: u32 = 0x9_0000;
const RETURN: u32 = 0x100;

/// Eight cores with 768 KiB of memory each.
struct Machine<'a> {
    hbm: &'a HostMemory,
    cores: Vec<(Cpu, Ram)>,
}

impl<'a> Machine<'a> {
    fn new(hbm: &'a HostMemory, hand_off_size: u32) -> Machine<'a> {
        let core = |prid| {
            let mut ram = Ram::new(0, 0xc_0000);
            ram.write(RETURN, &[0x00, 0x41, 0x00]).unwrap(); // break 1, 0
            ram.write(HOST, &[hand_off_size.to_le_bytes(), MAILBOX.to_le_bytes()].concat()).unwrap();
            (Cpu::new(xtensa_iss::Config { prid, ..xtensa_iss::Config::default() }), ram)
        };
        Machine { hbm, cores: (0..CORES as u32).map(core).collect() }
    }

    fn mailbox(&self, core: usize) -> [u32; 8] {
        let bytes = &self.cores[core].1.bytes()[MAILBOX as usize..];
        std::array::from_fn(|i| u32::from_le_bytes(bytes[4 * i..4 * i + 4].try_into().unwrap()))
    }
}

impl Hardware for Machine<'_> {
    fn program_window(&mut self, _core: u8, _slot: u8, _window: Option<&Window>) {}

    fn init_dma(&mut self, _core: u8) -> Result<(), DmaError> {
        Ok(())
    }

    fn dma(&mut self, _core: u8, soc_addr: u64, into: &mut [u8]) -> Result<(), DmaError> {
        into.copy_from_slice(self.hbm.at(soc_addr, into.len()).ok_or(DmaError(1))?);
        Ok(())
    }

    fn store(&mut self, core: u8, addr: u32, bytes: &[u8]) -> Result<(), DmaError> {
        let (cpu, ram) = &mut self.cores[usize::from(core)];
        ram.write(addr, bytes).map_err(|_| DmaError(2))?;
        cpu.invalidate_code(addr, bytes.len() as u32);
        Ok(())
    }

    fn load(&mut self, core: u8, addr: u32, into: &mut [u8]) -> Result<(), DmaError> {
        let bytes = self.cores[usize::from(core)].1.bytes();
        into.copy_from_slice(bytes.get(addr as usize..addr as usize + into.len()).ok_or(DmaError(3))?);
        Ok(())
    }

    fn call(&mut self, core: u8, entry: Entry, addr: u32) -> Result<Returned, CallError> {
        let (cpu, ram) = &mut self.cores[usize::from(core)];
        cpu.set_state(&State::default());
        cpu.set_ar(1, STACK);
        let arguments: &[u32] = if entry == Entry::Start { &[HOST] } else { &[] };
        cpu.call4(addr, RETURN, arguments);
        match cpu.run(ram, 1_000_000) {
            Stop::Break { s: 1, t: 0 } => Ok(Returned { value: cpu.call_result(), table: None }),
            stop => Err(CallError(format!("{stop:?} at {:#x}", cpu.pc()))),
        }
    }
}

/// The library's ELF.
fn library() -> Vec<u8> {
    let links = Links::new();
    let ops = kernel_table::number(&["first_k", "second_k"], kernel_table::FIRST_FREE_SPEC).unwrap();
    let rows = kernel_table::source(&ops).unwrap();
    let objects = [links.compile("kernels.cpp", KERNELS), links.compile("rows.cpp", &rows)];
    let linked = links.link(&objects, |job| job.ldflags = vec!["-Wl,-u,__split_fini".into()]);
    synthesize(&linked, &Bounds::CAYMAN).unwrap().elf
}

/// The record that one of the generators writes into a buffer of one.
fn record(write: impl FnOnce(&mut [u8]) -> usize) -> Record {
    let mut storage = [0u8; RECORD + 8];
    let start = storage.as_ptr().align_offset(8);
    let buffer = &mut storage[start..start + RECORD];
    assert_eq!(write(buffer), 1);
    Record::parse_all(buffer).unwrap()[0]
}

#[test]
fn from_source_to_numbers() {
    let elf = library();
    let mut registry = Registry::new();
    registry.insert(Generation::Cayman, 0, elf.clone());
    let mut context =
        Context::new(ContextId(0), HostMemory::new(0x10_0000_0000, 1 << 30), Environment::default());
    let library = context.create(&registry, Generation::Cayman.coretype(), 0, 0).unwrap();
    let core = Core { context: context.id };
    let log = &mut context.log;
    let load = record(|buffer| get_load_sequence(Some(&library), Some(&core), Some(buffer), log).unwrap());
    let unload =
        record(|buffer| get_unload_sequence(Some(&library), Some(&core), Some(buffer), log).unwrap());

    let table = prelink(&elf, &Bounds::CAYMAN, Mode::Strict, &mut |_| {}).unwrap().kernel_table.unwrap();
    let mut pool = Pool::new(&Config::new(Bounds::CAYMAN));
    pool.announce_table(load.library_index, table);
    let mut machine = Machine::new(&context.memory, 36);
    let outcomes = pool.execute(&load, &mut machine);
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Loaded), "{outcomes:?}\n{:#?}", pool.log);

    for ran in pool.dispatch(0xf0, 10, &mut machine) {
        let Dispatched::Ran { library: Some(0), status, .. } = ran else { panic!("{ran:?}") };
        assert_eq!(status, 0, "the row returns 0, whatever the launcher does");
    }
    for core in 0..CORES {
        assert_eq!(machine.mailbox(core), [196, 3, u32::from(b'h'), 15, 1, 47, 99, 0], "core {core}");
    }
    assert!(matches!(pool.dispatch(0xf0, 11, &mut machine)[3], Dispatched::Ran { .. }));
    assert_eq!(machine.mailbox(3)[0], 1002, "zeroed memory is kept between calls, by core");
    assert_eq!(pool.dispatch(0xf0, 12, &mut machine)[3], Dispatched::Unknown);

    let outcomes = pool.execute(&unload, &mut machine);
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Unloaded));
    assert_eq!(machine.mailbox(3)[7], 0xf1, "fini ran");
    // Loaded again, it starts afresh.
    pool.execute(&load, &mut machine);
    pool.dispatch(0xf0, 11, &mut machine);
    assert_eq!(machine.mailbox(3)[0], 1001);

    context.destroy(library).unwrap();
    assert_eq!(context.memory.allocations(), 0);
}

#[test]
fn a_library_that_does_not_start_is_not_bound() {
    // load-and-dispatch.md §16: a hand-off block of 35 bytes
    let elf = library();
    let prelinked = prelink(&elf, &Bounds::CAYMAN, Mode::Strict, &mut |_| {}).unwrap();
    let image = prelinked.image();
    let mut memory = HostMemory::new(0, 1 << 30);
    let handle = gpsimd_loader::memory::DeviceMemory::malloc(&mut memory, image.len() as u64, 0x20).unwrap();
    gpsimd_loader::memory::DeviceMemory::write(&mut memory, handle, 0, &image).unwrap();
    let mut machine = Machine::new(&memory, 35);
    let mut pool = Pool::new(&Config::new(Bounds::CAYMAN));
    pool.announce_table(0, prelinked.kernel_table.unwrap());
    let record = Record::load(0, 0, image.len() as u32).on_cores(1);
    assert_eq!(pool.execute(&record, &mut machine), [(0, Outcome::Refused(Refusal::Start { status: 2 }))]);
    assert_eq!(pool.dispatch(0xf0, 10, &mut machine)[0], Dispatched::Unknown);
}
