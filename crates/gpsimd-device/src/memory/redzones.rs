//! Redzones of checked builds: bytes between variables that the program marks by writing to their shadow.
//!
//! Instrumented code keeps a shadow byte for every eight bytes, at a fixed distance in the address space where a device has
//! nothing: 0 opens all eight, 1 to 7 the first so many, anything from 0x80 on none. There is no such memory here: what is
//! stored to a shadow address changes the paint of the bytes it stands for, so that every access is judged by the same look
//! at the paint as any other, DMA included. Unaware of why code asks for redzones.

use crate::memory::private::Memory;
use crate::memory::ram::Ram;
use crate::parts::map;

/// Bytes that one shadow byte stands for.
const GRANULE: u32 = 8;
/// First address of the shadow: what GCC adds to an address divided by eight.
const SHADOW: u32 = 0x1000_0000;
/// Its length: the address space divided by eight.
const SHADOW_LEN: u32 = 0x2000_0000;

impl Memory {
    /// Carries out a store to the shadow; says whether the address is one.
    pub fn store_shadow(&mut self, addr: u32, shadow: &[u8]) -> bool {
        let offset = addr.wrapping_sub(SHADOW);
        if !self.is_checked || offset >= SHADOW_LEN {
            return false;
        }
        for (at, byte) in (offset * GRANULE..).step_by(GRANULE as usize).zip(shadow) {
            let open = match byte {
                0 => GRANULE,
                1..=7 => u32::from(*byte),
                _ => 0,
            };
            self.unseal(at, open);
            self.seal(at.wrapping_add(open), GRANULE - open);
        }
        true
    }

    /// Makes bytes at an NX address a redzone.
    pub fn seal(&mut self, addr: u32, len: u32) {
        if let Some((ram, at)) = self.ram_of(addr) {
            ram.seal(at, len as usize);
        }
    }

    /// Makes what was a redzone plain memory again.
    pub fn unseal(&mut self, addr: u32, len: u32) {
        if let Some((ram, at)) = self.ram_of(addr) {
            ram.unseal(at, len as usize);
        }
    }

    /// Whether the byte at an NX address is in a redzone.
    pub fn is_redzone(&self, addr: u32) -> bool {
        let state = |ram: &Ram, base: u32| {
            ram.states::<1>(addr.wrapping_sub(base) as usize)
                .is_some_and(|[state]| state & crate::memory::ram::REDZONE != 0)
        };
        state(&self.dataram, map::DATARAM)
            || state(&self.image, self.image_base)
            || self.scratch_offset(addr).is_some_and(|offset| {
                self.scratch
                    .states::<1>(offset as usize)
                    .is_some_and(|[state]| state & crate::memory::ram::REDZONE != 0)
            })
    }

    /// Opens all of the running stack above an address: frames that will not be returned to cannot do it themselves.
    pub fn open_stack_above(&mut self, sp: u32) {
        let local = self.layout.stack_floor..self.layout.stack_top;
        let end = match self.hbm_stack {
            _ if local.contains(&sp) => local.end,
            Some(stack) if self.scratch_offset(sp).is_some() => {
                map::BANKS + map::SCRATCH_OFFSET as u32 + stack.offset + stack.len
            }
            _ => return,
        };
        self.unseal(sp, end.saturating_sub(sp));
    }

    fn ram_of(&mut self, addr: u32) -> Option<(&mut Ram, usize)> {
        let offset = addr.wrapping_sub(map::DATARAM) as usize;
        if offset < self.dataram.size() {
            return Some((&mut self.dataram, offset));
        }
        let offset = addr.wrapping_sub(self.image_base) as usize;
        if offset < self.image.size() {
            return Some((&mut self.image, offset));
        }
        let offset = self.scratch_offset(addr)?;
        Some((&mut self.scratch, offset as usize))
    }
}
