//! A region as host code: control flow, counting, leaving.
//!
//! Host registers: `rbx` the window, `rbp` the record, `r14` the first memory, `r15` the instructions left, `rax`, `rcx`,
//! `rdx` scratch; the others hold guest registers. Unaware of what most instructions do, which is in `arithmetic` and
//! `access`.

mod windows;

use std::mem::offset_of;

use iced_x86::{Code, Instruction, MemoryOperand, Register};

use super::asm::{Asm, Label, at};
use super::context::{Context, Reason, SLOT_CODE, SLOT_PC, SLOTS};
use super::region::{Node, Region, Registers, Uses, is_branch};
use super::tally::{Access, Share, accesses};
use crate::isa::{Insn, Op};
use crate::reach::Layout;

/// Host registers that hold guest registers.
pub(super) const HOSTS: [Register; 8] = [
    Register::ESI,
    Register::EDI,
    Register::R8D,
    Register::R9D,
    Register::R10D,
    Register::R11D,
    Register::R12D,
    Register::R13D,
];

/// The 64-bit register around a 32-bit one.
pub(super) fn wide(register: Register) -> Register {
    match register {
        Register::EAX => Register::RAX,
        Register::ECX => Register::RCX,
        Register::EDX => Register::RDX,
        Register::ESI => Register::RSI,
        Register::EDI => Register::RDI,
        Register::R8D => Register::R8,
        Register::R9D => Register::R9,
        Register::R10D => Register::R10,
        Register::R11D => Register::R11,
        Register::R12D => Register::R12,
        Register::R13D => Register::R13,
        other => other,
    }
}

/// A field of the record.
macro_rules! field {
    ($($name:tt)+) => {
        $crate::translate::asm::at(iced_x86::Register::RBP, std::mem::offset_of!($crate::translate::context::Context, $($name)+) as i32)
    };
}
pub(super) use field;

/// Where a guest register is.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Host(Register),
    Memory(MemoryOperand),
}

/// What an early end of a node takes back of what was counted when it began.
#[derive(Clone, Copy, Default)]
pub(super) struct Uncount {
    pub instructions: i32,
    pub loads: i32,
    pub stores: i32,
}

/// Code behind the region's own, where control seldom gets.
type Cold<'a> = Box<dyn FnOnce(&mut Emitter<'a>) + 'a>;

pub(super) struct Emitter<'a> {
    pub asm: Asm,
    pub layout: &'a Layout,
    region: &'a Region,
    places: [Option<Register>; 16],
    labels: Vec<Label>,
    cold: Vec<Cold<'a>>,
    /// The number of the first link, and of each the stub that leaves when it leads nowhere yet.
    first_link: u32,
    links: Vec<Label>,
    /// Registers whose value is known at this point of the node, and the shift amount.
    pub known: [Option<u32>; 16],
    pub known_sar: Option<u32>,
    /// Registers that may differ from memory at this point.
    pub dirty: Registers,
    /// What is left of the node behind the instruction at work.
    pub behind: Uncount,
    /// The node at work and the instruction of it.
    pub here: Here,
    /// The number of the first counter of a profile, if there is to be one, and what each stands for.
    pub first_counter: Option<u32>,
    pub counters: Vec<Vec<Share>>,
}

/// An instruction of a region: its node, and its place there.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Here(usize, usize);

/// A translated region: its code, and of the links in it the offsets of their stubs.
pub(super) struct Emitted {
    pub code: Vec<u8>,
    pub links: Vec<usize>,
    /// What each counter of a profile stands for.
    pub counters: Vec<Vec<Share>>,
}

/// Translates a region. Links are numbered from `first_link` on, counters of a profile from `first_counter` on.
pub(super) fn emit<'a>(
    region: &'a Region,
    layout: &'a Layout,
    constants: &'a dyn Fn(u32) -> Option<u32>,
    first_link: u32,
    first_counter: Option<u32>,
) -> Option<Emitted> {
    let mut asm = Asm::new();
    let labels = region.nodes.iter().map(|_| asm.label()).collect();
    let mut places = [None; 16];
    for (r, host) in region.mapped.iter().zip(HOSTS) {
        places[usize::from(*r & 15)] = Some(host);
    }
    let mut emitter = Emitter {
        asm,
        layout,
        region,
        places,
        labels,
        cold: Vec::new(),
        first_link,
        links: Vec::new(),
        known: [None; 16],
        known_sar: None,
        dirty: 0,
        behind: Uncount::default(),
        here: Here::default(),
        first_counter,
        counters: Vec::new(),
    };
    let entry = region.nodes.first().and_then(|node| node.insns.first());
    if let (Some(routine), Some(entry)) = (region.routine, entry) {
        emitter.routine(routine, entry);
    }
    for n in 0..region.nodes.len() {
        emitter.node(n, constants);
    }
    while let Some(cold) = emitter.cold.pop() {
        cold(&mut emitter);
    }
    let Emitter { asm, links, counters, .. } = emitter;
    let (code, places) = asm.finish()?;
    let links = links.into_iter().map(|stub| Asm::place(&places, stub)).collect::<Option<_>>()?;
    Some(Emitted { code, links, counters })
}

impl<'a> Emitter<'a> {
    pub fn put(&mut self, instruction: Result<Instruction, iced_x86::IcedError>) {
        self.asm.put(instruction);
    }

    pub fn cold(&mut self, code: impl FnOnce(&mut Emitter<'a>) + 'a) {
        self.cold.push(Box::new(code));
    }

    pub fn place(&self, r: u8) -> Place {
        match self.places[usize::from(r & 15)] {
            Some(host) => Place::Host(host),
            None => Place::Memory(window(r)),
        }
    }

    /// `code` is `op reg, rm`.
    pub fn rm(&mut self, code: Code, register: Register, place: Place) {
        self.put(match place {
            Place::Host(host) => Instruction::with2(code, register, host),
            Place::Memory(memory) => Instruction::with2(code, register, memory),
        });
    }

    /// `code` is `op rm, reg`.
    pub fn mr(&mut self, code: Code, place: Place, register: Register) {
        self.put(match place {
            Place::Host(host) => Instruction::with2(code, host, register),
            Place::Memory(memory) => Instruction::with2(code, memory, register),
        });
    }

    /// `code` is `op rm, imm`.
    pub fn mi(&mut self, code: Code, place: Place, value: u32) {
        self.put(match place {
            Place::Host(host) => Instruction::with2(code, host, value as i32),
            Place::Memory(memory) => Instruction::with2(code, memory, value as i32),
        });
    }

    /// Host register <- guest register.
    pub fn get(&mut self, host: Register, r: u8) {
        let place = self.place(r);
        self.rm(Code::Mov_r32_rm32, host, place);
    }

    /// Guest register <- host register.
    pub fn set(&mut self, r: u8, host: Register) {
        match self.place(r) {
            Place::Host(to) if to == host => {}
            place => self.mr(Code::Mov_rm32_r32, place, host),
        }
    }

    pub fn set_value(&mut self, r: u8, value: u32) {
        let place = self.place(r);
        self.mi(Code::Mov_rm32_imm32, place, value);
    }

    /// A field of 32 bits <- a value.
    pub fn field_value(&mut self, field: MemoryOperand, value: u32) {
        self.mi(Code::Mov_rm32_imm32, Place::Memory(field), value);
    }

    /// An instruction and those behind it in its node.
    pub fn rest(&self, Here(node, at): Here) -> &'a [Insn] {
        self.region.nodes.get(node).and_then(|node| node.insns.get(at..)).unwrap_or_default()
    }

    pub fn jump(&mut self, code: Code, label: Label) {
        self.asm.jump(code, label);
    }

    fn node(&mut self, n: usize, constants: &'a dyn Fn(u32) -> Option<u32>) {
        let region = self.region;
        let Some(node) = region.nodes.get(n) else { return };
        let label = self.labels[n];
        (self.known, self.known_sar) = ([None; 16], None);
        self.dirty = node.dirty;
        let insns = &node.insns;
        self.behind = count(insns);
        let all = self.behind;
        if n > 0 {
            self.asm.bind(label);
        } else if !node.begins_function() {
            // From outside, registers have to be loaded first.
            self.load();
            self.asm.bind(label);
        }
        // The budget, before anything else; what is counted ahead is taken back where the node ends early.
        let short = self.asm.label();
        self.put(Instruction::with2(Code::Sub_rm64_imm32, Register::R15, all.instructions));
        self.jump(Code::Jb_rel32_64, short);
        let (pc, dirty) = (node.pc, if n == 0 && node.begins_function() { 0 } else { node.dirty });
        self.cold(move |e| {
            e.asm.bind(short);
            e.spill(dirty);
            let uncount = Uncount { instructions: all.instructions, ..Uncount::default() };
            e.leave(Reason::Interpret, pc, uncount);
        });
        if n == 0 && node.begins_function() {
            if let Some(entry) = insns.first() {
                self.entry(entry);
                self.tell_entered(entry);
            }
            self.load();
            // Never a target from inside.
            self.asm.bind(label);
        }
        self.tally(|| insns.iter().map(Share::ran).collect());
        match (all.loads, all.stores) {
            (0, 0) => {}
            (loads, 0) => self.put(Instruction::with2(Code::Add_rm64_imm32, field!(counts), loads)),
            (loads, stores) => {
                let both = loads as u64 | (stores as u64) << 32;
                self.put(Instruction::with2(Code::Mov_r64_imm64, Register::RAX, both));
                self.put(Instruction::with2(Code::Add_rm64_r64, field!(counts), Register::RAX));
            }
        }
        for (k, insn) in insns.iter().enumerate() {
            (self.behind, self.here) = (count(&insns[k + 1..]), Here(n, k));
            let is_last = k + 1 == insns.len();
            if is_last && self.ends(node, insn) {
                return;
            }
            if !self.arithmetic(insn) && !self.access(insn, constants) {
                // ENTRY has been done; what else has no translation is in no node.
                debug_assert_eq!(insn.op, Op::Entry);
            }
            self.dirty |= Uses::of(insn).writes & region.mask();
        }
        self.fall_through(node);
    }

    /// The end of a node whose last instruction decides where control goes; says whether it was one.
    fn ends(&mut self, node: &Node, insn: &Insn) -> bool {
        match insn.op {
            op if is_branch(op) => {
                let target = self.target(insn.imm);
                self.branch(insn, target);
                self.fall_through(node);
            }
            Op::Loop | Op::Loopnez | Op::Loopgtz => {
                self.get(Register::EAX, insn.s);
                self.put(Instruction::with2(Code::Lea_r32_m, Register::ECX, at(Register::RAX, -1)));
                self.put(Instruction::with2(Code::Mov_rm32_r32, field!(lcount), Register::ECX));
                self.field_value(field!(lbeg), insn.end());
                self.field_value(field!(lend), insn.imm);
                if insn.op != Op::Loop {
                    let target = self.target(insn.imm);
                    self.put(Instruction::with2(Code::Test_rm32_r32, Register::EAX, Register::EAX));
                    let skip = if insn.op == Op::Loopnez { Code::Je_rel32_64 } else { Code::Jle_rel32_64 };
                    self.jump(skip, target);
                }
                self.fall_through(node);
            }
            Op::J => {
                let target = self.target(insn.imm);
                self.jump(Code::Jmp_rel32_64, target);
            }
            Op::Jx => {
                self.get(Register::EAX, insn.s);
                self.spill(self.dirty);
                self.look_up();
            }
            Op::Ret | Op::RetN => {
                self.get(Register::EAX, 0);
                self.spill(self.dirty);
                self.look_up();
            }
            Op::Call0 => self.call(insn, 0, Some(insn.imm)),
            Op::Call4 => self.call(insn, 1, Some(insn.imm)),
            Op::Call8 => self.call(insn, 2, Some(insn.imm)),
            Op::Call12 => self.call(insn, 3, Some(insn.imm)),
            Op::Callx0 => self.call(insn, 0, self.known[usize::from(insn.s & 15)]),
            Op::Callx4 => self.call(insn, 1, self.known[usize::from(insn.s & 15)]),
            Op::Callx8 => self.call(insn, 2, self.known[usize::from(insn.s & 15)]),
            Op::Callx12 => self.call(insn, 3, self.known[usize::from(insn.s & 15)]),
            Op::Retw | Op::RetwN => self.return_from_window(insn),
            _ => return false,
        }
        true
    }

    /// Where a jump to an address of the program leads.
    fn target(&mut self, pc: u32) -> Label {
        if let Some(n) = self.region.node(pc) {
            return self.labels[n];
        }
        let (label, dirty) = (self.asm.label(), self.dirty);
        self.cold(move |e| {
            e.asm.bind(label);
            e.spill(dirty);
            e.link(pc);
        });
        label
    }

    /// On behind the node.
    fn fall_through(&mut self, node: &Node) {
        if node.is_cut {
            self.spill(self.dirty);
            self.leave(Reason::Interpret, node.end, Uncount::default());
            return;
        }
        if let Some(start) = node.looping {
            self.loop_back(node.end, start);
        }
        let target = self.target(node.end);
        self.jump(Code::Jmp_rel32_64, target);
    }

    /// Back to LBEG, if a zero-overhead loop ends at `end` and goes on.
    fn loop_back(&mut self, end: u32, start: Option<u32>) {
        let (over, other) = (self.asm.label(), self.asm.label());
        self.mi(Code::Cmp_rm32_imm32, Place::Memory(field!(lend)), end);
        self.jump(Code::Jne_rel32_64, over);
        self.put(Instruction::with2(Code::Mov_r32_rm32, Register::EAX, field!(lcount)));
        self.put(Instruction::with2(Code::Sub_rm32_imm32, Register::EAX, 1));
        self.jump(Code::Jb_rel32_64, over);
        self.put(Instruction::with2(Code::Mov_rm32_r32, field!(lcount), Register::EAX));
        if let Some(start) = start {
            let target = self.target(start);
            self.mi(Code::Cmp_rm32_imm32, Place::Memory(field!(lbeg)), start);
            self.jump(Code::Je_rel32_64, target);
        }
        self.jump(Code::Jmp_rel32_64, other);
        let dirty = self.dirty;
        self.cold(move |e| {
            e.asm.bind(other);
            e.spill(dirty);
            e.put(Instruction::with2(Code::Mov_r32_rm32, Register::EAX, field!(lbeg)));
            e.look_up();
        });
        self.asm.bind(over);
    }

    /// Host registers <- what of them is needed.
    fn load(&mut self) {
        for r in (0..16).filter(|r| self.region.loaded >> r & 1 != 0) {
            if let Place::Host(host) = self.place(r) {
                self.put(Instruction::with2(Code::Mov_r32_rm32, host, window(r)));
            }
        }
    }

    /// Memory <- host registers that may have changed.
    pub fn spill(&mut self, dirty: Registers) {
        for r in (0..16).filter(|r| dirty >> r & 1 != 0) {
            if let Place::Host(host) = self.place(r) {
                self.put(Instruction::with2(Code::Mov_rm32_r32, window(r), host));
            }
        }
    }

    /// Leaves translated code. Everything must have been stored.
    pub fn leave(&mut self, reason: Reason, pc: u32, uncount: Uncount) {
        if uncount.instructions > 0 {
            self.put(Instruction::with2(Code::Add_rm64_imm32, Register::R15, uncount.instructions));
        }
        for (half, count) in [uncount.loads, uncount.stores].into_iter().enumerate() {
            if count > 0 {
                self.put(Instruction::with2(Code::Sub_rm32_imm32, half_of_counts(half), count));
            }
        }
        self.field_value(field!(pc), pc);
        self.field_value(field!(reason), reason as u32);
        self.put(Instruction::with1(Code::Jmp_rm64, field!(exit)));
    }

    /// To an address of the program that is not in the region. Everything must have been stored.
    fn link(&mut self, pc: u32) {
        let (number, stub) = (self.first_link + self.links.len() as u32, self.asm.label());
        self.links.push(stub);
        self.put(Instruction::with2(Code::Mov_r64_rm64, Register::RAX, field!(links)));
        self.put(Instruction::with1(Code::Jmp_rm64, at(Register::RAX, 8 * number as i32)));
        self.cold(move |e| {
            e.asm.bind(stub);
            e.field_value(field!(link), number);
            e.leave(Reason::Link, pc, Uncount::default());
        });
    }

    /// To the address of the program in `eax`. Everything must have been stored.
    pub fn look_up(&mut self) {
        let miss = self.asm.label();
        let slot = |offset: usize| at(Register::RCX, offset as i32);
        self.put(Instruction::with2(Code::Mov_r32_rm32, Register::ECX, Register::EAX));
        self.put(Instruction::with2(Code::And_rm32_imm32, Register::ECX, SLOTS as i32 - 1));
        self.put(Instruction::with2(Code::Shl_rm32_imm8, Register::ECX, 4));
        self.put(Instruction::with2(Code::Add_r64_rm64, Register::RCX, field!(slots)));
        self.put(Instruction::with2(Code::Cmp_r32_rm32, Register::EAX, slot(SLOT_PC)));
        self.jump(Code::Jne_rel32_64, miss);
        self.put(Instruction::with1(Code::Jmp_rm64, slot(SLOT_CODE)));
        self.cold(move |e| {
            e.asm.bind(miss);
            e.put(Instruction::with2(Code::Mov_rm32_r32, field!(pc), Register::EAX));
            e.field_value(field!(reason), Reason::Jump as u32);
            e.put(Instruction::with1(Code::Jmp_rm64, field!(exit)));
        });
    }
}

/// Instructions, and loads and stores that are counted by the bus.
fn count(insns: &[Insn]) -> Uncount {
    let mut count = Uncount { instructions: insns.len() as i32, ..Uncount::default() };
    for insn in insns {
        match accesses(insn.op) {
            Some(Access::Load) => count.loads += 1,
            Some(Access::Store) => count.stores += 1,
            None => {}
        }
    }
    count
}

/// The loads, or the stores, that were counted.
pub(super) fn half_of_counts(half: usize) -> MemoryOperand {
    at(Register::RBP, (offset_of!(Context, counts) + 4 * half) as i32)
}

/// Guest register `r` in memory.
pub(super) fn window(r: u8) -> MemoryOperand {
    at(Register::RBX, 4 * i32::from(r & 15))
}
