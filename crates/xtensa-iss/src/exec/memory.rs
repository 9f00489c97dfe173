//! Loads, stores and conditional store; the checked access functions that other classes use.

use crate::bus::{At, Bus, BusFault};
use crate::config::Unaligned;
use crate::core::{Core, Done, Leave};
use crate::fault::{Access, FaultKind};

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
pub(crate) fn load8<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32) -> Result<u8, Leave> {
    bus.load8(at, addr).map_err(|f| refused(core, addr, 1, Access::Load, f))
}

#[inline(always)]
pub(crate) fn load16<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32) -> Result<u16, Leave> {
    if addr & 1 != 0 {
        return load_bytes(core, bus, at, addr, 2).map(|v| v as u16);
    }
    bus.load16(at, addr).map_err(|f| refused(core, addr, 2, Access::Load, f))
}

#[inline(always)]
pub(crate) fn load32<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32) -> Result<u32, Leave> {
    if addr & 3 != 0 {
        return load_bytes(core, bus, at, addr, 4);
    }
    bus.load32(at, addr).map_err(|f| refused(core, addr, 4, Access::Load, f))
}

/// A literal lies before its instruction, word-aligned by encoding.
#[inline(always)]
pub(crate) fn literal<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32) -> Result<u32, Leave> {
    bus.literal32(at, addr).map_err(|f| refused(core, addr, 4, Access::Load, f))
}

#[inline(always)]
pub(crate) fn store8<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32, value: u8) -> Done {
    bus.store8(at, addr, value).map_err(|f| refused(core, addr, 1, Access::Store, f))?;
    written(core, addr, 1)
}

#[inline(always)]
pub(crate) fn store16<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32, value: u16) -> Done {
    if addr & 1 != 0 {
        return store_bytes(core, bus, at, addr, u32::from(value), 2);
    }
    bus.store16(at, addr, value).map_err(|f| refused(core, addr, 2, Access::Store, f))?;
    written(core, addr, 2)
}

#[inline(always)]
pub(crate) fn store32<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32, value: u32) -> Done {
    if addr & 3 != 0 {
        return store_bytes(core, bus, at, addr, value, 4);
    }
    bus.store32(at, addr, value).map_err(|f| refused(core, addr, 4, Access::Store, f))?;
    written(core, addr, 4)
}

/// `at` goes to memory if memory equals SCOMPARE1; `at` gets what memory held.
#[inline(always)]
pub(crate) fn compare_and_store<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32, t: u8) -> Done {
    aligned(core, addr, 4, Access::Store)?;
    let old = load32(core, bus, at, addr)?;
    let value = core.ar(t);
    if old == core.state.scompare1 {
        bus.store32(at, addr, value).map_err(|f| refused(core, addr, 4, Access::Store, f))?;
    }
    core.set_ar(t, old);
    written(core, addr, 4)
}

/// An unaligned load: a fault, or bytes from the lowest address up.
#[cold]
#[inline(never)]
fn load_bytes<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32, size: u8) -> Result<u32, Leave> {
    if core.config.unaligned == Unaligned::Fault {
        return Err(core.fail(FaultKind::Unaligned { addr, size, access: Access::Load }));
    }
    let mut value = 0;
    for i in 0..u32::from(size) {
        let byte = bus.load8(at, addr.wrapping_add(i));
        value |= u32::from(byte.map_err(|f| refused(core, addr, size, Access::Load, f))?) << (8 * i);
    }
    Ok(value)
}

/// An unaligned store: a fault, or bytes from the lowest address up. Bytes before a refused one stay written.
#[cold]
#[inline(never)]
fn store_bytes<B: Bus>(core: &mut Core, bus: &mut B, at: At, addr: u32, value: u32, size: u8) -> Done {
    if core.config.unaligned == Unaligned::Fault {
        return Err(core.fail(FaultKind::Unaligned { addr, size, access: Access::Store }));
    }
    for i in 0..u32::from(size) {
        let stored = bus.store8(at, addr.wrapping_add(i), (value >> (8 * i)) as u8);
        stored.map_err(|f| refused(core, addr, size, Access::Store, f))?;
    }
    match core.code.overlaps(addr, u32::from(size)) {
        true => Err(Leave::CodeWritten),
        false => Ok(()),
    }
}
