//! Every row of the instruction table decodes, prints and executes, and touches what it says it touches: an operation that
//! does nothing, or something else than its row's operands tell, fails here.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::rng::Rng;
use xtensa_iss::isa::{Access, B4CONST, Flow, Kind};
use xtensa_iss::{Config, Cpu, FaultKind, Insn, Op, Ram, State, Stop, decode, disasm};

const BASE: u32 = 0x4000_0000;
/// In the middle, so that literals lie before and jump targets on both sides.
const CODE: u32 = BASE + 0x8000;
const DATA: u32 = BASE + 0xA000;
const MEMORY: usize = 0x1_0000;
const TRIALS: usize = 64;

/// Rows that do nothing on purpose.
const NOTHING: &[&str] = &[
    "nop", "nop.n", "isync", "rsync", "esync", "dsync", "excw", "memw", "extw", "dpfr", "dpfw", "dpfro",
    "dpfwo", "dhwb", "dhwbi", "dhi", "dii", "ipf", "ihi", "iii",
];

fn words(rng: &mut Rng, op: Op) -> Vec<u8> {
    let pattern = op.row().pattern;
    let mut word = rng.word() & !pattern.mask | pattern.bits;
    // Few user registers exist.
    let number = 231 + rng.below(3);
    match op {
        Op::Rur => word = word & !0xff0 | number << 4,
        Op::Wur => word = word & !0xff00 | number << 8,
        _ => {}
    }
    word.to_le_bytes()[..usize::from(pattern.len)].to_vec()
}

fn rows() -> impl Iterator<Item = Op> {
    Op::ALL.iter().copied().filter(|op| op.row().pattern.len > 0)
}

#[test]
fn every_row_decodes_and_prints() {
    let mut rng = Rng::new(1);
    for op in rows() {
        let row = op.row();
        let mut found = 0;
        for _ in 0..TRIALS {
            let bytes = words(&mut rng, op);
            let insn = decode(&bytes, CODE);
            assert_eq!(insn.len, row.pattern.len);
            if insn.op != op {
                // Special cases come first, and only a pattern that is stricter is one.
                let other = insn.op.row();
                assert!((insn.op as u8) < op as u8 && other.mnemonic == row.mnemonic, "{op:?} {bytes:x?}");
                assert_eq!(other.pattern.mask & row.pattern.mask, row.pattern.mask, "{op:?}");
                continue;
            }
            found += 1;
            let text = disasm(&bytes, CODE);
            let (mnemonic, operands) = text.split_once(' ').unwrap_or((&text, ""));
            let names_register = matches!(op, Op::Rsr | Op::Wsr | Op::Xsr | Op::Rur | Op::Wur);
            assert!(
                mnemonic == row.mnemonic || names_register && mnemonic.starts_with(row.mnemonic),
                "{text}"
            );
            let written = row.operands().iter().filter(|operand| !operand.implicit).count();
            let shown = operands.split(", ").filter(|operand| !operand.is_empty()).count();
            assert!(shown == written || names_register && shown == 1, "{text}");
        }
        assert!(found > 0, "{op:?} is never decoded");
    }
}

#[test]
fn every_row_does_what_its_operands_say() {
    let mut rng = Rng::new(2);
    let mut cpus = [(); 3].map(|()| Cpu::new(Config::default()));
    for op in rows() {
        let mut seen = Seen::default();
        for _ in 0..TRIALS {
            let bytes = words(&mut rng, op);
            let insn = decode(&bytes, CODE);
            if insn.op == op {
                trial(&mut rng, &insn, &bytes, &mut cpus, &mut seen);
            }
        }
        seen.judge(op);
    }
}

/// What a run of one instruction may change, one name per register.
fn resources(insn: &Insn, accesses: &[Access]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for operand in insn.row().operands().iter().filter(|operand| accesses.contains(&operand.access)) {
        match operand.kind {
            Kind::Ar(field) => _ = names.insert(format!("a{}", insn.field(field))),
            Kind::A0 => _ = names.insert("a0".into()),
            Kind::A1 => _ = names.insert("a1".into()),
            Kind::Fr(field) => _ = names.insert(format!("f{}", insn.field(field))),
            Kind::Br(field, count) => {
                names.extend((0..count).map(|b| format!("b{}", insn.field(field) + b)));
            }
            Kind::Sar => _ = names.insert("sar".into()),
            Kind::Fcr => _ = names.insert("fcr".into()),
            Kind::Fsr => _ = names.insert("fsr".into()),
            Kind::Scompare1 => _ = names.insert("scompare1".into()),
            Kind::Ps => _ = names.insert("ps".into()),
            Kind::Loop => names.extend(["lbeg", "lend", "lcount"].map(String::from)),
            Kind::Memory(_) => _ = names.insert("memory".into()),
            Kind::Window | Kind::Imm(_) => {}
        }
    }
    names
}

/// Everything that differs, by the names of [`resources`]. The registers are those of the window.
fn differences((old, old_ram): (&Cpu, &Ram), (new, new_ram): (&Cpu, &Ram)) -> BTreeSet<String> {
    let (a, b) = (old.state(), new.state());
    let mut names: BTreeSet<String> =
        (0..16).filter(|&r| old.ar(r) != new.ar(r)).map(|r| format!("a{r}")).collect();
    names.extend((0..16).filter(|&f| a.fr[f] != b.fr[f]).map(|f| format!("f{f}")));
    names.extend((0..16).filter(|n| (a.br ^ b.br) >> n & 1 != 0).map(|n| format!("b{n}")));
    let words = |s: &State| {
        let loops = [("lbeg", s.lbeg), ("lend", s.lend), ("lcount", s.lcount)];
        let others =
            [("sar", s.sar), ("fcr", s.fcr), ("fsr", s.fsr), ("scompare1", s.scompare1), ("ps", s.ps)];
        [loops.as_slice(), &others].concat()
    };
    names.extend(words(&a).into_iter().zip(words(&b)).filter(|(x, y)| x != y).map(|(x, _)| x.0.to_owned()));
    if old_ram.bytes() != new_ram.bytes() {
        names.insert("memory".into());
    }
    names
}

/// Values among which equal ones, signs and small numbers are likely.
fn value(rng: &mut Rng) -> u32 {
    match rng.below(5) {
        0 => rng.word(),
        1 => 0,
        2 => rng.pick(&[0, 1, 2, 7, 64, u32::MAX, 0x8000_0000, 0x7fff_ffff]),
        _ => DATA + 4 * rng.below(256),
    }
}

/// Registers and memory for one instruction that finds the addresses it needs.
fn machine(rng: &mut Rng, insn: &Insn, bytes: &[u8]) -> (State, Ram) {
    let mut ram = Ram::new(BASE, MEMORY);
    let data: Vec<u8> = (0..0x800).map(|_| rng.word() as u8).collect();
    ram.write(DATA - 0x400, &data).expect("fits");
    ram.write(CODE, bytes).expect("fits");
    // A stack frame with its save areas.
    for word in 0..64 {
        ram.write(DATA + 0x4000 - 128 + 4 * word, &(DATA + 0x4000).to_le_bytes()).expect("fits");
    }
    let mut state = State { pc: CODE, br: rng.word() as u16, sar: rng.below(33), ..State::default() };
    state.scompare1 = value(rng);
    for f in &mut state.fr {
        *f = if rng.chance(50) { rng.float() } else { value(rng) };
    }
    for r in &mut state.ar {
        *r = value(rng);
    }
    if rng.chance(25) {
        state.ar[usize::from(insn.s)] = B4CONST[usize::from(insn.k & 15)] as u32;
    }
    let takes = |kind| insn.row().operands().iter().any(|operand| operand.kind == kind);
    if [1, 2, 4].map(Kind::Memory).into_iter().any(takes) {
        // Base and index; where both are one register the address is wild.
        state.ar[usize::from(insn.t)] = 4 * rng.below(64);
        state.ar[usize::from(insn.s)] = DATA + 4 * rng.below(64);
        if rng.chance(50) {
            state.scompare1 = 0;
            ram.write(DATA - 0x400, &[0; 0x800]).expect("fits");
        }
    }
    if takes(Kind::Window) {
        state.ar[0] = 1 << 30 | CODE & 0x3fff_ffff;
        state.ar[1] = DATA + 0x4000;
        state.ps |= rng.below(3) << 16;
    }
    (state, ram)
}

/// A core in this state, made from one that ran other code.
fn set(cpu: &mut Cpu, state: &State) {
    cpu.invalidate_code(CODE, 16);
    cpu.set_state(state);
}

#[derive(Default)]
struct Seen {
    changed: BTreeMap<String, u32>,
    completed: u32,
    left: u32,
    stops: BTreeSet<String>,
}

fn trial(rng: &mut Rng, insn: &Insn, bytes: &[u8], [cpu, idle, twin]: &mut [Cpu; 3], seen: &mut Seen) {
    let op = insn.op;
    let (before, mut ram) = machine(rng, insn, bytes);
    let ram_before = ram.clone();
    set(cpu, &before);
    set(idle, &before);
    let stop = cpu.run(&mut ram, 1);
    if let Stop::Fault(fault) = stop {
        assert!(!matches!(fault.kind, FaultKind::Flix { .. }), "{op:?}");
        let by_state = op == Op::Entry && insn.s > 3;
        let illegal = matches!(fault.kind, FaultKind::Illegal { .. });
        assert_eq!(illegal, matches!(op, Op::Ill | Op::IllN) || by_state && illegal, "{op:?}");
        assert_eq!(cpu.state(), before, "{op:?}: faults are precise");
        seen.stops.insert(if illegal { "illegal".into() } else { format!("{:?}", fault.kind) });
        return;
    }
    seen.completed += 1;
    if stop != Stop::Budget {
        seen.stops.insert(format!("{stop:?}"));
        assert_eq!(insn.row().flow, Flow::Ends, "{op:?}");
    }
    if cpu.pc() != insn.end() {
        seen.left += 1;
        assert_eq!(insn.row().flow, Flow::Ends, "{op:?}");
    }

    // The window turned: every name means another register.
    let turned = cpu.state().window_base != before.window_base;
    let changed = differences((idle, &ram_before), (cpu, &ram));
    let may = resources(insn, &[Access::Out, Access::InOut]);
    let special = matches!(op, Op::Wsr | Op::Xsr | Op::Wur);
    let windowed = insn.row().operands().iter().any(|operand| operand.kind == Kind::Window);
    if !turned && !special && !windowed {
        assert!(changed.is_subset(&may), "{op:?}: {changed:?}, but the row says {may:?}");
    }
    for name in &changed {
        *seen.changed.entry(kind_of(name, insn)).or_default() += 1;
    }

    // Nothing but its inputs decides what happens.
    let read = resources(insn, &[Access::In, Access::InOut]);
    let mut twin_ram = ram_before.clone();
    let mut state = before.clone();
    let other = |rng: &mut Rng, name: &str, old: u32| if read.contains(name) { old } else { rng.word() };
    for r in 0..16 {
        state.ar[r] = other(rng, &format!("a{r}"), state.ar[r]);
        state.fr[r] = other(rng, &format!("f{r}"), state.fr[r]);
        let bit = other(rng, &format!("b{r}"), (before.br >> r & 1).into()) as u16 & 1;
        state.br = state.br & !(1 << r) | bit << r;
    }
    if !read.contains("sar") {
        state.sar = rng.below(33);
    }
    state.scompare1 = other(rng, "scompare1", state.scompare1);
    if windowed || matches!(op, Op::Rsr | Op::Xsr) {
        return;
    }
    set(twin, &state);
    assert_eq!(twin.run(&mut twin_ram, 1), stop, "{op:?}");
    assert_eq!(twin.pc(), cpu.pc(), "{op:?}");
    let differing = differences((cpu, &ram), (twin, &twin_ram));
    assert!(differing.is_disjoint(&resources(insn, &[Access::Out])), "{op:?} depends on {differing:?}");
}

/// The operand of the row that a changed register is, as its position; `other` if it is none of them.
fn kind_of(name: &str, insn: &Insn) -> String {
    let position = insn.row().operands().iter().position(|operand| {
        let one = match operand.kind {
            Kind::Ar(field) => format!("a{}", insn.field(field)),
            Kind::Fr(field) => format!("f{}", insn.field(field)),
            Kind::Br(field, _) => format!("b{}", insn.field(field)),
            Kind::A0 => "a0".into(),
            Kind::A1 => "a1".into(),
            Kind::Memory(_) => "memory".into(),
            Kind::Sar => "sar".into(),
            Kind::Loop => "lcount".into(),
            Kind::Fsr => "fsr".into(),
            Kind::Ps => "ps".into(),
            Kind::Fcr | Kind::Scompare1 | Kind::Window | Kind::Imm(_) => return false,
        };
        one == name && operand.access != Access::In
    });
    position.map_or("other".into(), |position| format!("operand {position}"))
}

impl Seen {
    /// Every written operand was seen to change, and what changes nothing is known for it.
    fn judge(&self, op: Op) {
        let row = op.row();
        if matches!(op, Op::Ill | Op::IllN) {
            assert_eq!(self.stops, BTreeSet::from(["illegal".to_owned()]), "{op:?}");
            return;
        }
        assert!(self.completed > 0, "{op:?} never completes: {:?}", self.stops);
        for (position, operand) in row.operands().iter().enumerate() {
            // Flags and status change rarely; a window's turn gives every register another name.
            let rare = matches!(operand.kind, Kind::Fsr | Kind::Ps | Kind::Window);
            let windowed = row.operands().iter().any(|operand| operand.kind == Kind::Window);
            if operand.access != Access::In && !rare && !windowed {
                let name = format!("operand {position}");
                assert!(
                    self.changed.contains_key(&name),
                    "{op:?} never writes its {name}: {:?}",
                    self.changed
                );
            }
        }
        let does_something = !self.changed.is_empty() || self.left > 0 || !self.stops.is_empty();
        assert_eq!(does_something, !NOTHING.contains(&row.mnemonic), "{op:?}");
    }
}
