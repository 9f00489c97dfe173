//! Memory without a value: what is only moved passes, what decides something is told once, and the core runs on as before.

mod common;

use common::encode::*;
use xtensa_iss::{At, Bus, BusFault, Config, Cpu, Ram, Stop, Undefined, Use};

const BASE: u32 = 0x1000;
const DATA: u32 = 0x1800;
/// Bytes from here on hold no value until something is stored there.
const FRESH: u32 = DATA + 0x100;

/// RAM with a mask of undefined bits beside every byte.
struct Fresh {
    ram: Ram,
    undefined: Vec<u8>,
    tracking: bool,
    switches: u32,
    uses: Vec<(u32, Use)>,
}

impl Fresh {
    fn mask(&mut self, addr: u32, size: usize) -> &mut [u8] {
        let at = (addr - BASE) as usize;
        &mut self.undefined[at..at + size]
    }
    fn check(&mut self, addr: u32, size: usize) -> Result<(), BusFault> {
        let unwritten = addr >= BASE && self.mask(addr, size).iter().any(|bits| *bits != 0);
        if unwritten && !self.tracking { Err(BusFault::Undefined) } else { Ok(()) }
    }
}

impl Bus for Fresh {
    fn load8(&mut self, at: At, addr: u32) -> Result<u8, BusFault> {
        self.check(addr, 1)?;
        self.ram.load8(at, addr)
    }
    fn load16(&mut self, at: At, addr: u32) -> Result<u16, BusFault> {
        self.check(addr, 2)?;
        self.ram.load16(at, addr)
    }
    fn load32(&mut self, at: At, addr: u32) -> Result<u32, BusFault> {
        self.check(addr, 4)?;
        self.ram.load32(at, addr)
    }
    fn store8(&mut self, at: At, addr: u32, value: u8) -> Result<(), BusFault> {
        self.ram.store8(at, addr, value)?;
        self.mask(addr, 1).fill(0);
        Ok(())
    }
    fn store16(&mut self, at: At, addr: u32, value: u16) -> Result<(), BusFault> {
        self.ram.store16(at, addr, value)?;
        self.mask(addr, 2).fill(0);
        Ok(())
    }
    fn store32(&mut self, at: At, addr: u32, value: u32) -> Result<(), BusFault> {
        self.ram.store32(at, addr, value)?;
        self.mask(addr, 4).fill(0);
        Ok(())
    }
    fn fetch(&mut self, addr: u32, into: &mut [u8; 16]) -> Result<usize, BusFault> {
        self.ram.fetch(addr, into)
    }
    fn track(&mut self, on: bool) {
        self.switches += u32::from(self.tracking != on);
        self.tracking = on;
    }
    fn undefined(&mut self, addr: u32, size: u8) -> Undefined {
        let mut bytes = [0; 4];
        if addr < BASE {
            return Undefined::default();
        }
        bytes[..usize::from(size)].copy_from_slice(self.mask(addr, size.into()));
        Undefined { bits: u32::from_le_bytes(bytes), origin: 1 }
    }
    fn set_undefined(&mut self, addr: u32, size: u8, undefined: Undefined) {
        let bytes = undefined.bits.to_le_bytes();
        self.mask(addr, size.into()).copy_from_slice(&bytes[..usize::from(size)]);
    }
    fn use_undefined(&mut self, at: At, what: Use, _: Undefined) -> Result<(), BusFault> {
        self.uses.push((at.pc - BASE, what));
        Ok(())
    }
}

/// Runs `code` with a3 = FRESH, a4 = 1, a5 = DATA, and says what undefined bits were used for, by offset of the
/// instruction; at the end nothing is tracked if every register was overwritten.
fn run(code: &[&[u8]]) -> Fresh {
    let (stop, bus) = run_to_stop(code);
    assert_eq!(stop, Stop::Budget);
    bus
}

fn run_to_stop(code: &[&[u8]]) -> (Stop, Fresh) {
    let mut ram = Ram::new(BASE, 0x1000);
    ram.write(BASE, &code.concat()).expect("fits");
    let mut undefined = vec![0; 0x1000];
    undefined[(FRESH - BASE) as usize..].fill(0xff);
    let mut bus = Fresh { ram, undefined, tracking: false, switches: 0, uses: Vec::new() };
    let mut cpu = Cpu::new(Config::default());
    cpu.set_pc(BASE);
    for (r, value) in [(3, FRESH), (4, 1), (5, DATA)] {
        cpu.set_ar(r, value);
    }
    (cpu.run(&mut bus, code.len() as u64), bus)
}

/// Each row: a program whose first instruction, `l32i a2, a3, 0`, loads what nothing has written, and whether its last
/// one decides on it.
#[test]
fn one_row_a_rule() {
    let load = l32i(2, 3, 0);
    let store = s32i(2, 3, 4);
    let back = l32i(6, 3, 4);
    let and_one = rrr(0, 1, 2, 2, 4); // and a2, a2, a4
    let or_one = rrr(0, 2, 2, 2, 4); // or a2, a2, a4
    let masked = rrr(0, 1, 6, 4, 2); // and a6, a4, a2
    let cancel = rrr(0, 3, 6, 6, 2); // xor a6, a6, a2: what GCC 13 makes of a2 & ~a4
    let low_bit = rrr(4, 0, 6, 0, 2); // extui a6, a2, 0, 1
    let next_bit = rrr(4, 0, 6, 1, 2); // extui a6, a2, 1, 1
    let rows: &[(&str, &[&[u8]], bool)] = &[
        ("a value that is only loaded", &[&load, &NOP], false),
        ("a branch on it", &[&load, &branch_zero(1, 2, 3)], true),
        ("a copy", &[&load, &store], false),
        ("a branch on the copy", &[&load, &store, &back, &branch_zero(1, 6, 3)], true),
        ("a branch on what overwrote it", &[&load, &movi(2, 7), &branch_zero(1, 2, 3)], false),
        ("a bit that a mask cleared", &[&load, &and_one, &next_bit, &branch_zero(1, 6, 3)], false),
        ("the bit that a mask left", &[&load, &and_one, &low_bit, &branch_zero(1, 6, 3)], true),
        ("a bit that was set", &[&load, &or_one, &low_bit, &branch_zero(1, 6, 3)], false),
        ("another bit than was set", &[&load, &or_one, &next_bit, &branch_zero(1, 6, 3)], true),
        (
            "a bit that was cancelled",
            &[&load, &masked, &cancel, &rrr(4, 0, 6, 0, 6), &branch_zero(1, 6, 3)],
            false,
        ),
        (
            "another than was cancelled",
            &[&load, &masked, &cancel, &rrr(4, 0, 6, 1, 6), &branch_zero(1, 6, 3)],
            true,
        ),
        (
            "what it was cancelled by is another now",
            &[&load, &masked, &l32i(2, 3, 4), &cancel, &rrr(4, 0, 6, 0, 6), &branch_zero(1, 6, 3)],
            true,
        ),
        ("a word with a bit set is not zero", &[&load, &or_one, &branch_zero(1, 2, 3)], false),
        ("its sign is unknown", &[&load, &or_one, &branch_zero(2, 2, 3)], true),
        (
            "bits survive memory",
            &[&load, &or_one, &store, &back, &rrr(4, 0, 6, 0, 6), &branch_zero(1, 6, 3)],
            false,
        ),
        ("a sum", &[&load, &add(6, 2, 4), &branch_zero(1, 6, 3)], true),
        ("a shift brings zeros", &[&load, &rrr(1, 1, 2, 2, 31), &low_bit, &branch_zero(1, 6, 3)], false),
        ("an address", &[&load, &l32i(6, 2, 0)], true),
        ("a divisor", &[&load, &rrr(2, 12, 6, 4, 2)], true),
        ("a dividend", &[&load, &rrr(2, 12, 6, 2, 4)], false),
        ("not selected", &[&load, &rrr(3, 8, 4, 2, 4), &branch_zero(1, 4, 3)], false), // moveqz a4, a2, a4
        ("selected", &[&load, &rrr(3, 9, 4, 2, 4), &branch_zero(1, 4, 3)], true),      // movnez a4, a2, a4
        (
            "half of it, written",
            &[&load, &rri8(2, 5, 3, 4, 4), &rri8(2, 1, 3, 6, 4), &branch_zero(1, 6, 3)],
            false,
        ),
    ];
    for (name, code, decides) in rows {
        let last = code[..code.len() - 1].iter().map(|insn| insn.len() as u32).sum();
        // An address out of nowhere faults; what counts is that it was told before.
        if *name == "an address" || *name == "a divisor" {
            let (_, bus) = run_to_stop(code);
            assert_eq!(bus.uses.last().map(|(pc, _)| *pc), Some(last), "{name}");
            continue;
        }
        let bus = run(code);
        let told: Vec<u32> = bus
            .uses
            .iter()
            .filter(|(_, what)| !matches!(what, Use::Store { .. }))
            .map(|(pc, _)| *pc)
            .collect();
        assert_eq!(told, if *decides { vec![last] } else { vec![] }, "{name}");
    }
}

#[test]
fn what_is_told_is_told_once() {
    let branch = branch_zero(1, 2, 3);
    let bus = run(&[&l32i(2, 3, 0), &mov(6, 2), &branch, &branch, &branch_zero(1, 6, 3)]);
    assert_eq!(bus.uses, [(6, Use::Decision)]);
}

#[test]
fn the_core_runs_plainly_once_no_register_holds_such_bits() {
    let code: Vec<[u8; 3]> = [l32i(2, 3, 0), s32i(2, 3, 4), movi(2, 0), JUMP_TO_NEXT, NOP].into();
    let code: Vec<&[u8]> = code.iter().map(|insn| insn.as_slice()).collect();
    let bus = run(&code);
    assert_eq!((bus.tracking, bus.switches), (false, 2));
    assert_eq!(bus.uses, [(3, Use::Store { addr: FRESH + 4, size: 4 })]);
}

/// A function's registers go through save areas and come back as undefined as they were.
#[test]
fn window_spills_carry_undefined_bits_and_tell_nothing() {
    const TOP: u32 = BASE + 0xf00;
    // down(n): n == 0, or load a7 from fresh memory, CALL8 down(n - 1), branch on a7.
    let code = [
        entry(1, 64),
        branch_zero(0, 2, 18),
        l32i(7, 3, 0),
        addi(10, 2, -1),
        mov(11, 3),
        call(2, BASE + 15, BASE),
        branch_zero(1, 7, 3),
        NOP,
        RETW,
    ]
    .concat();
    let branch = 18;
    let mut ram = Ram::new(BASE, 0x1000);
    ram.write(BASE, &code).expect("fits");
    ram.write(BASE + 0x700, &[0x00, 0x41, 0x00]).expect("fits"); // break 1, 0
    let mut undefined = vec![0; 0x1000];
    undefined[0x900..0x904].fill(0xff);
    let mut bus = Fresh { ram, undefined, tracking: false, switches: 0, uses: Vec::new() };
    let mut cpu = Cpu::new(Config::default());
    cpu.set_ar(1, TOP);
    cpu.call4(BASE, BASE + 0x700, &[8, BASE + 0x900]);
    assert_eq!(cpu.run(&mut bus, 10_000), Stop::Break { s: 1, t: 0 });
    // Every frame's register came back undefined from memory, or was told with another's. No spill or fill told anything.
    let decisions: Vec<u32> =
        bus.uses.iter().filter(|(_, what)| *what == Use::Decision).map(|(pc, _)| *pc).collect();
    assert!(!decisions.is_empty() && decisions.iter().all(|pc| *pc == branch), "{:?}", bus.uses);
    let spilled = bus.undefined[0x904..].iter().filter(|bits| **bits != 0).count();
    assert!(spilled >= 4, "some frames were spilled with it");
}
