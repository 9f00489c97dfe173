//! Loads, stores and conditional store; the checked access functions that other classes use.

use crate::bus::{Bus, BusFault};
use crate::core::{Core, Done, Leave};
use crate::cpu::Unaligned;
use crate::fault::{Access, FaultKind};
use crate::op::{Insn, Op};

#[inline(always)]
pub(super) fn execute<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn) -> Done {
    match insn.op {
        Op::L8ui { t, s, offset } => {
            let addr = address(core, s, offset);
            let value =
                bus.load8(core.at(insn), addr).map_err(|f| refused(core, addr, 1, Access::Load, f))?;
            core.set_ar(t, u32::from(value));
        }
        Op::L16ui { t, s, offset } => {
            let value = load16(core, bus, insn, address(core, s, offset))?;
            core.set_ar(t, u32::from(value));
        }
        Op::L16si { t, s, offset } => {
            let value = load16(core, bus, insn, address(core, s, offset))?;
            core.set_ar(t, i32::from(value as i16) as u32);
        }
        // L32AI and S32RI order accesses of other cores; one core cannot tell.
        Op::L32i { t, s, offset } | Op::L32ai { t, s, offset } => {
            let value = load32(core, bus, insn, address(core, s, offset))?;
            core.set_ar(t, value);
        }
        // L32R at, label: the literal lies before the instruction, word-aligned by encoding.
        Op::L32r { t, addr } => {
            let value =
                bus.literal32(core.at(insn), addr).map_err(|f| refused(core, addr, 4, Access::Load, f))?;
            core.set_ar(t, value);
        }
        Op::S8i { t, s, offset } => {
            let addr = address(core, s, offset);
            let value = core.ar(t) as u8;
            bus.store8(core.at(insn), addr, value).map_err(|f| refused(core, addr, 1, Access::Store, f))?;
            written(core, addr, 1)?;
        }
        Op::S16i { t, s, offset } => {
            let (addr, value) = (address(core, s, offset), core.ar(t) as u16);
            store16(core, bus, insn, addr, value)?;
        }
        Op::S32i { t, s, offset } | Op::S32ri { t, s, offset } => {
            let (addr, value) = (address(core, s, offset), core.ar(t));
            store32(core, bus, insn, addr, value)?;
        }
        // S32C1I at, as, offset: at goes to memory if memory equals SCOMPARE1; at gets what memory held.
        Op::S32c1i { t, s, offset } => {
            let addr = address(core, s, offset);
            aligned(core, addr, 4, Access::Store)?;
            let old = load32(core, bus, insn, addr)?;
            let value = core.ar(t);
            if old == core.state.scompare1 {
                bus.store32(core.at(insn), addr, value)
                    .map_err(|f| refused(core, addr, 4, Access::Store, f))?;
            }
            core.set_ar(t, old);
            written(core, addr, 4)?;
        }
        // L32E/S32E: window-handler accesses; without privilege rings they are plain, at negative offsets.
        Op::L32e { t, s, offset } => {
            let addr = core.ar(s).wrapping_add_signed(i32::from(offset));
            let value = load32(core, bus, insn, addr)?;
            core.set_ar(t, value);
        }
        Op::S32e { t, s, offset } => {
            let (addr, value) = (core.ar(s).wrapping_add_signed(i32::from(offset)), core.ar(t));
            store32(core, bus, insn, addr, value)?;
        }
        // The index in the parent module sends nothing else here.
        _ => {}
    }
    Ok(())
}

#[inline(always)]
pub(super) fn address(core: &Core, s: u8, offset: u16) -> u32 {
    core.ar(s).wrapping_add(u32::from(offset))
}

#[cold]
#[inline(never)]
pub(super) fn refused(core: &mut Core, addr: u32, size: u8, access: Access, fault: BusFault) -> Leave {
    core.fail(FaultKind::Bus { addr, size, access, fault })
}

#[inline(always)]
fn aligned(core: &mut Core, addr: u32, size: u8, access: Access) -> Done {
    match addr & u32::from(size - 1) {
        0 => Ok(()),
        _ => Err(core.fail(FaultKind::Unaligned { addr, size, access })),
    }
}

/// To be called after a store of `len` bytes: leaves the block if they were code.
#[inline(always)]
pub(super) fn written(core: &mut Core, addr: u32, len: u32) -> Done {
    if core.code.near(addr) && core.code.overlaps(addr, len) {
        return Err(Leave::CodeWritten);
    }
    Ok(())
}

#[inline(always)]
fn load16<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, addr: u32) -> Result<u16, Leave> {
    if addr & 1 != 0 {
        return load_bytes(core, bus, insn, addr, 2).map(|v| v as u16);
    }
    bus.load16(core.at(insn), addr).map_err(|f| refused(core, addr, 2, Access::Load, f))
}

#[inline(always)]
pub(super) fn load32<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, addr: u32) -> Result<u32, Leave> {
    if addr & 3 != 0 {
        return load_bytes(core, bus, insn, addr, 4);
    }
    bus.load32(core.at(insn), addr).map_err(|f| refused(core, addr, 4, Access::Load, f))
}

#[inline(always)]
fn store16<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, addr: u32, value: u16) -> Done {
    if addr & 1 != 0 {
        return store_bytes(core, bus, insn, addr, u32::from(value), 2);
    }
    bus.store16(core.at(insn), addr, value).map_err(|f| refused(core, addr, 2, Access::Store, f))?;
    written(core, addr, 2)
}

#[inline(always)]
pub(super) fn store32<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, addr: u32, value: u32) -> Done {
    if addr & 3 != 0 {
        return store_bytes(core, bus, insn, addr, value, 4);
    }
    bus.store32(core.at(insn), addr, value).map_err(|f| refused(core, addr, 4, Access::Store, f))?;
    written(core, addr, 4)
}

/// An unaligned load: a fault, or bytes from the lowest address up.
#[cold]
#[inline(never)]
fn load_bytes<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, addr: u32, size: u8) -> Result<u32, Leave> {
    if core.config.unaligned == Unaligned::Fault {
        return Err(core.fail(FaultKind::Unaligned { addr, size, access: Access::Load }));
    }
    let mut value = 0;
    for i in 0..u32::from(size) {
        let byte = bus.load8(core.at(insn), addr.wrapping_add(i));
        value |= u32::from(byte.map_err(|f| refused(core, addr, size, Access::Load, f))?) << (8 * i);
    }
    Ok(value)
}

/// An unaligned store: a fault, or bytes from the lowest address up. Bytes before a refused one stay written.
#[cold]
#[inline(never)]
fn store_bytes<B: Bus>(core: &mut Core, bus: &mut B, insn: &Insn, addr: u32, value: u32, size: u8) -> Done {
    if core.config.unaligned == Unaligned::Fault {
        return Err(core.fail(FaultKind::Unaligned { addr, size, access: Access::Store }));
    }
    for i in 0..u32::from(size) {
        let stored = bus.store8(core.at(insn), addr.wrapping_add(i), (value >> (8 * i)) as u8);
        stored.map_err(|f| refused(core, addr, size, Access::Store, f))?;
    }
    match core.code.overlaps(addr, u32::from(size)) {
        true => Err(Leave::CodeWritten),
        false => Ok(()),
    }
}
