//! Tracking: one instruction with the undefined bits of its operands.
//!
//! What an instruction reads and writes is in its row. Undefined bits of an input make the whole output undefined, unless
//! the instruction is one of those that move single bits. Undefined bits matter when they decide something: a branch, a
//! loop, a jump, an address, a divisor; what is stored is the bus's to judge. Unaware of why memory holds no value.

use crate::bus::{At, Bus, Undefined, Use};
use crate::core::{Core, Done, Leave};
use crate::fault::{Access as Accessing, FaultKind};
use crate::isa::{Access, Flow, Insn, Kind, Op, b4const, b4constu, execute};
use crate::shadow::{Places, SAR, address, boolean, float, seen_from};
use crate::special;

/// Executes one instruction like [`execute`], and moves undefined bits as it moves values.
#[inline(never)]
pub(crate) fn step<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, marks: Marks) -> Done {
    core.shadow.tick();
    if let Some(done) = step_defined(core, bus, insn, marks) {
        return done;
    }
    let before = Before::new(core, insn);
    judge(core, bus, insn, &before)?;
    if insn.op == Op::Retw || insn.op == Op::RetwN {
        return step_return(core, bus, insn);
    }
    // A load may write its own address register: what it reads is asked before.
    let loaded = match before.memory {
        Some(Memory { addr, size, access: Access::In | Access::InOut }) => bus.undefined(addr, size),
        _ => Undefined::default(),
    };
    let output = output(core, insn, &before, loaded);
    let done = execute(core, bus, insn);
    if done == Err(Leave::Fault) {
        return done;
    }
    write(core, bus, insn, &before, output);
    if insn.op == Op::And && output.bits != 0 {
        note_mask(core, insn, &before);
    }
    done
}

/// Remembers an `and` of undefined bits with a value.
fn note_mask(core: &mut Core, insn: &Insn, before: &Before) {
    let (of, mask) = match (before.ua.bits, before.ub.bits) {
        (0, _) => (insn.t, before.a),
        (_, 0) => (insn.s, before.b),
        _ => return,
    };
    let [result, of] = [insn.r, of].map(|r| address(before.position, r));
    core.shadow.mask(result, of, mask);
}

/// [`step`] of an instruction that reads values only, which nearly all do; `None` if this is none, or one that moves registers
/// in ways of its own.
#[inline(always)]
fn step_defined<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, marks: Marks) -> Option<Done> {
    let position = core.state.window_base;
    if marks.is_special || !core.shadow.hold_values(seen_from(position, marks.read)) {
        return None;
    }
    if marks.loads
        && let Some(Memory { addr, size, .. }) = Memory::of(core, insn)
        && bus.undefined(addr, size).bits != 0
    {
        return None;
    }
    let done = execute(core, bus, insn);
    if done != Err(Leave::Fault) {
        core.shadow.define(seen_from(position, marks.written));
    }
    Some(done)
}

/// What is asked of an instruction each time it is tracked: its row's operands as sets of registers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Marks {
    /// Registers as the window at 0 shows them.
    read: Places,
    written: Places,
    loads: bool,
    /// Whether it turns the window, or names registers by number.
    is_special: bool,
}

impl Marks {
    pub fn of(insn: &Insn) -> Self {
        let is_special = matches!(insn.op, Op::Rsr | Op::Wsr);
        let mut marks = Self { read: 0, written: 0, loads: false, is_special };
        for operand in insn.row().operands() {
            let places = places(insn, operand.kind, 0).fold(0, |set, place| set | 1 << place);
            marks.read |= if operand.access == Access::Out { 0 } else { places };
            marks.written |= if operand.access == Access::In { 0 } else { places };
            marks.loads |= matches!(operand.kind, Kind::Memory(_)) && operand.access != Access::Out;
            marks.is_special |= operand.kind == Kind::Window;
        }
        marks
    }
}

/// Memory that an instruction accesses.
#[derive(Debug, Clone, Copy)]
struct Memory {
    addr: u32,
    size: u8,
    access: Access,
}

impl Memory {
    /// Of an instruction that is about to be executed.
    fn of(core: &Core, insn: &Insn) -> Option<Self> {
        insn.row().operands().iter().find_map(|operand| match operand.kind {
            Kind::Memory(size) => {
                let a = core.ar(insn.s);
                let addr = match insn.op {
                    Op::L32r => insn.imm,
                    Op::Lsx | Op::Lsxu | Op::Ssx | Op::Ssxu => a.wrapping_add(core.ar(insn.t)),
                    _ => a.wrapping_add(insn.imm),
                };
                Some(Self { addr, size, access: operand.access })
            }
            _ => None,
        })
    }
}

/// What an instruction starts from.
struct Before {
    position: u8,
    at: At,
    /// Values and undefined bits of `as` and `at`.
    a: u32,
    b: u32,
    ua: Undefined,
    ub: Undefined,
    memory: Option<Memory>,
    /// Undefined bits of what a store stores.
    stored: Undefined,
}

impl Before {
    fn new(core: &Core, insn: &Insn) -> Self {
        let position = core.state.window_base;
        let (a, b) = (core.ar(insn.s), core.ar(insn.t));
        let shadow = &core.shadow;
        let stored = match insn.op {
            Op::Ssi | Op::Ssiu => shadow.get(float(insn.t)),
            Op::Ssx | Op::Ssxu => shadow.get(float(insn.r)),
            _ => shadow.ar(position, insn.t),
        };
        Self {
            position,
            at: At { pc: insn.pc, sp: core.ar(1) },
            a,
            b,
            ua: shadow.ar(position, insn.s),
            ub: shadow.ar(position, insn.t),
            memory: Memory::of(core, insn),
            stored,
        }
    }

    fn stores(&self) -> Option<(u32, u8)> {
        self.memory.filter(|memory| memory.access != Access::In).map(|memory| (memory.addr, memory.size))
    }
}

/// Tells the bus of undefined bits that decide something.
fn judge<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, before: &Before) -> Done {
    let indexed = matches!(insn.op, Op::Lsx | Op::Lsxu | Op::Ssx | Op::Ssxu);
    let address = [Some(before.ua), Some(before.ub).filter(|_| indexed)];
    if before.memory.is_some() && insn.op != Op::L32r {
        for undefined in address.into_iter().flatten().filter(|undefined| undefined.bits != 0) {
            tell(core, bus, before.at, Use::Address, undefined)?;
        }
    }
    if let Some((addr, size)) = before.stores()
        && before.stored.bits & low(size) != 0
    {
        tell(core, bus, before.at, Use::Store { addr, size }, before.stored)?;
    }
    let decides = decides(core, insn, before);
    if decides.bits != 0 {
        tell(core, bus, before.at, Use::Decision, decides)?;
    }
    Ok(())
}

fn tell<B: Bus>(core: &mut Core, bus: &mut B, at: At, what: Use, undefined: Undefined) -> Done {
    if let Err(fault) = bus.use_undefined(at, what, undefined) {
        return Err(core.fail(FaultKind::Bus { addr: 0, size: 0, access: Accessing::Load, fault }));
    }
    if !matches!(what, Use::Store { .. }) {
        core.shadow.forget(undefined.origin);
    }
    Ok(())
}

/// The undefined bits that decide where control goes. Bits that hold a value may settle it alone.
fn decides(core: &Core, insn: &Insn, before: &Before) -> Undefined {
    let &Before { a, b, ua, ub, .. } = before;
    let either =
        Undefined { bits: ua.bits | ub.bits, origin: if ua.bits != 0 { ua.origin } else { ub.origin } };
    let unless = |settled: bool, undefined: Undefined| if settled { Undefined::default() } else { undefined };
    let bit = |n: u32, of: Undefined| Undefined { bits: of.bits >> (n & 31) & 1, ..of };
    let differ = |x: u32| (a ^ x) & !either.bits != 0;
    let mask = |a: u32| {
        let bits = and(a, ua.bits, b, ub.bits);
        unless(a & b & !bits & !either.bits != 0, Undefined { bits, ..either })
    };
    match insn.op {
        Op::Beqz | Op::Bnez | Op::BeqzN | Op::BnezN => unless(a & !ua.bits != 0, ua),
        Op::Bltz | Op::Bgez => bit(31, ua),
        Op::Beqi | Op::Bnei => unless((a ^ b4const(insn.k) as u32) & !ua.bits != 0, ua),
        Op::Blti | Op::Bgei if b4const(insn.k) == 0 => bit(31, ua),
        Op::Blti | Op::Bgei => unless(settled(a, ua.bits, |x| (x as i32) < b4const(insn.k)), ua),
        Op::Bltui | Op::Bgeui => unless(settled(a, ua.bits, |x| x < b4constu(insn.k)), ua),
        Op::Beq | Op::Bne => unless(differ(b), either),
        Op::Blt | Op::Bge | Op::Bltu | Op::Bgeu => either,
        Op::Bany | Op::Bnone => mask(a),
        Op::Ball | Op::Bnall => mask(!a),
        Op::Bbc | Op::Bbs if ub.bits & 31 == 0 => bit(b, ua),
        Op::Bbc | Op::Bbs => either,
        Op::Bbci | Op::Bbsi => bit(insn.k.into(), ua),
        Op::Bf | Op::Bt => core.shadow.get(boolean(insn.s)),
        Op::Jx | Op::Callx0 | Op::Callx4 | Op::Callx8 | Op::Callx12 => ua,
        Op::Loop | Op::Loopnez | Op::Loopgtz => ua,
        Op::Quou | Op::Quos | Op::Remu | Op::Rems => unless(b & !ub.bits != 0, ub),
        Op::Ret | Op::RetN | Op::Retw | Op::RetwN => core.shadow.ar(before.position, 0),
        Op::AddiSp | Op::AddmiSp | Op::AddiNSp => ua,
        Op::Movsp | Op::Entry => ua,
        _ => Undefined::default(),
    }
}

/// Whether a comparison that is monotone in each bit has one outcome for all values of the undefined bits.
fn settled(value: u32, undefined: u32, holds: impl Fn(u32) -> bool) -> bool {
    let sign = undefined & 1 << 31;
    let corners =
        [value & !undefined, value | undefined, value & !undefined | sign, value & !sign | undefined & !sign];
    corners.iter().all(|&x| holds(x) == holds(value))
}

/// Undefined bits of `a & b`.
fn and(a: u32, ua: u32, b: u32, ub: u32) -> u32 {
    ua & ub | ua & b | ub & a
}

/// The lowest set bit and all above it: what a carry from there may change.
fn upward(bits: u32) -> u32 {
    bits | bits.wrapping_neg()
}

/// All bits, if there is one.
fn all(bits: u32) -> u32 {
    if bits == 0 { 0 } else { u32::MAX }
}

/// The bits of so many bytes.
fn low(size: u8) -> u32 {
    u32::MAX >> (32 - 8 * u32::from(size.clamp(1, 4)))
}

/// Undefined bits of what the instruction writes to its first written register.
fn output(core: &Core, insn: &Insn, before: &Before, loaded: Undefined) -> Undefined {
    let &Before { a, b, ua, ub, .. } = before;
    let (ma, mb) = (ua.bits, ub.bits);
    let fr = |f: u8| core.shadow.get(float(f));
    let sar = core.shadow.get(SAR);
    let shift = core.state.sar & 63;
    let any = inputs(core, insn, before);
    let one = |bits: u32| Undefined { bits, ..any };
    let by_sar = |bits: u32| if sar.bits != 0 { any } else { one(bits) };
    let old = core.shadow.ar(before.position, insn.r);
    // A conditional move: the condition's bits, whether it holds, both values.
    let choose = |condition: Undefined, holds: bool, new: Undefined, old: Undefined| match () {
        () if condition.bits != 0 => Undefined { bits: u32::MAX, ..condition },
        () if holds => new,
        () => old,
    };
    let br = |b: u8| core.shadow.get(boolean(b));
    match insn.op {
        Op::And => one(and(a, ma, b, mb)),
        Op::Or => one(and(!a, ma, !b, mb)),
        Op::Xor => {
            let [a, b] = [insn.s, insn.t].map(|r| address(before.position, r));
            one((ma | mb) & !core.shadow.common(a, b))
        }
        Op::MovN | Op::Movsp | Op::Wfr => ua,
        Op::Rfr | Op::MovS => fr(insn.s),
        Op::AbsS => Undefined { bits: fr(insn.s).bits & !(1 << 31), ..fr(insn.s) },
        Op::NegS => fr(insn.s),
        Op::Add | Op::AddN | Op::Sub | Op::Mull => one(upward(ma | mb)),
        Op::Addi | Op::AddiN | Op::Addmi => one(upward(ma)),
        Op::Addx2 | Op::Subx2 => one(upward(ma << 1 | mb)),
        Op::Addx4 | Op::Subx4 => one(upward(ma << 2 | mb)),
        Op::Addx8 | Op::Subx8 => one(upward(ma << 3 | mb)),
        Op::Neg => one(upward(mb)),
        Op::Const16 => one(mb << 16),
        Op::Mul16u | Op::Mul16s => one(all((ma | mb) & 0xffff)),
        Op::Sext => {
            let up = 31 - (insn.imm & 31);
            one(((ma << up) as i32 >> up) as u32)
        }
        Op::Slli => one((u64::from(ma) << (insn.imm & 63)) as u32),
        Op::Srli => one(mb >> (insn.imm & 31)),
        Op::Srai => one((mb as i32 >> (insn.imm & 31)) as u32),
        Op::Extui => one(mb >> (insn.k & 31) & ((1 << (insn.imm & 31)) - 1)),
        Op::Sll => by_sar((u64::from(ma) << 32 >> shift) as u32),
        Op::Srl => by_sar((u64::from(mb) >> shift) as u32),
        Op::Sra => by_sar((i64::from(mb as i32) >> shift) as u32),
        Op::Src => by_sar(((u64::from(ma) << 32 | u64::from(mb)) >> shift) as u32),
        Op::Ssr | Op::Ssl => one(all(ma & 31)),
        Op::Ssa8l | Op::Ssa8b => one(all(ma & 3)),
        Op::Moveqz | Op::Movnez if b & !mb != 0 => {
            choose(Undefined::default(), insn.op == Op::Movnez, ua, old)
        }
        Op::Moveqz => choose(ub, b == 0, ua, old),
        Op::Movnez => choose(ub, b != 0, ua, old),
        Op::Movltz => choose(Undefined { bits: mb >> 31, ..ub }, (b as i32) < 0, ua, old),
        Op::Movgez => choose(Undefined { bits: mb >> 31, ..ub }, b as i32 >= 0, ua, old),
        Op::Movf => choose(br(insn.t), !core.br(insn.t), ua, old),
        Op::Movt => choose(br(insn.t), core.br(insn.t), ua, old),
        Op::MoveqzS => choose(ub, b == 0, fr(insn.s), fr(insn.r)),
        Op::MovnezS => choose(ub, b != 0, fr(insn.s), fr(insn.r)),
        Op::MovltzS => choose(Undefined { bits: mb >> 31, ..ub }, (b as i32) < 0, fr(insn.s), fr(insn.r)),
        Op::MovgezS => choose(Undefined { bits: mb >> 31, ..ub }, b as i32 >= 0, fr(insn.s), fr(insn.r)),
        Op::MovfS => choose(br(insn.t), !core.br(insn.t), fr(insn.s), fr(insn.r)),
        Op::MovtS => choose(br(insn.t), core.br(insn.t), fr(insn.s), fr(insn.r)),
        Op::L16si => {
            let bits = loaded.bits & 0xffff;
            Undefined { bits: bits as u16 as i16 as u32, ..loaded }
        }
        Op::Rsr if insn.imm as u8 == special::SAR => sar,
        Op::Rsr if insn.imm as u8 == special::BR => {
            (0..16).map(|b| (b, br(b))).fold(Undefined::default(), |sum, (b, one)| match one.bits {
                0 => sum,
                _ => Undefined { bits: sum.bits | 1 << b, origin: one.origin },
            })
        }
        Op::Wsr => ub,
        _ if before.memory.is_some_and(|memory| memory.access != Access::Out) => loaded,
        _ if insn.row().flow == Flow::Ends => Undefined::default(),
        _ => one(all(any.bits)),
    }
}

/// The undefined bits of all register inputs together.
fn inputs(core: &Core, insn: &Insn, before: &Before) -> Undefined {
    let read = insn.row().operands().iter().filter(|operand| operand.access != Access::Out);
    read.flat_map(|operand| places(insn, operand.kind, before.position)).fold(
        Undefined::default(),
        |sum, place| {
            let one = core.shadow.get(place);
            let origin = if one.bits != 0 { one.origin } else { sum.origin };
            Undefined { bits: sum.bits | one.bits, origin }
        },
    )
}

/// The tracked registers that an operand is.
fn places(insn: &Insn, kind: Kind, position: u8) -> std::ops::Range<usize> {
    let (first, count) = match kind {
        Kind::Ar(field) => (address(position, insn.field(field)), 1),
        Kind::A0 => (address(position, 0), 1),
        Kind::A1 => (address(position, 1), 1),
        Kind::Fr(field) => (float(insn.field(field)), 1),
        Kind::Br(field, count) => (boolean(insn.field(field)), usize::from(count)),
        Kind::Sar => (SAR, 1),
        _ => (0, 0),
    };
    first..first + count
}

/// Moves undefined bits to where the values went.
fn write<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, before: &Before, output: Undefined) {
    match insn.op {
        Op::Wsr if insn.imm as u8 == special::SAR => return core.shadow.set(SAR, output),
        Op::Wsr if insn.imm as u8 == special::BR => {
            for b in 0..16 {
                let bit = Undefined { bits: output.bits >> b & 1, ..output };
                core.shadow.set(boolean(b), bit);
            }
            return;
        }
        // The return address and the new stack pointer hold values; so does what a window's turn brought up.
        Op::Call4 | Op::Callx4 => core.shadow.set_ar(before.position, 4, Undefined::default()),
        Op::Call8 | Op::Callx8 => core.shadow.set_ar(before.position, 8, Undefined::default()),
        Op::Call12 | Op::Callx12 => core.shadow.set_ar(before.position, 12, Undefined::default()),
        Op::Entry => {
            let position = core.state.window_base;
            core.shadow.set_ar(position, insn.s, Undefined::default());
            return;
        }
        // The address written back is known.
        Op::Lsiu | Op::Lsxu | Op::Ssiu | Op::Ssxu => {
            core.shadow.set_ar(before.position, insn.s, Undefined::default());
        }
        _ => {}
    }
    if let Some((addr, size)) = before.stores() {
        let stored = Undefined { bits: before.stored.bits & low(size), ..before.stored };
        if stored.bits != 0 {
            bus.set_undefined(addr, size, stored);
        }
    }
    let updates = matches!(insn.op, Op::Lsiu | Op::Lsxu | Op::Ssiu | Op::Ssxu);
    let written = insn.row().operands().iter().filter(|operand| operand.access != Access::In);
    for operand in written {
        if updates && matches!(operand.kind, Kind::Ar(_)) {
            continue;
        }
        for place in places(insn, operand.kind, before.position) {
            core.shadow.set(place, output);
        }
    }
}

/// RETW: what the callee leaves in its registers is nobody's, but for the results in a2..a5.
fn step_return<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn) -> Done {
    let position = core.state.window_base;
    let done = execute(core, bus, insn);
    if done != Err(Leave::Fault) {
        for r in [0, 1].into_iter().chain(6..16) {
            // What the caller's frame fill brought is below.
            core.shadow.set_ar(position, r, Undefined::default());
        }
        core.shadow.leave(position);
    }
    done
}
