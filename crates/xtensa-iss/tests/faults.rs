//! Every kind of fault is precise: the right pc and numbers, nothing changed, repairable.

mod common;

use common::encode::*;
use xtensa_iss::{Access, At, Bus, BusFault, Config, Cpu, Fault, FaultKind, ISL, Ram, Stop, Unaligned};

const BASE: u32 = 0x1000;

fn machine(code: &[&[u8]]) -> (Cpu, Ram) {
    let mut ram = Ram::new(BASE, 0x1000);
    ram.write(BASE, &code.concat()).expect("fits");
    let mut cpu = Cpu::new(Config::default());
    cpu.set_pc(BASE);
    cpu.set_ar(1, BASE + 0x800);
    (cpu, ram)
}

#[test]
fn one_row_a_fault() {
    let ill = FaultKind::Illegal { bytes: [0, 0, 0] };
    let bus = |addr, size, access| FaultKind::Bus { addr, size, access, fault: BusFault::Unmapped };
    let unaligned = |addr, size, access| FaultKind::Unaligned { addr, size, access };
    // Each program runs one `movi.n a2, 5` and then faults at BASE + 2 (a3 = 0x101, a4 = 0, a1 = BASE + 0x800).
    let rows: &[(&str, &[u8], FaultKind)] = &[
        ("ill", &[0, 0, 0], ill),
        ("ill.n", &[0x6d, 0xf0], FaultKind::Illegal { bytes: [0x6d, 0xf0, 0] }),
        ("rfe has no vectors here", &[0x00, 0x30, 0x00], FaultKind::Illegal { bytes: [0, 0x30, 0] }),
        ("quos by zero", &rrr(2, 13, 2, 2, 4), FaultKind::DivideByZero),
        ("remu by zero", &rrr(2, 14, 2, 2, 4), FaultKind::DivideByZero),
        ("load", &l32i(2, 4, 8), bus(8, 4, Access::Load)),
        ("store byte", &rri8(2, 4, 3, 2, 0), bus(0x101, 1, Access::Store)),
        ("unaligned load", &l32i(2, 3, 0), unaligned(0x101, 4, Access::Load)),
        ("unaligned store", &rri8(2, 5, 3, 2, 0), unaligned(0x101, 2, Access::Store)),
        ("unaligned s32c1i", &rri8(2, 14, 3, 2, 0), unaligned(0x101, 4, Access::Store)),
        ("literal", &l32r(2, BASE + 2, 0xff0), bus(0xff0, 4, Access::Load)),
        ("rsr of a hole", &rsr(2, 100), FaultKind::NoSpecialRegister { number: 100 }),
        ("wsr.prid", &wsr(2, 235), FaultKind::NoSpecialRegister { number: 235 }),
        ("xsr of a hole", &xsr(2, 7), FaultKind::NoSpecialRegister { number: 7 }),
        ("rur of a hole", &rur(2, 17), FaultKind::NoUserRegister { number: 17 }),
        ("narrow flix", &[0x0f, 0, 0, 0, 0, 0, 0, 0], FaultKind::Flix { len: 8 }),
        ("wide flix F", &[0x0f, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], FaultKind::Flix { len: 16 }),
        ("wide flix E", &[0x0e, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], FaultKind::Flix { len: 16 }),
        ("no such bundle", &[0x0f, 0, 0, 7], FaultKind::Illegal { bytes: [0x0f, 0, 0] }),
        ("retw without a call", &RETW_N, FaultKind::Window { base: 0, start: 1 }),
        ("stack limit by addi", &addi(1, 1, -16), FaultKind::StackLimit { sp: 0x17f0, limit: 0x1800 }),
        ("stack limit by addmi", &addmi(1, 1, -256), FaultKind::StackLimit { sp: 0x1700, limit: 0x1800 }),
        ("stack limit by movsp", &rrr(0, 0, 1, 4, 1), FaultKind::StackLimit { sp: 0, limit: 0x1800 }),
        ("stack limit by entry", &entry(1, 32), FaultKind::StackLimit { sp: 0x17e0, limit: 0x1800 }),
    ];
    for (name, code, kind) in rows {
        let (mut cpu, mut ram) = machine(&[&narrow(12, 5, 2, 0), code]);
        cpu.set_ar(3, 0x101);
        cpu.set_isl(0x1800);
        let memory = ram.bytes().to_vec();
        assert_eq!(cpu.run(&mut ram, 10), Stop::Fault(Fault { pc: BASE + 2, kind: *kind }), "{name}");
        assert_eq!((cpu.pc(), cpu.instructions(), cpu.ar(2)), (BASE + 2, 1, 5), "{name}");
        let state = cpu.state();
        assert_eq!(cpu.run(&mut ram, 10), Stop::Fault(Fault { pc: BASE + 2, kind: *kind }), "{name}, again");
        assert_eq!(cpu.state(), state, "{name}: nothing changed");
        assert_eq!(ram.bytes(), memory, "{name}");
    }
}

#[test]
fn fetch_outside_is_reported_at_the_target() {
    let (mut cpu, mut ram) = machine(&[&rrr(0, 0, 0, 4, 0xa)]); // jx a4
    cpu.set_ar(4, 0x8000_0000);
    let kind = FaultKind::Fetch { fault: BusFault::Unmapped };
    assert_eq!(cpu.run(&mut ram, 10), Stop::Fault(Fault { pc: 0x8000_0000, kind }));
    assert_eq!(cpu.instructions(), 1);
}

#[test]
fn messages_carry_the_numbers() {
    let fault = |kind| Fault { pc: 0x8400_0010, kind }.to_string();
    assert_eq!(
        fault(FaultKind::StackLimit { sp: 0x80ff0, limit: 0x81000 }),
        "at pc 0x84000010: stack pointer 0x00080ff0 would be 16 bytes below the stack limit 0x00081000"
    );
    assert_eq!(
        fault(FaultKind::Bus { addr: 4, size: 2, access: Access::Store, fault: BusFault::Device(7) }),
        "at pc 0x84000010: store of 2 bytes at 0x00000004: the device refused (diagnostic 7)"
    );
}

#[test]
fn split_accesses_read_and_write_bytes() {
    let (_, mut ram) = machine(&[&s32i(2, 3, 0), &l32i(4, 3, 0), &rri8(2, 9, 3, 5, 1)]);
    let mut cpu = Cpu::new(Config { unaligned: Unaligned::Split, ..Config::default() });
    cpu.set_pc(BASE);
    cpu.set_ar(2, 0x8912_3456);
    cpu.set_ar(3, BASE + 0x101);
    assert_eq!(cpu.run(&mut ram, 3), Stop::Budget);
    assert_eq!((cpu.ar(4), cpu.ar(5)), (0x8912_3456, 0xffff_8912));
}

#[test]
fn traps_resume_behind_themselves() {
    let (mut cpu, mut ram) =
        machine(&[&[0x10, 0x41, 0x00], &[0x2d, 0xf5], &SYSCALL, &[0, 0x51, 0], &[0, 0x73, 0]]);
    let stops: Vec<Stop> = (0..5).map(|_| cpu.run(&mut ram, 10)).collect();
    let wanted =
        [Stop::Break { s: 1, t: 1 }, Stop::Break { s: 5, t: 0 }, Stop::Syscall, Stop::Simcall, Stop::Wait];
    assert_eq!(stops, wanted);
    assert_eq!((cpu.pc(), cpu.instructions()), (BASE + 14, 5));
}

#[test]
fn budget_stops_anywhere_and_counts_exactly() {
    // A block of 40, run in slices of every size, ends in the same state as in one go.
    let code: Vec<u8> = (0..40).flat_map(|i| addi(2, 2, i)).collect();
    let (mut whole, mut ram) = machine(&[&code]);
    assert_eq!(whole.run(&mut ram, 40), Stop::Budget);
    for slice in 1..=41 {
        let (mut cpu, mut ram) = machine(&[&code]);
        while cpu.instructions() < 40 {
            assert_eq!(cpu.run(&mut ram, slice.min(40 - cpu.instructions())), Stop::Budget);
        }
        assert_eq!(cpu.state(), whole.state(), "slices of {slice}");
    }
    assert_eq!(whole.pc(), BASE + 120);
}

#[test]
fn ccount_and_prid_and_the_stack_limit_read_back() {
    let (_, mut ram) = machine(&[&NOP, &rsr(2, 234), &rsr(3, 235), &wsr(4, ISL), &rsr(5, ISL), &rsr(6, 234)]);
    let mut cpu = Cpu::new(Config { prid: 5, ..Config::default() });
    cpu.set_pc(BASE);
    cpu.set_ar(4, 0x81000);
    cpu.add_cycles(100);
    assert_eq!(cpu.run(&mut ram, 6), Stop::Budget);
    assert_eq!([2, 3, 5, 6].map(|r| cpu.ar(r)), [102, 5, 0x81000, 106]);
    assert_eq!((cpu.isl(), cpu.cycles(), cpu.instructions()), (0x81000, 106, 6));
}

/// A device that sees who asks.
struct Witness(Ram, Vec<(At, u32)>);

impl Bus for Witness {
    fn load8(&mut self, at: At, addr: u32) -> Result<u8, BusFault> {
        self.0.load8(at, addr)
    }
    fn load16(&mut self, at: At, addr: u32) -> Result<u16, BusFault> {
        self.0.load16(at, addr)
    }
    fn load32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.1.push((at, addr));
        if addr < BASE { Err(BusFault::Device(addr)) } else { self.0.load32(at, addr) }
    }
    fn store8(&mut self, at: At, addr: u32, value: u8) -> Result<(), BusFault> {
        self.0.store8(at, addr, value)
    }
    fn store16(&mut self, at: At, addr: u32, value: u16) -> Result<(), BusFault> {
        self.0.store16(at, addr, value)
    }
    fn store32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.0.store32(at, addr, value)
    }
    fn fetch(&mut self, addr: u32, into: &mut [u8; 16]) -> Result<usize, BusFault> {
        self.0.fetch(addr, into)
    }
}

#[test]
fn the_bus_sees_pc_and_stack_pointer_and_may_refuse() {
    let (mut cpu, ram) = machine(&[&NOP, &l32i(2, 1, 4), &l32i(2, 4, 12)]);
    let mut bus = Witness(ram, Vec::new());
    let kind = FaultKind::Bus { addr: 12, size: 4, access: Access::Load, fault: BusFault::Device(12) };
    assert_eq!(cpu.run(&mut bus, 10), Stop::Fault(Fault { pc: BASE + 6, kind }));
    let at = |pc| At { pc, sp: BASE + 0x800 };
    assert_eq!(bus.1, [(at(BASE + 3), BASE + 0x804), (at(BASE + 6), 12)]);
}
