//! Calls and register windows, with overflow and underflow done in place.
//!
//! The windowed ABI's save areas: a frame's a0..a3 go to the 16 bytes below its callee's stack pointer; a4..a7 (CALL8) or
//! a4..a11 (CALL12) to the end of its own caller's frame, below the 16 bytes there. That is what the vendor's vectors do,
//! so stack walkers, spill routines and longjmp find what they expect. Where hardware spills when a register is first
//! touched, the model makes room for the whole window of 16 at ENTRY; programs see no difference but in timing.

use crate::bus::{At, Bus, Undefined};
use crate::core::{Core, Done, Leave};
use crate::fault::{Access, Fault, FaultKind};
use crate::state::{PHYSICAL_REGISTERS, WINDOW_POSITIONS, ps};

/// The return address goes to a0.
#[inline(always)]
pub(crate) fn call0(core: &mut Core, next: u32, target: u32) -> Done {
    core.set_ar(0, next);
    core.jump(target)
}

/// CALL4, CALL8, CALL12 have `n` 1, 2, 3: the return address, with n in its top bits, goes to the callee's a0-to-be.
#[inline(always)]
pub(crate) fn call(core: &mut Core, n: u8, next: u32, target: u32) -> Done {
    core.set_ar(n << 2, u32::from(n) << 30 | next & 0x3fff_ffff);
    core.state.ps = core.state.ps & !ps::CALLINC | u32::from(n) << ps::CALLINC_SHIFT;
    core.jump(target)
}

/// A new stack pointer, or what is to become one.
#[inline(always)]
pub(crate) fn set_sp(core: &mut Core, sp: u32) -> Done {
    core.check_stack(sp)?;
    core.set_ar(1, sp);
    Ok(())
}

/// ENTRY as, frame: rotate by PS.CALLINC; the new frame's `as` is the old one's less `frame`.
#[inline(always)]
pub(crate) fn entry<B: Bus>(core: &mut Core, bus: &mut B, at: At, s: u8, frame: u32) -> Done {
    if s > 3 || !core.windows_on() {
        return Err(core.illegal_entry(s, frame));
    }
    let increment = (core.state.ps >> ps::CALLINC_SHIFT & 3) as u8;
    let sp = core.ar(s).wrapping_sub(frame);
    if s == 1 {
        core.check_stack(sp)?;
    }
    // Bits of the positions that the new window covers, seen from the old one.
    let ahead = core.state.window_start.rotate_right(u32::from(core.state.window_base));
    if ahead & ((2u16 << (increment + 3)) - 2) != 0 {
        core.make_room(bus, at, increment)?;
    }
    core.set_ar(increment << 2 | s, sp);
    core.rotate(increment);
    core.state.window_start |= 1 << core.state.window_base;
    if core.spilled_into_code {
        core.spilled_into_code = false;
        return Err(Leave::CodeWritten);
    }
    Ok(())
}

/// RETW: rotate back by the top bits of a0, filling the caller's registers if they were spilled.
#[inline(always)]
pub(crate) fn retw<B: Bus>(core: &mut Core, bus: &mut B, at: At) -> Done {
    let a0 = core.ar(0);
    let n = (a0 >> 30) as u8;
    let behind = core.state.window_start.rotate_right(u32::from(core.state.window_base));
    // Distance to the nearest live frame behind, 0 if it is not within three positions.
    let live = match behind >> 13 {
        0 => 0,
        bits if bits & 4 != 0 => 1,
        bits if bits & 2 != 0 => 2,
        _ => 3,
    };
    if n == 0 || !core.windows_on() || (live != 0 && live != n) {
        return Err(core.inconsistent());
    }
    if live == 0 {
        core.fill_caller(bus, at, n)?;
    }
    core.state.window_start &= !(1 << core.state.window_base);
    core.rotate(n.wrapping_neg());
    // A frame includes its caller's save area, the 16 bytes below it; those at its top are the caller's caller's.
    bus.frame_left(at.sp.wrapping_sub(16), core.ar(1).wrapping_sub(16));
    core.jump(at.pc & 0xc000_0000 | a0 & 0x3fff_ffff)
}

/// MOVSP at, as: move the stack pointer; the caller's registers may not stay behind in the old save area, so they are
/// brought back into the register file first.
pub(crate) fn movsp<B: Bus>(core: &mut Core, bus: &mut B, at: At, t: u8, sp: u32) -> Done {
    if t == 1 {
        core.check_stack(sp)?;
    }
    let behind = core.state.window_start.rotate_right(u32::from(core.state.window_base)) >> 13;
    let caller = (core.ar(0) >> 30) as u8;
    if behind == 0 && caller != 0 {
        core.fill_caller(bus, at, caller)?;
    }
    core.set_ar(t, sp);
    Ok(())
}

impl Core {
    fn windows_on(&self) -> bool {
        self.state.ps & (ps::WOE | ps::EXCM) == ps::WOE
    }

    /// Stack limit: see the crate's first page.
    #[inline(always)]
    pub(super) fn check_stack(&mut self, sp: u32) -> Done {
        let limit = self.state.isl;
        if sp < limit { Err(self.fail(FaultKind::StackLimit { sp, limit })) } else { Ok(()) }
    }

    /// ENTRY is the only encoding that is legal or not by state; its bytes are gone, its meaning is not.
    #[cold]
    fn illegal_entry(&mut self, s: u8, frame: u32) -> Leave {
        let [b0, b1, b2, _] = (frame >> 3 << 12 | u32::from(s) << 8 | 0x36).to_le_bytes();
        self.fail(FaultKind::Illegal { bytes: [b0, b1, b2] })
    }

    #[cold]
    fn inconsistent(&mut self) -> Leave {
        self.fail(FaultKind::Window { base: self.state.window_base, start: self.state.window_start })
    }

    /// Physical register `r` of the window at `position`; the visible window must have been written back.
    fn physical(&self, position: u8, r: u8) -> u32 {
        self.state.ar[(usize::from(position) * 4 + usize::from(r)) % PHYSICAL_REGISTERS]
    }

    fn set_physical(&mut self, position: u8, r: u8, value: u32) {
        self.state.ar[(usize::from(position) * 4 + usize::from(r)) % PHYSICAL_REGISTERS] = value;
    }

    /// Spills the frames, oldest first, that lie within the 16 registers of a window `increment` positions ahead.
    #[cold]
    #[inline(never)]
    fn make_room<B: Bus>(&mut self, bus: &mut B, at: At, increment: u8) -> Done {
        self.store_window();
        for distance in 1..=increment + 3 {
            let position = (self.state.window_base + distance) & 15;
            if self.state.window_start >> position & 1 != 0 {
                self.spill_frame(bus, at, position)?;
            }
        }
        Ok(())
    }

    /// Window overflow of the frame at `position`: its registers to memory, its WindowStart bit off.
    fn spill_frame<B: Bus>(&mut self, bus: &mut B, at: At, position: u8) -> Done {
        let ahead = self.state.window_start.rotate_right(u32::from(position)) >> 1;
        let size = ahead.trailing_zeros() as u8 + 1;
        if size > 3 {
            return Err(self.inconsistent());
        }
        let callee_sp = self.physical(position + size, 1);
        for r in 0..4 {
            let addr = callee_sp.wrapping_sub(16).wrapping_add(4 * u32::from(r));
            self.spill(bus, at, addr, (position, r))?;
        }
        if size > 1 {
            let caller_sp = self.fill(bus, at, self.physical(position, 1).wrapping_sub(12))?;
            let area = caller_sp.wrapping_sub(16 * u32::from(size));
            for r in 4..4 * size {
                self.spill(bus, at, area.wrapping_add(4 * u32::from(r - 4)), (position, r))?;
            }
        }
        self.state.window_start &= !(1 << position);
        Ok(())
    }

    /// Window underflow: the caller's frame, `n` positions back, from memory; its WindowStart bit on.
    #[cold]
    #[inline(never)]
    fn fill_caller<B: Bus>(&mut self, bus: &mut B, at: At, n: u8) -> Done {
        let position = self.state.window_base.wrapping_sub(n) & 15;
        let mut frame = [0; 12];
        let mut undefined = [Undefined::default(); 12];
        let tracking = self.shadow.tracking;
        let sp = self.ar(1);
        let mut fill = |core: &mut Self, addr: u32, word: &mut u32, bits: &mut Undefined| -> Done {
            *word = core.fill(bus, at, addr)?;
            if tracking {
                *bits = bus.undefined(addr, 4);
            }
            Ok(())
        };
        for (r, (word, bits)) in (0..4).zip(frame.iter_mut().zip(&mut undefined)) {
            fill(self, sp.wrapping_sub(16).wrapping_add(4 * r), word, bits)?;
        }
        if n > 1 {
            let mut caller_sp = 0;
            fill(self, frame[1].wrapping_sub(12), &mut caller_sp, &mut Undefined::default())?;
            let area = caller_sp.wrapping_sub(16 * u32::from(n));
            for (r, (word, bits)) in
                (0..4 * u32::from(n) - 4).zip(frame[4..].iter_mut().zip(&mut undefined[4..]))
            {
                fill(self, area.wrapping_add(4 * r), word, bits)?;
            }
        }
        for (r, (&word, &bits)) in (0..4 * n).zip(frame.iter().zip(&undefined)) {
            self.set_physical(position, r, word);
            self.shadow.set_ar(position, r, bits);
        }
        self.state.window_start |= 1 << position;
        Ok(())
    }

    /// Register `r` of the frame at `position` to its place in a save area.
    fn spill<B: Bus>(&mut self, bus: &mut B, at: At, addr: u32, (position, r): (u8, u8)) -> Done {
        if addr & 3 != 0 {
            return Err(self.fail(FaultKind::Unaligned { addr, size: 4, access: Access::Spill }));
        }
        let value = self.physical(position, r);
        bus.spill32(at, addr, value).map_err(|f| super::memory::refused(self, addr, 4, Access::Spill, f))?;
        let undefined = self.shadow.ar(position, r);
        if undefined.bits != 0 {
            bus.set_undefined(addr, 4, undefined);
        }
        self.spilled_into_code |= super::memory::written(self, addr, 4).is_err();
        Ok(())
    }

    fn fill<B: Bus>(&mut self, bus: &mut B, at: At, addr: u32) -> Result<u32, Leave> {
        if addr & 3 != 0 {
            return Err(self.fail(FaultKind::Unaligned { addr, size: 4, access: Access::Fill }));
        }
        bus.fill32(at, addr).map_err(|f| super::memory::refused(self, addr, 4, Access::Fill, f))
    }

    /// See [`crate::Cpu::spill_windows`].
    pub(crate) fn spill_all<B: Bus>(&mut self, bus: &mut B) -> Result<(), Fault> {
        let at = At { pc: self.state.pc, sp: self.ar(1) };
        self.store_window();
        for distance in 1..WINDOW_POSITIONS as u8 {
            let position = (self.state.window_base + distance) & 15;
            if self.state.window_start >> position & 1 != 0 && self.spill_frame(bus, at, position).is_err() {
                return Err(Fault { pc: at.pc, kind: self.fault });
            }
        }
        Ok(())
    }

    /// See [`crate::Cpu::call_chain`].
    pub(crate) fn call_chain<B: Bus>(&self, bus: &mut B, limit: usize) -> Vec<(u32, u32)> {
        let state = self.snapshot();
        let physical =
            |position: u8, r: u8| state.ar[(usize::from(position) * 4 + usize::from(r)) % PHYSICAL_REGISTERS];
        let at = At { pc: state.pc, sp: self.ar(1) };
        let (mut pc, mut a0, mut sp) = (state.pc, self.ar(0), self.ar(1));
        // None once a caller was found in memory: all older ones are there too.
        let mut position = Some(state.window_base);
        let mut chain = Vec::new();
        while chain.len() < limit {
            chain.push((pc, sp));
            let n = (a0 >> 30) as u8;
            if n == 0 {
                break;
            }
            pc = pc & 0xc000_0000 | a0 & 0x3fff_ffff;
            position = position
                .map(|p| p.wrapping_sub(n) & 15)
                .filter(|&p| p != state.window_base && state.window_start >> p & 1 != 0);
            let caller = match position {
                Some(p) => Some((physical(p, 0), physical(p, 1))),
                None => {
                    let mut word = |below: u32| bus.fill32(at, sp.wrapping_sub(below) & !3).ok();
                    word(16).zip(word(12))
                }
            };
            match caller {
                Some((next_a0, next_sp)) if next_sp > sp => (a0, sp) = (next_a0, next_sp),
                _ => {
                    chain.push((pc, sp));
                    break;
                }
            }
        }
        chain.truncate(limit);
        chain
    }
}
