//! Programs of the real compiler, linked, run on a simulated core to their breakpoints.
#![allow(dead_code)] // each test binary uses its part

mod links;

use std::cell::RefCell;

use gpsimd_image::ElfFile;
use gpsimd_lsp::Variant;
use gpsimd_toolchain::Relocations;
use gpsimd_variables::{Inspect, Program};
use links::Links;
use xtensa_iss::{Config, Cpu, Ram, State};

/// Memory behind the image, for the stack.
const STACK: u32 = 1 << 16;

/// Compiles and links a source for one core.
pub fn image(name: &str, source: &str, flags: &[&str]) -> Vec<u8> {
    let links = Links::new();
    let object = links.compile(name, source, flags);
    links.link(Variant::Single, &[object], Relocations::Drop, &["-Wl,--entry=entry", "-nostartfiles"])
}

/// Where the SDK's headers are, and the tests' own.
pub fn includes() -> [String; 2] {
    ["sdk/include", "tests/kernels"].map(|path| format!("-I{}/{path}", env!("CARGO_MANIFEST_DIR")))
}

/// A core that runs a program from breakpoint to breakpoint.
pub struct Machine {
    cpu: RefCell<Cpu>,
    pub ram: RefCell<Ram>,
    /// Device memory, from address 0x1000 on.
    pub device: RefCell<Vec<u8>>,
}

/// Bytes of `break`, which changes nothing.
const BREAK: u32 = 3;

/// Where device memory begins.
pub const DEVICE: u64 = 0x1000;

impl Machine {
    pub fn new(image: &[u8]) -> Machine {
        let file = ElfFile::parse(image).expect("an image");
        let base = Variant::Single.window().base;
        let end = file.loads().map(|(_, segment)| segment.end() as u32).max().expect("a segment");
        let top = end.next_multiple_of(16) + STACK;
        let mut ram = Ram::new(base, (top - base) as usize);
        for (_, segment) in file.loads() {
            ram.write(segment.vaddr, segment.data).expect("inside");
        }
        let mut cpu = Cpu::new(Config::default());
        cpu.set_state(&State::default());
        cpu.set_ar(1, top - 64);
        let entry = file.symbol("entry").expect("an entry").value;
        // there is no instruction to return to: the program ends there
        cpu.call4(entry, top - 32, &[]);
        Machine { cpu: RefCell::new(cpu), ram: RefCell::new(ram), device: RefCell::default() }
    }

    /// Runs over the next breakpoint, and says where that is.
    pub fn go(&self) -> u32 {
        self.next().unwrap_or_else(|| panic!("no breakpoint before {:#x}", self.pc()))
    }

    /// The same; none where the program ends.
    pub fn next(&self) -> Option<u32> {
        let stop = self.cpu.borrow_mut().run(&mut *self.ram.borrow_mut(), 10_000_000);
        matches!(stop, xtensa_iss::Stop::Break { .. }).then(|| self.pc() - BREAK)
    }

    /// One instruction; false where the program ends.
    pub fn step(&self) -> bool {
        use xtensa_iss::Stop;
        let stop = self.cpu.borrow_mut().run(&mut *self.ram.borrow_mut(), 1);
        matches!(stop, Stop::Budget | Stop::Break { .. })
    }

    pub fn pc(&self) -> u32 {
        self.cpu.borrow().pc()
    }
}

impl Inspect for Machine {
    fn memory(&self, address: u32, into: &mut [u8]) -> bool {
        let ram = self.ram.borrow();
        let start = address.wrapping_sub(ram.base()) as usize;
        let bytes = start.checked_add(into.len()).and_then(|end| ram.bytes().get(start..end));
        bytes.map(|bytes| into.copy_from_slice(bytes)).is_some()
    }

    fn register(&self, number: u8) -> Option<u32> {
        Some(self.cpu.borrow().ar(number))
    }

    fn device_memory(&self, address: u64, into: &mut [u8]) -> bool {
        let device = self.device.borrow();
        let start = address.wrapping_sub(DEVICE) as usize;
        let bytes = start.checked_add(into.len()).and_then(|end| device.get(start..end));
        bytes.map(|bytes| into.copy_from_slice(bytes)).is_some()
    }

    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.ram.borrow_mut().write(address, bytes).is_ok()
    }

    fn write_register(&mut self, number: u8, value: u32) -> bool {
        self.cpu.borrow_mut().set_ar(number, value);
        true
    }
}

pub fn program(image: &[u8]) -> Program {
    Program::parse(image).expect("debug information")
}
